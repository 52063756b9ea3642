/*
 * The team of threads that steps a solver: workers of the CPU stripe and one driver per device
 * (Wyrzykowski et al. 2014, figures 4 and 5). Inside a sweep of one or several steps nobody waits for
 * anybody; between two sweeps everybody waits for its neighbours' border slabs in the host arrays.
 */
#include "run/team.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/topology.h"
#include "engine/balance.h"
#include "run/costs.h"
#include "cost/tuned.h"

/* What a user is told of parts that stream through their device. */

/* Stripe number among those that have slabs, from 1, and how many there are. */
static int count_stripes(const strake_team *team, int part, int *number)
{
    int stripes = 0;
    for (int e = 0; e < team->parts; e++) {
        stripes += team->part[e].range.first < team->part[e].range.end ? 1 : 0;
        *number = e == part ? stripes : *number;
    }
    return stripes;
}

static void tell_stripe(const strake_team *team, int e, const strake_part_report *is)
{
    char need[STRAKE_CL_BYTES_TEXT], limit[STRAKE_CL_BYTES_TEXT], taken[STRAKE_CL_BYTES_TEXT];
    char which[128], why[128];
    const strake_part *part = &team->part[e];
    const char *slabs = team->which->problem->dims == 3 ? "plane" : "row";
    int number = 0;
    const int stripes = count_stripes(team, e, &number);
    (void)snprintf(which, sizeof which, "%s: stripe %d of %d (%ss %lld to %lld)", part->name,
                   number, stripes, slabs, (long long)part->range.first,
                   (long long)part->range.end - 1);
    const strake_cl_sizes *const sizes = &is->memory.sizes;
    if (sizes->blocks == 0) {
        strake_tell(&team->notices, "%s fits in the device memory now and no longer streams",
                    which);
        return;
    }
    strake_cl_bytes_text((double)is->memory.resident, need);
    strake_cl_bytes_text((double)is->memory.limit, limit);
    if (is->memory.resident > is->memory.limit) {
        (void)snprintf(why, sizeof why, "would take %s of device memory and may take %s", need,
                       limit);
    } else {
        (void)snprintf(why, sizeof why, "could not have the %s of device memory it needs", need);
    }
    strake_tell(&team->notices,
                "%s %s, so it streams through it: %lld block%s of up to %lld %s%s, %d "
                "step%s a visit, %d stream%s, %s",
                which, why, (long long)sizes->blocks, sizes->blocks > 1 ? "s" : "",
                (long long)sizes->slabs, slabs, sizes->slabs > 1 ? "s" : "", sizes->steps,
                sizes->steps > 1 ? "s" : "", sizes->streams, sizes->streams > 1 ? "s" : "",
                strake_cl_bytes_text((double)is->memory.memory, taken));
}

void strake_notices_streams(strake_team *team)
{
    for (int e = 0; e < team->parts; e++) {
        strake_part *part = &team->part[e];
        strake_part_report is = {0};
        if (!part->ops->has_driver || part->body == NULL || team->which->run.blocks > 0) {
            continue;
        }
        strake_part_describe(part, &is);
        if ((is.memory.sizes.blocks > 0) != part->told) {
            tell_stripe(team, e, &is);
            part->told = !part->told;
        }
    }
}

/* How many threads the CPU stripe has, what each of them computes and on which processors. */

/*
 * Work of a thread for a step, at least, unless the user chose a number: 4,096 cells take 15 to 40
 * microseconds, a hand-over between two threads 0.1 awake and about 10 asleep (virtual machine, Zen 5),
 * so that threads pay even where every one of them sleeps in every step.
 */
enum { CELLS_PER_THREAD = 4096 };

enum {
    LEAST_ACTIVE = 1024, /* cells of a worker for a step, where few are active: these take longer */
    LEAST_COLUMNS = 64,  /* of a worker */
    LEAST_LEVELLED = 8,  /* slabs of a worker on average: fewer are too coarse to follow speeds */
    ROW_COLUMNS = 60     /* the calls for a row take as long as so many columns of it */
};

/* Of all work: workers' shares follow the cells that are computed where so much would move. */
static const double least_move = 0.02;

/* Columns are divided where that saves at least so much, as a ratio of times. */
static const double least_gain = 1.03;

/* As asked, else OMP_NUM_THREADS, else this rank's share of what it and others here may use. */
strake_status strake_workers_choose(strake_team *team, int asked, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int by_environment = strake_threads_asked();
    STRAKE_CHECK(asked >= 0 && asked <= STRAKE_MOST_THREADS, error, STRAKE_ERR_USAGE,
                 "threads: %d; expected 1 to %d, or 0 for the default", asked,
                 (int)STRAKE_MOST_THREADS);
    strake_topology_read(&team->topology);
    if (team->which->run.teams > 0) {
        strake_topology_divide(&team->topology, team->which->run.teams < team->topology.cpus
                                                    ? team->which->run.teams
                                                    : team->topology.cpus);
    }
    team->most_threads = asked > 0                      ? asked
                         : team->which->run.threads > 0 ? team->which->run.threads
                                                        : by_environment;
    team->threads_chosen = team->most_threads > 0;
    if (!team->threads_chosen) {
        const int threads =
            strake_topology_threads(&team->topology) / strake_ranks_sharing(team->domain->ranks);
        team->most_threads = threads > 1 ? threads : 1;
        if (by_environment < 0) {
            strake_tell(&team->notices,
                        "OMP_NUM_THREADS is no number of threads such as 4; the CPU has "
                        "the usable cores, %d",
                        team->most_threads);
        }
    }
    if (team->most_threads > strake_threads_limit()) {
        if (team->threads_chosen) {
            strake_tell(&team->notices, "threads: %d, but OMP_THREAD_LIMIT allows %d: so many run",
                        team->most_threads, strake_threads_limit());
        }
        team->most_threads = strake_threads_limit();
    }
    team->threads = team->most_threads;
cleanup:
    return status;
}

int strake_workers_copying(const strake_team *team)
{
    enum { MOST = 8 };
    return team->most_threads < MOST ? team->most_threads : MOST;
}

/*
 * Cells that a worker computes for slabs and columns of its own, in units of one cell: those around them
 * that every step of a sweep computes again, and what the calls for a row cost, measured as columns.
 */
static double workers_work(const strake_team *team, double slabs, double columns)
{
    const strake_domain *d = team->domain;
    const double steps = strake_team_most_at_once(team);
    const double beside =
        (double)(d->beside[0] + d->beside[1]) / (team->visit > 0 ? (double)team->sweep : 1.0);
    const double again[2] = {0.5 * steps * (double)(d->reach[0] + d->reach[1]),
                             0.5 * steps * beside};
    return (slabs + again[0]) * (columns + again[1] + ROW_COLUMNS);
}

/*
 * Into how many bands the columns of the CPU stripe are divided among its workers: whole rows are best,
 * unless the workers have so few of them that the rows computed twice dominate (a thin stripe beside a
 * device, many threads).
 */
static int column_bands(const strake_team *team, int64_t slabs)
{
    const double n = (double)team->domain->columns;
    int best = 1;
    double least = workers_work(team, ceil((double)slabs / team->threads), n) / least_gain;
    for (int bands = 2; team->domain->is_divisible && bands <= team->threads; bands++) {
        const double rows = ceil((double)slabs * bands / team->threads);
        const double columns = ceil(n / bands);
        if (team->threads % bands == 0 && columns >= LEAST_COLUMNS &&
            workers_work(team, rows, columns) < least) {
            best = bands;
            least = workers_work(team, rows, columns);
        }
    }
    return best;
}

/* Processors that a part takes from the CPU stripe. */
static int cores_of_device(const strake_team *team, int e)
{
    const strake_part *part = &team->part[e];
    if (!part->ops->has_driver || !strake_part_has_slabs(part)) {
        return 0;
    }
    bool is_first = true;
    for (int k = 0; k < e; k++) {
        const strake_part *other = &team->part[k];
        is_first =
            is_first && !(strake_part_shares_device(other, part) && strake_part_has_slabs(other));
    }
    return strake_part_device_cores(part, is_first);
}

/** Threads of the CPU stripe for the ranges of the parts, at least 1. */
static int workers_of_stripe(const strake_team *team)
{
    int threads = team->most_threads;
    for (int e = 0; e < team->parts && !team->threads_chosen; e++) {
        const int cores = cores_of_device(team, e);
        threads -= cores < strake_topology_threads(&team->topology) ? cores : 0;
    }
    for (int e = 0; e < team->parts; e++) {
        const int64_t slabs = team->part[e].range.end - team->part[e].range.first;
        const int64_t cells = slabs * team->domain->lines * team->domain->columns;
        if (!team->part[e].ops->has_workers) {
            continue;
        }
        if (slabs < threads &&
            !(team->domain->is_divisible && team->domain->columns / threads >= LEAST_COLUMNS)) {
            threads = (int)slabs; /* a thread without rows would only wait */
        }
        if (!team->threads_chosen && cells / CELLS_PER_THREAD < threads) {
            threads = (int)(cells / CELLS_PER_THREAD);
        }
    }
    return threads > 1 ? threads : 1;
}

/* The same where slabs differ: shares of the work, among as few rows of workers as have enough to do. */
static int64_t first_of_work(const strake_team *team, strake_range stripe, int64_t rows,
                             int64_t row)
{
    const double all = strake_domain_work(team->domain, stripe);
    const int64_t enough = (int64_t)(all / LEAST_ACTIVE);
    const int64_t used = enough < 1 || rows == 1 ? 1 : enough < rows ? enough : rows;
    double before = 0.0;
    int64_t slab = stripe.first;
    if (row >= used) {
        return stripe.end - stripe.first;
    }
    const double share = used < rows ? (double)row / (double)used
                                     : strake_level_before(&team->level, (int)rows, (int)row);
    while (slab < stripe.end && before < share * all) {
        before += team->domain->work[slab++];
    }
    return slab - stripe.first;
}

/*
 * Slabs of a stripe before those of row @p row of workers: shares by their speeds, less by what computing
 * their borders apart costs those beside a device.
 */
static int64_t first_slab(const strake_team *team, strake_range stripe, int64_t rows, int64_t row)
{
    const strake_domain *d = team->domain;
    const int64_t count = stripe.end - stripe.first;
    const int64_t each = count / rows;
    const int64_t again = strake_team_most_at_once(team) * (d->reach[0] + d->reach[1]) / 2;
    const strake_range low = {stripe.first, stripe.first + each};
    const strake_range high = {stripe.end - each, stripe.end};
    bool first[2], last[2];
    if (row == 0 || row == rows) {
        return row == 0 ? 0 : count;
    }
    if (d->work != NULL) {
        return first_of_work(team, stripe, rows, row);
    }
    (void)strake_strips_are_apart(team, low, first);
    (void)strake_strips_are_apart(team, high, last);
    const int64_t less[2] = {first[0] ? again : 0, last[1] ? again : 0};
    const double share = strake_level_before(&team->level, (int)rows, (int)row);
    const int64_t slabs = (int64_t)((double)(count + less[0] + less[1]) * share) - less[0];
    /* One at least is left to everybody, if there are so many. */
    const int64_t least = count >= rows ? row : 0;
    const int64_t most = count >= rows ? count - (rows - row) : count;
    return slabs < least ? least : slabs > most ? most : slabs;
}

void strake_workers_share(const strake_team *team, strake_range stripe, int worker,
                          strake_range *slabs, strake_range *columns)
{
    const int64_t count = stripe.end - stripe.first;
    const int64_t n = team->domain->columns;
    const int64_t line = team->domain->grain;
    const int bands = column_bands(team, count);
    const int64_t rows = team->threads / bands;
    const int64_t row = worker / bands;
    const int64_t band = worker % bands;
    slabs->first = stripe.first + first_slab(team, stripe, rows, row);
    slabs->end = stripe.first + first_slab(team, stripe, rows, row + 1);
    columns->first = n * band / bands / line * line;
    columns->end = band + 1 == bands ? n : n * (band + 1) / bands / line * line;
}

/* Rows of workers of the CPU stripe, which have slabs of their own, @p slabs together; 0: there are no workers. */
static int rows_of_workers(const strake_team *team, int *bands, int64_t *slabs)
{
    *bands = 1;
    *slabs = 0;
    for (int e = 0; e < team->parts; e++) {
        const strake_range range = team->part[e].range;
        if (team->part[e].ops->has_workers && range.first < range.end) {
            *slabs = range.end - range.first;
            *bands = column_bands(team, *slabs);
            return team->threads / *bands;
        }
    }
    return 0;
}

bool strake_workers_may_level(const strake_team *team)
{
    int bands;
    int64_t slabs;
    const int rows = rows_of_workers(team, &bands, &slabs);
    const bool is_fixed = team->which->run.balance - 1 == STRAKE_BALANCE_FIXED;
    return rows > 1 && slabs >= (int64_t)LEAST_LEVELLED * rows && !is_fixed;
}

void strake_workers_seen(strake_team *team)
{
    int bands;
    int64_t slabs;
    strake_level *const level = &team->level;
    const int rows = rows_of_workers(team, &bands, &slabs);
    if (!strake_workers_may_level(team) ||
        (level->workers != rows && !strake_level_begin(level, rows))) {
        return;
    }
    for (int row = 0; row < rows; row++) {
        double slowest = 0.0;
        for (int r = 0; r < team->roles; r++) {
            const strake_role *role = &team->role[r];
            if (role->worker >= 0 && role->worker / bands == row && role->compute > slowest) {
                slowest = role->compute;
            }
        }
        level->seen[row] += slowest;
    }
}

/* Whether shares of the work as it is now are others than those that the workers have. */
static bool has_moved(const strake_team *team)
{
    const strake_domain *d = team->domain;
    const double all = d->work != NULL ? strake_domain_work(d, d->own) : 0.0;
    for (int r = 0; r < team->roles && d->work != NULL; r++) {
        const strake_role *role = &team->role[r];
        strake_range slabs, columns;
        if (role->worker < 0) {
            continue;
        }
        strake_workers_share(team, team->part[role->part].range, role->worker, &slabs, &columns);
        const bool grows = slabs.first < role->range.first;
        const strake_range both = {grows ? slabs.first : role->range.first,
                                   grows ? role->range.first : slabs.first};
        const double moves = strake_domain_work(d, both);
        if (moves > least_move * all) {
            return true;
        }
    }
    return false;
}

bool strake_workers_level(strake_team *team)
{
    int bands;
    int64_t all;
    const int rows = rows_of_workers(team, &bands, &all);
    if (rows < 2 || !strake_workers_may_level(team) || team->level.workers != rows) {
        return false;
    }
    team->domain->ops->weigh(team->domain);
    int64_t *const slabs = calloc((size_t)rows, sizeof *slabs);
    if (slabs == NULL) {
        return false; /* nobody needs level shares */
    }
    for (int r = 0; r < team->roles; r++) {
        const strake_role *role = &team->role[r];
        if (role->worker >= 0) {
            slabs[role->worker / bands] =
                team->domain->work != NULL ? (int64_t)strake_domain_work(team->domain, role->range)
                                           : role->range.end - role->range.first;
        }
    }
    const bool changes = strake_level_look(&team->level, slabs) || has_moved(team);
    free(slabs);
    return changes;
}

bool strake_workers_are_crowded(const strake_team *team, int more)
{
    int cores = more;
    for (int e = 0; e < team->parts; e++) {
        cores += cores_of_device(team, e);
    }
    for (int r = 0; r < team->roles; r++) {
        cores += team->role[r].worker >= 0 ? 1 : 0;
    }
    return cores * strake_ranks_sharing(team->domain->ranks) >
           strake_topology_threads(&team->topology);
}

void strake_workers_enter(const strake_team *team, int worker, strake_binding *before)
{
    before->is_bound = false;
    if (worker >= 0) {
        strake_topology_bind(&team->topology, worker, team->threads, before);
    }
}

enum {
    OWN_SLABS = 16, /* a worker's own slabs for each one that a sweep computes twice, ... */
    OWN_BESIDE = 8, /* ... or a whole stripe's, where sweeps save exchanges with a device */
    MOST_BYTES =
        2097152 /* of a device's ghost slabs: more take longer than a start-up that is saved */
};

static void unmake_parts(strake_team *team)
{
    for (int e = 0; e < team->parts; e++) {
        strake_part_unmake(&team->part[e]);
    }
}

void strake_team_release(strake_team *team)
{
    for (int r = 0; r < team->roles; r++) {
        free(team->role[r].neighbour);
        strake_bell_close(&team->role[r].done);
        strake_bell_close(&team->role[r].bordered);
    }
    strake_meeting_close(&team->meeting);
    free(team->role);
    team->role = NULL;
    team->roles = 0;
    unmake_parts(team);
}

bool strake_team_may_stream(const strake_team *team)
{
    double memory = 0.0;
    int devices = 0;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *const part = &team->part[e];
        const uint64_t asked = (uint64_t)team->which->run.device_memory;
        if (part->ops->has_driver) {
            devices++;
            memory += (double)strake_cl_usable_memory(part->device, asked);
        }
    }
    return team->parts > 1 && devices > 0 &&
           (team->which->run.blocks > 0 || team->domain->bytes >= memory);
}

/* Threads of a part with slabs. */
static int count_workers(const strake_team *team, const strake_part *part)
{
    return part->ops->has_workers ? team->threads : 1;
}

static int count_roles(const strake_team *team)
{
    int roles = 0;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        roles += strake_part_has_slabs(part) ? count_workers(team, part) : 0;
    }
    return roles;
}

static void assign_roles(strake_team *team)
{
    int next = 0;
    team->domain->ops->weigh(team->domain);
    for (int e = 0; e < team->parts; e++) {
        const strake_part *part = &team->part[e];
        const int workers = strake_part_has_slabs(part) ? count_workers(team, part) : 0;
        for (int w = 0; w < workers; w++) {
            strake_role *role = &team->role[next++];
            role->part = e;
            role->worker = part->ops->has_workers ? w : -1;
            role->range = part->range;
            role->columns = (strake_range){0, team->domain->columns};
            if (role->worker >= 0) {
                strake_workers_share(team, part->range, w, &role->range, &role->columns);
            }
        }
    }
}

static int64_t own_slabs(const strake_role *role)
{
    return role->range.end - role->range.first;
}

static int count_devices(const strake_team *team)
{
    int devices = 0;
    for (int r = 0; r < team->roles; r++) {
        devices += team->part[team->role[r].part].ops->has_driver ? 1 : 0;
    }
    return devices;
}

/*
 * Steps per sweep: by default only several where the slabs computed twice are few beside everybody's
 * own, or, for devices whose models are known, where these say that it pays. A device without neighbours
 * has nothing to exchange: its steps are enqueued one by one, unless it streams (see strake_team_place).
 */
static int steps_at_once(strake_team *team)
{
    if (team->agreed > 0) {
        return team->agreed;
    }
    if (team->domain->dt_after > 0.0) {
        return 1; /* the last one may be undone */
    }
    if (team->domain->is_adaptive) {
        return 1; /* nobody knows the next time step before all have met */
    }
    if (team->most_at_once == 1 || team->part[0].ops->needs_all) {
        return 1;
    }
    if (team->visit > 0) {
        return team->visit;
    }
    const bool has_devices = count_devices(team) > 0;
    const bool given = team->asked > 0;
    const strake_domain *d = team->domain;
    const int64_t again = (team->sweep - 1) * (d->reach[0] + d->reach[1]);
    const int64_t least = given ? 0 : (has_devices ? OWN_BESIDE : OWN_SLABS) * again;
    team->model_steps = given ? 0 : strake_costs_steps(team);
    if (has_devices && !given && team->model_steps == 0 &&
        (double)d->again * d->slab_bytes > MOST_BYTES) {
        return 1;
    }
    for (int r = 0; r < team->roles; r++) {
        const strake_role *role = &team->role[r];
        const strake_range stripe = team->part[role->part].range;
        const int64_t own = has_devices ? stripe.end - stripe.first : own_slabs(role);
        const bool is_device = team->part[role->part].ops->has_driver;
        if ((own < least && !(is_device && team->model_steps > 0)) ||
            (is_device && own == team->domain->slabs)) {
            team->model_steps = 0;
            return 1;
        }
    }
    return team->model_steps > 0 ? team->model_steps : team->sweep;
}

/* Steps of the graph from one output, checkpoint, change of inputs or end of the run to the next; 0 where the case does not say. */
static int64_t steps_between_stops(const strake_team *team)
{
    const strake_case *const which = team->which;
    const int64_t every[] = {which->output_every, which->checkpoint_every, which->diagnostics_every,
                             team->domain->steady};
    int64_t steps = which->steps;
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        steps = every[k] > 0 && every[k] < steps ? every[k] : steps;
    }
    return steps < INT64_MAX / team->domain->stages ? steps * team->domain->stages : steps;
}

/*
 * The first device that failed decides the message: without it the run may go on. Else the first of the roles
 * that failed in the earliest step.
 */
strake_status strake_team_first_failure(strake_team *team, strake_error *error)
{
    const strake_role *first = NULL;
    for (int r = 0; r < team->roles; r++) {
        const strake_role *role = &team->role[r];
        const bool is_device = strake_part_check(&team->part[role->part], role->status,
                                                 &role->error) == STRAKE_ERR_DEVICE;
        const bool beats = first == NULL || (is_device && first->status != STRAKE_ERR_DEVICE) ||
                           (first->status == STRAKE_ERR_NUMERIC && role->failed < first->failed);
        first = role->status != STRAKE_OK && beats ? role : first;
    }
    return first == NULL ? STRAKE_OK : strake_fail(error, first->status, "%s", first->error.text);
}

void strake_team_weigh(strake_team *team)
{
    strake_domain *const d = team->domain;
    d->ops->weigh(d);
    for (int e = 0; e < team->parts && d->work != NULL; e++) {
        strake_part_weigh(&team->part[e], d->work);
    }
}

int strake_team_stripes(const strake_team *team, strake_range *stripe)
{
    for (int e = 0; e < team->parts; e++) {
        stripe[e] = team->part[e].range;
    }
    for (int k = 0; k < team->outside.stripes; k++) {
        stripe[team->parts + k] = team->outside.stripe[k];
    }
    return team->parts + team->outside.stripes;
}

/* What the plans of all parts have in common. */
static strake_part_plan common_plan(const strake_team *team, const strake_range *stripe,
                                    int stripes)
{
    return (strake_part_plan){.isa = team->isa,
                              .cl = team->list.cl,
                              .stripe = stripe,
                              .stripes = stripes,
                              .steps = team->at_once,
                              .one_way = team->domain->one_way,
                              .movable = !team->has_weights || team->which->run.balance > 0,
                              .overlap = team->overlap,
                              .horizon = steps_between_stops(team),
                              .batch = team->batch,
                              /* Of two sweeps: the one asked for and the one before. */
                              .limit = 2.0 * team->which->run.hang_seconds * team->at_once};
}

/* The case's settings, those that were not given as tuned for a part's slabs. */
static strake_settings settings_of(const strake_team *team, const strake_part *part)
{
    strake_settings settings = team->which->run;
    int64_t n[STRAKE_AXES];
    strake_domain_size(team->domain, part->range, n);
    strake_tuned_apply(&part->tuned, n, &settings);
    return settings;
}

/* Whether another part with slabs has the same device. */
static bool is_shared(const strake_team *team, const strake_part *part)
{
    bool shared = false;
    for (int e = 0; e < team->parts; e++) {
        const strake_part *other = &team->part[e];
        shared = shared || (other != part && strake_part_has_slabs(other) &&
                            strake_part_shares_device(other, part));
    }
    return shared;
}

/* Every role is set up by the thread that will run it, so that its memory is touched first there. */
static void make_role(strake_team *team, const strake_part_plan *common, strake_role *role)
{
    strake_part *part = &team->part[role->part];
    const strake_settings settings = settings_of(team, part);
    strake_part_plan plan = *common;
    plan.settings = &settings;
    plan.self = role->part;
    plan.is_shared = is_shared(team, part);
    plan.costs = strake_costs_of(team, part);
    role->status = part->ops->make(part, &plan, role->worker >= 0 ? role->worker : 0, &role->error);
}

/* Room for what the workers of each part make. */
static strake_status begin_parts(strake_team *team, const strake_part_plan *common,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int e = 0; e < team->parts; e++) {
        strake_part *part = &team->part[e];
        strake_part_plan plan = *common;
        plan.workers = count_workers(team, part);
        if (strake_part_has_slabs(part) && part->ops->begin != NULL) {
            STRAKE_TRY(part->ops->begin(part, &plan, error));
        }
    }
cleanup:
    return status;
}

static strake_status create_roles(strake_team *team, strake_error *error)
{
    strake_range stripe[STRAKE_MAX_PARTS + 2];
    const int stripes = strake_team_stripes(team, stripe);
    const strake_part_plan common = common_plan(team, stripe, stripes);
    const strake_status status = begin_parts(team, &common, error);
    if (status != STRAKE_OK) {
        return status;
    }
#pragma omp parallel num_threads(team->roles)
    {
        for (int r = omp_get_thread_num(); r < team->roles; r += omp_get_num_threads()) {
            strake_binding before;
            strake_workers_enter(team, team->role[r].worker, &before);
            make_role(team, &common, &team->role[r]);
            strake_topology_unbind(&before);
        }
    }
    return strake_team_first_failure(team, error);
}

/*
 * Makes what the roles work with. A device with little memory may have room for the blocks of single
 * steps only; nobody asked for more.
 */
static strake_status make_roles(strake_team *team, strake_error *error)
{
    const strake_status status = create_roles(team, error);
    const bool may_shorten =
        team->at_once > 1 && team->agreed == 0 && team->asked == 0 && count_devices(team) > 0;
    if (!may_shorten || (status != STRAKE_ERR_USAGE && status != STRAKE_ERR_MEMORY)) {
        return status;
    }
    unmake_parts(team);
    team->at_once = 1;
    team->model_steps = 0;
    team->visit = 0;
    return create_roles(team, error);
}

/* Steps at once with which the stripes that stream beside others are fastest, as deep as all stripes allow; 0: none does. */
static int find_visit(const strake_team *team)
{
    const strake_domain *const d = team->domain;
    const int64_t reach = d->reach[0] + d->reach[1];
    int64_t steps = 0, least = d->slabs;
    if (team->deepest <= team->sweep || team->asked > 0 || team->agreed > 0 ||
        team->most_at_once == 1) {
        return 0;
    }
    for (int e = 0; e < team->parts; e++) {
        const strake_part *const part = &team->part[e];
        const int64_t own = part->range.end - part->range.first;
        const bool streams = part->ops->visit != NULL && part->body != NULL && own < d->slabs;
        const int visit = streams ? part->ops->visit(part, team->deepest) : 0;
        steps = visit > steps ? visit : steps;
        least = own > 0 && own < least ? own : least;
    }
    /* What a stripe computes beyond its own slabs is no more than these. */
    steps = reach > 0 && steps > 1 + least / reach ? 1 + least / reach : steps;
    return steps > team->sweep ? (int)steps : 0;
}

/* Parts are to be made anew, for sweeps of so many steps if stripes stream. */
static void begin_again(strake_team *team, int visit)
{
    unmake_parts(team);
    team->visit = visit;
    assign_roles(team);
    team->at_once = steps_at_once(team);
}

/*
 * A stripe that streams takes all that it has to its device and back in every sweep, so that sweeps of the team are
 * as deep as its visits: found once it is there and was measured. The next placement begins with as many.
 */
static strake_status deepen(strake_team *team, strake_error *error)
{
    const int steps = find_visit(team);
    if (steps == team->visit) {
        return STRAKE_OK;
    }
    begin_again(team, steps);
    const strake_status status = create_roles(team, error);
    if (status != STRAKE_ERR_USAGE && status != STRAKE_ERR_MEMORY) {
        return status;
    }
    team->deepest = 0; /* there is no room for it */
    begin_again(team, 0);
    return make_roles(team, error);
}

static strake_status open_bells(strake_role *role, strake_error *error)
{
    const bool first = strake_bell_open(&role->done);
    if (!first || !strake_bell_open(&role->bordered)) {
        if (first) {
            strake_bell_close(&role->done);
        }
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the team");
    }
    return STRAKE_OK;
}

strake_status strake_team_place(strake_team *team, const double *weight, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_range range[STRAKE_MAX_PARTS];
    const strake_part *first = NULL;
    STRAKE_TRY(strake_team_gather(team, error));
    strake_team_release(team);
    strake_partition(team->domain->own.end - team->domain->own.first, team->parts, weight, range);
    for (int e = 0; e < team->parts; e++) {
        team->part[e].range.first = team->domain->own.first + range[e].first;
        team->part[e].range.end = team->domain->own.first + range[e].end;
    }
    team->threads = workers_of_stripe(team);
    team->domain->ops->settle(team->domain);
    team->role = calloc((size_t)count_roles(team) + 1, sizeof *team->role);
    STRAKE_CHECK(team->role != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the team");
    for (; team->roles < count_roles(team); team->roles++) {
        STRAKE_TRY(open_bells(&team->role[team->roles], error));
    }
    if (team->domain->is_adaptive) {
        STRAKE_CHECK(strake_meeting_open(&team->meeting, team->roles), error, STRAKE_ERR_MEMORY,
                     "out of memory for the team");
    }
    assign_roles(team);
    team->is_crowded = strake_workers_are_crowded(team, 0);
    team->at_once = steps_at_once(team);
    STRAKE_TRY(make_roles(team, error));
    STRAKE_TRY(deepen(team, error));
    first = &team->part[team->role[0].part];
    if (first->most_steps > 0 && !(team->domain->dt_after > 0.0) &&
        (first->ops->meets_within || (team->domain->ranks == NULL && team->roles == 1))) {
        /* A lone stripe that streams through its device takes as many steps as pay. */
        team->at_once = first->most_steps;
    }
    STRAKE_TRY(strake_neighbours_find(team, error));
    strake_strips_mark(team);
    team->domain->ops->note(team->domain, STRAKE_DOMAIN_PLACED);
cleanup:
    if (status != STRAKE_OK) {
        strake_team_release(team);
    }
    return status;
}

strake_status strake_team_share(strake_team *team, strake_error *error)
{
    for (int r = 0; r < team->roles; r++) {
        strake_role *role = &team->role[r];
        free(role->neighbour);
        role->neighbour = NULL;
        role->neighbours = 0;
    }
    assign_roles(team);
    const strake_status status = strake_neighbours_find(team, error);
    strake_strips_mark(team);
    return status;
}

strake_status strake_team_upload(strake_team *team, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *domain = team->domain;
    const unsigned what = domain->ops->lacks(domain) & (STRAKE_LACKS_INPUTS | STRAKE_LACKS_STATES);
    for (int e = 0; e < team->parts && what != 0; e++) {
        strake_part *part = &team->part[e];
        STRAKE_TRY(strake_part_check(part, strake_part_load(part, what, error), error));
    }
    if (what != 0) {
        domain->ops->note(domain, STRAKE_DOMAIN_LOADED);
    }
cleanup:
    return status;
}

strake_status strake_team_gather(strake_team *team, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain *domain = team->domain;
    if (!strake_domain_lacks(domain, STRAKE_LACKS_RESULTS)) {
        return STRAKE_OK;
    }
    for (int e = 0; e < team->parts; e++) {
        strake_part *part = &team->part[e];
        status = strake_part_store(part, domain->parity, error);
        STRAKE_TRY(strake_part_check(part, status, error));
    }
    domain->ops->note(domain, STRAKE_DOMAIN_STORED);
cleanup:
    return status;
}

int strake_team_twin(const strake_team *team, int e)
{
    const strake_part *part = &team->part[e];
    for (int k = 0; k < e; k++) {
        const strake_part *other = &team->part[k];
        if (!other->dropped && strake_part_is_twin(other, part)) {
            return k;
        }
    }
    return -1;
}
