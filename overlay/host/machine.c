/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c -- at the start: what does not change; at each update: memory, disk, load, free slots.
 */
#include "machine.h"
#include "speed.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

struct machine {
    struct part_ad fixed; /* os, arch, libc, ompi, cores, memory, confinement, speed, bandwidth */
    struct part_ad ad;    /* as of the last update */
    uint64_t until;       /* the same: of a pause; it is no part of the ad */
    uint32_t watched, vanished;
    machine_slots_free_fn *slots_free;
    void *ctx;
};

/* The version of the mpirun that jobs of this machine's user start; "" when there is none. */
static void find_ompi(char *out, size_t size)
{
    char line[256];
    out[0] = '\0';
    FILE *f = popen("exec ompi_info --version 2>/dev/null", "re");
    if (f == NULL)
        return;
    static const char before[] = "Open MPI v";
    if (fgets(line, sizeof line, f) != NULL && strncmp(line, before, strlen(before)) == 0) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%.*s", (int)size - 1, line + strlen(before));
    }
    pclose(f);
}

/* That of the fastest interface whose speed is known, in Mbit/s. */
static uint32_t find_bandwidth(void)
{
    uint32_t best = 0;
    DIR *dir = opendir("/sys/class/net");
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[300];
        int mbits;
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", entry->d_name);
        FILE *f = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (f != NULL && fscanf(f, "%d", &mbits) == 1 && mbits > 0 && (uint32_t)mbits > best)
            best = (uint32_t)mbits;
        if (f != NULL)
            fclose(f);
    }
    if (dir != NULL)
        closedir(dir);
    return best;
}

int machine_open(struct machine **out, unsigned cores, struct err *e)
{
    struct utsname uts;
    struct sysinfo info;
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL)
        return err_set(e, ENOMEM, "no memory");
    if (uname(&uts) < 0 || sysinfo(&info) < 0) {
        free(m);
        return err_set(e, errno, "the system does not say what it is: %s", strerror(errno));
    }
    struct part_ad *ad = &m->fixed;
    snprintf(ad->os, sizeof ad->os, "%.*s", (int)sizeof ad->os - 1, uts.sysname);
    for (char *c = ad->os; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(ad->arch, sizeof ad->arch, "%.*s", (int)sizeof ad->arch - 1, uts.machine);
    snprintf(ad->libc, sizeof ad->libc, "glibc %s", gnu_get_libc_version());
    find_ompi(ad->ompi, sizeof ad->ompi);
    ad->cores = (uint16_t)cores;
    ad->memory = (uint64_t)info.totalram * info.mem_unit;
    ad->speed = speed_measure();
    ad->bandwidth = find_bandwidth();
    ad->version = (uint64_t)time(NULL) << 16; /* above whatever this peer said before a restart */
    *out = m;
    return 0;
}

void machine_close(struct machine *m)
{
    free(m);
}

void machine_enforces(struct machine *m, unsigned abilities)
{
    m->fixed.confinement |= abilities;
}

void machine_count_free(struct machine *m, machine_slots_free_fn *slots_free, void *ctx)
{
    m->slots_free = slots_free;
    m->ctx = ctx;
}

void machine_observed(struct machine *m, uint64_t watched_ms, uint32_t vanished)
{
    enum { MS_A_MINUTE = 60000 };
    m->watched = (uint32_t)(watched_ms / MS_A_MINUTE);
    m->vanished = vanished;
}

unsigned machine_cores(const struct machine *m)
{
    return m->fixed.cores;
}

static uint64_t disk_free(const struct settings *s)
{
    struct statvfs fs;
    uint64_t there = 0;
    if (statvfs(s->work, &fs) == 0 || statvfs("/tmp", &fs) == 0)
        there = (uint64_t)fs.f_bavail * fs.f_frsize;
    return s->disk != 0 && s->disk < there ? s->disk : there;
}

static uint32_t load_now(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? (uint32_t)(load * 1000) : 0;
}

static void machine_describe(const struct machine *m, const struct settings *settings,
                             const struct identity_card *card, const struct part_peer *self,
                             struct part_ad *ad, uint64_t *until)
{
    *ad = m->fixed;
    *until = 0;
    ad->peer = *self;
    ad->owner = card->owner;
    strcpy(ad->name, card->name);
    strcpy(ad->site, settings->site);
    ad->labels_count = (uint16_t)settings->label_count;
    for (size_t i = 0; i < settings->label_count; i++)
        strcpy(ad->labels[i].text, settings->labels[i]);
    ad->groups_count = (uint16_t)card->group_count;
    for (size_t i = 0; i < card->group_count; i++)
        strcpy(ad->groups[i].text, card->groups[i]);
    if (settings->memory != 0 && settings->memory < ad->memory)
        ad->memory = settings->memory;
    ad->encrypt = settings->encrypt;
    ad->slots = (uint16_t)(settings->slots != 0 ? settings->slots : m->fixed.cores);
    ad->slots_free =
        m->slots_free != NULL ? (uint16_t)m->slots_free(m->ctx, &ad->closed, until) : ad->slots;
}

/* What drifts all the time is told, but makes no new version. */
static bool machine_has_changed(const struct part_ad *now, const struct part_ad *last)
{
    struct part_ad same = *now;
    same.load = last->load;
    same.disk = last->disk;
    same.watched = last->watched;
    same.vanished = last->vanished;
    same.version = last->version;
    return memcmp(&same, last, sizeof same) != 0;
}

void machine_update(struct machine *m, const struct settings *settings,
                    const struct identity_card *card, const struct part_peer *self)
{
    struct part_ad ad;
    machine_describe(m, settings, card, self, &ad, &m->until);
    ad.version = m->ad.version;
    if (machine_has_changed(&ad, &m->ad))
        ad.version = ++m->fixed.version;
    ad.watched = m->watched;
    ad.vanished = m->vanished;
    ad.load = load_now();
    ad.disk = disk_free(settings);
    m->ad = ad;
}

const struct part_ad *machine_ad(const struct machine *m)
{
    return &m->ad;
}

uint64_t machine_until(const struct machine *m)
{
    return m->until;
}
