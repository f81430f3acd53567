/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.c -- the port of the datagrams: any packet, and real ones that were changed on the
 * way. Only what was sealed is opened, and once. */
#include "overlay/crypto/session_keys.h"
#include "overlay/wire/message.h"
#include <stdlib.h>
#include <string.h>

enum { PACKETS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte: whether what follows is a packet, or turns bits of a real one and sends it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct message m;
    uint8_t packet[PACKETS][AEAD_PACKET], frame[AEAD_FRAME];
    size_t length[PACKETS];
    bool came[PACKETS] = {false};
    struct session_keys sender = {0}, receiver = {0};
    uint64_t replaced;
    session_keys_take(&sender, session_keys_give(&receiver, &replaced, 1), 1);
    for (unsigned i = 0; i < PACKETS; i++) {
        uint8_t fill = (uint8_t)i;
        length[i] = session_keys_seal(&sender, &fill, 1, packet[i], 1);
    }
    if (size > 0 && data[0] % 2 == 0) {
        if (session_keys_open(&receiver, data + 1, size - 1, frame, 1) > 0)
            abort(); /* forged */
        (void)message_decode(&m, data + 1, size - 1);
        return 0;
    }
    for (size_t at = 1; at + 2 < size; at += 3) {
        unsigned i = data[at] % PACKETS;
        uint8_t changed[AEAD_PACKET];
        memcpy(changed, packet[i], length[i]);
        changed[data[at + 1] % length[i]] ^= data[at + 2];
        size_t opened = session_keys_open(&receiver, changed, length[i], frame, 1);
        bool whole = data[at + 2] == 0;
        if ((opened > 0) != (whole && !came[i]) || (opened > 0 && frame[0] != i))
            abort();
        came[i] = came[i] || opened > 0;
    }
    return 0;
}
