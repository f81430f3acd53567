/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/plm_p2p/command.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What sh makes of the line: each word on a line of its own. */
static void assert_sh_says(const char *const *words, const char *prefix, const char *wanted)
{
    char *line = command_line((char *const *)words, prefix, 027), got[512];
    assert_non_null(line);
    FILE *sh = popen(line, "r");
    assert_non_null(sh);
    got[fread(got, 1, sizeof got - 1, sh)] = '\0';
    assert_int_equal(pclose(sh), 0);
    assert_string_equal(got, wanted);
    free(line);
}

static void test_words_survive_the_shell(void **state)
{
    (void)state;
    const char *words[] = {"printf", "%s\n",  "plain", "two words", "it's", "$HOME",
                           "`id`",   "\"q\"", "a;b",   "*",         "",     NULL};
    assert_sh_says(words, NULL, "plain\ntwo words\nit's\n$HOME\n`id`\n\"q\"\na;b\n*\n\n");
}

static void test_the_way_to_mpirun_is_no_word(void **state)
{
    (void)state;
    const char *words[] = {"sh",
                           "-c",
                           "echo \"$# $* $OMPI_MCA_ess_base_jobid $OMPI_MCA_orte_hnp_uri\"",
                           "x",
                           "-mca",
                           "ess_base_jobid",
                           "7",
                           "-mca",
                           "orte_hnp_uri",
                           "7.0;tcp://127.0.0.1:9",
                           "-mca",
                           "ras",
                           "p2p",
                           "-mca",
                           NULL};
    assert_sh_says(words, NULL, "4 -mca ras p2p -mca 7 7.0;tcp://127.0.0.1:9\n");
}

static void test_files_are_made_as_here(void **state)
{
    (void)state;
    const char *words[] = {"sh", "-c", "umask", NULL};
    assert_sh_says(words, NULL, "0027\n");
}

static void test_prefix_leads_the_path(void **state)
{
    (void)state;
    const char *words[] = {"sh", "-c", "echo \"${PATH%%:*} ${LD_LIBRARY_PATH%%:*}\"", NULL};
    assert_sh_says(words, "/opt/o's mpi", "/opt/o's mpi/bin /opt/o's mpi/lib\n");
}

static void test_environment(void **state)
{
    (void)state;
    char *const environment[] = {
        "HOME=/root",   "OMPI_MCA_plm=p2p", "OMPI_MCA_a=1",     "OMPI_MCA_b=x y",
        "OMPI_MCA_c=3", "OMPI_MCAx=1",      "OMPI_MCA_plm_x=2", NULL};
    char *const words[] = {"orted", "-mca", "c", "4", NULL};
    char **got = command_environment(environment, words);
    assert_int_equal(command_add(&got, "OMPI_MCA_a", "no"), 0);
    assert_int_equal(command_add(&got, "OMPI_MCA_d", "4"), 0);
    const char *wanted[] = {"OMPI_MCA_a=1", "OMPI_MCA_b=x y", "OMPI_MCA_plm_x=2", "OMPI_MCA_d=4"};
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(got[i], wanted[i]);
    assert_null(got[4]);
    command_free(got);
}

static void expect_locale(char *const *own, const char *zone, const char *expected)
{
    char *none[] = {NULL}, all[256] = "";
    char **got = command_environment(none, none);
    assert_int_equal(command_add_locale(&got, own, zone), 0);
    for (char **v = got; *v != NULL; v++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s;", *v);
    assert_string_equal(all, expected);
    command_free(got);
}

static void test_locale(void **state)
{
    (void)state;
    char *const german[] = {"LANG=de_DE", "LANGUAGES=x", "LC_ALL=C", "HOME=/", "TZ=UTC", NULL};
    char *const none[] = {"LANGUAGE=de", "XLANG=x", "LC_TIME=C", NULL};
    expect_locale(german, "Europe/Berlin", "LANG=de_DE;LC_ALL=C;TZ=UTC;");
    expect_locale(none, "Europe/Berlin", "LANGUAGE=de;LC_TIME=C;LANG=;TZ=Europe/Berlin;");
    expect_locale(none, NULL, "LANGUAGE=de;LC_TIME=C;LANG=;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_survive_the_shell),
        cmocka_unit_test(test_the_way_to_mpirun_is_no_word),
        cmocka_unit_test(test_files_are_made_as_here),
        cmocka_unit_test(test_prefix_leads_the_path),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
