/*
 * What a CPU stripe does differently from one machine and one size to another changes no bytes: vector
 * instructions, and states written past the caches where the arrays do not fit them, of which `make check` takes a third
 * of a matrix (strake_trial_takes).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "solver/solver_impl.h"
#include "tests/support/trial.h"

enum { STEPS = 5, STEPS_OF_LARGE = 3 };

static uint64_t run(const strake_trial *trial, const char *where, int threads, int steps)
{
    strake_solver *solver = strake_trial_open(trial, where, NULL, threads);
    strake_harness_step(solver, steps);
    const uint64_t checksum = strake_trial_checksum(trial, solver);
    strake_close(&solver);
    return checksum;
}

static void check_instructions(const strake_subject *subject, int variant, bool single,
                               bool constant_h)
{
    const strake_trial_config config = {subject, variant, 67, 211, 1, single, constant_h};
    strake_trial trial;
    strake_trial_begin(&trial, &config, 11);
    strake_case *which = trial.which;
    const uint64_t expected = run(&trial, "serial", 1, STEPS);
    int tried = 0;
    for (int isa = STRAKE_ISA_BASE; isa < STRAKE_ISAS; isa++) {
        which->run.instruction_set = isa;
        if (!strake_isa_is_there((strake_isa)isa)) {
            strake_error error;
            strake_solver *solver = NULL;
            assert_int_equal(strake_open(which, &(strake_options){.where = "cpu"}, &solver, &error),
                             STRAKE_ERR_USAGE);
            assert_non_null(strstr(error.text, "run.instruction_set"));
            continue;
        }
        for (int sweep = 1; sweep <= 2; sweep++) {
            which->run.steps_per_sweep = sweep;
            assert_int_equal(run(&trial, "cpu", 2, STEPS), expected);
            tried++;
        }
    }
    assert_true(tried >= 2);
    strake_trial_end(&trial);
}

static void every_instruction_set_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    for (int variant = 0; variant < subject->variants; variant++) {
        for (int mode = 0; mode < 4; mode++) {
            check_instructions(subject, variant, (mode & 1) != 0, (mode & 2) != 0);
        }
    }
}

/* Arrays that together are a tenth larger than the last-level cache, in rows that are no whole cache lines. */
static void check_large(const strake_subject *subject, int64_t cache, int arrays, bool single,
                        int boundary)
{
    const int cols = 1203;
    const int64_t element = single ? 4 : 8;
    const int rows = (int)(cache * 11 / 10 / (arrays * element * cols)) + 1;
    const strake_trial_config config = {subject, 0, rows, cols, boundary, single, true};
    strake_trial trial;
    strake_trial_begin(&trial, &config, 13);
    strake_case *which = trial.which;
    const uint64_t expected = run(&trial, "serial", 1, STEPS_OF_LARGE);
    for (int isa = STRAKE_ISA_BASE; isa < STRAKE_ISAS; isa++) {
        which->run.instruction_set = isa;
        for (int sweep = 1; sweep <= 2 && strake_isa_is_there((strake_isa)isa); sweep++) {
            which->run.steps_per_sweep = sweep;
            if (strake_trial_takes(isa + sweep + (single ? 1 : 0), 3)) {
                assert_int_equal(run(&trial, "cpu", sweep + 1, STEPS_OF_LARGE), expected);
            }
        }
    }
    strake_trial_end(&trial);
}

static void arrays_beyond_the_caches_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    const int arrays = subject == &strake_subject_mpdata2d ? 4 : 2;
    const int64_t cache =
        strake_topology_cache("/sys/devices/system", (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (cache <= 0 || cache > INT64_C(256) * 1024 * 1024) {
        print_message("last-level cache of %lld bytes: unknown or too large to outgrow in a test\n",
                      (long long)cache);
        skip();
    }
    check_large(subject, cache, arrays, false, 3);
    check_large(subject, cache, arrays, true, 0);
}

/*
 * Threads that have few rows each divide columns instead, but where only cells that can change are computed: then rows
 * are shared by what they cost. @return whether some did
 */
static bool check_divided(const strake_trial_config *config, int sweep)
{
    strake_trial trial;
    bool divided = false;
    strake_trial_begin(&trial, config, 17);
    const uint64_t expected = run(&trial, "serial", 1, STEPS);
    trial.which->run.steps_per_sweep = sweep;
    trial.which->run.activity = 1; /* off */
    for (int threads = 2; threads <= 6; threads++) {
        strake_solver *solver = strake_trial_open(&trial, "cpu", NULL, threads);
        strake_harness_step(solver, STEPS);
        assert_int_equal(strake_trial_checksum(&trial, solver), expected);
        const strake_role *last = &solver->team.role[solver->team.roles - 1];
        divided = divided || last->columns.first > 0;
        strake_close(&solver);
    }
    strake_trial_end(&trial);
    return divided;
}

static void divided_columns_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    int divided = 0;
    for (int boundary = 0; boundary < 4; boundary++) {
        for (int sweep = 1; sweep <= 3; sweep++) {
            const bool single = sweep == 2;
            const strake_trial_config thin = {subject, boundary, 5, 1024, boundary, single, false};
            const strake_trial_config odd = {subject, boundary, 9, 1187, boundary, single, false};
            divided += check_divided(&thin, sweep) ? 1 : 0;
            divided += check_divided(&odd, sweep) ? 1 : 0;
        }
    }
    /* Odd widths of periodic grids are not divided, and lava has walls; slabs of several lines never. */
    assert_int_equal(divided, subject == &strake_subject_cahn_hilliard3d ? 0
                              : subject == &strake_subject_lava          ? 12 + 12
                                                                         : 12 + 6);
}

/* Speeds as if they had been measured: every other row of workers three times as fast, then the others. */
static void pretend(strake_solver *solver, int turn)
{
    strake_error error;
    const int rows = solver->team.level.workers;
    for (int row = 0; row < rows; row++) {
        int64_t slabs = 0;
        for (int r = 0; r < solver->team.roles; r++) {
            const strake_role *role = &solver->team.role[r];
            const bool is_first = role->worker >= 0 && role->columns.first == 0;
            slabs = is_first && role->worker * rows / solver->team.threads == row
                        ? role->range.end - role->range.first
                        : slabs;
        }
        solver->team.level.seen[row] = (double)slabs * ((row + turn) % 2 == 0 ? 1.0 : 3.0);
    }
    solver->team.level.looks = 0; /* nothing of the last turn counts */
    assert_true(strake_workers_level(&solver->team));
    assert_int_equal(strake_team_share(&solver->team, &error), STRAKE_OK);
}

/* Shares of the threads that change in mid-run. @return whether these divide columns besides */
static bool check_levelled(const strake_trial_config *config, int threads, int sweep)
{
    strake_trial trial;
    strake_trial_begin(&trial, config, 19);
    const uint64_t expected = run(&trial, "serial", 1, STEPS);
    trial.which->run.steps_per_sweep = sweep;
    strake_solver *solver = strake_trial_open(&trial, "cpu", NULL, threads);
    int done = 0;
    for (int turn = 0; done < STEPS; turn++) {
        const int steps = turn == 0 ? 1 : STEPS - done < 4 ? STEPS - done : 4;
        if (turn > 0) {
            assert_true(strake_workers_may_level(&solver->team));
            if (solver->team.level.workers == 0) {
                strake_workers_seen(&solver->team);
            }
            pretend(solver, turn);
        }
        strake_harness_step(solver, steps);
        done += steps;
    }
    assert_int_equal(strake_trial_checksum(&trial, solver), expected);
    const bool divided = solver->team.role[solver->team.roles - 1].columns.first > 0;
    strake_close(&solver);
    strake_trial_end(&trial);
    return divided;
}

static void uneven_shares_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    int divided = 0;
    for (int boundary = 0; boundary < 4; boundary++) {
        for (int sweep = 1; sweep <= 3; sweep++) {
            const bool single = sweep == 2;
            const strake_trial_config narrow = {subject, boundary, 97, 61, boundary, single, false};
            const strake_trial_config wide = {subject, boundary, 96, 1536, boundary, single, false};
            (void)check_levelled(&narrow, 2 + sweep, sweep);
            divided += check_levelled(&wide, 6, sweep) ? 1 : 0;
        }
    }
    /* Nor where sweeps have one step, for which rows alone are enough. */
    assert_true(divided > 0 || subject == &strake_subject_cahn_hilliard3d ||
                subject == &strake_subject_lava);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_bytes_of_serial),
        cmocka_unit_test(divided_columns_give_the_bytes_of_serial),
        cmocka_unit_test(uneven_shares_give_the_bytes_of_serial),
        cmocka_unit_test(arrays_beyond_the_caches_give_the_bytes_of_serial),
    };
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
