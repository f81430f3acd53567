/* SPDX-License-Identifier: BSD-3-Clause */
/* room_dirs.c -- the folders of a lease, and the variables by which its programs find them. */
#include "room_dirs.h"
#include "environment.h"
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

static int set(char **environment, const char *name, const char *value)
{
    char entry[2 * PATH_MAX];
    snprintf(entry, sizeof entry, "%s=%s", name, value);
    return environment_set(environment, entry);
}

/* Unless the job brings its own. */
static int offer(char **environment, const char *name, const char *value)
{
    const size_t length = strlen(name);
    for (char **v = environment; *v != NULL; v++)
        if (strncmp(*v, name, length) == 0 && (*v)[length] == '=')
            return 0;
    return set(environment, name, value);
}

static int make_temporary(const struct room_dirs *f, char **environment)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tmp", f->folder);
    return mkdir(path, 0700) != 0 ? -errno : set(environment, "TMPDIR", path);
}

static int choose_port(struct room_dirs *f, char **environment)
{
    char text[8];
    int claim; /* stays open as long as the room */
    f->control = ports_pick(&claim);
    if (f->control == 0)
        return 0; /* Open MPI finds one */
    snprintf(text, sizeof text, "%u", f->control);
    int rc = set(environment, "OMPI_MCA_oob_tcp_dynamic_ipv4_ports", text);
    return rc == 0 ? set(environment, "OMPI_MCA_oob_tcp_dynamic_ipv6_ports", text) : rc;
}

/* Programs look for their files at home, and a guest's home is its room. Open MPI finds there what
 * a plain user has installed. */
static int make_home(struct room_dirs *f, char **environment)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.openmpi", f->folder);
    if (mkdir(path, 0700) != 0)
        return -errno;
    strcat(path, "/components");
    if (mkdir(path, 0700) != 0)
        return -errno;
    components_find(&f->components);
    int rc = components_link(&f->components, path);
    return rc == 0 ? set(environment, "HOME", f->folder) : rc;
}

/* Shared memory of ranks belongs into memory, but in a folder of this lease: Open MPI names the
 * files by host, user and job, which two leases of one job on one host have in common. */
static int make_memory(struct room_dirs *f, char **environment)
{
    static const char *const users[] = {"OMPI_MCA_btl_vader_backing_directory",
                                        "OMPI_MCA_osc_sm_backing_directory",
                                        "OMPI_MCA_osc_rdma_backing_directory"};
    snprintf(f->memory, sizeof f->memory, "%s/%s%u-%s", ROOM_MEMORY, ROOM_MEMORY_PREFIX,
             (unsigned)getuid(), strrchr(f->folder, '/') + 1);
    if (sweep_make(f->memory) < 0) {
        snprintf(f->memory, sizeof f->memory, "%.*s/shm", (int)sizeof f->memory - 5, f->folder);
        if (mkdir(f->memory, 0700) != 0)
            return -errno;
    }
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        if (set(environment, users[i], f->memory) != 0)
            return -E2BIG;
    return 0;
}

static int copy(int from, size_t size, const char *to)
{
    off_t at = 0;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = out < 0 ? -errno : sendfile(out, from, &at, size) == (ssize_t)size ? 0 : -EIO;
    if (out >= 0)
        close(out);
    return rc;
}

/* orted and each rank would find out for themselves, twice, what p2pd knows: with four ranks on two
 * cores that takes 60 ms. A copy, since guests may write in their room. hwloc's plug-ins would look
 * for X servers and OpenCL, which are nothing to guests. */
static int describe_machine(const struct room_dirs *f, char **environment)
{
    static const char name[] = "hardware.xml";
    char path[PATH_MAX];
    struct stat st;
    if (fstat(ROOM_HARDWARE, &st) != 0 || st.st_size == 0)
        return 0; /* then they do */
    int rc = copy(ROOM_HARDWARE, (size_t)st.st_size, name);
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    if (rc == 0)
        rc = offer(environment, "OMPI_MCA_hwloc_base_topo_file", path);
    if (rc == 0)
        rc = offer(environment, "PMIX_MCA_pmix_hwloc_topo_file", path);
    return rc != 0 ? rc
                   : offer(environment, "HWLOC_PLUGINS_BLACKLIST",
                           "hwloc_gl,hwloc_opencl,hwloc_xml_libxml");
}

int room_dirs_make(struct room_dirs *f)
{
    int rc = sweep_make(f->folder);
    if (rc < 0) {
        f->folder[0] = '\0';
        return rc;
    }
    return chdir(f->folder) == 0 ? 0 : -errno;
}

int room_dirs_fill(struct room_dirs *f, bool guest, char **environment)
{
    int rc = make_temporary(f, environment);
    if (rc == 0)
        rc = choose_port(f, environment);
    if (rc == 0 && guest)
        rc = make_home(f, environment);
    if (rc == 0)
        rc = describe_machine(f, environment);
    return rc == 0 ? make_memory(f, environment) : rc;
}

int room_dirs_remove(const struct room_dirs *f)
{
    int rc = chdir("/") == 0 ? 0 : -errno;
    if (rc == 0 && f->memory[0] != '\0')
        rc = sweep_remove(f->memory);
    return rc == 0 && f->folder[0] != '\0' ? sweep_remove(f->folder) : rc;
}
