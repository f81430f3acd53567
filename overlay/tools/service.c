/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c -- p2pctl service: has the user's systemd start p2pd. */
#include "service.h"
#include "print_json.h"
#include "overlay/base/file.h"
#include "tool.h"
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char unit_name[] = "p2pd.service";
static const char unit_text[] =
#include SERVICE_UNIT
    ;

struct service_order {
    struct tool_options shared;
    const char *verb;
};

static error_t service_parse(int key, char *value, struct argp_state *state)
{
    struct service_order *o = state->input;
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &o->shared;
    else if (key == ARGP_KEY_ARG && o->verb == NULL)
        o->verb = value;
    else if (key == ARGP_KEY_END && o->verb == NULL)
        argp_error(state, "install, remove or status?");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* --- systemctl --user --- */

/* Its exit status; -1: it could not be run. It says itself what it cannot do, unless quiet. */
static int systemctl(bool quiet, const char *verb, const char *option, const char *unit)
{
    char *args[] = {"systemctl",
                    "--user",
                    (char *)verb,
                    (char *)(option != NULL ? option : unit),
                    option != NULL ? (char *)unit : NULL,
                    NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
    if (quiet)
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
    const int rc = posix_spawnp(&pid, "systemctl", &files, NULL, args, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

bool service_is_enabled(void)
{
    return systemctl(true, "is-enabled", NULL, unit_name) == 0;
}

static bool service_is_active(void)
{
    return systemctl(true, "is-active", NULL, unit_name) == 0;
}

bool service_lingers(const char *user)
{
    char command[256], answer[16] = "";
    snprintf(command, sizeof command,
             "loginctl show-user '%.64s' --property=Linger --value 2>/dev/null", user);
    FILE *f = popen(command, "re");
    if (f == NULL)
        return false;
    const bool said = fgets(answer, sizeof answer, f) != NULL;
    pclose(f);
    return said && strcmp(answer, "yes\n") == 0;
}

/* --- the unit --- */

/* Where p2pd is: beside this program. */
static int find_daemon(char out[PATH_MAX], struct err *e)
{
    const ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    char *slash = n > 0 ? (out[n] = '\0', strrchr(out, '/')) : NULL;
    if (slash == NULL)
        return err_set(e, ENOENT, "where p2pctl is cannot be found out");
    *slash = '\0';
    char program[PATH_MAX + 8];
    snprintf(program, sizeof program, "%s/p2pd", out);
    return access(program, X_OK) == 0
               ? 0
               : err_set(e, ENOENT, "there is no p2pd beside p2pctl, in %.300s", out);
}

/* Does the unit at path start the p2pd in bin? */
static bool unit_starts(const char *path, const char *bin)
{
    static const char key[] = "ExecStart=";
    char line[PATH_MAX + 16], wanted[PATH_MAX + 8];
    const char *home = getenv("HOME");
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, key, sizeof key - 1) != 0)
            continue;
        const char *program = line + sizeof key - 1;
        const bool at_home = strncmp(program, "%h/", 3) == 0 && home != NULL;
        snprintf(wanted, sizeof wanted, "%s/p2pd", bin);
        const size_t home_length = at_home ? strlen(home) : 0;
        found = strncmp(wanted, home != NULL ? home : "", home_length) == 0 &&
                strcmp(wanted + home_length, program + (at_home ? 2 : 0)) == 0;
    }
    if (f != NULL)
        fclose(f);
    return found;
}

/* What `make install` or a package has put beside this p2pd, where systemd finds it: an upgrade
 * brings a newer one. */
static bool find_unit(char *path, size_t size, const char *bin)
{
    static const char *const places[] = {"lib", "share"};
    const char *slash = strrchr(bin, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++)
        if (snprintf(path, size, "%.*s/%s/systemd/user/%s", (int)(slash - bin), bin, places[i],
                     unit_name) < (int)size &&
            unit_starts(path, bin))
            return true;
    return false;
}

/* The user's own, which comes before all others. */
static int own_unit(char *path, size_t size, struct err *e)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = 0;
    if (config != NULL && config[0] == '/')
        n = snprintf(path, size, "%s/systemd/user/%s", config, unit_name);
    else if (home != NULL)
        n = snprintf(path, size, "%s/.config/systemd/user/%s", home, unit_name);
    else
        return err_set(e, ENOENT, "HOME is not set");
    return n < (int)size ? 0 : err_set(e, ENAMETOOLONG, "%.200s: too long a path", path);
}

static int write_unit(const char *path, const char *bin, struct err *e)
{
    char folder[PATH_MAX];
    struct file f;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int rc = file_make_folder(folder, e);
    if (rc == 0)
        rc = file_begin(&f, path, 0644, e);
    if (rc != 0)
        return rc;
    static const char mark[] = "@bindir@";
    const char *at = strstr(unit_text, mark);
    fprintf(f.stream, "%.*s%s%s", (int)(at - unit_text), unit_text, bin, at + sizeof mark - 1);
    return file_end(&f, true, e);
}

/* In the folders beside this one, if it is one of these; else the user gets a unit of his own. */
static bool systemd_looks_there(const char *bin)
{
    char at_home[PATH_MAX];
    const char *home = getenv("HOME");
    snprintf(at_home, sizeof at_home, "%s/.local/bin", home != NULL ? home : "");
    return strcmp(bin, "/usr/bin") == 0 || strcmp(bin, "/usr/local/bin") == 0 ||
           strcmp(bin, at_home) == 0;
}

static int place_unit(char *path, size_t size, struct err *e)
{
    char bin[PATH_MAX], own[PATH_MAX];
    int rc = find_daemon(bin, e);
    if (rc == 0)
        rc = own_unit(own, sizeof own, e);
    if (rc != 0)
        return rc;
    if (systemd_looks_there(bin) && find_unit(path, size, bin))
        return unlink(own) == 0 || errno == ENOENT
                   ? 0
                   : err_set(e, errno, "%.300s: %s", own, strerror(errno));
    snprintf(path, size, "%s", own);
    return write_unit(path, bin, e);
}

/* --- the verbs --- */

static int started_by_hand(const struct service_order *o, struct err *e)
{
    struct client *c;
    struct err none = {0};
    if (service_is_active() || client_open(&c, o->shared.socket, &none) != 0)
        return 0;
    client_close(c);
    return err_set(e, EBUSY,
                   "a p2pd that systemd did not start runs already: p2pctl leave, then this again");
}

/* Started is not yet listening: what is typed next may ask it. */
static int service_answers(const struct service_order *o, struct err *e)
{
    enum { TRIES = 100, TRY_NS = 100 * 1000000 };
    struct client *c;
    struct err none = {0};
    for (unsigned i = 0; i < TRIES; i++) {
        if (client_open(&c, o->shared.socket, &none) == 0) {
            client_close(c);
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
    }
    return err_set(
        e, ETIMEDOUT,
        "systemd has started p2pd, but it does not answer: systemctl --user status p2pd");
}

static int service_install(const struct service_order *o, char *path, size_t size, struct err *e)
{
    int rc = started_by_hand(o, e);
    if (rc == 0 && systemctl(true, "daemon-reload", NULL, NULL) != 0)
        rc = err_set(e, EHOSTDOWN,
                     "no systemd manager of this user answers (systemctl --user): log in at the "
                     "desktop or by ssh, not by su; without systemd: p2pd --detach");
    if (rc == 0)
        rc = place_unit(path, size, e);
    if (rc == 0 && (systemctl(true, "daemon-reload", NULL, NULL) != 0 ||
                    systemctl(false, "enable", "--now", unit_name) != 0))
        rc = err_set(e, EIO, "systemd does not start p2pd: systemctl --user status p2pd");
    return rc == 0 ? service_answers(o, e) : rc;
}

static int service_remove(struct err *e)
{
    char path[PATH_MAX];
    if (systemctl(false, "disable", "--now", unit_name) != 0)
        return err_set(e, EIO, "systemd does not end p2pd: systemctl --user status p2pd");
    if (own_unit(path, sizeof path, e) != 0)
        return -e->code;
    if (unlink(path) != 0 && errno != ENOENT)
        return err_set(e, errno, "%.300s: %s", path, strerror(errno));
    (void)systemctl(true, "daemon-reload", NULL, NULL);
    return 0;
}

static void service_say(const struct service_order *o, const char *user, const char *path)
{
    const bool lingers = service_lingers(user), enabled = service_is_enabled();
    if (o->shared.json) {
        tool_print_json(json_pack("{s:b, s:b, s:b, s:s}", "enabled", enabled, "active",
                                  service_is_active(), "lingers", lingers, "unit", path));
        return;
    }
    printf("p2pd %s by systemd, and %s\n", enabled ? "is started" : "is not started",
           service_is_active() ? "runs" : "does not run");
    if (enabled && lingers)
        puts("also after a boot without a login");
    else if (enabled)
        printf("until you log out; to have it run always: loginctl enable-linger\n"
               "(or your administrator: sudo loginctl enable-linger %s)\n",
               user);
}

int tool_service(int argc, char **argv)
{
    static const struct argp_child children[] = {{.argp = &tool_argp}, {0}};
    const struct argp argp = {.parser = service_parse,
                              .children = children,
                              .args_doc = "install|remove|status",
                              .doc = "Has your systemd start p2pd, now and after each boot, with a "
                                     "control group for its jobs; or ends that."};
    struct service_order o = {0};
    struct err e = {0};
    char path[PATH_MAX + 64] = "";
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    const struct passwd *user = getpwuid(geteuid());
    if (strcmp(o.verb, "install") == 0)
        (void)service_install(&o, path, sizeof path, &e);
    else if (strcmp(o.verb, "remove") == 0)
        (void)service_remove(&e);
    else if (strcmp(o.verb, "status") != 0) {
        fprintf(stderr, "p2pctl service: '%s' is none of install, remove, status\n", o.verb);
        return TOOL_USAGE;
    }
    if (e.code != 0)
        return tool_fail(&e);
    service_say(&o, user != NULL ? user->pw_name : "you", path);
    return TOOL_OK;
}
