/* SPDX-License-Identifier: BSD-3-Clause */
/* output_orte4.c -- what the ranks wrote, each once, to where the user wants it: mpirun's own
 * output, with tags or not, and one file a rank. */
#include "iof_replica.h"
#include "opal/util/os_dirpath.h"
#include "orte/constants.h"
#include "orte/util/attr.h"
#include "src/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A lane this far ahead of the one that is shown is shown instead. */
enum { KEEP_MOST = 4 << 20 };
/* How often to look whether a leader is stuck: what it keeps back waits for two looks at most. */
enum { LOOK_MS = 500 };
/* Of one call of ORTE's writer; escaping for XML makes seven bytes of one, of 8192 that it has room
 * for. */
enum { PIECE = 1024, LINE_MOST = ORTE_IOF_BASE_MSG_MAX };

struct outlet {
    orte_process_name_t name; /* job and rank, not vpid: what tags show */
    orte_iof_tag_t stream;
    struct output_merge *merge; /* NULL: there is one lane */
    uint64_t blamed;            /* bit k: lane k failed by itself */
    unsigned leader;            /* the lane that was shown when last looked */
    int file;                   /* -1: none */
    bool quiet;                 /* only the file gets it */
    size_t used;
    char line[LINE_MOST]; /* with tags: a line that has not ended yet */
};

static struct iof_replica_component *const self = &mca_iof_replica_component;

static bool has_tags(void)
{
    return orte_tag_output || orte_timestamp_output || orte_xml_output;
}

static void outlet_print(const struct outlet *o, const char *bytes, size_t count)
{
    orte_iof_sink_t *sink = o->stream == ORTE_IOF_STDOUT || orte_xml_output
                                ? orte_iof_base.iof_write_stdout
                                : orte_iof_base.iof_write_stderr;
    while (count > 0) {
        size_t n = count < PIECE ? count : PIECE;
        (void)orte_iof_base_write_output(&o->name, o->stream, (const unsigned char *)bytes, (int)n,
                                         sink->wev);
        bytes += n;
        count -= n;
    }
}

/* ORTE puts a tag before every piece that it is given: so with tags it is given whole lines. */
static void outlet_print_lines(struct outlet *o, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        o->line[o->used++] = bytes[i];
        if (bytes[i] == '\n' || o->used == sizeof o->line) {
            outlet_print(o, o->line, o->used);
            o->used = 0;
        }
    }
}

static void outlet_write_file(struct outlet *o, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(o->file, bytes, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            log_line("the output of rank %lu cannot be written to its file any more: %s",
                     (unsigned long)o->name.vpid, strerror(errno));
            close(o->file);
            o->file = -1;
            return;
        }
        bytes += n;
        count -= (size_t)n;
    }
}

static void outlet_show(void *context, const void *bytes, size_t count)
{
    struct outlet *o = context;
    if (o->file >= 0)
        outlet_write_file(o, bytes, count);
    survive_printed(bytes, count);
    if (o->quiet || self->only_output)
        return;
    if (has_tags())
        outlet_print_lines(o, bytes, count);
    else
        outlet_print(o, bytes, count);
}

static struct outlet *outlet_of(unsigned rank, bool is_stderr)
{
    return &self->output.outlets[2 * rank + is_stderr];
}

/* Which lane is shown may change with everything that happens to one of them. */
static void outlet_trace_leader(struct outlet *o)
{
    const unsigned leader = output_merge_leader(o->merge);
    if (leader != o->leader)
        log_trace(self->verbose, 2, (int)o->name.vpid, (int)leader, NULL,
                  "its %s is what is shown now",
                  o->stream == ORTE_IOF_STDOUT ? "output" : "error output");
    o->leader = leader;
}

/* "from byte 7 on", or what is known of where it begins. */
static void where_it_begins(const struct output_merge_difference *d, char text[64])
{
    const unsigned long long first = d->from, last = d->before - 1;
    if (first == last)
        snprintf(text, 64, "from byte %llu on", first);
    else
        snprintf(text, 64, "from one of the bytes %llu to %llu on", first, last);
}

static void outlet_tell_difference(const struct outlet *o, const struct output_merge_difference *d)
{
    enum { MOST = 4 }; /* a program whose ranks all print their pids says enough by that */
    const unsigned told = self->output.told++, leader = output_merge_leader(o->merge);
    char where[64];
    where_it_begins(d, where);
    if (told < MOST)
        log_line("rank %lu writes other %s in lane %u than in lane %u, %s; that of lane %u is "
                 "shown%s%s",
                 (unsigned long)o->name.vpid, o->stream == ORTE_IOF_STDOUT ? "output" : "errors",
                 d->lane, d->shown, where, leader < self->output.lanes ? leader : d->shown,
                 survive_explain_lane(),
                 told == 0 ? ": it prints what differs between copies, as a pid, an address or a "
                             "cycle counter does; if its result depends on that, run it at level 1"
                           : "");
    else if (told == MOST)
        log_line("more ranks write other output in one lane than in another: no more of this is "
                 "told");
}

static void outlet_tell_differences(struct outlet *o)
{
    outlet_trace_leader(o);
    struct output_merge_difference d;
    while (output_merge_differs(o->merge, &d))
        outlet_tell_difference(o, &d);
}

bool output_quiet(const orte_process_name_t *from, orte_iof_tag_t stream)
{
    unsigned rank, lane;
    return output_has(from->jobid) && survive_place(from, self->output.ranks, &rank, &lane) &&
           outlet_of(rank, (stream & ORTE_IOF_STDOUT) == 0)->quiet;
}

bool output_has(orte_jobid_t job)
{
    return self->output.outlets != NULL && job == self->output.job;
}

bool output_take(const orte_process_name_t *from, orte_iof_tag_t stream, const void *bytes,
                 size_t count)
{
    unsigned rank, lane;
    if (!output_has(from->jobid) || !survive_place(from, self->output.ranks, &rank, &lane))
        return false;
    struct outlet *o = outlet_of(rank, (stream & ORTE_IOF_STDOUT) == 0);
    if (o->merge == NULL) {
        outlet_show(o, bytes, count);
        return true;
    }
    if (output_merge_add(o->merge, lane, bytes, count) != 0)
        log_line("no memory to keep the output of rank %u", rank);
    outlet_tell_differences(o);
    return true;
}

void iof_replica_lose(unsigned rank, unsigned lane)
{
    if (self->output.outlets == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        output_merge_lose(outlet_of(rank, i)->merge, lane);
        outlet_tell_differences(outlet_of(rank, i));
    }
    if (rank == 0)
        input_lose(lane);
}

void iof_replica_finish(unsigned rank, unsigned lane)
{
    if (self->output.outlets == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        output_merge_finish(outlet_of(rank, i)->merge, lane);
        outlet_tell_differences(outlet_of(rank, i));
    }
    if (rank == 0)
        input_lose(lane);
}

void iof_replica_blame(unsigned rank, unsigned lane)
{
    for (int i = 0; self->output.outlets != NULL && i < 2; i++)
        outlet_of(rank, i)->blamed |= UINT64_C(1) << lane;
}

/* Lanes that fail alike, say the same: once is enough. */
static void outlet_tell_last_words(struct outlet *o)
{
    char words[OUTPUT_MERGE_LAST_WORDS], before[OUTPUT_MERGE_LAST_WORDS];
    size_t told = 0;
    for (unsigned lane = 0; lane < self->output.lanes; lane++) {
        const size_t count =
            (o->blamed >> lane & 1) != 0 ? output_merge_last_words(o->merge, lane, words) : 0;
        if (count == 0 || (count == told && memcmp(words, before, count) == 0))
            continue;
        log_line("rank %lu wrote in lane %u, which failed, other last words than are shown; they "
                 "say why%s:",
                 (unsigned long)o->name.vpid, lane, survive_explain_lane());
        outlet_show(o, words, count);
        if (words[count - 1] != '\n')
            outlet_show(o, "\n", 1);
        memcpy(before, words, told = count);
    }
}

void iof_replica_reveal(void)
{
    const bool wanted =
        !self->output.revealed && self->output.outlets != NULL && !self->only_output;
    self->output.revealed = true;
    for (unsigned i = 0; wanted && i < 2 * self->output.ranks; i++) {
        output_merge_reveal(self->output.outlets[i].merge);
        outlet_tell_last_words(&self->output.outlets[i]);
    }
}

void output_end(void)
{
    for (unsigned i = 0; self->output.outlets != NULL && i < 2 * self->output.ranks; i++) {
        struct outlet *o = &self->output.outlets[i];
        outlet_print(o, o->line, o->used);
        o->used = 0;
    }
}

static void output_look_again(void)
{
    struct timeval t = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000};
    opal_event_evtimer_add(&self->output.look, &t);
}

static void output_on_look(int fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    for (unsigned i = 0; i < 2 * self->output.ranks; i++)
        output_merge_check(self->output.outlets[i].merge);
    output_look_again();
}

void output_free(void)
{
    if (self->output.looking)
        opal_event_evtimer_del(&self->output.look);
    self->output.looking = false;
    for (unsigned i = 0; self->output.outlets != NULL && i < 2 * self->output.ranks; i++) {
        output_merge_free(self->output.outlets[i].merge);
        if (self->output.outlets[i].file >= 0)
            close(self->output.outlets[i].file);
    }
    free(self->output.outlets);
    self->output.outlets = NULL;
}

/* ---- files ---- */

/* --output-filename DIR[:nojobid,nocopy] */
struct file_option {
    char *dir;
    bool job_in_path, quiet, merged;
};

static void file_option_read(struct file_option *w, char *text)
{
    char *save = NULL, *options = strchr(text, ':');
    w->dir = text;
    w->job_in_path = true;
    if (options == NULL)
        return;
    *options++ = '\0';
    for (char *o = strtok_r(options, ",", &save); o != NULL; o = strtok_r(NULL, ",", &save))
        if (strcasecmp(o, "nojobid") == 0)
            w->job_in_path = false;
        else if (strcasecmp(o, "nocopy") == 0)
            w->quiet = true;
}

static int outlet_open_file(struct outlet *o, const struct file_option *w, struct err *e)
{
    char dir[PATH_MAX], path[PATH_MAX], job[32] = "";
    int digits = 1;
    for (unsigned n = self->output.ranks / 10; n > 0; n /= 10)
        digits++;
    if (w->job_in_path)
        snprintf(job, sizeof job, "%d/", (int)ORTE_LOCAL_JOBID(o->name.jobid));
    int n = snprintf(dir, sizeof dir, "%s/%srank.%0*lu", w->dir, job, digits,
                     (unsigned long)o->name.vpid);
    int m = snprintf(path, sizeof path, "%s/%s", dir,
                     o->stream == ORTE_IOF_STDOUT || w->merged ? "stdout" : "stderr");
    if (n >= (int)sizeof dir || m >= (int)sizeof path)
        return err_set(e, ENAMETOOLONG, "--output-filename %s: the name is too long", w->dir);
    if (opal_os_dirpath_create(dir, S_IRWXU | S_IRGRP | S_IXGRP) != OPAL_SUCCESS)
        return err_set(e, errno != 0 ? errno : EIO,
                       "--output-filename: the folder %s cannot be made", dir);
    int flags =
        O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC | (o->stream == ORTE_IOF_STDOUT ? O_TRUNC : 0);
    o->file = open(path, w->merged ? flags : flags | O_TRUNC, 0644);
    if (o->file < 0)
        return err_set(e, errno, "--output-filename: %s: %s", path, strerror(errno));
    o->quiet = w->quiet;
    return 0;
}

/* The orteds are not told of the option: their files would be on the peers, and one for each lane.
 */
static int output_open_files(orte_job_t *job, struct err *e)
{
    struct file_option w = {0};
    char *text = NULL;
    if (!orte_get_attribute(&job->attributes, ORTE_JOB_OUTPUT_TO_FILE, (void **)&text,
                            OPAL_STRING) ||
        text == NULL)
        return 0;
    orte_remove_attribute(&job->attributes, ORTE_JOB_OUTPUT_TO_FILE);
    file_option_read(&w, text);
    w.merged = orte_get_attribute(&job->attributes, ORTE_JOB_MERGE_STDERR_STDOUT, NULL, OPAL_BOOL);
    int code = 0;
    for (unsigned i = 0; code == 0 && i < 2 * self->output.ranks; i++)
        code = outlet_open_file(&self->output.outlets[i], &w, e);
    free(text);
    return code;
}

int iof_replica_begin(orte_job_t *job, unsigned ranks, unsigned lanes, struct err *e)
{
    if (self->stock == NULL && lanes == 1)
        return 0;
    if (self->stock == NULL)
        return err_set(e, ENOENT, "iof_replica was not selected: --mca iof must not name another");
    self->output.job = job->jobid;
    self->output.ranks = ranks;
    self->output.lanes = lanes;
    self->output.outlets = calloc(2 * ranks, sizeof *self->output.outlets);
    if (self->output.outlets == NULL)
        return err_set(e, ENOMEM, "no memory");
    for (unsigned i = 0; i < 2 * ranks; i++) {
        struct outlet *o = &self->output.outlets[i];
        o->name.jobid = job->jobid;
        o->name.vpid = i / 2;
        o->stream = i % 2 == 0 ? ORTE_IOF_STDOUT : ORTE_IOF_STDERR;
        o->file = -1;
        o->merge = lanes > 1 ? output_merge_new(lanes, KEEP_MOST, outlet_show, o) : NULL;
        if (lanes > 1 && o->merge == NULL)
            return err_set(e, ENOMEM, "no memory");
    }
    opal_event_evtimer_set(orte_event_base, &self->output.look, output_on_look, NULL);
    opal_event_set_priority(&self->output.look, ORTE_MSG_PRI);
    self->output.looking = lanes > 1;
    if (self->output.looking)
        output_look_again();
    return output_open_files(job, e);
}
