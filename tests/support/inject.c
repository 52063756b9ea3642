/**
 * @file inject.c
 * What makes a run fail on purpose, as $STRAKE_INJECT says: devices fail, hang, get lost or become slow at a step,
 * the CPU stripe becomes slow, or a rank dies. What waits and recovers cannot tell it from real failures. A
 * comma-separated list of
 *
 *     KIND:[RANK:]ocl:N[#K]@STEP[/output][*FACTOR]
 *     slow:[RANK:]cpu@STEP*FACTOR
 *     die:RANK:move@STEP
 *
 * KIND is fail, lost, hang or slow; RANK the rank whose it is, all of them by default; #K the K-th part of WHERE
 * with this device, the first by default. It happens when the sweep begins that does STEP, or with /output when
 * the states are read back after that step or later; FACTOR, 2 to 1000, goes with slow. A rank dies while slabs
 * move between ranks, once STEP steps are done.
 *
 * The library knows nothing of it: programs of the tests are linked with this file in front of some of its
 * functions (ld --wrap, see INJECTED in the Makefile).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/commons.h"
#include "opencl/cl_blocks.h"
#include "opencl/cl_resident.h"
#include "particles/device.h"
#include "particles/domain.h"
#include "solver/solver_impl.h"

typedef enum fault {
    FAIL, /* kernels and reads fail: CL_OUT_OF_RESOURCES, as after a bad access */
    LOST, /* every call fails with CL_DEVICE_NOT_AVAILABLE */
    HANG, /* commands are taken and never done */
    SLOW, /* kernels are launched several times */
    DIE,  /* a rank ends */
    FAULTS
} fault;

static const char *const names[FAULTS] = {"fail", "lost", "hang", "slow", "die"};

typedef enum victim { DEVICE, CPU, MOVE } victim;

/* One word of the variable. */
typedef struct injection {
    fault fault;
    int rank; /* -1: every one */
    victim victim;
    int device, occurrence;
    int64_t step;
    bool output;
    int factor;
    bool fired;
    strake_cl broken; /* entry points, some of which fail */
} injection;

enum { MOST_INJECTIONS = 8, MOST_FACTOR = 1000 };

/* What is planned for a team, from when its WHERE is resolved until its solver is closed. */
typedef struct plan {
    strake_team *team;
    bool trial; /* its steps count for nothing */
    int count;
    injection list[MOST_INJECTIONS];
    struct plan *next;
} plan;

static plan *plans;

/* Waiting for less [s] takes longer than that. */
static const double least_wait = 2e-4;

/* Times that this thread launches each kernel of a device that is slow. */
static _Thread_local int launches = 1;

/* Seconds that this thread is still to wait. */
static _Thread_local double debt;

/* The library's functions, and what stands in front of them. */
#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

static plan *plan_of(const strake_team *team)
{
    plan *found = plans;
    while (found != NULL && found->team != team) {
        found = found->next;
    }
    return found;
}

/* --- entry points that do nothing but fail ------------------------------------------------------- */

static __typeof__(&clEnqueueNDRangeKernel) real_kernel;

static cl_int CL_API_CALL slow_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, cl_uint count, const cl_event *list,
                                      cl_event *event)
{
    cl_int code = CL_SUCCESS;
    for (int k = 1; k < launches && code == CL_SUCCESS; k++) {
        code = real_kernel(queue, kernel, dims, offset, global, local, count, list, NULL);
    }
    return code == CL_SUCCESS
               ? real_kernel(queue, kernel, dims, offset, global, local, count, list, event)
               : code;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FAILING(name, code, ...)                                                                   \
    static cl_int CL_API_CALL name(__VA_ARGS__)                                                    \
    {                                                                                              \
        return code;                                                                               \
    }
#define KERNEL                                                                                     \
    cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,                  \
        const size_t *global, const size_t *local, cl_uint count, const cl_event *list,            \
        cl_event *event
#define TRANSFER(data)                                                                             \
    cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t size, data host,  \
        cl_uint count, const cl_event *list, cl_event *event

FAILING(no_kernel, CL_OUT_OF_RESOURCES, KERNEL)
FAILING(no_read, CL_OUT_OF_RESOURCES, TRANSFER(void *))
FAILING(lost_kernel, CL_DEVICE_NOT_AVAILABLE, KERNEL)
FAILING(lost_read, CL_DEVICE_NOT_AVAILABLE, TRANSFER(void *))
FAILING(lost_write, CL_DEVICE_NOT_AVAILABLE, TRANSFER(const void *))
FAILING(lost_copy, CL_DEVICE_NOT_AVAILABLE, cl_command_queue queue, cl_mem from, cl_mem to,
        size_t at_from, size_t at_to, size_t size, cl_uint count, const cl_event *list,
        cl_event *event)
FAILING(lost_queue, CL_DEVICE_NOT_AVAILABLE, cl_command_queue queue)
FAILING(lost_marker, CL_DEVICE_NOT_AVAILABLE, cl_command_queue queue, cl_uint count,
        const cl_event *list, cl_event *event)
FAILING(lost_info, CL_DEVICE_NOT_AVAILABLE, cl_event event, cl_uint name, size_t size, void *value,
        size_t *size_out)

#pragma GCC diagnostic pop

/* --- breaking a stripe --------------------------------------------------------------------------- */

static void replace(fault kind, strake_cl *cl)
{
    cl->clEnqueueNDRangeKernel = kind == SLOW   ? slow_kernel
                                 : kind == FAIL ? no_kernel
                                                : lost_kernel;
    if (kind == FAIL) {
        cl->clEnqueueReadBuffer = no_read;
    } else if (kind == LOST) {
        cl->clEnqueueReadBuffer = lost_read;
        cl->clEnqueueWriteBuffer = lost_write;
        cl->clEnqueueCopyBuffer = lost_copy;
        cl->clEnqueueMarkerWithWaitList = lost_marker;
        cl->clEnqueueBarrierWithWaitList = lost_marker;
        cl->clFlush = lost_queue;
        cl->clFinish = lost_queue;
        cl->clGetEventInfo = lost_info;
        cl->clGetEventProfilingInfo = lost_info;
    }
}

/* Everything enqueued from now on waits for an event that never comes. */
static strake_status stall_queue(const strake_cl_kernels *kernels, cl_command_queue queue,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_int code = CL_SUCCESS;
    const cl_event never = kernels->cl->clCreateUserEvent(kernels->context, &code);
    STRAKE_CL("clCreateUserEvent", code, error, kernels->device);
    STRAKE_CL("clEnqueueBarrierWithWaitList",
              kernels->cl->clEnqueueBarrierWithWaitList(queue, 1, &never, NULL), error,
              kernels->device);
cleanup:
    return status;
}

static strake_status stall(const strake_cl_stripe *stripe, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl_resident *const resident = stripe->resident;
    const strake_cl_blocks *const blocks = stripe->blocks;
    for (int k = 0; blocks != NULL && k < blocks->streams; k++) {
        STRAKE_TRY(stall_queue(&stripe->kernels, blocks->stream[k].queue, error));
    }
    if (resident != NULL) {
        STRAKE_TRY(stall_queue(&stripe->kernels, resident->queue, error));
        STRAKE_TRY(resident->exchange.overlaps
                       ? stall_queue(&stripe->kernels, resident->exchange.queue, error)
                       : STRAKE_OK);
    }
cleanup:
    return status;
}

/* Of a part of particles. */
static strake_status break_run(strake_sph_device *run, injection *cause, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (cause->fault == HANG) {
        STRAKE_TRY(stall_queue(run->session, run->queue, error));
        STRAKE_TRY(run->transfers != NULL ? stall_queue(run->session, run->transfers, error)
                                          : STRAKE_OK);
        return STRAKE_OK;
    }
    cause->broken = *run->session->cl;
    real_kernel = cause->broken.clEnqueueNDRangeKernel;
    replace(cause->fault, &cause->broken);
    run->session->cl = &cause->broken;
cleanup:
    return status;
}

static strake_status break_part(strake_team *team, int number, injection *cause,
                                strake_error *error)
{
    strake_part *const part = &team->part[number];
    strake_cl_stripe *const stripe = part->body;
    if (part->ops == &strake_particles_opencl) {
        strake_sph_crew *const crew = &strake_particles_of(part->domain)->crew;
        return break_run((strake_sph_device *)crew->member[number].run, cause, error);
    }
    if (cause->fault == HANG) {
        return stall(stripe, error);
    }
    cause->broken = *stripe->kernels.cl;
    if (cause->fault == SLOW) {
        real_kernel = cause->broken.clEnqueueNDRangeKernel;
    }
    replace(cause->fault, &cause->broken);
    stripe->kernels.cl = &cause->broken;
    if (stripe->blocks != NULL) {
        stripe->blocks->pins.cl = &cause->broken;
    } else {
        stripe->resident->exchange.pins.cl = &cause->broken;
    }
    return STRAKE_OK;
}

/* --- the words ----------------------------------------------------------------------------------- */

/* How many parts up to this one, itself included, have its device. */
static int occurrence(const strake_team *team, int part)
{
    int count = 0;
    for (int e = 0; e <= part; e++) {
        count += strake_part_shares_device(&team->part[e], &team->part[part]) ? 1 : 0;
    }
    return count;
}

static bool is_for(const strake_team *team, const injection *it, int part)
{
    const strake_part *its = &team->part[part];
    return it->victim == CPU
               ? its->ops->has_workers
               : it->victim == DEVICE && its->device != NULL && its->number == it->device &&
                     occurrence(team, part) == it->occurrence;
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
static bool parse_victim(const char **at, injection *out)
{
    const bool dies = out->fault == DIE;
    int64_t rank = -1, device = 0, occurrence_asked = 1;
    bool good = !dies;
    if ((*at)[0] == ':' && (*at)[1] >= '0' && (*at)[1] <= '9') {
        good = take(at, ":", STRAKE_MOST_PARTS, &rank);
    }
    if (dies) {
        out->victim = MOVE;
        good = good && strncmp(*at, ":move", 5) == 0;
        *at += good ? 5 : 0;
    } else if (out->fault == SLOW && strncmp(*at, ":cpu", 4) == 0) {
        out->victim = CPU;
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
static bool parse(const char *at, injection *out)
{
    int64_t step = 0, factor = 0;
    memset(out, 0, sizeof *out);
    for (out->fault = FAIL; out->fault < FAULTS; out->fault++) {
        const size_t length = strlen(names[out->fault]);
        if (strncmp(at, names[out->fault], length) == 0 && at[length] == ':') {
            at += length;
            break;
        }
    }
    const bool begins = out->fault < FAULTS && parse_victim(&at, out);
    const bool when = take(&at, "@", INT64_MAX - 1, &step);
    if (strncmp(at, "/output", 7) == 0) {
        out->output = true;
        at += 7;
    }
    const bool much =
        out->fault == SLOW ? take(&at, "*", MOST_FACTOR, &factor) && factor > 1 : true;
    out->step = step;
    out->factor = (int)factor;
    return begins && when && step > 0 && much && *at == '\0' &&
           (out->victim == DEVICE || !out->output);
}

static strake_status read_words(plan *p, const char *text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_team *const team = p->team;
    const int self = strake_ranks_self(team->domain->ranks);
    const int count = strake_ranks_count(team->domain->ranks);
    while (*text != '\0') {
        char word[64];
        const size_t length = strcspn(text, ",");
        injection *const it = &p->list[p->count];
        (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
        STRAKE_CHECK(
            p->count < MOST_INJECTIONS && length < sizeof word && parse(word, it), error,
            STRAKE_ERR_USAGE,
            "STRAKE_INJECT: `%s`: expected fail|lost|hang|slow:[RANK:]ocl:N[#K]@STEP"
            "[/output], slow:[RANK:]cpu@STEP, with *FACTOR for slow, or die:RANK:move@STEP; "
            "at most %d of them",
            word, MOST_INJECTIONS);
        const bool others = it->rank >= 0 && it->rank != self;
        bool there = it->rank < count && (others || it->victim == MOVE);
        for (int e = 0; e < team->parts && !others; e++) {
            there = there || is_for(team, it, e);
        }
        STRAKE_CHECK(there, error, STRAKE_ERR_USAGE,
                     "STRAKE_INJECT: `%s`: this run has no such device; name one of --on", word);
        p->count += others ? 0 : 1;
        text += length + (text[length] == ',' ? 1 : 0);
    }
cleanup:
    return status;
}

/* --- what stands in front of the library --------------------------------------------------------- */

WRAP(strake_status, strake_where_resolve, strake_solver *solver, const char *where,
     strake_where_kind *kind, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const text = getenv("STRAKE_INJECT");
    plan *p = NULL;
    STRAKE_TRY(__real_strake_where_resolve(solver, where, kind, error));
    if (text != NULL) {
        p = calloc(1, sizeof *p);
        STRAKE_CHECK(p != NULL, error, STRAKE_ERR_MEMORY, "out of memory for STRAKE_INJECT");
        p->team = &solver->team;
        p->next = plans;
        plans = p;
        STRAKE_TRY(read_words(p, text, error));
    }
cleanup:
    return status;
}

/* The last call for a team, when its stripes are gone. */
WRAP(void, strake_costs_free, strake_team *team)
{
    for (plan **at = &plans; *at != NULL; at = &(*at)->next) {
        if ((*at)->team == team) {
            plan *const p = *at;
            *at = p->next;
            free(p);
            break;
        }
    }
    __real_strake_costs_free(team);
}

WRAP(strake_status, strake_team_try, strake_team *team, int64_t steps, strake_error *error)
{
    plan *const p = plan_of(team);
    if (p != NULL) {
        p->trial = true;
    }
    const strake_status status = __real_strake_team_try(team, steps, error);
    if (p != NULL) {
        p->trial = false;
    }
    return status;
}

/* Breaks the device of a part if that is due in steps up to @p step. @param[in] output  states are read */
static strake_status fire(plan *p, int part, int64_t step, bool output, strake_error *error)
{
    for (int k = 0; k < p->count; k++) {
        injection *const it = &p->list[k];
        /* Whose it is comes first: other parts' threads write to theirs. */
        if (is_for(p->team, it, part) && !it->fired && it->output == output && it->step <= step) {
            it->fired = true;
            return it->victim == DEVICE ? break_part(p->team, part, it, error) : STRAKE_OK;
        }
    }
    return STRAKE_OK;
}

/* How often each kernel of a part is launched; a stripe that was made anew is as slow as the one before. */
static strake_status slow_down(plan *p, int part, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_part *const its = &p->team->part[part];
    for (int k = 0; k < p->count && status == STRAKE_OK; k++) {
        injection *const it = &p->list[k];
        if (it->victim == DEVICE && is_for(p->team, it, part) && it->fault == SLOW && it->fired) {
            const strake_cl_stripe *const stripe = its->body;
            launches = it->factor;
            status = stripe->kernels.cl->clEnqueueNDRangeKernel == real_kernel
                         ? break_part(p->team, part, it, error)
                         : STRAKE_OK;
        }
    }
    return status;
}

/* Makes @p seconds of work of a worker in steps up to @p step longer. */
static void delay(const plan *p, int part, int64_t step, double seconds)
{
    for (int k = 0; k < p->count; k++) {
        const injection *const it = &p->list[k];
        if (it->victim == CPU && is_for(p->team, it, part) && it->step <= step) {
            debt += seconds * (it->factor - 1);
        }
    }
    if (debt > least_wait) {
        const double start = strake_clock_seconds();
        strake_clock_sleep(debt);
        debt -= strake_clock_seconds() - start;
    }
}

WRAP(strake_status, strake_strips_compute, strake_team *team, strake_role *role, int parity,
     int steps, bool *finite, strake_error *error)
{
    plan *const p = plan_of(team);
    strake_status status = STRAKE_OK;
    if (p == NULL || p->count == 0) {
        return __real_strake_strips_compute(team, role, parity, steps, finite, error);
    }
    const double start = strake_clock_seconds();
    const int64_t step = team->domain->step + atomic_load(&role->done.reached) + steps;
    if (role->worker < 0) {
        STRAKE_TRY(p->trial ? STRAKE_OK : fire(p, role->part, step, false, error));
        STRAKE_TRY(slow_down(p, role->part, error));
    }
    status = __real_strake_strips_compute(team, role, parity, steps, finite, error);
    if (role->worker >= 0 && !p->trial) {
        delay(p, role->part, step, strake_clock_seconds() - start);
    }
cleanup:
    launches = 1;
    return status;
}

WRAP(strake_status, strake_part_store, strake_part *part, int parity, strake_error *error)
{
    for (plan *p = plans; p != NULL && part->body != NULL; p = p->next) {
        if (part >= p->team->part && part < p->team->part + STRAKE_MAX_PARTS) {
            const strake_status status =
                fire(p, (int)(part - p->team->part), part->domain->step, true, error);
            if (status != STRAKE_OK) {
                return status;
            }
        }
    }
    return __real_strake_part_store(part, parity, error);
}

WRAP(strake_status, strake_commons_unmap, strake_rank_group *group, strake_error *error)
{
    const strake_status status = __real_strake_commons_unmap(group, error);
    const plan *const p = plan_of(group->team);
    for (int k = 0; p != NULL && k < p->count; k++) {
        if (p->list[k].victim == MOVE && p->list[k].step <= group->team->domain->step) {
            (void)kill(getpid(), SIGKILL);
        }
    }
    return status;
}
