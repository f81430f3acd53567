/* SPDX-License-Identifier: BSD-3-Clause */
/* silent_ompi4.c -- mpirun tells whose host is lost: it hears from all hosts all the time, while a
 * connection of ours to one that is silent takes seconds to be sure, and only when there is
 * something to send.
 *
 * The news comes as a PMIx event, in a thread of PMIx; it is noted here, and taken in the next
 * poll. */
#include "glue.h"
#include "opal/mca/pmix/pmix.h"

struct silent {
    opal_list_t codes, directives; /* PMIx reads them when it likes */
    size_t handler;
    atomic_bool registered, news;
    atomic_bool gone[]; /* by process */
};

/* The source of an event that came before we asked is ourselves (notify_orte4.c). */
static const opal_process_name_t *silent_affected(opal_list_t *info)
{
    const opal_value_t *v;
    if (info == NULL)
        return NULL;
    OPAL_LIST_FOREACH(v, info, opal_value_t)
    {
        if (v->type == OPAL_NAME && strcmp(v->key, OPAL_PMIX_EVENT_AFFECTED_PROC) == 0)
            return &v->data.name;
    }
    return NULL;
}

static void silent_on_event(int status, const opal_process_name_t *source, opal_list_t *info,
                            opal_list_t *results, opal_pmix_notification_complete_fn_t done,
                            void *arg)
{
    (void)status, (void)source, (void)results;
    struct silent *s = replica.silent;
    const opal_process_name_t *who = silent_affected(info);
    if (who != NULL && who->jobid == OMPI_PROC_MY_NAME->jobid &&
        who->vpid < (opal_vpid_t)replica.process_count) {
        s->gone[who->vpid] = true;
        s->news = true;
    }
    if (done != NULL) /* no other handler is to hear it */
        done(OPAL_ERR_HANDLERS_COMPLETE, NULL, NULL, NULL, arg);
}

static void silent_on_answer(int status, size_t handler, void *arg)
{
    struct silent *s = arg;
    s->handler = handler;
    s->registered = status == OPAL_SUCCESS;
}

static opal_value_t *silent_add_value(opal_list_t *list, const char *key)
{
    opal_value_t *v = OBJ_NEW(opal_value_t);
    v->key = strdup(key);
    opal_list_append(list, &v->super);
    return v;
}

/* Without it all is right too, only later. */
void silent_start(void)
{
    struct silent *s = calloc(1, sizeof *s + (size_t)replica.process_count * sizeof s->gone[0]);
    if (s == NULL || opal_pmix.register_evhandler == NULL) {
        free(s);
        return;
    }
    OBJ_CONSTRUCT(&s->codes, opal_list_t);
    OBJ_CONSTRUCT(&s->directives, opal_list_t);
    opal_value_t *v = silent_add_value(&s->codes, "errorcode");
    v->type = OPAL_INT;
    v->data.integer = OPAL_ERR_PROC_ABORTED;
    v = silent_add_value(&s->directives, OPAL_PMIX_EVENT_HDLR_NAME);
    v->type = OPAL_STRING;
    v->data.string = strdup("p2pgrid-silent");
    replica.silent = s;
    opal_pmix.register_evhandler(&s->codes, &s->directives, silent_on_event, silent_on_answer, s);
}

void silent_take(void)
{
    struct silent *s = replica.silent;
    if (s == NULL || !atomic_load_explicit(&s->news, memory_order_relaxed))
        return;
    s->news = false;
    for (int i = 0; i < replica.process_count; i++)
        if (atomic_exchange(&s->gone[i], false))
            engine_declare(replica.engine, replica.replica_of[i], "its host is lost");
}

/* The memory stays, since PMIx may be about to use it, and so does this code (local.mk). */
void silent_stop(void)
{
    struct silent *s = replica.silent;
    if (s != NULL && s->registered)
        opal_pmix.deregister_evhandler(s->handler, NULL, NULL);
}
