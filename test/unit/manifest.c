/* SPDX-License-Identifier: BSD-3-Clause */
/* manifest.c -- a job that is signed is taken as it was written, and only where it was meant. */
#include "overlay/manifest/manifest.h"
#include "overlay/membership/authority.h"
#include "temporary.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-manifest-XXXXXX";
static struct identity *alder, *birch;

static struct identity *member(struct authority *a, const char *name)
{
    struct authority_order order = {.peer = name, .days = 10};
    struct identity *i = NULL;
    struct err e = {0};
    char keys[64];
    snprintf(keys, sizeof keys, "%s/%s", folder, name);
    if (authority_issue(a, &order, keys, &e) == 0)
        identity_load(&i, keys, &e);
    return i;
}

static int set_up(void **state)
{
    struct authority *a;
    struct err e = {0};
    char grid[64];
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(grid, sizeof grid, "%s/grid", folder);
    if (authority_create(grid, "fen", &(struct authority_terms){.days = 10}, &e) < 0 ||
        authority_open(&a, grid, &e) < 0)
        return -1;
    alder = member(a, "alder");
    birch = member(a, "birch");
    authority_close(a);
    return alder != NULL && birch != NULL ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    identity_free(alder);
    identity_free(birch);
    return temporary_remove(folder);
}

static struct msg_manifest job_for(const struct identity *peer, uint8_t lease)
{
    struct msg_manifest job = {.slots = 2, .issued = 1800000000};
    job.submitter = identity_card(alder)->id;
    job.peer = identity_card(peer)->id;
    job.lease.b[0] = lease;
    job.command = (const uint8_t *)"exec orted";
    job.command_length = 10;
    job.environment = (const uint8_t *)"A=1";
    job.environment_length = 4;
    return job;
}

/* What birch, with lease 1, says to a launch from `from`: 0 or the errno. */
static int answer(const struct msg_lease_launch *launch, const struct identity *from, char *why)
{
    struct manifest *m;
    struct err e = {0};
    int rc = manifest_open(&m, launch, identity_card(from), &identity_card(birch)->id, &e);
    strcpy(why, e.text);
    if (rc != 0)
        return -rc;
    const struct msg_manifest *job = manifest_job(m);
    assert_int_equal(job->command_length, 10);
    assert_memory_equal(job->command, "exec orted", 10);
    assert_memory_equal(job->environment, "A=1", 4);
    assert_int_equal(job->slots, 2);
    manifest_free(m);
    return 0;
}

static void refused(const struct msg_manifest *job, const struct identity *signer,
                    const struct identity *from, const char *expected)
{
    struct manifest *m;
    struct msg_lease_launch launch;
    char why[512];
    assert_int_equal(manifest_sign(&m, job, signer), 0);
    manifest_put(m, &launch);
    launch.lease = (struct id){.b = {1}};
    assert_int_not_equal(answer(&launch, from, why), 0);
    assert_string_equal(why, expected);
    manifest_free(m);
}

static void test_taken(void **state)
{
    (void)state;
    struct manifest *m;
    struct msg_lease_launch launch;
    char why[512];
    struct msg_manifest job = job_for(birch, 1);
    assert_int_equal(manifest_sign(&m, &job, alder), 0);
    manifest_put(m, &launch);
    assert_int_equal(answer(&launch, alder, why), 0);
    manifest_free(m);
}

static void test_forged(void **state)
{
    (void)state;
    struct msg_manifest job = job_for(birch, 1);
    refused(&job, birch, alder, "its manifest is not signed by alder");
    refused(&job, alder, birch, "its manifest is not signed by birch");
    refused(&job, birch, birch, "its manifest is another member's");
    job = job_for(alder, 1);
    refused(&job, alder, alder, "its manifest is for another peer");
    job = job_for(birch, 2);
    refused(&job, alder, alder, "its manifest is for another lease");
    job = job_for(birch, 1);
    job.command = (const uint8_t *)"exec\0orted";
    refused(&job, alder, alder, "its command cannot be read");
}

static void test_every_byte_counts(void **state)
{
    (void)state;
    struct manifest *m;
    struct msg_lease_launch launch;
    char why[512];
    struct msg_manifest job = job_for(birch, 1);
    assert_int_equal(manifest_sign(&m, &job, alder), 0);
    manifest_put(m, &launch);
    uint8_t *copy = malloc(launch.manifest_length), signature[64];
    memcpy(copy, launch.manifest, launch.manifest_length);
    memcpy(signature, launch.signature, sizeof signature);
    launch.manifest = copy;
    launch.signature = signature;
    for (uint32_t i = 0; i < launch.manifest_length; i++) {
        copy[i] ^= 1;
        assert_int_equal(answer(&launch, alder, why), EACCES);
        copy[i] ^= 1;
    }
    for (uint32_t i = 0; i < sizeof signature; i++) {
        signature[i] ^= 1;
        assert_int_equal(answer(&launch, alder, why), EACCES);
        signature[i] ^= 1;
    }
    for (launch.signature_length = 0; launch.signature_length < 64; launch.signature_length++)
        assert_int_equal(answer(&launch, alder, why), EACCES);
    assert_int_equal(answer(&launch, alder, why), 0);
    launch.manifest_length--;
    assert_int_equal(answer(&launch, alder, why), EACCES);
    free(copy);
    manifest_free(m);
}

static void test_bounds(void **state)
{
    (void)state;
    struct manifest *m;
    struct msg_manifest job = job_for(birch, 1);
    uint8_t *big = calloc(1, 131073);
    job.command = big;
    job.command_length = 131073;
    assert_int_equal(manifest_sign(&m, &job, alder), -E2BIG);
    job.command_length = 131072;
    job.environment = big;
    job.environment_length = 65536;
    assert_int_equal(manifest_sign(&m, &job, alder), 0);
    struct message launch = {.kind = MSG_lease_launch};
    manifest_put(m, &launch.lease_launch);
    uint8_t *frame = malloc(WIRE_MAX_FRAME);
    assert_int_not_equal(message_encode(&launch, frame, WIRE_MAX_FRAME), 0); /* the most fits */
    free(frame);
    free(big);
    manifest_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_every_byte_counts),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
