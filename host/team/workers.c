/* How many threads the CPU stripe has, what each of them computes and on which processors. */
#include <math.h>
#include <stdlib.h>

#include "cpu/threads.h"
#include "engine/balance.h"
#include "team/team.h"

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
static double work(const strake_team *team, double slabs, double columns)
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
    double least = work(team, ceil((double)slabs / team->threads), n) / least_gain;
    for (int bands = 2; team->domain->is_divisible && bands <= team->threads; bands++) {
        const double rows = ceil((double)slabs * bands / team->threads);
        const double columns = ceil(n / bands);
        if (team->threads % bands == 0 && columns >= LEAST_COLUMNS &&
            work(team, rows, columns) < least) {
            best = bands;
            least = work(team, rows, columns);
        }
    }
    return best;
}

/* Processors that a part takes from the CPU stripe. */
static int cores_of_device(const strake_team *team, int e)
{
    const strake_part *part = &team->part[e];
    if (part->ops->cores == NULL || !strake_part_has_slabs(part)) {
        return 0;
    }
    bool is_first = true;
    for (int k = 0; k < e; k++) {
        const strake_part *other = &team->part[k];
        is_first =
            is_first && !(strake_part_shares_device(other, part) && strake_part_has_slabs(other));
    }
    return part->ops->cores(part, is_first);
}

/*
 * Unless the user chose a number, the CPU stripe leaves devices their cores. Beside a device that computes on
 * all of them it keeps all: they share.
 */
int strake_workers_of_stripe(const strake_team *team)
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
