/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h -- what a peer is asked to run: orted's words as one line for sh, and its environment.
 */
#ifndef P2P_SRC_PLM_P2P_COMMAND_H
#define P2P_SRC_PLM_P2P_COMMAND_H

/* "exec 'orted' 'word' ...", with what leads to mpirun in its environment; each word quoted so that
 * sh gives back what went in. prefix: where Open MPI is installed on the peers, NULL for whatever
 * is in PATH there. mask: the umask of all that it starts; -1: the daemon's there, which lets
 * nobody else in. malloc'd; NULL: out of memory. */
char *command_line(char *const *words, const char *prefix, int mask);

/* The parameters that are in the environment instead, for orted alone; their number. */
unsigned command_secrets(const char *const **names);

/* The MCA parameters of an environment, for orted and the ranks, without those that are mpirun's
 * alone or stand in `words` as well. malloc'd array of malloc'd strings, NULL at the end. */
char **command_environment(char *const *environment, char *const *words);
/* Adds NAME=VALUE unless NAME is there. */
int command_add(char ***environment, const char *name, const char *value);
/* Adds by what words, numbers and times are written here (locale(7), tzset(3)), as its own user's
 * would differ from peer to peer. zone: the time zone where TZ is not set; NULL: unknown. */
int command_add_locale(char ***environment, char *const *own, const char *zone);
void command_free(char **environment);
#endif
