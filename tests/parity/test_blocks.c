/*
 * A device stripe that streams through its memory in blocks gives the bytes of the serial reference:
 * any number of blocks, streams and steps per visit, any cap of the memory, every boundary, beside
 * other stripes, with fields set between the calls. A run that fails says so, too. `make check` takes a part of
 * each matrix (strake_trial_takes): of boundaries, cuts and steps every value, of programs, which PoCL compiles for
 * most of the time, a few.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/case.h"
#include "solver/solver_impl.h"
#include "tests/support/trial.h"

enum { ROWS = 61, COLS = 97, MIRRORED = STRAKE_TRIAL_OTHER };

/* How a stripe is cut; zero: chosen. */
typedef struct cut {
    int blocks, streams, steps, memory_kib;
} cut;

typedef strake_trial fixture;

static void begin(fixture *f, const strake_subject *subject, int variant, int rows, int cols,
                  int boundary, bool single, bool constant_h)
{
    const strake_trial_config config = {subject, variant, rows, cols, boundary, single, constant_h};
    strake_trial_begin(f, &config, 11);
}

static void end(fixture *f)
{
    strake_trial_end(f);
}

static strake_solver *open_cut(fixture *f, const char *where, const char *split, const cut *c)
{
    f->which->run.blocks = c->blocks;
    f->which->run.streams = c->streams;
    f->which->run.steps_per_sweep = c->steps;
    f->which->run.device_memory = (int64_t)c->memory_kib * 1024;
    return strake_trial_open(f, where, split, 2);
}

/* Checksum of the state after calls of some steps, with it set anew after the first call. */
static uint64_t run(fixture *f, const char *where, const char *split, const cut *c, int64_t *blocks)
{
    static const int calls[] = {3, 9, 17};
    double *state = malloc(f->cells * sizeof *state);
    strake_part_report part[4];
    assert_non_null(state);
    strake_solver *solver = open_cut(f, where, split, c);
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        strake_harness_step(solver, calls[k]);
        if (k == 0) {
            strake_harness_get(solver, f->field[0], state, f->cells);
            state[f->cells / 2] += 0.5;
            strake_harness_set(solver, f->field[0], state, f->cells);
        }
    }
    const uint64_t checksum = strake_trial_checksum(f, solver);
    const int parts = strake_solver_parts(solver, part, 4);
    *blocks = 0;
    for (int k = 0; k < parts; k++) {
        *blocks += part[k].memory.sizes.blocks;
    }
    strake_close(&solver);
    free(state);
    return checksum;
}

static uint64_t reference(fixture *f)
{
    static const cut none = {0, 0, 0, 0};
    int64_t blocks = 0;
    return run(f, "serial", NULL, &none, &blocks);
}

static void compare(fixture *f, const char *where, const char *split, const cut *c,
                    uint64_t expected)
{
    int64_t blocks = 0;
    const uint64_t found = run(f, where, split, c, &blocks);
    if (found != expected || blocks == 0) {
        fail_msg("%s split %s, %d blocks (%lld made), %d streams, %d steps, %d KiB: %016llx, "
                 "serial %016llx (%s)",
                 where, split != NULL ? split : "none", c->blocks, (long long)blocks, c->streams,
                 c->steps, c->memory_kib, (unsigned long long)found, (unsigned long long)expected,
                 f->name);
    }
}

static void every_boundary_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    static const cut cuts[] = {{1, 1, 1, 0},  {2, 2, 3, 0},  {3, 3, 2, 0}, {7, 2, 5, 0},
                               {61, 3, 1, 0}, {60, 1, 4, 0}, {5, 8, 7, 0}, {4, 3, 8, 0}};
    strake_harness_need_device(STRAKE_DOUBLE);
    const int boundaries = subject->is_walled ? 3 : 7; /* of thirds or sixths of the cuts */
    for (int k = 0; k < boundaries; k++) {
        const int boundary = k < 4 ? k : (k - 3) | MIRRORED;
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, boundary, false, k == 2 && strake_trial_is_whole());
        const uint64_t expected = reference(&f);
        for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
            if (strake_trial_takes_of(subject, k + (int)c, 3)) {
                compare(&f, "ocl:0", NULL, &cuts[c], expected);
            }
        }
        end(&f);
    }
}

static void every_number_of_steps_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int open = 0; open < 2; open++) {
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, open, false, false);
        const uint64_t expected = reference(&f);
        for (int steps = 1; steps <= 17; steps++) {
            const cut c = {1 + steps % 5, 1 + steps % 3, steps, 0};
            if (strake_trial_takes_of(subject, open + steps, 3)) {
                compare(&f, "ocl:0", NULL, &c, expected);
            }
        }
        end(&f);
    }
}

/* KiB that hold some rows of MPDATA, of Cahn-Hilliard in 2D and of lava, and some planes in 3D, but not 61. */
enum { CAPS = 5 };
static const int caps[][CAPS] = {{150, 200, 260, 330, 400},
                                 {56, 64, 96, 108, 120},
                                 {700, 800, 1200, 1400, 1600},
                                 {200, 260, 330, 500, 650}};
/* Of two stripes of 12 and 49 the smaller one fits, with some steps at once. */
static const int between[][4] = {
    {0, 420, 420, 420}, {0, 99, 116, 133}, {0, 1100, 1425, 1750}, {0, 600, 600, 600}};

static int size_of(const strake_subject *subject)
{
    return subject == &strake_subject_mpdata2d          ? 0
           : subject == &strake_subject_cahn_hilliard2d ? 1
           : subject == &strake_subject_cahn_hilliard3d ? 2
                                                        : 3;
}

static void any_cap_of_memory_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    const int *most = caps[size_of(subject)];
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int open = 0; open < 2; open++) {
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, open, false, false);
        const uint64_t expected = reference(&f);
        for (int k = 0; k < CAPS; k++) {
            if (!strake_trial_takes_of(subject, open + k, 2)) {
                continue;
            }
            const cut chosen = {0, 0, 0, most[k]};
            const cut steps = {0, 1, k >= 2 ? 2 : 1, most[k]};
            compare(&f, "ocl:0", NULL, &chosen, expected);
            compare(&f, "ocl:0", NULL, &steps, expected);
        }
        end(&f);
    }
}

static void odd_sizes_and_other_schemes_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {5, 130}, {13, 7}, {40, 257}};
    strake_harness_need_device(STRAKE_DOUBLE);
    strake_harness_need_device(STRAKE_SINGLE);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int boundary = 0; boundary < 4; boundary++) {
            const cut c = {2 + (int)s, 1 + boundary % 3, 1 + boundary * 2, 0};
            /* Sizes 0, 2, 4, 6, each with another boundary; of others than MPDATA 0 and 6. */
            if (!strake_trial_takes(3 * (int)s + boundary,
                                    subject == &strake_subject_mpdata2d ? 7 : 21)) {
                continue;
            }
            fixture f;
            begin(&f, subject, ((int)s + 2 * boundary) % 3 + 1, sizes[s][0], sizes[s][1], boundary,
                  s % 4 >= 2, boundary == 1);
            compare(&f, "ocl:0", NULL, &c, reference(&f));
            end(&f);
        }
    }
}

static void every_fusion_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int fusion = 1; fusion <= 4; fusion++) {
        if (!strake_trial_takes(fusion, 2)) {
            continue;
        }
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, fusion, false, false);
        const uint64_t expected = reference(&f);
        f.which->run.fusion = fusion;
        for (int steps = 1; steps <= 4; steps += 3) {
            const cut c = {4, 2, steps, 0};
            compare(&f, "ocl:0", NULL, &c, expected);
        }
        end(&f);
    }
}

static void beside_other_stripes_the_bytes_are_those_of_serial(void **state)
{
    const strake_subject *subject = *state;
    static const char *const mixture[][2] = {{"cpu,ocl:0", "30,31"},
                                             {"ocl:0,cpu", "59,2"},
                                             {"ocl:0,ocl:0", "1,1"},
                                             {"ocl:0,cpu,ocl:0", "30,1,30"}};
    strake_harness_need_device(STRAKE_DOUBLE);
    const int boundaries =
        subject->is_walled ? 3 : 7; /* of the mixtures two each; others than MPDATA one */
    for (int k = 0; k < boundaries; k++) {
        const int boundary = k < 4 ? k : (k - 3) | MIRRORED;
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, boundary, false, false);
        const uint64_t expected = reference(&f);
        for (int m = 0; m < 4; m++) {
            const cut asked = {3, 2, 1 + (m + k) % 4, 0};
            if (strake_trial_takes_of(subject, m + k / 2, 2)) {
                compare(&f, mixture[m][0], mixture[m][1], &asked, expected);
            }
        }
        end(&f);
    }
}

/* Of two stripes on one device the larger is beyond the cap, the other resident. */
static void a_resident_stripe_beside_a_streaming_one_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    strake_harness_need_device(STRAKE_DOUBLE);
    const int boundaries = subject->is_walled ? 2 : 4;
    for (int boundary = 0; boundary < boundaries; boundary++) {
        for (int steps = 1; steps <= 3; steps++) {
            const cut c = {0, 0, steps, between[size_of(subject)][steps]};
            if (!strake_trial_takes_of(subject, boundary + steps, 2)) {
                continue;
            }
            fixture f;
            begin(&f, subject, 0, ROWS, COLS, boundary, false, false);
            const uint64_t expected = reference(&f);
            compare(&f, "ocl:0,ocl:0", "12,49", &c, expected);
            compare(&f, "ocl:0,cpu,ocl:0", "49,2,10", &c, expected);
            end(&f);
        }
    }
}

/*
 * From the processors to the device and back: the device's part is not made anew. Nothing else moves slabs: what is
 * measured could give it so few that they fit in its memory, or none.
 */
static void move_slabs(fixture *f, const cut *c, uint64_t expected)
{
    static const int64_t mine[] = {12, 9, 11, 10};
    enum { MOVES = sizeof mine / sizeof mine[0], STEPS = 29 };
    f->which->run.balance = 1 + (int)STRAKE_BALANCE_FIXED;
    strake_solver *solver = open_cut(f, "cpu,ocl:0", "12,49", c);
    const void *body = NULL;
    for (int k = 0; k < MOVES; k++) {
        int64_t owned[2] = {mine[k], ROWS - mine[k]};
        strake_error error;
        strake_harness_step(solver, STEPS / MOVES); /* the first one places */
        body = k == 0 ? solver->team.part[1].body : body;
        assert_int_equal(strake_rebalance_move(&solver->pace, owned, &error), STRAKE_OK);
        assert_int_equal(solver->team.part[0].range.end, mine[k]);
        assert_ptr_equal(solver->team.part[1].body, body);
    }
    strake_harness_step(solver, STEPS - STEPS / MOVES * MOVES);
    assert_true(strake_trial_checksum(f, solver) == expected);
    strake_close(&solver);
    f->which->run.balance = 0;
}

static void slabs_move_to_and_from_a_stripe_that_streams(void **state)
{
    const strake_subject *subject = *state;
    const cut cuts[] = {{20, 2, 2, 0}, {0, 0, 2, between[size_of(subject)][2]}};
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int k = 0; k < 2; k++) {
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, k, false, false);
        strake_solver *serial = strake_trial_open(&f, "serial", NULL, 1);
        strake_harness_step(serial, 29);
        const uint64_t expected = strake_trial_checksum(&f, serial);
        strake_close(&serial);
        move_slabs(&f, &cuts[k], expected);
        end(&f);
    }
}

/* What a driver is asked for. */
typedef struct tally {
    int launches, writes, reads;
    size_t work_items, up, down;
    uint64_t sizes; /* of launches, in their order */
} tally;

static tally asked;
static strake_cl real_calls;

static cl_int CL_API_CALL count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint events, const cl_event *event,
                                       cl_event *done)
{
    size_t items = 1;
    for (cl_uint d = 0; d < dims; d++) {
        items *= global[d];
    }
    asked.launches++;
    asked.work_items += items;
    asked.sizes = strake_fnv1a(asked.sizes, global, dims * sizeof *global);
    return real_calls.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, events,
                                             event, done);
}

static cl_int CL_API_CALL count_write(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                      size_t offset, size_t bytes, const void *from, cl_uint events,
                                      const cl_event *event, cl_event *done)
{
    asked.writes++;
    asked.up += bytes;
    return real_calls.clEnqueueWriteBuffer(queue, buffer, waits, offset, bytes, from, events, event,
                                           done);
}

static cl_int CL_API_CALL count_read(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                     size_t offset, size_t bytes, void *to, cl_uint events,
                                     const cl_event *event, cl_event *done)
{
    asked.reads++;
    asked.down += bytes;
    return real_calls.clEnqueueReadBuffer(queue, buffer, waits, offset, bytes, to, events, event,
                                          done);
}

/* Some visits of a stripe that is the whole grid; rates that nobody measures. @return the checksum */
static uint64_t run_whole(fixture *f, const char *where, const char *split, tally *out,
                          strake_cl_blocks_report *report)
{
    static const cut chosen = {5, 2, 0, 0};
    static const strake_tuned_record known = {
        .streaming = {.streams = 2, .up = 1e9, .down = 1e9},
        .classes = 1,
        .class = {{.n = {ROWS, 1, COLS}, .seconds = 1e-4, .baseline = 1e-4}}};
    strake_solver *solver = open_cut(f, where, split, &chosen);
    strake_part_report part;
    real_calls = *solver->team.list.cl;
    asked = (tally){.sizes = STRAKE_FNV_SEED};
    solver->team.list.cl->clEnqueueNDRangeKernel = count_launch;
    solver->team.list.cl->clEnqueueWriteBuffer = count_write;
    solver->team.list.cl->clEnqueueReadBuffer = count_read;
    for (int e = 0; e < solver->team.parts; e++) {
        strake_part *const each = &solver->team.part[e];
        if (each->ops->has_driver) {
            each->tuned.level = STRAKE_TUNED_EXACT;
            each->tuned.record = &known;
        }
    }
    strake_harness_step(solver, 17);
    strake_harness_step(solver, 4);
    const uint64_t checksum = strake_trial_checksum(f, solver);
    for (int e = 0; e < solver->team.parts; e++) {
        if (solver->team.part[e].ops->has_driver) {
            strake_part_describe(&solver->team.part[e], &part);
            *report = part.memory;
        }
    }
    *out = asked;
    *solver->team.list.cl = real_calls;
    strake_close(&solver);
    return checksum;
}

/* Whoever was asked for besides: the device does what it does where it is asked for alone. */
static void a_stripe_left_alone_does_what_a_device_alone_does(void **state)
{
    static const char *const team[][2] = {{"ocl:0,cpu", "1,0"}, {"cpu,ocl:0", "0,1"}};
    const strake_subject *subject = *state;
    strake_harness_need_device(STRAKE_DOUBLE);
    fixture f;
    begin(&f, subject, 0, ROWS, 4 * COLS, 0, false, false);
    tally alone, left;
    strake_cl_blocks_report one, other;
    const uint64_t expected = run_whole(&f, "ocl:0", NULL, &alone, &one);
    assert_int_equal(one.sizes.blocks, 5);
    assert_true(alone.launches > 0 && alone.up > alone.down && alone.down > 0);
    for (int k = 0; k < 2; k++) {
        assert_true(run_whole(&f, team[k][0], team[k][1], &left, &other) == expected);
        assert_int_equal(other.sizes.steps, one.sizes.steps);
        assert_int_equal(other.sizes.blocks, one.sizes.blocks);
        assert_int_equal(other.sizes.slabs, one.sizes.slabs);
        assert_int_equal(other.sizes.streams, one.sizes.streams);
        assert_int_equal(other.memory, one.memory);
        assert_true(other.uploaded == one.uploaded && other.downloaded == one.downloaded);
        assert_int_equal(left.launches, alone.launches);
        assert_int_equal(left.work_items, alone.work_items);
        assert_true(left.sizes == alone.sizes);
        assert_int_equal(left.writes, alone.writes);
        assert_int_equal(left.reads, alone.reads);
        assert_int_equal(left.up, alone.up);
        assert_int_equal(left.down, alone.down);
    }
    end(&f);
}

/* As many steps at once as the device's visits have, which are more than arrays have ghosts for. */
static void deep_visits_beside_workers_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int boundary = 0; boundary < 4; boundary += subject->is_walled ? 4 : 1) {
        const cut deep = {3, 2, 5 + boundary, 0};
        fixture f;
        begin(&f, subject, 0, ROWS, COLS, boundary, false, false);
        if (strake_trial_takes_of(subject, boundary, 2)) {
            compare(&f, "cpu,ocl:0", "29,32", &deep, reference(&f));
        }
        end(&f);
    }
}

static void infinity_stops_the_run(void **state)
{
    const strake_subject *subject = *state;
    const cut c = {4, 2, 3, 0};
    strake_error error;
    strake_harness_need_device(STRAKE_DOUBLE);
    fixture f;
    begin(&f, subject, 0, ROWS, COLS, 1, false, false);
    strake_solver *solver = open_cut(&f, "ocl:0", NULL, &c);
    strake_harness_step(solver, 5); /* finite */
    double *field = calloc(f.cells, sizeof *field);
    assert_non_null(field);
    field[40 * COLS + 50] = 1e200; /* sums of it overflow when they are multiplied */
    strake_harness_set(solver, f.field[0], field, f.cells);
    assert_int_equal(strake_step(solver, 200, &error), STRAKE_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "is NaN or Inf at ["));
    if (f.fields == 1 || subject == &strake_subject_mpdata2d) { /* no other field is carried on */
        /* The next states are good ones again. */
        strake_harness_set(solver, f.field[0], f.data[0], f.cells);
        strake_harness_step(solver, 4);
    }
    strake_close(&solver);
    free(field);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_boundary_gives_the_bytes_of_serial),
        cmocka_unit_test(every_number_of_steps_gives_the_bytes_of_serial),
        cmocka_unit_test(any_cap_of_memory_gives_the_bytes_of_serial),
        cmocka_unit_test(odd_sizes_and_other_schemes_give_the_bytes_of_serial),
        cmocka_unit_test(every_fusion_gives_the_bytes_of_serial),
        cmocka_unit_test(beside_other_stripes_the_bytes_are_those_of_serial),
        cmocka_unit_test(a_resident_stripe_beside_a_streaming_one_gives_the_bytes_of_serial),
        cmocka_unit_test(slabs_move_to_and_from_a_stripe_that_streams),
        cmocka_unit_test(a_stripe_left_alone_does_what_a_device_alone_does),
        cmocka_unit_test(deep_visits_beside_workers_give_the_bytes_of_serial),
        cmocka_unit_test(infinity_stops_the_run),
    };
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
