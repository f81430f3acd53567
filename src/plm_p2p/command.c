/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c -- quoting and picking, nothing else. */
#include "command.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix_of_params[] = "OMPI_MCA_";

static void command_quote(FILE *out, const char *word)
{
    fputc('\'', out);
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    fputc('\'', out);
}

/* A user who reads these in the list of processes could speak to mpirun as one of its orteds. */
static const char *const secrets[] = {"ess", "ess_base_jobid", "ess_base_vpid",
                                      "ess_base_num_procs", "orte_hnp_uri"};

/* `-mca NAME VALUE` of such a parameter. */
static bool is_secret(char *const *word)
{
    bool secret = false;
    if (strcmp(word[0], "-mca") != 0 || word[1] == NULL || word[2] == NULL)
        return false;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        secret |= strcmp(word[1], secrets[i]) == 0;
    return secret;
}

unsigned command_secrets(const char *const **names)
{
    *names = secrets;
    return sizeof secrets / sizeof secrets[0];
}

char *command_line(char *const *words, const char *prefix, int mask)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return NULL;
    if (mask >= 0)
        fprintf(out, "umask %04o; ", (unsigned)mask);
    if (prefix != NULL) {
        fputs("PATH=", out);
        command_quote(out, prefix);
        fputs("/bin:\"$PATH\" LD_LIBRARY_PATH=", out);
        command_quote(out, prefix);
        fputs("/lib${LD_LIBRARY_PATH:+:\"$LD_LIBRARY_PATH\"}; export PATH LD_LIBRARY_PATH; ", out);
    }
    for (char *const *word = words; *word != NULL; word++)
        if (is_secret(word)) {
            fprintf(out, "export %s%s=", prefix_of_params, word[1]);
            command_quote(out, word[2]);
            fputs("; ", out);
        }
    fputs("exec", out);
    for (char *const *word = words; *word != NULL; word++)
        if (is_secret(word)) {
            word += 2;
        } else {
            fputc(' ', out);
            command_quote(out, *word);
        }
    return fclose(out) == 0 ? text : NULL;
}

static bool is_named(const char *variable, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Not for orted: it would look for a launcher of its own; the list is of mpirun's -x; the ports are
 * of this host. */
static bool is_private(const char *variable)
{
    static const char *const names[] = {"OMPI_MCA_plm",
                                        "OMPI_MCA_oob_tcp_dynamic_ipv4_ports",
                                        "OMPI_MCA_oob_tcp_dynamic_ipv6_ports",
                                        "OMPI_MCA_mca_base_env_list",
                                        "OMPI_MCA_mca_base_env_list_internal",
                                        "OMPI_MCA_mca_base_env_list_delimiter"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_named(variable, names[i]))
            return true;
    return false;
}

/* The command line wins over the environment. */
static bool is_word(const char *variable, char *const *words)
{
    for (char *const *word = words; *word != NULL; word++)
        if (is_named(variable + sizeof prefix_of_params - 1, *word))
            return true;
    return false;
}

static int command_append(char ***list, char *text)
{
    size_t count = 0;
    while ((*list)[count] != NULL)
        count++;
    char **more = text != NULL ? realloc(*list, (count + 2) * sizeof *more) : NULL;
    if (more == NULL) {
        free(text);
        return -ENOMEM;
    }
    more[count] = text;
    more[count + 1] = NULL;
    *list = more;
    return 0;
}

char **command_environment(char *const *environment, char *const *words)
{
    char **list = calloc(1, sizeof *list);
    for (char *const *v = environment; list != NULL && *v != NULL; v++) {
        if (strncmp(*v, prefix_of_params, sizeof prefix_of_params - 1) != 0 || is_private(*v) ||
            is_word(*v, words))
            continue;
        if (command_append(&list, strdup(*v)) != 0) {
            command_free(list);
            return NULL;
        }
    }
    return list;
}

int command_add(char ***environment, const char *name, const char *value)
{
    for (char **v = *environment; *v != NULL; v++)
        if (is_named(*v, name))
            return 0;
    char *text = NULL;
    return asprintf(&text, "%s=%s", name, value) < 0 ? -ENOMEM : command_append(environment, text);
}

static bool is_of_locale(const char *variable)
{
    return is_named(variable, "LANG") || is_named(variable, "LANGUAGE") ||
           is_named(variable, "TZ") || strncmp(variable, "LC_", 3) == 0;
}

/* An empty LANG is as none. */
int command_add_locale(char ***environment, char *const *own, const char *zone)
{
    int rc = 0;
    for (char *const *v = own; rc == 0 && *v != NULL; v++)
        if (is_of_locale(*v))
            rc = command_append(environment, strdup(*v));
    if (rc == 0)
        rc = command_add(environment, "LANG", "");
    return rc == 0 && zone != NULL ? command_add(environment, "TZ", zone) : rc;
}

void command_free(char **environment)
{
    for (char **v = environment; v != NULL && *v != NULL; v++)
        free(*v);
    free(environment);
}
