/* How many threads the CPU stripe has, and on which processors they run. */
#include "cpu/threads.h"
#include "solver/solver_impl.h"

/*
 * Work of a thread for a step, at least, unless the user chose a number: 4,096 cells take 15 to 40
 * microseconds, a hand-over between two threads 0.1 awake and about 10 asleep (virtual machine, Zen 5),
 * so that threads pay even where every one of them sleeps in every step.
 */
enum { CELLS_PER_THREAD = 4096 };

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
    solver->threads = solver->most_threads;
cleanup:
    return status;
}

/*
 * A thread that waits for a GPU spins in most drivers: unless the user chose a number, the CPU stripe
 * leaves it a core. An OpenCL CPU device shares the cores in any case.
 */
int strake_workers_of_stripe(const strake_solver *solver)
{
    int threads = solver->most_threads;
    for (int e = 0; e < solver->entries && !solver->threads_chosen; e++) {
        const strake_entry *entry = &solver->entry[e];
        if (entry->place == STRAKE_PLACE_OPENCL && entry->range.first < entry->range.end &&
            strake_cl_device_is_gpu(&solver->list.device[entry->device])) {
            threads--;
        }
    }
    for (int e = 0; e < solver->entries; e++) {
        const int64_t slabs = solver->entry[e].range.end - solver->entry[e].range.first;
        const int64_t cells = slabs * solver->layout.n[1] * solver->layout.n[2];
        if (solver->entry[e].place != STRAKE_PLACE_CPU) {
            continue;
        }
        if (slabs < threads) {
            threads = (int)slabs; /* a thread without rows would only wait */
        }
        if (!solver->threads_chosen && cells / CELLS_PER_THREAD < threads) {
            threads = (int)(cells / CELLS_PER_THREAD);
        }
    }
    return threads > 1 ? threads : 1;
}

bool strake_workers_are_crowded(const strake_solver *solver)
{
    bool shares = false;
    for (int r = 0; r < solver->roles; r++) {
        const strake_entry *entry = &solver->entry[solver->role[r].entry];
        shares = shares || (entry->place == STRAKE_PLACE_OPENCL &&
                            !strake_cl_device_is_gpu(&solver->list.device[entry->device]));
    }
    return shares || solver->roles * strake_ranks_sharing(solver->ranks) >
                         strake_topology_threads(&solver->topology);
}

void strake_workers_enter(const strake_solver *solver, int worker, strake_binding *before)
{
    before->is_bound = false;
    if (worker >= 0) {
        strake_topology_bind(&solver->topology, worker, solver->threads, before);
    }
}
