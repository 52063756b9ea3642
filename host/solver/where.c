#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "case/settings.h"
#include "solver/solver_impl.h"

/* Of a device: the self-test, the filling of arrays, what all problems have in common, and the kernels of a step. */
enum { PROGRAMS = 4 };

/* @param[in] device  number in the list, -1: the processor */
static strake_status add_part(strake_solver *solver, const strake_part_ops *ops, int device,
                              strake_error *error)
{
    if (solver->team.parts == STRAKE_MAX_PARTS) {
        return strake_fail(error, STRAKE_ERR_USAGE, "--on: more than %d entries",
                           (int)STRAKE_MAX_PARTS);
    }
    strake_part *part = &solver->team.part[solver->team.parts++];
    memset(part, 0, sizeof *part);
    part->ops = ops;
    part->domain = solver->domain;
    part->number = device;
    if (device >= 0) {
        part->device = &solver->team.list.device[device];
        (void)snprintf(part->name, sizeof part->name, "%s:%d", ops->word, device);
    } else {
        (void)snprintf(part->name, sizeof part->name, "%s", ops->word);
    }
    return STRAKE_OK;
}

/*
 * Whether a device can take part: it has the precision and its arithmetic is exact. With a reason in
 * why otherwise.
 */
static bool is_eligible(strake_solver *solver, int index, char *why, size_t size)
{
    strake_cl_device *device = &solver->team.list.device[index];
    const strake_precision precision = solver->which->precision;
    strake_error error;
    if (precision == STRAKE_DOUBLE && !device->has_double) {
        (void)snprintf(why, size,
                       "it has no double precision; `precision: single` would run there");
        return false;
    }
    if (device->bit_exact[precision] < 0 &&
        strake_cl_selftest(solver->team.list.cl, device, precision, &error) != STRAKE_OK) {
        (void)snprintf(why, size, "failed: %.300s", error.text);
        return false;
    }
    if (device->bit_exact[precision] != 1) {
        (void)snprintf(why, size,
                       "failed the arithmetic self-test (its results would differ in bits)");
        return false;
    }
    return true;
}

/* Whether GPU number @p gpu of @p gpus is this rank's: those of a machine are dealt out to its ranks. */
static bool is_own_gpu(const strake_solver *solver, int gpu, int gpus)
{
    const int ranks = strake_ranks_local_count(solver->domain->ranks);
    const int self = strake_ranks_local_self(solver->domain->ranks);
    return gpus >= ranks ? gpu % ranks == self : gpu == self % gpus;
}

static int add_gpus(strake_solver *solver, strake_error *error, strake_status *status)
{
    int added = 0;
    const int gpus = strake_cl_list_gpus(&solver->team.list);
    char why[512];
    for (int d = 0; d < gpus; d++) {
        strake_cl_watch_expect(&solver->team.watch, is_own_gpu(solver, d, gpus) ? PROGRAMS : 0);
    }
    for (int d = 0; d < gpus && *status == STRAKE_OK; d++) {
        if (!is_own_gpu(solver, d, gpus)) {
            continue;
        }
        if (is_eligible(solver, d, why, sizeof why)) {
            *status = add_part(solver, solver->kind->opencl, d, error);
            added++;
        } else {
            strake_cl_watch_expect(&solver->team.watch, 1 - PROGRAMS);
            strake_tell(&solver->team.notices, "ocl:%d (%s) is left out: it %s", d,
                        solver->team.list.device[d].name, why);
        }
    }
    return added;
}

/* The word `gpu`: all GPUs. A job that asks for them must not run on something else. */
static strake_status add_gpu_word(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (strake_cl_list_gpus(&solver->team.list) == 0) {
        return strake_cl_list_no_gpu(&solver->team.list, "gpu", error);
    }
    if (add_gpus(solver, error, &status) == 0 && status == STRAKE_OK) {
        char why[512] = "";
        int d = 0;
        for (; !is_own_gpu(solver, d, strake_cl_list_gpus(&solver->team.list)); d++) {
        }
        (void)is_eligible(solver, d, why, sizeof why);
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "--on: `gpu`: none here can be used: gpu:%d (%s): it %s", d,
                           solver->team.list.device[d].name, why);
    }
    return status;
}

static strake_status add_named_device(strake_solver *solver, const char *token, strake_error *error)
{
    int index = -1;
    strake_status status = strake_cl_list_find(&solver->team.list, token, &index, error);
    if (status != STRAKE_OK) {
        return status;
    }
    strake_cl_device *device = &solver->team.list.device[index];
    const strake_precision precision = solver->which->precision;
    if (precision == STRAKE_DOUBLE && !device->has_double) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "--on: `%s`: %s has no double precision; set `precision: single` or name "
            "another device",
            token, device->name);
    }
    if (device->bit_exact[precision] < 0) {
        status = strake_cl_selftest(solver->team.list.cl, device, precision, error);
        if (status != STRAKE_OK) {
            return status;
        }
    }
    if (device->bit_exact[precision] != 1) {
        strake_tell(&solver->team.notices,
                    STRAKE_NOTICE_WARNING
                    "%s (%s) fails the arithmetic self-test: results will agree "
                    "with other devices only to rounding",
                    token, device->name);
    }
    return add_part(solver, solver->kind->opencl, index, error);
}

static strake_status add_token(strake_solver *solver, const char *token, strake_error *error)
{
    static const char *const words[] = {"serial", "cpu",    "ocl:0", "gpu:0",
                                        "gpu",    "hybrid", "auto",  NULL};
    if (strcmp(token, "cpu") == 0) {
        for (int e = 0; e < solver->team.parts; e++) {
            if (strcmp(solver->team.part[e].name, token) == 0) {
                return strake_fail(
                    error, STRAKE_ERR_USAGE,
                    "--on: `cpu` is listed twice; the CPU has one stripe (use --threads "
                    "for its cores)");
            }
        }
        return add_part(solver, solver->kind->cpu, -1, error);
    }
    if (strake_where_is_device(token)) {
        return add_named_device(solver, token, error);
    }
    for (int w = 0; words[w] != NULL; w++) {
        if (strcmp(token, words[w]) == 0) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--on: `%s` must stand alone, not in a list", token);
        }
    }
    const char *near = strake_suggest(token, words);
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "--on: `%s` is no place to run; expected serial, gpu, hybrid, auto, or a list "
        "of cpu, gpu:N and ocl:N%s%s%s",
        token, near != NULL ? " (did you mean `" : "", near != NULL ? near : "",
        near != NULL ? "`?)" : "");
}

/* Tells how many programs a list needs: of a device that is in it twice, those of one. */
static void expect_programs(strake_solver *solver, const char *where)
{
    bool is_listed[STRAKE_MAX_PARTS] = {false};
    char word[16];
    for (const char *at = where; at != NULL;) {
        strake_error ignored;
        int index = -1;
        at += strspn(at, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " ,"), at);
        if (strake_cl_list_find(&solver->team.list, word, &index, &ignored) == STRAKE_OK &&
            index >= 0 && index < STRAKE_MAX_PARTS && !is_listed[index]) {
            is_listed[index] = true;
            strake_cl_watch_expect(&solver->team.watch, PROGRAMS);
        }
        at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL;
    }
}

static strake_status add_list(strake_solver *solver, const char *where, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *copy = strdup(where);
    char *rest = copy;
    STRAKE_CHECK(copy != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    expect_programs(solver, where);
    while (rest != NULL) {
        char *token = strsep(&rest, ",");
        token += strspn(token, " ");
        for (size_t k = strlen(token); k > 0 && token[k - 1] == ' '; k--) {
            token[k - 1] = '\0';
        }
        STRAKE_CHECK(*token != '\0', error, STRAKE_ERR_USAGE,
                     "--on: `%s`: an entry is empty; expected for example cpu,ocl:0", where);
        STRAKE_TRY(add_token(solver, token, error));
    }
cleanup:
    free(copy);
    return status;
}

strake_status strake_where_resolve(strake_solver *solver, const char *where,
                                   strake_where_kind *kind, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *kind = STRAKE_WHERE_LIST;
    solver->team.parts = 0;
    if (strcmp(where, "serial") == 0) {
        return add_part(solver, solver->kind->serial, -1, error);
    }
    if (strcmp(where, "cpu") == 0) {
        return add_part(solver, solver->kind->cpu, -1, error);
    }
    /* The self-test of a device takes as long as many small runs: members of a batch have one list. */
    STRAKE_TRY(solver->team.batch != NULL
                   ? strake_cl_batch_devices(solver->team.batch, &solver->team.list, error)
                   : strake_cl_list_open(&solver->team.list, error));
    strake_cl_list_tell(&solver->team.list, false, solver->team.notices.line,
                        solver->team.notices.user);
    if (solver->team.batch == NULL) {
        strake_cl_watch_list(&solver->team.watch, &solver->team.list);
    }
    if (strcmp(where, "gpu") == 0) {
        STRAKE_TRY(add_gpu_word(solver, error));
    } else if (strcmp(where, "hybrid") == 0 || strcmp(where, "auto") == 0) {
        STRAKE_TRY(add_part(solver, solver->kind->cpu, -1, error));
        const int gpus = add_gpus(solver, error, &status);
        STRAKE_TRY(status);
        if (gpus == 0) {
            strake_tell(&solver->team.notices, "no GPU here: `%s` runs on the CPU alone%s", where,
                        solver->team.list.count > 0 ? "; cpu,ocl:0 adds the OpenCL CPU device"
                                                    : "");
        } else if (strcmp(where, "auto") == 0) {
            *kind = STRAKE_WHERE_AUTO;
        }
    } else {
        STRAKE_TRY(add_list(solver, where, error));
    }
cleanup:
    if (solver->team.batch != NULL) {
        strake_cl_batch_devices_end(solver->team.batch);
    }
    return status;
}

/* "cpu, ocl:0" */
static void list_parts(const strake_solver *solver, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int e = 0; e < solver->team.parts && used + 1 < size; e++) {
        const int more = snprintf(text + used, size - used, "%s%s", e > 0 ? ", " : "",
                                  solver->team.part[e].name);
        used += more > 0 ? (size_t)more : 0;
    }
}

static strake_status bad_split(const strake_solver *solver, const char *text, const char *why,
                               strake_error *error)
{
    char names[256];
    list_parts(solver, names, sizeof names);
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "split `%s`: %s; expected one number >= 0 for each of: %s", text, why,
                       names);
}

strake_status strake_where_weights(const strake_solver *solver, const char *text, double *weight,
                                   strake_error *error)
{
    double sum = 0.0;
    const char *at = text;
    for (int e = 0; e < solver->team.parts; e++) {
        char *end = NULL;
        weight[e] = strake_number_read(at, &end);
        if (end == at) {
            return bad_split(solver, text, *at == '\0' ? "too few weights" : "not a number", error);
        }
        if (!(weight[e] >= 0.0) || weight[e] > 1e15) {
            return bad_split(solver, text, "a weight is negative or too large", error);
        }
        sum += weight[e];
        at = end + strspn(end, " ");
        const bool is_last = e == solver->team.parts - 1;
        if (*at != (is_last ? '\0' : ',')) {
            return bad_split(solver, text,
                             *at == ','    ? "too many weights"
                             : *at == '\0' ? "too few weights"
                                           : "not a list of numbers",
                             error);
        }
        at += is_last ? 0 : 1;
    }
    return sum > 0.0 ? STRAKE_OK : bad_split(solver, text, "all weights are zero", error);
}
