#include "solver/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of strake_cl_fault. */
static const char *const kinds[] = {"fail", "lost", "hang", "slow"};

enum { KINDS = sizeof kinds / sizeof kinds[0], MOST_FACTOR = 1000 };

/* How many entries up to this one, itself included, have its device. */
static int occurrence(const strake_solver *solver, int entry)
{
    int count = 0;
    for (int e = 0; e <= entry; e++) {
        count += solver->entry[e].place == STRAKE_PLACE_OPENCL &&
                 solver->entry[e].device == solver->entry[entry].device;
    }
    return count;
}

static bool is_for(const strake_solver *solver, const strake_injection *injection, int entry)
{
    return solver->entry[entry].place == STRAKE_PLACE_OPENCL &&
           solver->entry[entry].device == injection->device &&
           occurrence(solver, entry) == injection->occurrence;
}

/* A number from 1 to most after a text that must be there. @return whether it is */
static bool take(const char **at, const char *before, int64_t most, int64_t *out)
{
    char *end = NULL;
    const size_t length = strlen(before);
    if (strncmp(*at, before, length) != 0 || (*at)[length] < '0' || (*at)[length] > '9') {
        return false;
    }
    *out = strtoll(*at + length, &end, 10);
    *at = end;
    return *out <= most;
}

/* One word of the list, without its comma. */
static bool parse(const char *at, strake_injection *out)
{
    int64_t device = 0, occurrence_asked = 1, step = 0, factor = 0;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < KINDS; k++) {
        const size_t length = strlen(kinds[k]);
        if (strncmp(at, kinds[k], length) == 0 && at[length] == ':') {
            out->fault = (strake_cl_fault)k;
            at += length;
            break;
        }
    }
    const bool begins = take(&at, ":ocl:", 1000, &device);
    const bool counts = *at != '#' || take(&at, "#", STRAKE_MAX_PLACEMENTS, &occurrence_asked);
    const bool when = take(&at, "@", INT64_MAX - 1, &step);
    if (strncmp(at, "/output", 7) == 0) {
        out->output = true;
        at += 7;
    }
    const bool slow = out->fault == STRAKE_CL_FAULT_SLOW;
    const bool much = slow ? take(&at, "*", MOST_FACTOR, &factor) && factor > 1 : true;
    out->device = (int)device;
    out->occurrence = (int)occurrence_asked;
    out->step = step;
    out->factor = (int)factor;
    return begins && counts && occurrence_asked > 0 && when && step > 0 && much && *at == '\0';
}

strake_status strake_inject_read(strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *text = getenv("STRAKE_INJECT");
    while (text != NULL && *text != '\0') {
        char word[64];
        bool there = false;
        const size_t length = strcspn(text, ",");
        strake_injection *const injection = &solver->injection[solver->injections];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        STRAKE_CHECK(solver->injections < STRAKE_MOST_INJECTIONS && length < sizeof word &&
                         parse(word, injection),
                     error, STRAKE_ERR_USAGE,
                     "STRAKE_INJECT: `%s`: expected fail|lost|hang|slow:ocl:N[#K]@STEP[/output], "
                     "with *FACTOR for slow, at most %d of them",
                     word, STRAKE_MOST_INJECTIONS);
        for (int e = 0; e < solver->entries; e++) {
            there = there || is_for(solver, injection, e);
        }
        STRAKE_CHECK(there, error, STRAKE_ERR_USAGE,
                     "STRAKE_INJECT: `%s`: this run has no such device; name one of --on", word);
        solver->injections++;
        text += length + (text[length] == ',' ? 1 : 0);
    }
cleanup:
    return status;
}

strake_status strake_inject(strake_solver *solver, int entry, int64_t step, bool output,
                            strake_error *error)
{
    for (int k = 0; k < solver->injections; k++) {
        strake_injection *const injection = &solver->injection[k];
        if (!injection->fired && injection->output == output && injection->step <= step &&
            is_for(solver, injection, entry)) {
            injection->fired = true;
            return strake_cl_stripe_break(solver->entry[entry].stripe, injection->fault,
                                          injection->factor, error);
        }
    }
    return STRAKE_OK;
}

strake_status strake_inject_again(strake_solver *solver, int entry, strake_error *error)
{
    for (int k = 0; k < solver->injections; k++) {
        const strake_injection *const injection = &solver->injection[k];
        if (injection->fired && injection->fault == STRAKE_CL_FAULT_SLOW &&
            is_for(solver, injection, entry)) {
            return strake_cl_stripe_break(solver->entry[entry].stripe, injection->fault,
                                          injection->factor, error);
        }
    }
    return STRAKE_OK;
}
