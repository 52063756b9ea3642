/*
 * The copy of the states that a run of several parts keeps: when it is renewed, what it costs, and that
 * a run goes on from it. Devices are broken by the test switch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solver/solver_impl.h"
#include "tests/support/harness.h"

enum { ROWS = 90, COLS = 70, CELLS = ROWS * COLS };

static const strake_scheme scheme = {STRAKE_DEFAULT_SCHEME};

typedef struct fixture {
    strake_inputs in;
    strake_case *which;
    strake_solver *solver;
} fixture;

/* A solver on @p where whose devices fail as @p word says, NULL: not at all. */
static void begin(fixture *f, const char *where, const char *split, const char *word)
{
    strake_harness_need_device(STRAKE_DOUBLE);
    uint64_t seed = 5;
    memset(f, 0, sizeof *f);
    assert_true(strake_inputs_open(&f->in, ROWS, COLS, true, false));
    strake_inputs_random_psi(&f->in, -1.0, 2.0, &seed);
    strake_inputs_random_h(&f->in, &seed);
    strake_inputs_random_flow(&f->in, 0.95, 1.0, &seed);
    f->which = strake_harness_case(&f->in, &scheme, false, false);
    assert_int_equal(word != NULL ? setenv("STRAKE_INJECT", word, 1) : unsetenv("STRAKE_INJECT"),
                     0);
    f->solver = strake_harness_open(f->which, &f->in, false, false, where, split, 2);
    assert_int_equal(unsetenv("STRAKE_INJECT"), 0);
}

static void end(fixture *f)
{
    strake_close(&f->solver);
    strake_case_close(&f->which);
    strake_inputs_close(&f->in);
}

/* What psi must be after some steps. */
static uint64_t expected(const fixture *f, int64_t steps)
{
    strake_solver *serial = strake_harness_open(f->which, &f->in, false, false, "serial", NULL, 1);
    strake_harness_step(serial, steps);
    const uint64_t checksum = strake_harness_checksum(serial, "psi", CELLS);
    strake_close(&serial);
    return checksum;
}

/* As if the copy had been made so long ago that it is due again. */
static void make_due(strake_solver *solver)
{
    solver->pace.kept.since -= 1e6;
}

static void the_copy_is_renewed_when_it_is_due(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "cpu,ocl:0", "1,1", NULL);
    strake_harness_step(f.solver, 3);
    assert_true(f.solver->pace.kept.valid);
    assert_int_equal(f.solver->pace.kept.step, 0);
    make_due(f.solver);
    strake_harness_step(f.solver, 4);
    assert_int_equal(f.solver->pace.kept.step, 3);
    assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 7));
    end(&f);
}

static void a_run_goes_on_from_a_renewed_copy(void **state)
{
    (void)state;
    static const char *const words[] = {"fail:ocl:0@9", "lost:ocl:0@9"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        fixture f;
        strake_part_report part[2];
        begin(&f, "cpu,ocl:0", "1,1", words[k]);
        strake_harness_step(f.solver, 5);
        make_due(f.solver);
        strake_harness_step(f.solver, 7);
        const uint64_t checksum = strake_harness_checksum(f.solver, "psi", CELLS);
        assert_true(checksum == expected(&f, 12));
        assert_int_equal(f.solver->pace.kept.step, 5);
        assert_int_equal(strake_step_count(f.solver), 12);
        assert_int_equal(strake_solver_parts(f.solver, part, 2), 2);
        assert_int_equal(part[0].dropped_at, -1);
        assert_true(part[1].dropped_at >= 5);
        assert_int_equal(part[1].first, part[1].end);
        assert_int_equal(part[0].end - part[0].first, ROWS);
        strake_harness_step(f.solver, 3);
        assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 15));
        end(&f);
    }
}

/* Every way to read states. */
enum { READS = 5 };

static strake_status read_in_one_way(strake_solver *solver, int way, double *psi,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL, path[64];
    double sum = 0.0;
    switch (way) {
    case 0:
        return strake_get_field(solver, "psi", psi, error);
    case 1:
        return strake_get_slabs(solver, "psi", 3, 5, psi, error);
    case 2:
        return strake_field_statistics(solver, "psi", NULL, NULL, &sum, error);
    case 3:
        (void)snprintf(path, sizeof path, "/tmp/strake-rescue-%ld", (long)getpid());
        status = strake_checkpoint_save(solver, path, error);
        (void)unlink(path);
        return status;
    default:
        status = strake_report(solver, &text, error);
        strake_text_close(&text);
        return status;
    }
}

static void reading_runs_no_step(void **state)
{
    (void)state;
    static double psi[CELLS];
    for (int way = 0; way < READS; way++) {
        fixture f;
        strake_error error;
        strake_part_report before[2], after[2];
        begin(&f, "cpu,ocl:0", "1,1", "lost:ocl:0@12/output");
        strake_harness_step(f.solver, 5);
        make_due(f.solver);
        strake_harness_step(f.solver, 7);
        const double seconds = strake_solver_step_seconds(f.solver);
        assert_int_equal(strake_solver_parts(f.solver, before, 2), 2);
        assert_int_equal(read_in_one_way(f.solver, way, psi, &error), STRAKE_WENT_BACK);
        assert_int_equal(error.status, STRAKE_WENT_BACK);
        assert_non_null(strstr(error.text, "the states of step 12 are lost"));
        assert_non_null(strstr(error.text, "those of step 5 are back"));
        assert_non_null(strstr(error.text, "for the 7 steps between"));
        assert_int_equal(strake_step_count(f.solver), 5);
        assert_int_equal(strake_solver_parts(f.solver, after, 2), 2);
        for (int e = 0; e < 2; e++) {
            assert_true(after[e].updates == before[e].updates);
        }
        assert_true(strake_solver_step_seconds(f.solver) == seconds);
        assert_int_equal(after[1].dropped_at, 12);
        assert_int_equal(after[1].first, after[1].end);
        /* What is read now are the states of that step, and stepping goes on from them. */
        assert_int_equal(read_in_one_way(f.solver, way, psi, &error), STRAKE_OK);
        assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 5));
        strake_harness_step(f.solver, 7);
        assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 12));
        end(&f);
    }
}

/* Inputs are in the host's arrays: no device is asked for them. */
static void reading_an_input_asks_no_device(void **state)
{
    (void)state;
    static double h[CELLS];
    fixture f;
    strake_error error;
    begin(&f, "cpu,ocl:0", "1,1", "lost:ocl:0@5/output");
    strake_harness_step(f.solver, 5);
    assert_int_equal(strake_get_field(f.solver, "h", h, &error), STRAKE_OK);
    assert_int_equal(strake_step_count(f.solver), 5);
    assert_int_equal(strake_set_field(f.solver, "h", h, &error), STRAKE_WENT_BACK);
    assert_int_equal(strake_step_count(f.solver), 0);
    strake_harness_step(f.solver, 5);
    assert_int_equal(strake_set_field(f.solver, "h", h, &error), STRAKE_OK);
    assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 5));
    end(&f);
}

/* What the program does before it reads. */
static void fetching_steps_to_where_the_solver_stood(void **state)
{
    (void)state;
    fixture f;
    strake_error error;
    begin(&f, "cpu,ocl:0,ocl:0", "1,1,1", "lost:ocl:0@7/output,fail:ocl:0#2@6/output");
    strake_harness_step(f.solver, 7);
    assert_int_equal(strake_solver_fetch(f.solver, &error), STRAKE_OK);
    assert_int_equal(strake_step_count(f.solver), 7);
    assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 7));
    end(&f);
}

static void states_set_from_outside_are_what_counts(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "cpu,ocl:0", "1,1", "lost:ocl:0@9");
    strake_harness_step(f.solver, 5);
    strake_harness_set_psi(f.solver, f.in.psi, CELLS);
    strake_harness_step(f.solver, 7);
    assert_true(strake_harness_checksum(f.solver, "psi", CELLS) == expected(&f, 7));
    end(&f);
}

static void without_another_part_there_is_an_error(void **state)
{
    (void)state;
    fixture f;
    strake_error error;
    begin(&f, "ocl:0", NULL, "fail:ocl:0@3");
    assert_false(f.solver->pace.kept.valid);
    assert_int_equal(strake_step(f.solver, 5, &error), STRAKE_ERR_DEVICE);
    assert_non_null(strstr(error.text, "no other part"));
    assert_int_equal(strake_step(f.solver, 1, &error), STRAKE_ERR_STATE);
    strake_harness_set_psi(f.solver, f.in.psi, CELLS);
    assert_int_equal(strake_step(f.solver, 1, &error), STRAKE_ERR_STATE);
    end(&f);
}

static void the_cpu_alone_keeps_no_copy(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "cpu", NULL, NULL);
    strake_harness_step(f.solver, 3);
    assert_false(f.solver->pace.kept.valid);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_copy_is_renewed_when_it_is_due),
        cmocka_unit_test(a_run_goes_on_from_a_renewed_copy),
        cmocka_unit_test(reading_runs_no_step),
        cmocka_unit_test(reading_an_input_asks_no_device),
        cmocka_unit_test(fetching_steps_to_where_the_solver_stood),
        cmocka_unit_test(states_set_from_outside_are_what_counts),
        cmocka_unit_test(without_another_part_there_is_an_error),
        cmocka_unit_test(the_cpu_alone_keeps_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
