/*
 * Several steps in one sweep give the bytes of single steps: any number of steps at once and of threads,
 * every boundary, stripes thinner than the deep halo, grids smaller than it, calls that are no
 * multiple of a sweep. A run that fails says the same, too. `make check` takes a part of each matrix, with every
 * value of each axis (strake_trial_takes); devices get few programs, which PoCL compiles for most of the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/case.h"
#include "cpu/pipeline.h"
#include "engine/balance.h"
#include "engine/loops.h"
#include "grid/grid.h"
#include "solver/solver_impl.h"
#include "tests/support/trial.h"

enum { MIRRORED = STRAKE_TRIAL_OTHER };

typedef strake_trial_config config;
typedef strake_trial fixture;

static void begin(fixture *f, const config *c)
{
    strake_trial_begin(f, c, 7);
}

static void end(fixture *f)
{
    strake_trial_end(f);
}

/* Checksum of the state after calls of @p steps steps each, ended by 0; the largest sweep as given. */
static uint64_t run_split(fixture *f, const char *where, const char *split, int threads, int sweep,
                          const int *steps)
{
    f->which->run.steps_per_sweep = sweep;
    strake_solver *solver = strake_trial_open(f, where, split, threads);
    for (int k = 0; steps[k] > 0; k++) {
        strake_harness_step(solver, steps[k]);
    }
    const uint64_t checksum = strake_trial_checksum(f, solver);
    strake_close(&solver);
    return checksum;
}

static uint64_t run(fixture *f, const char *where, int threads, int sweep, const int *steps)
{
    return run_split(f, where, NULL, threads, sweep, steps);
}

static void check(const config *c, int most_sweep, int most_threads)
{
    static const int calls[] = {1, 4, 6, 0}; /* no multiples of 2, 3, 4 but one */
    fixture f;
    begin(&f, c);
    const uint64_t expected = run(&f, "serial", 1, 1, calls);
    for (int sweep = 1; sweep <= most_sweep; sweep++) {
        for (int threads = 1; threads <= most_threads; threads++) {
            if (!strake_trial_takes_of(c->subject, sweep + threads + c->boundary + c->single, 3)) {
                continue;
            }
            const uint64_t found = run(&f, "cpu", threads, sweep, calls);
            if (found != expected) {
                fail_msg("%d steps per sweep, %d threads: %016llx differs from serial %016llx (%s)",
                         sweep, threads, (unsigned long long)found, (unsigned long long)expected,
                         f.name);
            }
        }
    }
    end(&f);
}

static void every_boundary_gives_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    for (int k = 0; k < 16; k++) {
        const int boundary = k & 3;
        const int mirrored = k >= 8 ? MIRRORED : 0;
        const config c = {subject, 0, 61, 97, boundary | mirrored, (k & 4) != 0, false};
        if (mirrored == 0 || boundary != 0) {
            check(&c, 4, 3);
        }
    }
}

static void every_scheme_gives_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    for (int v = 1; v < subject->variants; v++) {
        for (int k = 0; k < 2; k++) {
            const int boundary = k == 0 ? v & 3 : 3 - (v & 3);
            const config c = {subject, v, 37, 71, boundary, (v + k) % 2 == 1, boundary == 2};
            check(&c, 4, 2);
        }
    }
}

static void grids_smaller_than_the_halo_give_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    static const int sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {3, 2}, {5, 130}, {12, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int k = 0; k < 8; k++) {
            const int v = k == 0 ? 0 : (k + (int)s) % subject->variants;
            const config c = {subject, v, sizes[s][0], sizes[s][1], k, k % 3 == 1, false};
            check(&c, 4, 3);
        }
    }
}

static void eight_steps_at_once_and_thin_stripes_give_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    for (int boundary = 0; boundary < 8; boundary++) {
        const config thin = {subject, boundary % 2, 17, 40, boundary, boundary == 5, false};
        check(&thin, 8, 9);
    }
}

/* As deep as where a stripe streams beside others. */
static void the_deepest_sweeps_give_the_bytes_of_single_steps(void **state)
{
    static const int calls[] = {STRAKE_MAX_SWEEP + 1, STRAKE_MAX_SWEEP - 9, 0};
    const strake_subject *subject = *state;
    for (int boundary = 1; boundary < 3; boundary++) {
        const config c = {subject, 0, 45, 150, boundary, false, false};
        fixture f;
        begin(&f, &c);
        const uint64_t expected = run(&f, "serial", 1, 1, calls);
        assert_true(run(&f, "cpu", 2, STRAKE_MAX_SWEEP, calls) == expected);
        end(&f);
    }
}

/* One sweep of two stripes from the solver's states on; they are read as its own. @return the checksum then */
static uint64_t sweep_once(fixture *f, strake_solver *solver, int steps)
{
    strake_grid *const grid = strake_grid_of(solver->domain);
    const int parity = grid->domain.parity;
    const int64_t n = grid->layout.n[0];
    const double none[STRAKE_CLOCK_TELLS] = {0.0};
    const double *told = grid->domain.told != NULL ? grid->domain.told : none;
    double scalar[STRAKE_MAX_SCALARS];
    strake_pipeline *p = NULL;
    strake_error error;
    if (strake_pipeline_create(&grid->graph, &grid->layout, steps + 1, strake_isa_best(),
                               &f->which->run, &p, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    for (int k = 0; k < steps; k++, told += grid->domain.tells) {
        strake_graph_scalars(&grid->graph, told, scalar);
        strake_pipeline_begin(p, steps - 1 - k, scalar);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(strake_pipeline_run(p, steps, k * (n / 2), k == 0 ? n / 2 : n, 0,
                                        grid->layout.n[2], grid->array[parity],
                                        grid->next[parity]));
    }
    strake_pipeline_destroy(&p);
    grid->domain.parity = 1 - parity;
    const uint64_t checksum = strake_trial_checksum(f, solver);
    grid->domain.parity = parity;
    return checksum;
}

/* The arrays have ghosts for one step: what is read beyond them is put together. */
static void sweeps_deeper_than_the_ghosts_give_the_bytes_of_single_steps(void **state)
{
    static const int depths[] = {2, 7, STRAKE_MAX_SWEEP - 1};
    const strake_subject *subject = *state;
    for (int k = 0; k < 12; k++) {
        const bool is_small = k >= 8;
        const config c = {subject, k % 2, is_small ? 9 : 45, is_small ? 5 : 150, k % 8,
                          k == 2,  false};
        fixture f;
        begin(&f, &c);
        f.which->run.steps_per_sweep = 1;
        strake_solver *solver = strake_trial_open(&f, "cpu", NULL, 1);
        strake_harness_step(solver, 1);
        const strake_grid *const grid = strake_grid_of(solver->domain);
        assert_int_equal(grid->layout.steps, 1);
        for (int d = 0; d < 3 && strake_pipeline_most_steps(&grid->graph) > 1; d++) {
            const int calls[] = {1, depths[d], 0};
            if (strake_trial_takes_of(subject, d + k, 3)) {
                const uint64_t expected = run(&f, "serial", 1, 1, calls);
                if (sweep_once(&f, solver, depths[d]) != expected) {
                    fail_msg("%d steps at once differ from serial (%s)", depths[d], f.name);
                }
            }
        }
        strake_close(&solver);
        end(&f);
    }
}

/*
 * Several steps per exchange on devices: deep halos of neighbours and wrapped ones, thin and empty
 * stripes, with and without border slabs first.
 */
static void check_mixtures(const config *c, const char *const (*mixture)[2], int mixtures)
{
    static const int calls[] = {1, 4, 6, 0};
    fixture f;
    begin(&f, c);
    const uint64_t expected = run(&f, "serial", 1, 1, calls);
    for (int m = 0; m < mixtures; m++) {
        for (int k = 0; k < 8; k++) {
            const int sweep = 1 + k / 2;
            if (!strake_trial_takes_of(c->subject, sweep + k % 2 + m + c->boundary, 3)) {
                continue;
            }
            f.which->run.overlap = 1 + k % 2;
            f.which->run.wait = 1 + (m + k) % 2;
            const uint64_t found = run_split(&f, mixture[m][0], mixture[m][1], 2, sweep, calls);
            if (found != expected) {
                fail_msg("%s split %s, %d steps per sweep, overlap %s: %016llx differs from "
                         "serial %016llx (%s)",
                         mixture[m][0], mixture[m][1], sweep, k % 2 == 0 ? "off" : "on",
                         (unsigned long long)found, (unsigned long long)expected, f.name);
            }
        }
    }
    end(&f);
}

static void devices_give_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    static const char *const mixture[][2] = {{"cpu,ocl:0", "30,31"},
                                             {"ocl:0,ocl:0", "1,1"},
                                             {"ocl:0,cpu,ocl:0", "30,1,30"},
                                             {"ocl:0,ocl:0", "2,59"},
                                             {"ocl:0,cpu,ocl:0", "1,2,58"}};
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 7; k++) {
        const int boundary = k < 4 ? k : (k - 3) | MIRRORED;
        const bool is_other = k >= 3 && strake_trial_takes(k, 4);
        const config c = {
            subject,           is_other ? k % subject->variants : 0, 61, 97, boundary, false,
            is_other && k == 5};
        check_mixtures(&c, &mixture[k % 3], 3);
    }
    const config tiny = {subject, 0, 5, 9, 0, false, false};
    static const char *const pieces[][2] = {{"ocl:0,ocl:0", "2,3"}, {"cpu,ocl:0", "4,1"}};
    check_mixtures(&tiny, pieces, 2);
}

/* Slabs that change their owner while it runs, in moves of 15, 7, 3 and 1 slabs to whoever is faster. */
static void moved_slabs_give_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    static const int calls[] = {1, 4, 30, 20, 0};
    static const char *const mixture[] = {"cpu,ocl:0", "ocl:0,ocl:0", "ocl:0,cpu,ocl:0"};
    int all_moves = 0;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 12; k++) {
        const char *const where = mixture[k % 3];
        const bool is_whole = strake_trial_is_whole();
        const config c = {
            subject,           is_whole ? k % 2 : 0, 61, 97, k % 4, is_whole && k % 5 == 0,
            is_whole && k == 7};
        const strake_decision *decision = NULL;
        int moves = 0;
        fixture f;
        begin(&f, &c);
        const uint64_t expected = run(&f, "serial", 1, 1, calls);
        f.which->run.balance = 1 + STRAKE_BALANCE_BISECTION;
        f.which->run.steps_per_sweep = 1 + k % 3;
        f.which->run.overlap = 1 + k / 3 % 2;
        f.which->steps = 1000; /* many to come: moves pay */
        strake_solver *solver = strake_trial_open(&f, where, k % 3 == 2 ? "1,1,1" : "1,1", 2);
        for (int j = 0; calls[j] > 0; j++) {
            strake_harness_step(solver, calls[j]);
        }
        const int decisions = strake_solver_decisions(solver, &decision);
        for (int j = 0; j < decisions; j++) {
            moves += decision[j].moves ? 1 : 0;
        }
        all_moves += moves;
        const uint64_t found = strake_trial_checksum(&f, solver);
        strake_close(&solver);
        if (found != expected) {
            fail_msg("%s, %d moves, %d steps per sweep: %016llx differs from serial %016llx", where,
                     moves, f.which->run.steps_per_sweep, (unsigned long long)found,
                     (unsigned long long)expected);
        }
        end(&f);
    }
    assert_true(all_moves >= 12); /* how many in one run depends on what was measured */
}

/* Blocks of columns, the last of them narrower than the reach of the first steps. */
static void wide_rows_give_the_bytes_of_single_steps(void **state)
{
    const strake_subject *subject = *state;
    static const int calls[] = {8, 3, 0};
    static const int widths[] = {4099, 6001};
    for (int boundary = 0; boundary < 8; boundary++) {
        const config c = {subject,  boundary == 2 ? subject->variants - 1 : 0,
                          7,        widths[boundary % 2],
                          boundary, boundary >= 6,
                          false};
        fixture f;
        begin(&f, &c);
        const uint64_t expected = run(&f, "serial", 1, 1, calls);
        assert_int_equal(run(&f, "cpu", 1, 4, calls), expected);
        assert_int_equal(run(&f, "cpu", 2, 8, calls), expected);
        end(&f);
    }
}

/* A run from a multiple of the state; the message if it ends in NaN or Inf. */
static strake_status fail_run(fixture *f, double scale, int threads, int sweep, strake_error *error)
{
    f->which->run.steps_per_sweep = sweep;
    strake_solver *solver = strake_trial_open(f, "cpu", NULL, threads);
    double *state = malloc(f->cells * sizeof *state);
    assert_non_null(state);
    for (size_t k = 0; k < f->cells; k++) {
        state[k] = scale * f->data[0][k];
    }
    strake_harness_set(solver, f->field[0], state, f->cells);
    free(state);
    const strake_status status = strake_step(solver, 41, error);
    strake_close(&solver);
    return status;
}

static void a_failure_names_its_step_and_cell(void **state)
{
    const strake_subject *subject = *state;
    if (subject->explosive < 0) {
        print_message("# skip: nothing in it overflows\n");
        skip();
    }
    const config c = {subject, subject->explosive, 61, 97, 1, false, false};
    fixture f;
    begin(&f, &c);
    strake_error expected, found;
    for (int shift = 0; shift < 4; shift++) {
        const double scale = subject->scale / (1 << shift);
        assert_int_equal(fail_run(&f, scale, 1, 1, &expected), STRAKE_ERR_NUMERIC);
        for (int sweep = 2; sweep <= 4; sweep++) {
            assert_int_equal(fail_run(&f, scale, 2, sweep, &found), STRAKE_ERR_NUMERIC);
            assert_string_equal(found.text, expected.text);
        }
    }
    end(&f);
}

/* A loop without a compiled form would run stage by stage, several times slower. */
static void every_loop_of_the_schemes_is_compiled(void **state)
{
    const strake_subject *subject = *state;
    static strake_graph graph;
    static strake_loop loop[STRAKE_MAX_VALUES];
    char body[STRAKE_LOOP_TEXT];
    strake_error error;
    for (int v = 0; v < subject->variants; v++) {
        const config c = {subject, v, 20, 30, 0, false, false};
        const bool constant[STRAKE_MAX_FIELDS] = {false};
        const double number[STRAKE_MAX_FIELDS] = {0.0};
        fixture f;
        begin(&f, &c);
        assert_int_equal(f.which->problem->build(f.which, constant, number, &graph, &error),
                         STRAKE_OK);
        const int loops = strake_loops_plan(&graph, 1, STRAKE_MAX_VALUES, loop);
        for (int g = 0; g < loops; g++) {
            const int length = strake_loop_body(&graph, &loop[g], body, sizeof body);
            assert_true(length > 0);
            const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, body, (size_t)length);
            bool is_known = false;
            for (int k = 0; k < strake_loop_code_count && !is_known; k++) {
                is_known = strake_loop_codes[k].body == hash;
            }
            if (!is_known) {
                fail_msg("%s: no compiled loop for %s", f.name, body);
            }
        }
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_boundary_gives_the_bytes_of_single_steps),
        cmocka_unit_test(every_scheme_gives_the_bytes_of_single_steps),
        cmocka_unit_test(grids_smaller_than_the_halo_give_the_bytes_of_single_steps),
        cmocka_unit_test(eight_steps_at_once_and_thin_stripes_give_the_bytes_of_single_steps),
        cmocka_unit_test(the_deepest_sweeps_give_the_bytes_of_single_steps),
        cmocka_unit_test(sweeps_deeper_than_the_ghosts_give_the_bytes_of_single_steps),
        cmocka_unit_test(devices_give_the_bytes_of_single_steps),
        cmocka_unit_test(moved_slabs_give_the_bytes_of_single_steps),
        cmocka_unit_test(wide_rows_give_the_bytes_of_single_steps),
        cmocka_unit_test(a_failure_names_its_step_and_cell),
        cmocka_unit_test(every_loop_of_the_schemes_is_compiled),
    };
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
