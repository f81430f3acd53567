/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c -- what of a folder goes along with a job, and what does not. */
#include "overlay/files/gather.h"
#include <errno.h>
#include "made_elf.h"
#include "temporary.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char top[] = "/tmp/p2pgrid-gather-XXXXXX";
static char job[64], home[64];

static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", top, path);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", top, path);
    assert_int_equal(mkdir(full, 0755), 0);
}

static void leads(const char *path, const char *target)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", top, path);
    assert_int_equal(symlink(target, full), 0);
}

static void program(const char *path, const char *runpath, const char *library)
{
    char full[256];
    const struct made_elf e = {
        .machine = EM_X86_64, .runpath = runpath, .needed = {library, "libc.so.6"}};
    snprintf(full, sizeof full, "%s/%s", top, path);
    write_elf(full, &e);
    assert_int_equal(chmod(full, 0755), 0);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "job",       "job/tables", "job/tables/deep", "job/.ssh", "job/lib", "job/empty",
        "elsewhere", "home",       "home/.config",    "home/work"};
    if (mkdtemp(top) == NULL)
        return -1;
    snprintf(job, sizeof job, "%s/job", top);
    snprintf(home, sizeof home, "%s/home", top);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make(folders[i]);
    put("job/in.dat", "input");
    put("job/tables/a.bin", "1");
    put("job/tables/b.txt", "2");
    put("job/tables/deep/c.bin", "3");
    put("job/.ssh/known", "4");
    put("job/server.key", "5");
    put("job/.p2pgrid-x1", "6");
    put("job/script.py", "#!/usr/bin/env python3\n");
    put("elsewhere/big.dat", "far away");
    put("home/in.dat", "at home");
    put("home/other", "not asked for");
    program("job/app", "$ORIGIN/lib:$ORIGIN/../elsewhere", "libone.so");
    program("job/lib/libone.so", "$ORIGIN/../../elsewhere", "libfar.so");
    program("elsewhere/libfar.so", NULL, "libm.so.6");
    program("elsewhere/tool", NULL, "libm.so.6");
    program("home/app", NULL, "libm.so.6");
    leads("job/near", "in.dat");
    leads("job/far", "../elsewhere/big.dat");
    leads("job/of-system", "/etc/passwd");
    leads("job/folder", "tables");
    leads("job/nowhere", "../none");
    char fifo[128];
    snprintf(fifo, sizeof fifo, "%s/pipe", job);
    return mkfifo(fifo, 0600);
}

static int clean_up(void **state)
{
    (void)state;
    return temporary_remove(top);
}

static struct gathering got;
static struct err e;

static struct stat written;
static const char *python_path;

static int collect(const char *folder, const char *input, uint64_t limit, char *const *words)
{
    const struct gather_app app = {
        .program = words[0], .words = words, .cwd = folder, .python_path = python_path};
    const struct gather_order order = {.folder = folder,
                                       .home = home,
                                       .search = "/usr/bin:/bin",
                                       .apps = &app,
                                       .app_count = 1,
                                       .input = input,
                                       .limit = limit,
                                       .written = &written,
                                       .written_count = 1};
    gathering_clear(&got);
    e = (struct err){0};
    return gather(&got, &order, &e);
}

static const struct gathered_entry *find(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", top, path);
    for (size_t i = 0; i < got.list.count; i++)
        if (strcmp(got.list.at[i].path, path) == 0 ||
            (got.list.at[i].kind == GATHERED_OUTSIDE && strcmp(got.list.at[i].path, full) == 0))
            return &got.list.at[i];
    return NULL;
}

static bool has(const char *path, enum gathered_kind kind)
{
    const struct gathered_entry *entry = find(path);
    return entry != NULL && entry->kind == kind;
}

static bool has_outside(const char *path, enum gathered_kind kind)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", top, path);
    return has(full, kind);
}

enum { LIMIT = 1 << 20 };

static void test_the_whole_folder(void **state)
{
    (void)state;
    char *words[] = {"./app", "in.dat", NULL};
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_true(has("app", GATHERED_FILE) && has("in.dat", GATHERED_FILE));
    assert_true(has("tables/deep/c.bin", GATHERED_FILE) && has("tables/deep", GATHERED_FOLDER));
    assert_true(has("empty", GATHERED_FOLDER));
    assert_true(has("near", GATHERED_LINK) && has("folder", GATHERED_LINK));
    assert_true(has("nowhere", GATHERED_LINK) && has("of-system", GATHERED_LINK));
    assert_string_equal(find("near")->target, "in.dat");
    /* What a link leads to outside, and a library's library. */
    assert_true(has("far", GATHERED_LINK) && has("elsewhere/big.dat", GATHERED_OUTSIDE));
    assert_true(has("elsewhere/libfar.so", GATHERED_OUTSIDE));
    assert_null(find("/etc/passwd"));
    assert_int_equal(find("app")->st.st_mode & 0777, 0755);
    assert_false(got.over);
}

static void test_left_out(void **state)
{
    (void)state;
    char *words[] = {"./app", "--key=server.key", NULL};
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_null(find(".ssh"));
    assert_null(find("server.key"));
    assert_null(find("pipe"));
    assert_null(find(".p2pgrid-x1"));
    assert_int_equal(got.secrets, 2);
    assert_int_equal(got.left, 1);
    assert_non_null(strstr(got.secret, "/job/server.key"));
    assert_int_equal(collect(job, "server.key,.ssh", LIMIT, words), 0);
    assert_true(has("server.key", GATHERED_FILE) && has(".ssh/known", GATHERED_FILE));
}

/* What mpirun prints to would be another file by the time that a peer asks for it. */
static void test_written(void **state)
{
    (void)state;
    char *words[] = {"./app", NULL};
    char path[128];
    snprintf(path, sizeof path, "%s/tables/a.bin", job);
    assert_int_equal(stat(path, &written), 0);
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_null(find("tables/a.bin"));
    written = (struct stat){0};
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_true(has("tables/a.bin", GATHERED_FILE));
}

static void test_input(void **state)
{
    (void)state;
    char *words[] = {"./app", "in.dat", NULL};
    assert_int_equal(collect(job, "tables/*.bin, ./folder/b.txt,empty/", 1, words), 0);
    assert_true(has("app", GATHERED_FILE) && has("lib/libone.so", GATHERED_FILE));
    assert_true(has("tables/a.bin", GATHERED_FILE) && has("tables/b.txt", GATHERED_FILE));
    assert_true(has("folder", GATHERED_LINK) && has("empty", GATHERED_FOLDER));
    assert_true(has("tables", GATHERED_FOLDER));
    assert_null(find("in.dat"));
    assert_null(find("tables/deep/c.bin"));
    assert_true(collect(job, "in.dat,*.none", LIMIT, words) < 0);
    assert_non_null(strstr(e.text, "p2p_files_input: '*.none' matches nothing in "));
    assert_true(collect(job, "missing", LIMIT, words) < 0);
    assert_non_null(strstr(e.text, "/job/missing: No such file"));
    assert_true(collect(job, "/etc/passwd", LIMIT, words) < 0);
    assert_non_null(strstr(e.text, "/etc/passwd cannot travel"));
    assert_int_equal(collect(job, "", LIMIT, words), 0);
    assert_null(find("in.dat"));
    assert_true(has("app", GATHERED_FILE));
}

/* Over the limit what the command line names is what there is. */
static void test_limit(void **state)
{
    (void)state;
    char *words[] = {"./app", "-i", "near", "file=../elsewhere/big.dat", NULL};
    assert_int_equal(collect(job, NULL, 8, words), 0);
    assert_true(got.over);
    assert_true(has("app", GATHERED_FILE) && has("near", GATHERED_LINK));
    assert_true(has("in.dat", GATHERED_FILE) && has("elsewhere/big.dat", GATHERED_OUTSIDE));
    assert_null(find("tables/a.bin"));
    assert_int_equal(collect(job, NULL, 7, words), 0);
    assert_null(find("elsewhere/big.dat"));
    assert_non_null(strstr(got.large, "/elsewhere/big.dat"));
}

static void test_home(void **state)
{
    (void)state;
    char *words[] = {"./app", "in.dat", ".", NULL};
    assert_int_equal(gather_judge(home, home), GATHER_NAMED);
    assert_int_equal(gather_judge(top, home), GATHER_NAMED);
    assert_int_equal(gather_judge("/tmp", home), GATHER_NAMED);
    assert_int_equal(gather_judge("/", home), GATHER_NONE);
    assert_int_equal(gather_judge("/usr/share", home), GATHER_NONE);
    assert_int_equal(gather_judge(job, home), GATHER_WHOLE);
    assert_int_equal(collect(home, NULL, LIMIT, words), 0);
    assert_int_equal(got.list.count, 2);
    assert_true(has("app", GATHERED_FILE) && has("in.dat", GATHERED_FILE));
}

static void test_programs_elsewhere(void **state)
{
    (void)state;
    char *words[] = {"../elsewhere/tool", "script.py", NULL};
    char *system[] = {"sh", "-c", "true", NULL};
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_true(has("elsewhere/tool", GATHERED_OUTSIDE));
    assert_int_equal(got.list.count, 2);
    assert_int_equal(collect(home, NULL, LIMIT, system), 0);
    assert_int_equal(got.list.count, 0);
}

/* An environment of Python comes as a whole, with its links as they are; so does a folder that is
 * named. What is too large by itself is named, and a link to a folder is not followed. */
static void test_folders_elsewhere(void **state)
{
    (void)state;
    char *words[] = {"../env/bin/python3", "script.py", NULL};
    make("env");
    make("env/bin");
    make("env/lib");
    put("env/pyvenv.cfg", "home = /usr/bin\n");
    put("env/lib/module.py", "x = 1");
    put("env/lib/.netrc", "secret");
    leads("env/bin/python3", "/usr/bin/env");
    leads("env/lib/far", "../../elsewhere/big.dat");
    leads("env/lib/folder", "../../elsewhere");
    leads("env/lib/round", "..");
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_true(has_outside("env/bin/python3", GATHERED_OUTSIDE_LINK));
    assert_true(has_outside("env/lib/far", GATHERED_OUTSIDE_LINK));
    assert_true(has("env/lib/module.py", GATHERED_OUTSIDE) &&
                has("env/pyvenv.cfg", GATHERED_OUTSIDE));
    assert_true(has("elsewhere/big.dat", GATHERED_OUTSIDE));
    assert_null(find("elsewhere/tool"));
    assert_null(find("env/lib/.netrc"));
    assert_int_equal(collect(job, "in.dat", 8, words), 0);
    assert_null(find("env/lib/module.py"));
    assert_non_null(strstr(got.large, "/env"));
    assert_int_equal(collect(job, "../env/lib", 8, (char *[]){"sh", NULL}), 0);
    assert_true(has("env/lib/module.py", GATHERED_OUTSIDE));
    assert_int_equal(collect(job, "/usr/share", 8, (char *[]){"sh", NULL}), -EPERM);
    assert_int_equal(collect(job, home, 8, (char *[]){"sh", NULL}), -EPERM);
    assert_int_equal(collect(job, top, 8, (char *[]){"sh", NULL}), -EPERM);
}

/* Where conda and others keep them. The home itself is none, and nothing else hidden goes along. */
static void test_hidden_environments(void **state)
{
    (void)state;
    char program_of[300], *words[] = {program_of, NULL};
    snprintf(program_of, sizeof program_of, "%s/.conda/bin/python3", home);
    make("home/.conda");
    make("home/.conda/bin");
    make("home/.conda/conda-meta");
    put("home/.conda/module.py", "x = 1");
    program("home/.conda/bin/python3", NULL, "libc.so.6");
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_true(has_outside("home/.conda/bin/python3", GATHERED_OUTSIDE));
    assert_true(has("home/.conda/module.py", GATHERED_OUTSIDE));
    /* One that is too large is to be named, and may be. */
    assert_int_equal(collect(job, "in.dat", 4, words), 0);
    assert_null(find("home/.conda/module.py"));
    assert_non_null(strstr(got.large, "/home/.conda"));
    char items[320];
    snprintf(items, sizeof items, "in.dat,%s/.conda", home);
    assert_int_equal(collect(job, items, 4, words), 0);
    assert_true(has("home/.conda/module.py", GATHERED_OUTSIDE) && got.large[0] == '\0');
    make("home/bin");
    make("home/conda-meta");
    program("home/bin/python3", NULL, "libc.so.6");
    snprintf(program_of, sizeof program_of, "%s/bin/python3", home);
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_null(find("home/other"));
}

/* What pip has installed for the user, and the folders of PYTHONPATH; a Python with a folder of its
 * own; of an environment, the certificates of authorities are no secrets. */
static void test_modules_elsewhere(void **state)
{
    (void)state;
    char *words[] = {"../elsewhere/bin/python3", "script.py", NULL}, *other[] = {"sh", NULL};
    static const char *const folders[] = {"home/.local",
                                          "home/.local/lib",
                                          "home/.local/lib/python3.11",
                                          "home/.local/lib/python3.11/site-packages",
                                          "home/.local/lib/python3.11/site-packages/certifi",
                                          "elsewhere/bin",
                                          "modules",
                                          "own",
                                          "own/bin",
                                          "own/lib",
                                          "own/lib/python3.12"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make(folders[i]);
    put("home/.local/lib/python3.11/site-packages/bypip.py", "of = 1");
    put("home/.local/lib/python3.11/site-packages/certifi/cacert.pem", "all trust them");
    put("home/.local/lib/python3.11/site-packages/server.pem", "secret");
    put("modules/bypath.py", "of = 2");
    put("modules.zip", "of = 3");
    program("elsewhere/bin/python3.11", NULL, "libm.so.6");
    leads("elsewhere/bin/python3", "python3.11");
    python_path = "../modules::../modules.zip:/usr/share:../none:tables";
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_true(has("home/.local/lib/python3.11/site-packages/bypip.py", GATHERED_OUTSIDE));
    assert_true(
        has("home/.local/lib/python3.11/site-packages/certifi/cacert.pem", GATHERED_OUTSIDE));
    assert_null(find("home/.local/lib/python3.11/site-packages/server.pem"));
    assert_true(has("modules/bypath.py", GATHERED_OUTSIDE) && has("modules.zip", GATHERED_OUTSIDE));
    assert_true(has("tables/a.bin", GATHERED_FILE) && !has("tables/none", GATHERED_FILE));
    assert_true(got.python_path && got.holder[0] == '\0');
    assert_non_null(strstr(got.python_base, "/home/.local"));
    assert_int_equal(collect(job, "in.dat", 4, words), 0);
    assert_null(find("modules/bypath.py"));
    assert_non_null(strstr(got.large, "/site-packages"));
    assert_true(got.python_base[0] == '\0');
    assert_int_equal(collect(job, "in.dat", LIMIT, other), 0);
    assert_null(find("modules/bypath.py"));
    assert_false(got.python_path);
    python_path = "..";
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_string_equal(got.holder, top);
    assert_null(find("modules/bypath.py"));
    python_path = NULL;
    program("own/bin/python3.12", NULL, "libm.so.6");
    put("own/lib/python3.12/os.py", "");
    words[0] = "../own/bin/python3.12";
    assert_int_equal(collect(job, "in.dat", LIMIT, words), 0);
    assert_true(has("own/lib/python3.12/os.py", GATHERED_OUTSIDE));
}

static void test_ignore(void **state)
{
    (void)state;
    char *words[] = {"./app", "tables/b.txt", NULL};
    put("job/.p2pignore", "*.txt\ntables/deep/\n");
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_true(has("tables/b.txt", GATHERED_FILE)); /* it is named */
    assert_null(find("tables/deep"));
    words[1] = NULL;
    assert_int_equal(collect(job, NULL, LIMIT, words), 0);
    assert_null(find("tables/b.txt"));
    char path[128];
    snprintf(path, sizeof path, "%s/.p2pignore", job);
    unlink(path);
}

static void test_names(void **state)
{
    (void)state;
    char out[64];
    const char *const folders[] = {"/a/b/c", "/a/b/d/e", "/a/bb"};
    assert_true(gather_normal("/a/b", "../c/./d//e", out, sizeof out));
    assert_string_equal(out, "/a/c/d/e");
    assert_true(gather_normal("/a", "/x/../../y/", out, sizeof out));
    assert_string_equal(out, "/y");
    assert_true(gather_normal("/", "..", out, sizeof out));
    assert_string_equal(out, "/");
    assert_false(gather_normal("/a", "long", out, 4));
    gather_common(folders, 1, out, sizeof out);
    assert_string_equal(out, "/a/b/c");
    gather_common(folders, 2, out, sizeof out);
    assert_string_equal(out, "/a/b");
    gather_common(folders, 3, out, sizeof out);
    assert_string_equal(out, "/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_folder),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_home),
        cmocka_unit_test(test_programs_elsewhere),
        cmocka_unit_test(test_folders_elsewhere),
        cmocka_unit_test(test_hidden_environments),
        cmocka_unit_test(test_modules_elsewhere),
        cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_names),
    };
    int rc = cmocka_run_group_tests(tests, set_up, clean_up);
    gathering_clear(&got);
    return rc;
}
