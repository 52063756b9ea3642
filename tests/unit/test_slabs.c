/* Fields in pieces: strake_set_slabs() and strake_get_slabs(). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/stream.h"
#include "engine/loops.h"
#include "strake.h"

enum { ROWS = 13, COLS = 17, CELLS = ROWS * COLS, FACES = (ROWS + 1) * COLS };

#define HEAD                                                                                       \
    "problem: mpdata2d\ngrid: {rows: 13, cols: 17}\ntime: {dt: 0.1, steps: 9}\n"                   \
    "boundary: {rows: open, cols: periodic}\n"

static const char plain[] = HEAD;
static const char turning[] = HEAD "fields:\n"
                                   "  u1: {rotation: {omega: 0.05, center: [6, 8]}}\n"
                                   "  u2: {rotation: {omega: 0.05, center: [6, 8]}}\n";

static strake_case *which;
static double psi[CELLS], h[CELLS], u1[FACES], u2[CELLS];

static void fill(double *field, int count, double middle, double amplitude, double step)
{
    for (int k = 0; k < count; k++) {
        field[k] = middle + amplitude * sin(step * k);
    }
}

static strake_solver *open_case(const char *text)
{
    strake_error error;
    strake_solver *solver = NULL;
    const strake_options options = {.where = "cpu", .threads = 2};
    if (strake_case_parse("slabs", text, NULL, true, &which, &error) != STRAKE_OK ||
        strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    fill(psi, CELLS, 2.0, 1.0, 0.7);
    fill(h, CELLS, 1.5, 0.3, 0.3);
    fill(u1, FACES, 0.0, 0.1, 1.1);
    fill(u2, CELLS, 0.1, 0.1, 0.9);
    return solver;
}

static void close_case(strake_solver **solver)
{
    strake_close(solver);
    strake_case_close(&which);
}

static void good(strake_status status, const strake_error *error)
{
    if (status != STRAKE_OK) {
        fail_msg("%s", error->text);
    }
}

static void set(strake_solver *solver, const char *name, const double *data)
{
    strake_error error;
    good(strake_set_field(solver, name, data, &error), &error);
}

/* The same in pieces of `rows` rows. */
static void set_pieces(strake_solver *solver, const char *name, const double *data, int64_t slabs,
                       int64_t rows)
{
    strake_error error;
    for (int64_t i = 0; i < slabs; i += rows) {
        const int64_t end = i + rows < slabs ? i + rows : slabs;
        good(strake_set_slabs(solver, name, i, end, data + i * COLS, &error), &error);
    }
}

static void step(strake_solver *solver, int64_t steps)
{
    strake_error error;
    good(strake_step(solver, steps, &error), &error);
}

static void fails(strake_status found, strake_status expected, const strake_error *error,
                  const char *text)
{
    assert_int_equal(found, expected);
    if (strstr(error->text, text) == NULL) {
        fail_msg("found \"%s\", expected \"%s\"", error->text, text);
    }
}

static void fields_set_in_pieces_are_those_set_whole(void **state)
{
    (void)state;
    double whole[CELLS], pieces[CELLS];
    strake_error error;
    for (int64_t rows = 1; rows <= ROWS + 1; rows += 3) {
        strake_solver *solver = open_case(plain);
        set(solver, "psi", psi);
        set(solver, "h", h);
        set(solver, "u1", u1);
        set(solver, "u2", u2);
        step(solver, 5);
        good(strake_get_field(solver, "psi", whole, &error), &error);
        close_case(&solver);

        solver = open_case(plain);
        set_pieces(solver, "u1", u1, ROWS + 1, rows);
        set_pieces(solver, "psi", psi, ROWS, rows);
        set_pieces(solver, "u2", u2, ROWS, rows);
        set_pieces(solver, "h", h, ROWS, rows);
        step(solver, 5);
        for (int64_t i = 0; i < ROWS; i += rows) {
            const int64_t end = i + rows < ROWS ? i + rows : ROWS;
            good(strake_get_slabs(solver, "psi", i, end, pieces + i * COLS, &error), &error);
        }
        assert_memory_equal(whole, pieces, sizeof whole);
        good(strake_get_slabs(solver, "u1", ROWS, ROWS + 1, pieces, &error), &error);
        assert_memory_equal(pieces, u1 + CELLS, COLS * sizeof *pieces);
        close_case(&solver);
    }
}

static void some_slabs_can_be_replaced_between_steps(void **state)
{
    (void)state;
    double whole[CELLS], pieces[CELLS];
    strake_error error;
    strake_solver *solver = NULL;
    for (int k = 0; k < 2; k++) {
        double *const out = k == 0 ? whole : pieces;
        solver = open_case(plain);
        set(solver, "psi", psi);
        set(solver, "h", h);
        set(solver, "u1", u1);
        set(solver, "u2", u2);
        step(solver, 3);
        good(strake_get_field(solver, "psi", out, &error), &error);
        memcpy(out + 4 * COLS, psi, 2 * COLS * sizeof *out);
        if (k == 0) {
            set(solver, "psi", out);
        } else {
            good(strake_set_slabs(solver, "psi", 4, 6, psi, &error), &error);
        }
        step(solver, 2);
        good(strake_get_field(solver, "psi", out, &error), &error);
        close_case(&solver);
    }
    assert_memory_equal(whole, pieces, sizeof whole);
}

static void bad_slabs_are_refused_and_change_nothing(void **state)
{
    (void)state;
    double before[CELLS], after[CELLS];
    strake_error error;
    strake_solver *solver = open_case(plain);
    set(solver, "psi", psi);
    fails(strake_set_slabs(solver, "psi", -1, 2, psi, &error), STRAKE_ERR_USAGE, &error,
          "psi: slabs [-1, 2)");
    fails(strake_set_slabs(solver, "psi", 3, 2, psi, &error), STRAKE_ERR_USAGE, &error, "[3, 2)");
    fails(strake_get_slabs(solver, "psi", 0, ROWS + 1, before, &error), STRAKE_ERR_USAGE, &error,
          "it has slabs [0, 13)");
    fails(strake_get_slabs(solver, "phi", 0, 1, before, &error), STRAKE_ERR_USAGE, &error, "phi");
    good(strake_get_field(solver, "psi", before, &error), &error);
    memcpy(after, psi, sizeof after);
    after[COLS + 3] = (double)NAN;
    fails(strake_set_slabs(solver, "psi", 4, 6, after, &error), STRAKE_ERR_USAGE, &error, "[5, 3]");
    fails(strake_set_field(solver, "psi", after, &error), STRAKE_ERR_USAGE, &error, "[1, 3]");
    good(strake_set_slabs(solver, "psi", 4, 4, NULL, &error), &error);
    good(strake_get_field(solver, "psi", after, &error), &error);
    assert_memory_equal(before, after, sizeof before);
    close_case(&solver);
}

static void a_field_without_values_is_set_in_order(void **state)
{
    (void)state;
    strake_error error;
    strake_solver *solver = open_case(plain);
    set(solver, "u1", u1);
    set(solver, "u2", u2);
    fails(strake_set_slabs(solver, "psi", 4, 8, psi, &error), STRAKE_ERR_STATE, &error,
          "slab 0 is next");
    good(strake_set_slabs(solver, "psi", 0, 4, psi, &error), &error);
    fails(strake_set_slabs(solver, "psi", 5, ROWS, psi, &error), STRAKE_ERR_STATE, &error,
          "slab 4 is next");
    fails(strake_step(solver, 1, &error), STRAKE_ERR_STATE, &error, "field psi has no values");
    good(strake_set_slabs(solver, "psi", 4, ROWS, psi + 4 * COLS, &error), &error);
    step(solver, 1);
    good(strake_set_slabs(solver, "psi", 5, 7, psi, &error), &error);
    close_case(&solver);
}

/* What is set counts as weighted with h, what the shape gives does not: they may not mix. */
static void a_velocity_shape_is_replaced_whole(void **state)
{
    (void)state;
    double back[CELLS];
    strake_error error;
    strake_solver *solver = open_case(turning);
    set(solver, "psi", psi);
    set(solver, "h", h);
    fails(strake_set_slabs(solver, "u2", 2, 3, u2, &error), STRAKE_ERR_STATE, &error,
          "slab 0 is next");
    step(solver, 1);
    good(strake_set_slabs(solver, "u2", 0, 3, u2, &error), &error);
    fails(strake_step(solver, 1, &error), STRAKE_ERR_STATE, &error, "field u2 has no values");
    good(strake_set_slabs(solver, "u2", 3, ROWS, u2 + 3 * COLS, &error), &error);
    set(solver, "u1", u1);
    step(solver, 1);
    good(strake_get_field(solver, "u2", back, &error), &error);
    assert_memory_equal(back, u2, sizeof back);
    close_case(&solver);
}

static void velocity_shapes_follow_another_h(void **state)
{
    (void)state;
    double direct[CELLS], later[CELLS], ones[CELLS];
    strake_error error;
    strake_solver *solver = open_case(turning);
    set(solver, "psi", psi);
    set(solver, "h", h);
    step(solver, 4);
    good(strake_get_field(solver, "psi", direct, &error), &error);
    close_case(&solver);

    solver = open_case(turning);
    fill(ones, CELLS, 1.0, 0.0, 0.0);
    set(solver, "psi", psi);
    set(solver, "h", ones);
    step(solver, 2);
    set_pieces(solver, "h", h, ROWS, 5);
    set_pieces(solver, "psi", psi, ROWS, 2);
    step(solver, 4);
    good(strake_get_field(solver, "psi", later, &error), &error);
    assert_memory_equal(direct, later, sizeof direct);
    close_case(&solver);
}

/* Models' arrays lie anywhere. */
static void copies_past_the_caches_take_any_address(void **state)
{
    enum { BYTES = 320 };
    static char from[BYTES + 64];
    static _Alignas(64) char to[BYTES];
    (void)state;
    for (int k = 0; k < BYTES + 64; k++) {
        from[k] = (char)(k * 7);
    }
    for (int isa = 0; isa < STRAKE_ISAS && strake_stream_is_there(); isa++) {
        for (int shift = 0; shift < 64 && strake_isa_is_there((strake_isa)isa); shift += 3) {
            memset(to, 0, sizeof to);
            strake_stream_copy((strake_isa)isa, to, from + shift, BYTES);
            strake_stream_fence();
            assert_memory_equal(to, from + shift, BYTES);
        }
    }
}

/* More than last-level caches hold, with lines that are no multiple of a line of cache. */
static void a_large_field_is_what_was_set(void **state)
{
    enum { LONG = 1000, WIDE = 1003, ALL = LONG * WIDE };
    strake_error error;
    double *const given = malloc((ALL + 1) * sizeof *given), *const back =
                                                                 malloc(ALL * sizeof *back);
    strake_solver *const solver =
        open_case("problem: mpdata2d\ngrid: {rows: 1000, cols: 1003}\ntime: {dt: 1, steps: 1}\n");
    (void)state;
    assert_true(given != NULL && back != NULL);
    for (int k = 0; k <= ALL; k++) {
        given[k] = k;
    }
    set(solver, "u2", given + 1);
    good(strake_get_field(solver, "u2", back, &error), &error);
    assert_memory_equal(back, given + 1, ALL * sizeof *back);
    given[ALL] = (double)NAN;
    assert_int_equal(strake_set_field(solver, "u2", given + 1, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "u2 is not finite at [999, 1002]"));
    good(strake_get_field(solver, "u2", back, &error), &error);
    assert_memory_equal(back, given + 1, (ALL - 1) * sizeof *back);
    close_case((strake_solver *[]){solver});
    free(given);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_set_in_pieces_are_those_set_whole),
        cmocka_unit_test(some_slabs_can_be_replaced_between_steps),
        cmocka_unit_test(bad_slabs_are_refused_and_change_nothing),
        cmocka_unit_test(a_field_without_values_is_set_in_order),
        cmocka_unit_test(a_velocity_shape_is_replaced_whole),
        cmocka_unit_test(velocity_shapes_follow_another_h),
        cmocka_unit_test(copies_past_the_caches_take_any_address),
        cmocka_unit_test(a_large_field_is_what_was_set),
    };
    return cmocka_run_group_tests_name("slabs", tests, NULL, NULL);
}
