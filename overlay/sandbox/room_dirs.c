/* SPDX-License-Identifier: BSD-3-Clause */
/* room_dirs.c -- the folders of a lease, and the variables by which its programs find them. */
#include "room_dirs.h"
#include "environment.h"
#include "overlay/base/lane_roots.h"
#include "overlay/base/ports.h"
#include "room.h"
#include "sweep.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int variable_set(char **environment, const char *name, const char *value)
{
    char entry[2 * PATH_MAX];
    snprintf(entry, sizeof entry, "%s=%s", name, value);
    return environment_set(environment, entry);
}

/* Does nothing when the job brings its own. */
static int variable_default(char **environment, const char *name, const char *value)
{
    const size_t length = strlen(name);
    for (char **v = environment; *v != NULL; v++)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
            return 0;
    return variable_set(environment, name, value);
}

static int dirs_make_temporary(const struct room_dirs *d, char **environment)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tmp", d->folder);
    return mkdir(path, 0700) != 0 ? -errno : variable_set(environment, "TMPDIR", path);
}

static int dirs_choose_port(struct room_dirs *d, char **environment)
{
    char text[8];
    int claim; /* stays open as long as the room */
    d->control = ports_pick(&claim);
    if (d->control == 0)
        return 0; /* Open MPI finds one */
    snprintf(text, sizeof text, "%u", d->control);
    int rc = variable_set(environment, "OMPI_MCA_oob_tcp_dynamic_ipv4_ports", text);
    return rc == 0 ? variable_set(environment, "OMPI_MCA_oob_tcp_dynamic_ipv6_ports", text) : rc;
}

/* Programs keep files in the home folder, and a guest's home is its room. Open MPI finds p2pgrid's
 * components there where a plain user has installed them. */
static int dirs_make_home(struct room_dirs *d, char **environment)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.openmpi", d->folder);
    if (mkdir(path, 0700) != 0)
        return -errno;
    strcat(path, "/components");
    if (mkdir(path, 0700) != 0)
        return -errno;
    components_find(&d->components);
    int rc = components_link(&d->components, path);
    return rc == 0 ? variable_set(environment, "HOME", d->folder) : rc;
}

/* Files of shared memory belong on tmpfs, but in a folder of this lease: Open MPI names them by
 * host, user and job, which two leases of one job on one host have in common. */
static int dirs_make_memory(struct room_dirs *d, char **environment)
{
    static const char *const users[] = {"OMPI_MCA_btl_vader_backing_directory",
                                        "OMPI_MCA_osc_sm_backing_directory",
                                        "OMPI_MCA_osc_rdma_backing_directory"};
    snprintf(d->memory, sizeof d->memory, "%s/%s%u-%s", ROOM_MEMORY, ROOM_MEMORY_PREFIX,
             (unsigned)getuid(), strrchr(d->folder, '/') + 1);
    if (sweep_make(d->memory) < 0) {
        snprintf(d->memory, sizeof d->memory, "%.*s/shm", (int)sizeof d->memory - 5, d->folder);
        if (mkdir(d->memory, 0700) != 0)
            return -errno;
    }
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        if (variable_set(environment, users[i], d->memory) != 0)
            return -E2BIG;
    return 0;
}

static int copy_file(int from, size_t size, const char *to)
{
    off_t at = 0;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = out < 0 ? -errno : sendfile(out, from, &at, size) == (ssize_t)size ? 0 : -EIO;
    if (out >= 0)
        close(out);
    return rc;
}

/* Without it orted and each rank would discover the machine themselves, twice: 60 ms with four
 * ranks on two cores. A copy, since guests may write in their room. hwloc's plug-ins would look for
 * X servers and OpenCL, which guests do not use. */
static int dirs_describe_machine(const struct room_dirs *d, char **environment)
{
    static const char name[] = "hardware.xml";
    char path[PATH_MAX];
    struct stat st;
    if (fstat(ROOM_HARDWARE, &st) != 0 || st.st_size == 0)
        return 0;
    int rc = copy_file(ROOM_HARDWARE, (size_t)st.st_size, name);
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    if (rc == 0)
        rc = variable_default(environment, "OMPI_MCA_hwloc_base_topo_file", path);
    if (rc == 0)
        rc = variable_default(environment, "PMIX_MCA_pmix_hwloc_topo_file", path);
    return rc != 0 ? rc
                   : variable_default(environment, "HWLOC_PLUGINS_BLACKLIST",
                                      "hwloc_gl,hwloc_opencl,hwloc_xml_libxml");
}

int room_dirs_make(struct room_dirs *d)
{
    int rc = sweep_make(d->folder);
    if (rc < 0) {
        d->folder[0] = '\0';
        return rc;
    }
    return chdir(d->folder) == 0 ? 0 : -errno;
}

int room_dirs_fill(struct room_dirs *d, bool guest, char **environment)
{
    int rc = dirs_make_temporary(d, environment);
    if (rc == 0)
        rc = dirs_choose_port(d, environment);
    if (rc == 0 && guest)
        rc = dirs_make_home(d, environment);
    if (rc == 0)
        rc = dirs_describe_machine(d, environment);
    return rc == 0 ? dirs_make_memory(d, environment) : rc;
}

/* A guest may have put links where folders were. */
static int open_lane(const struct room_dirs *d, unsigned lane)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/lane-%u", d->folder, lane);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void lane_keep(int lane, int aside, const char *name)
{
    if (mkdirat(aside, name, 0700) != 0)
        return;
    int to = openat(aside, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0)
        return;
    if (renameat(lane, "upper", to, "upper") != 0)
        renameat(lane, "tree", to, "tree");
    close(to);
}

void room_dirs_keep(const struct room_dirs *d)
{
    char path[PATH_MAX], name[16];
    const char *last = strrchr(d->folder, '/') + 1;
    if (strncmp(last, ROOM_PREFIX, sizeof ROOM_PREFIX - 1) != 0)
        return;
    snprintf(path, sizeof path, "%.*s" ROOM_RESULTS "%s", (int)(last - d->folder), d->folder,
             last + sizeof ROOM_PREFIX - 1);
    int aside = -1;
    for (unsigned k = 0; k < LANES_MOST; k++) {
        int lane = open_lane(d, k);
        if (lane < 0)
            break;
        if (aside < 0 && mkdir(path, 0700) == 0)
            aside = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(name, sizeof name, "lane-%u", k);
        if (aside >= 0)
            lane_keep(lane, aside, name);
        close(lane);
    }
    if (aside >= 0)
        close(aside);
}

int room_dirs_remove(struct room_dirs *d)
{
    placeholders_remove(&d->made);
    int rc = chdir("/") == 0 ? 0 : -errno;
    if (rc == 0 && d->memory[0] != '\0')
        rc = sweep_remove(d->memory);
    return rc == 0 && d->folder[0] != '\0' ? sweep_remove(d->folder) : rc;
}
