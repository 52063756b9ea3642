/* Where the run.* keys that the user did not give get their values from: tuned results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/settings.h"
#include "cpu/threads.h"
#include "io/cache.h"
#include "solver/solver_impl.h"

static void find_for(const strake_solver *solver, strake_part *part)
{
    strake_tuned_key key;
    strake_tuned_key_make(solver->team.list.cl, part->device, solver->which->problem->name,
                          solver->which->precision, solver->kind->variant(solver->domain), &key);
    strake_tuned_find(solver->tuned, &key, &part->tuned);
}

/* Without tuned settings programs of devices are still read from the usual folder. */
static void tell_cache(const strake_solver *solver)
{
    bool devices = false;
    for (int e = 0; e < solver->team.parts; e++) {
        devices = devices || solver->team.part[e].ops->has_driver;
    }
    char *const folder = devices ? strake_cache_folder() : NULL;
    strake_cache_tell(folder, solver->team.notices.line, solver->team.notices.user);
    free(folder);
}

strake_status strake_solver_tune(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    solver->settings = solver->which->run;
    for (int e = 0; e < solver->team.parts; e++) {
        solver->team.part[e].tuned = (strake_tuned_use){.level = STRAKE_TUNED_OFF};
    }
    if (!solver->which->run.tuned || !solver->team.part[0].ops->is_tuned) {
        tell_cache(solver);
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_tuned_load(solver->cache, solver->team.notices.line,
                                 solver->team.notices.user, &solver->tuned, error));
    for (int e = 0; e < solver->team.parts; e++) {
        find_for(solver, &solver->team.part[e]);
    }
    /* Steps per sweep and threads bind the whole team: no one part's best is the team's. */
    if (solver->team.parts == 1) {
        strake_tuned_apply(&solver->team.part[0].tuned, solver->domain->n, &solver->settings);
    }
    if (!solver->team.threads_chosen && solver->settings.threads > 0 &&
        solver->settings.threads <= strake_threads_limit() &&
        strake_ranks_sharing(solver->domain->ranks) == 1) {
        solver->team.most_threads = solver->settings.threads;
        solver->team.threads = solver->team.most_threads;
        solver->team.threads_chosen = true;
    }
cleanup:
    return status;
}

void strake_solver_describe_tuning(const strake_solver *solver, const strake_part *part,
                                   strake_part_report *out)
{
    int64_t n[STRAKE_AXES];
    const char *why = NULL;
    strake_domain_size(solver->domain, part->range, n);
    const strake_tuned_class *const class =
        strake_tuned_serving(&part->tuned, n, &solver->which->run, &why);
    (void)snprintf(out->tuned, sizeof out->tuned, "%s", strake_tuned_level_name(part->tuned.level));
    (void)snprintf(out->tuned_differs, sizeof out->tuned_differs, "%s",
                   why[0] != '\0' ? why : part->tuned.differs);
    if (class != NULL) {
        (void)snprintf(out->tuned_ended, sizeof out->tuned_ended, "%s",
                       strake_tuned_end_word(class->end));
        out->tuned_disturbed = class->disturbed > 0;
        (void)strake_tuned_search_text(class, out->tuned_search, sizeof out->tuned_search);
    }
    for (int axis = 0; class != NULL && axis < STRAKE_AXES; axis++) {
        out->tuned_for[axis] = class->n[axis];
    }
    for (int s = 0; class != NULL && s < class->settings; s++) {
        const size_t used = strlen(out->tuned_settings);
        if (strake_tuned_takes(&solver->which->run, class->setting[s].path)) {
            (void)snprintf(out->tuned_settings + used, sizeof out->tuned_settings - used, "%s%s=%s",
                           used > 0 ? " " : "", class->setting[s].path, class->setting[s].value);
        }
    }
}
