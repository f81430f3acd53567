/* SPDX-License-Identifier: BSD-3-Clause */
/* message_undef.h -- after message.def: forget what its words meant. */
#undef PART
#undef MESSAGE
#undef LARGE
#undef U8
#undef U16
#undef U32
#undef U64
#undef ID
#undef HASH
#undef ADDR
#undef TEXT
#undef LINES
#undef BYTES
#undef ONE
#undef LIST
#undef SINCE
#undef MORE
#undef END
