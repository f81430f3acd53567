/* SPDX-License-Identifier: BSD-3-Clause */
/* message_only.h -- before message.def: look at MESSAGE alone, every field means nothing. */
#define PART(name)
#define U8(f)
#define U16(f)
#define U32(f)
#define U64(f)
#define ID(f)
#define HASH(f)
#define ADDR(f)
#define TEXT(f, max)
#define LINES(f, max)
#define BYTES(f, max)
#define ONE(part, f)
#define LIST(part, f, max)
#define SINCE(version)
#define MORE(max)
#define END
