#include "main/first_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/predict.h"
#include "autotune/tune_case.h"
#include "case/source.h"
#include "io/cache.h"
#include "io/folder.h"
#include "main/interrupt.h"
#include "main/say.h"
#include "main/tuning.h"

/* For all devices together [s]. */
static const double brief_budget = 5.0;

static bool is_unknown(const strake_part_report *part)
{
    return strncmp(part->id, "ocl:", 4) == 0 && part->first < part->end &&
           strcmp(part->tuned, "default") == 0;
}

static bool is_welcome(const strake_arguments *arguments)
{
    char *const folder = strake_cache_folder_or(arguments->cache);
    const bool welcome = !arguments->no_tune && !arguments->quiet && isatty(STDERR_FILENO) != 0 &&
                         folder != NULL && strake_cache_check(folder, NULL) == STRAKE_OK &&
                         strake_folder_check(folder, NULL) == STRAKE_OK;
    free(folder);
    return welcome;
}

/* Whether anything can be tuned for a problem at all. */
static bool has_space(const strake_case *which, const strake_cl_device *device)
{
    const strake_prediction prediction = {.which = which};
    const strake_space_facts facts = strake_facts_of(device, &prediction);
    strake_space *space = NULL;
    if (strake_space_find(which->problem->name, false, &facts, &space, NULL) != STRAKE_OK) {
        return false;
    }
    strake_space_free(&space);
    return true;
}

/* What came out, in one line. */
static void tell_result(const char *where, const strake_problem *problem,
                        const strake_tune_result *result)
{
    const int axes = strake_size_axes(problem);
    const char *const item = problem->has_particles ? "particle" : "cell";
    char grid[STRAKE_GRID_TEXT], settings[900];
    const strake_tuned_class *const class =
        result->record.classes > 0 ? &result->record.class[result->record.classes - 1] : NULL;
    if (class == NULL) {
        strake_say_note("%s: nothing was measured", where);
    } else if (result->in_vain) {
        strake_say_note("%s: the time did not suffice to try anything: the default settings stay "
                        "until `strake tune --on %s`",
                        where, where);
    } else if (class->settings == 0) {
        strake_say_note("%s: of %d configurations on %s %ss the defaults are the fastest", where,
                        class->evaluated, strake_grid_text(axes, class->n, grid), item);
    } else {
        strake_say_note(
            "%s: of %d configurations on %s %ss the fastest has %.2f times the speed "
            "of the defaults: %s",
            where, class->evaluated, strake_grid_text(axes, class->n, grid), item,
            class->fallback / class->seconds,
            strake_settings_text(class->settings, class->setting, settings, sizeof settings));
    }
}

static bool tune_one(const strake_arguments *arguments, const strake_case *which,
                     const strake_part_report *part, const strake_cl_list *list, double budget)
{
    static strake_tune_result result; /* large */
    strake_error error;
    const int d = atoi(part->id + strlen("ocl:"));
    const strake_tuning_request request = {.where = part->id,
                                           .cl = list->cl,
                                           .device = d < list->count ? &list->device[d] : NULL,
                                           .problem = which->problem->name,
                                           .like = which,
                                           .cache = arguments->cache,
                                           .budget = budget};
    if (request.device == NULL || !has_space(which, request.device)) {
        return false;
    }
    strake_say_note("%s (%s) is used for the first time: trying settings for at most %.0f s "
                    "(--no-tune: never; `strake tune` does it thoroughly)",
                    part->id, part->name, budget);
    const strake_status status = strake_tuning_run(&request, &result, &error);
    if (status != STRAKE_OK) {
        strake_say_note("%s stays at the default settings: %s", part->id, error.text);
    }
    if (status == STRAKE_OK) {
        tell_result(part->id, which->problem, &result);
    }
    const bool found = status == STRAKE_OK && result.record.classes > 0;
    strake_tune_end(&result);
    return found;
}

bool strake_first_use(const strake_arguments *arguments, const strake_case *which,
                      const strake_solver *solver)
{
    strake_part_report *const part =
        calloc(STRAKE_MAX_PARTS, sizeof *part); /* larger than some stacks */
    strake_cl_list list = {0};
    int unknown = 0;
    bool found = false;
    if (part == NULL) {
        return false;
    }
    const int count = strake_solver_parts(solver, part, STRAKE_MAX_PARTS);
    for (int k = 0; k < count; k++) {
        unknown += is_unknown(&part[k]) ? 1 : 0;
    }
    if (unknown == 0 || !is_welcome(arguments) || strake_cl_list_open(&list, NULL) != STRAKE_OK) {
        free(part);
        return false;
    }
    for (int k = 0; k < count && !strake_interrupted(); k++) {
        if (is_unknown(&part[k])) {
            found = tune_one(arguments, which, &part[k], &list, brief_budget / unknown) || found;
        }
    }
    strake_cl_list_free(&list);
    free(part);
    return found;
}
