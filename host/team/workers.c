/* How many threads the CPU stripe has, what each of them computes and on which processors. */
#include <math.h>
#include <stdlib.h>

#include "cpu/threads.h"
#include "group/border.h"

/*
 * Work of a thread for a step, at least, unless the user chose a number: 4,096 cells take 15 to 40
 * microseconds, a hand-over between two threads 0.1 awake and about 10 asleep (virtual machine, Zen 5),
 * so that threads pay even where every one of them sleeps in every step.
 */
enum { CELLS_PER_THREAD = 4096 };

enum {
    LINE_BYTES = 64,    /* two threads never write to one line of the cache */
    LEAST_COLUMNS = 64, /* of a worker */
    LEAST_LEVELLED = 8, /* slabs of a worker on average: fewer are too coarse to follow speeds */
    ROW_COLUMNS = 60    /* the calls for a row take as long as so many columns of it */
};

/* Columns are divided where that saves at least so much, as a ratio of times. */
static const double least_gain = 1.03;

/* As asked, else OMP_NUM_THREADS, else this rank's share of what it and others here may use. */
strake_status strake_workers_choose(strake_solver *solver, const strake_options *options,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int by_environment = strake_threads_asked();
    STRAKE_CHECK(options->threads >= 0 && options->threads <= STRAKE_MOST_THREADS, error,
                 STRAKE_ERR_USAGE, "threads: %d; expected 1 to %d, or 0 for the default",
                 options->threads, (int)STRAKE_MOST_THREADS);
    strake_topology_read(&solver->topology);
    if (solver->which->teams > 0) {
        strake_topology_divide(&solver->topology, solver->which->teams < solver->topology.cpus
                                                      ? solver->which->teams
                                                      : solver->topology.cpus);
    }
    solver->most_threads = options->threads > 0         ? options->threads
                           : solver->which->threads > 0 ? solver->which->threads
                                                        : by_environment;
    solver->threads_chosen = solver->most_threads > 0;
    if (!solver->threads_chosen) {
        const int threads =
            strake_topology_threads(&solver->topology) / strake_ranks_sharing(solver->ranks);
        solver->most_threads = threads > 1 ? threads : 1;
        if (by_environment < 0) {
            strake_solver_notice(solver,
                                 "OMP_NUM_THREADS is no number of threads such as 4; the CPU has "
                                 "the usable cores, %d",
                                 solver->most_threads);
        }
    }
    if (solver->most_threads > strake_threads_limit()) {
        if (solver->threads_chosen) {
            strake_solver_notice(solver, "threads: %d, but OMP_THREAD_LIMIT allows %d: so many run",
                                 solver->most_threads, strake_threads_limit());
        }
        solver->most_threads = strake_threads_limit();
    }
    solver->threads = solver->most_threads;
cleanup:
    return status;
}

/*
 * Cells that a worker computes for slabs and columns of its own, in units of one cell: those around them
 * that every step of a sweep computes again, and what the calls for a row cost, measured as columns.
 */
static double work(const strake_solver *solver, double slabs, double columns)
{
    const strake_layout *l = &solver->layout;
    const double again[2] = {0.5 * solver->sweep * (l->lo[0] + l->hi[0]),
                             0.5 * solver->sweep * (l->lo[2] + l->hi[2])};
    return (slabs + again[0]) * (columns + again[1] + ROW_COLUMNS);
}

/* Columns that share a line of the cache. */
static int64_t columns_of_line(const strake_solver *solver)
{
    return LINE_BYTES / solver->layout.element_size;
}

/*
 * Whether workers may have some columns only. Other ranks read whole slabs; in three dimensions a slab has
 * ghost lines; what is computed beyond the last column, to the end of its vector, would meet there the
 * ghosts of a periodic grid, which the first columns' worker writes.
 */
static bool may_divide(const strake_solver *solver)
{
    const strake_layout *l = &solver->layout;
    return l->n[1] + l->lo[1] + l->hi[1] == 1 && solver->ranks == NULL &&
           (l->boundary[2] != STRAKE_PERIODIC || l->n[2] % columns_of_line(solver) == 0);
}

/*
 * Into how many bands the columns of the CPU stripe are divided among its workers: whole rows are best,
 * unless the workers have so few of them that the rows computed twice dominate (a thin stripe beside a
 * device, many threads).
 */
static int column_bands(const strake_solver *solver, int64_t slabs)
{
    const double n = (double)solver->layout.n[2];
    int best = 1;
    double least = work(solver, ceil((double)slabs / solver->threads), n) / least_gain;
    for (int bands = 2; may_divide(solver) && bands <= solver->threads; bands++) {
        const double rows = ceil((double)slabs * bands / solver->threads);
        const double columns = ceil(n / bands);
        if (solver->threads % bands == 0 && columns >= LEAST_COLUMNS &&
            work(solver, rows, columns) < least) {
            best = bands;
            least = work(solver, rows, columns);
        }
    }
    return best;
}

/* Processors that a part takes from the CPU stripe. */
static int cores_of_device(const strake_solver *solver, int e)
{
    const strake_part *part = &solver->part[e];
    if (part->ops->cores == NULL || !strake_part_has_slabs(part)) {
        return 0;
    }
    bool is_first = true;
    for (int k = 0; k < e; k++) {
        const strake_part *other = &solver->part[k];
        is_first =
            is_first && !(strake_part_shares_device(other, part) && strake_part_has_slabs(other));
    }
    return part->ops->cores(part, is_first);
}

/*
 * Unless the user chose a number, the CPU stripe leaves devices their cores. Beside a device that computes on
 * all of them it keeps all: they share.
 */
int strake_workers_of_stripe(const strake_solver *solver)
{
    int threads = solver->most_threads;
    for (int e = 0; e < solver->parts && !solver->threads_chosen; e++) {
        const int cores = cores_of_device(solver, e);
        threads -= cores < strake_topology_threads(&solver->topology) ? cores : 0;
    }
    for (int e = 0; e < solver->parts; e++) {
        const int64_t slabs = solver->part[e].range.end - solver->part[e].range.first;
        const int64_t cells = slabs * solver->layout.n[1] * solver->layout.n[2];
        if (!solver->part[e].ops->has_workers) {
            continue;
        }
        if (slabs < threads &&
            !(may_divide(solver) && solver->layout.n[2] / threads >= LEAST_COLUMNS)) {
            threads = (int)slabs; /* a thread without rows would only wait */
        }
        if (!solver->threads_chosen && cells / CELLS_PER_THREAD < threads) {
            threads = (int)(cells / CELLS_PER_THREAD);
        }
    }
    return threads > 1 ? threads : 1;
}

/*
 * Slabs of a stripe before those of row @p row of workers: shares by their speeds, less by what computing
 * their borders apart costs those beside a device.
 */
static int64_t first_slab(const strake_solver *solver, strake_range stripe, int64_t rows,
                          int64_t row)
{
    const strake_layout *l = &solver->layout;
    const int64_t count = stripe.end - stripe.first;
    const int64_t each = count / rows;
    const int64_t again = solver->sweep * (l->lo[0] + l->hi[0]) / 2;
    const strake_range low = {stripe.first, stripe.first + each};
    const strake_range high = {stripe.end - each, stripe.end};
    bool first[2], last[2];
    if (row == 0 || row == rows) {
        return row == 0 ? 0 : count;
    }
    (void)strake_strips_is_apart(solver, low, first);
    (void)strake_strips_is_apart(solver, high, last);
    const int64_t less[2] = {first[0] ? again : 0, last[1] ? again : 0};
    const double share = strake_level_before(&solver->level, (int)rows, (int)row);
    const int64_t slabs = (int64_t)((double)(count + less[0] + less[1]) * share) - less[0];
    /* One at least is left to everybody, if there are so many. */
    const int64_t least = count >= rows ? row : 0;
    const int64_t most = count >= rows ? count - (rows - row) : count;
    return slabs < least ? least : slabs > most ? most : slabs;
}

void strake_workers_share(const strake_solver *solver, strake_range stripe, int worker,
                          strake_range *slabs, strake_range *columns)
{
    const int64_t count = stripe.end - stripe.first;
    const int64_t n = solver->layout.n[2];
    const int64_t line = columns_of_line(solver);
    const int bands = column_bands(solver, count);
    const int64_t rows = solver->threads / bands;
    const int64_t row = worker / bands;
    const int64_t band = worker % bands;
    slabs->first = stripe.first + first_slab(solver, stripe, rows, row);
    slabs->end = stripe.first + first_slab(solver, stripe, rows, row + 1);
    columns->first = n * band / bands / line * line;
    columns->end = band + 1 == bands ? n : n * (band + 1) / bands / line * line;
}

/* Rows of workers of the CPU stripe, which have slabs of their own, @p slabs together; 0: there are no workers. */
static int rows_of_workers(const strake_solver *solver, int *bands, int64_t *slabs)
{
    *bands = 1;
    *slabs = 0;
    for (int e = 0; e < solver->parts; e++) {
        const strake_range range = solver->part[e].range;
        if (solver->part[e].ops->has_workers && range.first < range.end) {
            *slabs = range.end - range.first;
            *bands = column_bands(solver, *slabs);
            return solver->threads / *bands;
        }
    }
    return 0;
}

bool strake_workers_may_level(const strake_solver *solver)
{
    int bands;
    int64_t slabs;
    const int rows = rows_of_workers(solver, &bands, &slabs);
    const bool is_fixed = strake_rebalance_policy(solver, false) == STRAKE_BALANCE_FIXED;
    return rows > 1 && slabs >= (int64_t)LEAST_LEVELLED * rows && !is_fixed;
}

void strake_workers_seen(strake_solver *solver)
{
    int bands;
    int64_t slabs;
    strake_level *const level = &solver->level;
    const int rows = rows_of_workers(solver, &bands, &slabs);
    if (!strake_workers_may_level(solver) ||
        (level->workers != rows && !strake_level_begin(level, rows))) {
        return;
    }
    for (int row = 0; row < rows; row++) {
        double slowest = 0.0;
        for (int r = 0; r < solver->roles; r++) {
            const strake_role *role = &solver->role[r];
            if (role->worker >= 0 && role->worker / bands == row && role->compute > slowest) {
                slowest = role->compute;
            }
        }
        level->seen[row] += slowest;
    }
}

strake_status strake_workers_level(strake_solver *solver, bool *changes, strake_error *error)
{
    int bands;
    int64_t all;
    const int rows = rows_of_workers(solver, &bands, &all);
    *changes = false;
    if (rows < 2 || !strake_workers_may_level(solver) || solver->level.workers != rows) {
        return STRAKE_OK;
    }
    int64_t *const slabs = calloc((size_t)rows, sizeof *slabs);
    if (slabs == NULL) {
        return STRAKE_OK; /* nobody needs level shares */
    }
    for (int r = 0; r < solver->roles; r++) {
        const strake_role *role = &solver->role[r];
        if (role->worker >= 0) {
            slabs[role->worker / bands] = role->range.end - role->range.first;
        }
    }
    *changes = strake_level_look(&solver->level, slabs);
    free(slabs);
    return *changes ? strake_team_share(solver, error) : STRAKE_OK;
}

bool strake_workers_are_crowded(const strake_solver *solver, int more)
{
    int cores = more;
    for (int e = 0; e < solver->parts; e++) {
        cores += cores_of_device(solver, e);
    }
    for (int r = 0; r < solver->roles; r++) {
        cores += solver->role[r].worker >= 0 ? 1 : 0;
    }
    return cores * strake_ranks_sharing(solver->ranks) > strake_topology_threads(&solver->topology);
}

void strake_workers_enter(const strake_solver *solver, int worker, strake_binding *before)
{
    before->is_bound = false;
    if (worker >= 0) {
        strake_topology_bind(&solver->topology, worker, solver->threads, before);
    }
}
