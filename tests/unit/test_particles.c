/* Particles through the library: fields by number, set and read in pieces, steps, checkpoints, failure. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "strake.h"

enum { COLUMNS = 6, HEIGHT = 5, LAYERS = 3, FLUID = COLUMNS * HEIGHT };

/* A column of water beside the left wall of a box whose floor and left side are walls. */
static const char water[] = "problem: sph2d\n"
                            "scene:\n"
                            "  spacing: 0.1\n"
                            "  to: [2, 1]\n"
                            "  fluid: [{box: {from: [0, 0], to: [0.6, 0.5]}}]\n"
                            "  walls: [{sides: [bottom, left, right]}]\n"
                            "time: {end: 1}\n";

typedef struct opened {
    strake_case *which;
    strake_solver *solver;
    int64_t count; /* of particles */
} opened;

static strake_error failure, *const error = &failure;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != STRAKE_OK) {                                                                 \
            fail_msg("%s", failure.text);                                                          \
        }                                                                                          \
    } while (0)

static opened open_on(const char *where, const char *precision)
{
    opened o = {NULL, NULL, 0};
    char set[40];
    int dims = 0;
    int64_t shape[3];
    (void)snprintf(set, sizeof set, "precision=%s", precision);
    const char *const sets[] = {set, NULL};
    const strake_options options = {.where = where, .threads = 2};
    MUST(strake_case_parse("water", water, sets, false, &o.which, error));
    MUST(strake_open(o.which, &options, &o.solver, error));
    MUST(strake_field_shape(o.solver, "density", &dims, shape, error));
    assert_int_equal(dims, 1);
    o.count = shape[0];
    return o;
}

static void close_both(opened *o)
{
    strake_close(&o->solver);
    strake_case_close(&o->which);
}

static double *read_field(const opened *o, const char *name, int64_t *numbers)
{
    int dims = 0;
    int64_t shape[3] = {1, 1, 1};
    MUST(strake_field_shape(o->solver, name, &dims, shape, error));
    *numbers = shape[0] * (dims > 1 ? shape[1] : 1);
    double *const out = malloc((size_t)*numbers * sizeof *out);
    assert_non_null(out);
    MUST(strake_get_field(o->solver, name, out, error));
    return out;
}

/* Whether all fields of two solvers have the same bits. */
static void assert_same(const opened *a, const opened *b)
{
    assert_true(strake_time(a->solver) == strake_time(b->solver));
    for (int f = 0; f < strake_field_count(a->solver); f++) {
        int64_t one = 0, two = 0;
        double *const x = read_field(a, strake_field_name(a->solver, f), &one);
        double *const y = read_field(b, strake_field_name(a->solver, f), &two);
        assert_int_equal(one, two);
        assert_memory_equal(x, y, (size_t)one * sizeof *x);
        free(x);
        free(y);
    }
}

static void fields_are_rows_by_number(void **state)
{
    static const char *const name[] = {"position", "velocity", "density",
                                       "pressure", "kind",     "number"};
    (void)state;
    for (int single = 0; single < 2; single++) {
        opened o = open_on("serial", single ? "single" : "double");
        double least = 0.0, most = 0.0, sum = 0.0;
        int64_t numbers = 0;
        assert_int_equal(strake_element_size(o.solver), 8);
        assert_int_equal(strake_field_count(o.solver), 6);
        for (int f = 0; f < 6; f++) {
            assert_string_equal(strake_field_name(o.solver, f), name[f]);
        }
        double *const x = read_field(&o, "position", &numbers);
        assert_int_equal(numbers, 2 * o.count);
        for (int k = 0; k < FLUID; k++) { /* in the order of the scene: x is slowest */
            assert_true(fabs(x[2 * k] - (0.05 + 0.1 * (k / HEIGHT))) < 1e-6);
            assert_true(fabs(x[2 * k + 1] - (0.05 + 0.1 * (k % HEIGHT))) < 1e-6);
        }
        free(x);
        MUST(strake_field_statistics(o.solver, "kind", &least, &most, &sum, error));
        assert_true(least == 0.0 && most == 1.0 && sum == (double)(o.count - FLUID));
        MUST(strake_field_statistics(o.solver, "number", &least, &most, NULL, error));
        assert_true(least == 0.0 && most == (double)(o.count - 1));
        close_both(&o);
    }
}

static void velocity_and_density_can_be_set(void **state)
{
    opened o = open_on("cpu", "double"), plain = open_on("cpu", "double");
    double push[2 * FLUID], back[2 * FLUID], dense[3] = {1001.0, 1002.0, 1003.0};
    int64_t numbers = 0;
    (void)state;
    for (int k = 0; k < 2 * FLUID; k++) {
        push[k] = 0.01 * k;
    }
    MUST(strake_step(o.solver, 3, error));
    MUST(strake_step(plain.solver, 3, error));
    /* In pieces and in any order; what is not set stays. */
    MUST(strake_set_slabs(o.solver, "velocity", 10, FLUID, push + 20, error));
    MUST(strake_set_slabs(o.solver, "velocity", 0, 10, push, error));
    MUST(strake_set_slabs(o.solver, "density", 4, 7, dense, error));
    MUST(strake_get_slabs(o.solver, "velocity", 0, FLUID, back, error));
    assert_memory_equal(back, push, sizeof push);
    double *const rho = read_field(&o, "density", &numbers);
    double *const before = read_field(&plain, "density", &numbers);
    assert_true(rho[4] == 1001.0 && rho[6] == 1003.0 && rho[7] == before[7]);
    free(rho);
    free(before);
    /* They go into the next step: another one went on without them. */
    MUST(strake_step(o.solver, 1, error));
    MUST(strake_step(plain.solver, 1, error));
    MUST(strake_get_slabs(o.solver, "velocity", 0, FLUID, back, error));
    assert_true(back[2 * FLUID - 1] > 0.4);
    dense[1] = 0.0;
    assert_int_equal(strake_set_slabs(o.solver, "density", 0, 3, dense, error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error->text, "of particle 1 is no density"));
    assert_int_equal(strake_set_slabs(o.solver, "position", 0, 1, push, error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error->text, "velocity and density can"));
    assert_int_equal(strake_get_slabs(o.solver, "density", 0, o.count + 1, back, error),
                     STRAKE_ERR_USAGE);
    close_both(&o);
    close_both(&plain);
}

static void steps_do_not_depend_on_how_they_are_asked_for(void **state)
{
    opened one = open_on("cpu", "double"), many = open_on("serial", "double");
    (void)state;
    MUST(strake_step(one.solver, 25, error));
    while (strake_step_count(many.solver) < 25) {
        const double until = strake_time(many.solver) + 0.004;
        const int64_t before = strake_step_count(many.solver);
        MUST(strake_advance(many.solver, until, 25 - before, error));
        assert_true(strake_time(many.solver) >= until || strake_step_count(many.solver) == 25);
    }
    assert_same(&one, &many);
    close_both(&one);
    close_both(&many);
}

static void a_checkpoint_goes_on_elsewhere(void **state)
{
    static const char *const place[] = {"serial", "cpu"};
    char path[] = "/tmp/strake-particles-XXXXXX";
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    for (int k = 0; k < 2; k++) {
        opened whole = open_on(place[k], "single"), cut = open_on(place[k], "single");
        opened next = open_on(place[1 - k], "single");
        MUST(strake_step(whole.solver, 19, error));
        MUST(strake_step(cut.solver, 8, error));
        MUST(strake_checkpoint_save(cut.solver, path, error));
        MUST(strake_checkpoint_load(next.solver, path, error));
        assert_same(&cut, &next); /* before the first step, too */
        MUST(strake_step(next.solver, 11, error));
        assert_same(&whole, &next);
        close_both(&whole);
        close_both(&cut);
        close_both(&next);
    }
    (void)unlink(path);
}

/* Water that falls along the slices, to a part that has nobody at first. */
static const char falling[] = "problem: sph2d\n"
                              "precision: single\n"
                              "scene:\n"
                              "  spacing: 0.02\n"
                              "  to: [2.0, 0.5]\n"
                              "  walls: [{plane: {point: [2.0, 0], normal: [-1, 0]}}]\n"
                              "  fluid: [{box: {from: [0.55, 0.1], to: [0.8, 0.3]}, "
                              "velocity: [0.1, 0], pressure: none}]\n"
                              "parameters: {gravity: [20, 0]}\n"
                              "scheme: {sound: 80}\n"
                              "time: {end: 1}\n"
                              "run: {split: [32, 2]}\n";

/* A checkpoint in which a part has nobody, and lists, is loaded by one that has: it forgets whom it had. */
static void who_is_no_longer_there_is_forgotten(void **state)
{
    enum { BEFORE = 20, STEPS = 150, MORE = 3600 };
    char path[] = "/tmp/strake-particles-XXXXXX";
    const int file = mkstemp(path);
    const strake_options options = {.where = "ocl:0,ocl:0"};
    opened o = {NULL, NULL, 0};
    double time[2];
    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    MUST(strake_case_parse("falling", falling, NULL, false, &o.which, error));
    if (strake_open(o.which, &options, &o.solver, error) != STRAKE_OK) {
        print_message("# skip: no OpenCL device\n");
        strake_case_close(&o.which);
        (void)unlink(path);
        skip();
    }
    MUST(strake_step(o.solver, BEFORE, error));
    MUST(strake_checkpoint_save(o.solver, path, error));
    for (int k = 0; k < 2; k++) {
        MUST(strake_checkpoint_load(o.solver, path, error));
        MUST(strake_step(o.solver, STEPS, error));
        time[k] = strake_time(o.solver);
        MUST(k == 0 ? strake_step(o.solver, MORE, error) : STRAKE_OK);
    }
    assert_true(time[0] == time[1]);
    close_both(&o);
    (void)unlink(path);
}

static void a_failed_step_loses_the_particles_but_not_the_solver(void **state)
{
    char path[] = "/tmp/strake-particles-XXXXXX";
    const int file = mkstemp(path);
    opened o = open_on("cpu", "double"), whole = open_on("cpu", "double");
    const double fast[2] = {1e6, 0.0};
    double rho[1];
    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    MUST(strake_step(o.solver, 2, error));
    MUST(strake_checkpoint_save(o.solver, path, error));
    MUST(strake_set_slabs(o.solver, "velocity", 7, 8, fast, error));
    assert_int_equal(strake_step(o.solver, 1, error), STRAKE_ERR_NUMERIC);
    assert_int_equal(strake_get_slabs(o.solver, "density", 0, 1, rho, error), STRAKE_ERR_STATE);
    assert_int_equal(strake_set_slabs(o.solver, "velocity", 7, 8, fast, error), STRAKE_ERR_STATE);
    assert_non_null(strstr(error->text, "take them from a checkpoint"));
    MUST(strake_checkpoint_load(o.solver, path, error));
    MUST(strake_step(o.solver, 4, error));
    MUST(strake_step(whole.solver, 6, error));
    assert_same(&whole, &o);
    close_both(&o);
    close_both(&whole);
    (void)unlink(path);
}

static bool stop_at_once(void *user, int64_t step, int64_t end)
{
    (void)step;
    (void)end;
    ++*(int *)user;
    return false;
}

static void a_run_can_be_stopped(void **state)
{
    int calls = 0;
    opened o = open_on("cpu", "double"), stopped = {NULL, NULL, 0};
    const strake_options options = {
        .where = "cpu", .threads = 1, .progress = stop_at_once, .user = &calls};
    (void)state;
    MUST(strake_case_parse("water", water, NULL, false, &stopped.which, error));
    MUST(strake_open(stopped.which, &options, &stopped.solver, error));
    assert_int_equal(strake_step(stopped.solver, 1000000, error), STRAKE_STOPPED);
    assert_int_equal(calls, 1);
    assert_true(strake_step_count(stopped.solver) >= 1);
    MUST(strake_step(o.solver, strake_step_count(stopped.solver), error));
    assert_same(&o, &stopped);
    close_both(&o);
    close_both(&stopped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_rows_by_number),
        cmocka_unit_test(velocity_and_density_can_be_set),
        cmocka_unit_test(steps_do_not_depend_on_how_they_are_asked_for),
        cmocka_unit_test(a_checkpoint_goes_on_elsewhere),
        cmocka_unit_test(who_is_no_longer_there_is_forgotten),
        cmocka_unit_test(a_failed_step_loses_the_particles_but_not_the_solver),
        cmocka_unit_test(a_run_can_be_stopped),
    };
    return cmocka_run_group_tests_name("particles", tests, NULL, NULL);
}
