#include "team/inject.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* In the order of strake_cl_fault, and what a rank does. */
static const char *const kinds[] = {"fail", "lost", "hang", "slow", "die"};

enum { KINDS = sizeof kinds / sizeof kinds[0], DIE = KINDS - 1, MOST_FACTOR = 1000 };

/* Waiting for less [s] takes longer than that. */
static const double least_wait = 2e-4;

/* How many parts up to this one, itself included, have its device. */
static int occurrence(const strake_team *team, int part)
{
    int count = 0;
    for (int e = 0; e <= part; e++) {
        count += strake_part_shares_device(&team->part[e], &team->part[part]) ? 1 : 0;
    }
    return count;
}

static bool is_for(const strake_team *team, const strake_injection *injection, int part)
{
    const strake_part *its = &team->part[part];
    return injection->victim == STRAKE_VICTIM_CPU
               ? its->ops->has_workers
               : injection->victim == STRAKE_VICTIM_DEVICE && its->device != NULL &&
                     its->number == injection->device &&
                     occurrence(team, part) == injection->occurrence;
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

/* What breaks, of this rank or all: ":ocl:N[#K]", ":cpu", ":RANK:move". */
static bool parse_victim(const char **at, bool dies, strake_injection *out)
{
    int64_t rank = -1, device = 0, occurrence_asked = 1;
    bool good = !dies;
    if ((*at)[0] == ':' && (*at)[1] >= '0' && (*at)[1] <= '9') {
        good = take(at, ":", STRAKE_MOST_PARTS, &rank);
    }
    if (dies) {
        out->victim = STRAKE_VICTIM_MOVE;
        good = good && strncmp(*at, ":move", 5) == 0;
        *at += good ? 5 : 0;
    } else if (out->fault == STRAKE_CL_FAULT_SLOW && strncmp(*at, ":cpu", 4) == 0) {
        out->victim = STRAKE_VICTIM_CPU;
        *at += 4;
    } else {
        good = good && take(at, ":ocl:", 1000, &device) &&
               (**at != '#' || take(at, "#", STRAKE_MAX_PARTS, &occurrence_asked));
    }
    out->rank = (int)rank;
    out->device = (int)device;
    out->occurrence = (int)occurrence_asked;
    return good && occurrence_asked > 0;
}

/* One word of the list, without its comma. */
static bool parse(const char *at, strake_injection *out)
{
    int64_t step = 0, factor = 0;
    int kind = KINDS;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < KINDS; k++) {
        const size_t length = strlen(kinds[k]);
        if (strncmp(at, kinds[k], length) == 0 && at[length] == ':') {
            kind = k;
            at += length;
            break;
        }
    }
    out->fault = kind < DIE ? (strake_cl_fault)kind : STRAKE_CL_FAULT_LOST;
    const bool begins = kind < KINDS && parse_victim(&at, kind == DIE, out);
    const bool when = take(&at, "@", INT64_MAX - 1, &step);
    if (strncmp(at, "/output", 7) == 0) {
        out->output = true;
        at += 7;
    }
    const bool slow = out->fault == STRAKE_CL_FAULT_SLOW;
    const bool much = slow ? take(&at, "*", MOST_FACTOR, &factor) && factor > 1 : true;
    out->step = step;
    out->factor = (int)factor;
    return begins && when && step > 0 && much && *at == '\0' &&
           (out->victim == STRAKE_VICTIM_DEVICE || !out->output);
}

strake_status strake_inject_read(strake_team *team, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *text = getenv("STRAKE_INJECT");
    const int self = strake_ranks_self(team->domain->ranks);
    const int count = strake_ranks_count(team->domain->ranks);
    while (text != NULL && *text != '\0') {
        char word[64];
        bool there = false;
        const size_t length = strcspn(text, ",");
        strake_injection *const injection = &team->injection[team->injections];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        STRAKE_CHECK(
            team->injections < STRAKE_MOST_INJECTIONS && length < sizeof word &&
                parse(word, injection),
            error, STRAKE_ERR_USAGE,
            "STRAKE_INJECT: `%s`: expected fail|lost|hang|slow:[RANK:]ocl:N[#K]@STEP"
            "[/output], slow:[RANK:]cpu@STEP, with *FACTOR for slow, or die:RANK:move@STEP; "
            "at most %d of them",
            word, STRAKE_MOST_INJECTIONS);
        const bool others = injection->rank >= 0 && injection->rank != self;
        there = injection->rank < count && (others || injection->victim == STRAKE_VICTIM_MOVE);
        for (int e = 0; e < team->parts && !others; e++) {
            there = there || is_for(team, injection, e);
        }
        STRAKE_CHECK(there, error, STRAKE_ERR_USAGE,
                     "STRAKE_INJECT: `%s`: this run has no such device; name one of --on", word);
        team->injections += others ? 0 : 1;
        text += length + (text[length] == ',' ? 1 : 0);
    }
cleanup:
    return status;
}

strake_status strake_inject(strake_team *team, int part, int64_t step, bool output,
                            strake_error *error)
{
    for (int k = 0; k < team->injections; k++) {
        strake_injection *const injection = &team->injection[k];
        /* Whose it is comes first: other parts' threads write to theirs. */
        if (is_for(team, injection, part) && !injection->fired && injection->output == output &&
            injection->step <= step) {
            injection->fired = true;
            return strake_part_fault(&team->part[part], injection->fault, injection->factor, error);
        }
    }
    return STRAKE_OK;
}

strake_status strake_inject_again(strake_team *team, int part, strake_error *error)
{
    for (int k = 0; k < team->injections; k++) {
        const strake_injection *const injection = &team->injection[k];
        if (is_for(team, injection, part) && injection->fired &&
            injection->fault == STRAKE_CL_FAULT_SLOW) {
            return strake_part_fault(&team->part[part], injection->fault, injection->factor, error);
        }
    }
    return STRAKE_OK;
}

void strake_inject_delay(const strake_team *team, strake_role *role, int64_t step, double seconds)
{
    for (int k = 0; k < team->injections; k++) {
        const strake_injection *const injection = &team->injection[k];
        if (injection->victim == STRAKE_VICTIM_CPU && is_for(team, injection, role->part) &&
            injection->step <= step) {
            role->debt += seconds * (injection->factor - 1);
        }
    }
    if (role->debt > least_wait) {
        const double start = strake_clock_seconds();
        strake_clock_sleep(role->debt);
        role->debt -= strake_clock_seconds() - start;
    }
}

void strake_inject_death(const strake_team *team)
{
    for (int k = 0; k < team->injections; k++) {
        const strake_injection *const injection = &team->injection[k];
        if (injection->victim == STRAKE_VICTIM_MOVE && injection->step <= team->domain->step) {
            (void)kill(getpid(), SIGKILL);
        }
    }
}
