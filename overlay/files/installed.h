/* SPDX-License-Identifier: BSD-3-Clause */
/* installed.h -- whether this machine's system has what a program of another desktop needs of it
 * (needs.h): dynamic linker, libraries, and their symbols. Nothing is loaded or executed. */
#ifndef P2P_OVERLAY_FILES_INSTALLED_H
#define P2P_OVERLAY_FILES_INSTALLED_H
#include <stddef.h>

/* The first thing that is missing, to go on after the peer's name: "has no libgfortran.so.5, which
 * the program needs"; "": nothing is known to be. `machine`: this one, as uname -m says it. What is
 * found is remembered for a moment. */
void installed_lacks(const char *needs, const char *machine, char *out, size_t size);
/* As installed_lacks(), with another file as the dynamic linker's cache, and nothing remembered. */
void installed_lacks_by(const char *cache, const char *needs, const char *machine, char *out,
                        size_t size);
#endif
