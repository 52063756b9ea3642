/*
 * One result, whatever computes it: the state has the same bytes from the serial reference, from any
 * number of threads, from OpenCL devices and from every way of cutting the rows among them. The
 * inputs would show a contraction to fma (test_contraction.c). STRAKE_REQUIRE_OPENCL=1 turns a
 * missing OpenCL device from a skip into a failure. `make check` cuts the rows of schemes other than the first
 * in a third of the ways, and of the first in half of them with each pair of boundaries (strake_trial_takes).
 * PoCL builds the kernels of cuts without optimising, those of larger grids as users get them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_device.h"
#include "solver/solver.h"
#include "tests/support/trial.h"

enum { STEPS = 5 };

/* A way to run a case; rows: what the split must give to each entry, ended by ANY. */
typedef struct placement {
    const char *where, *split;
    int threads;
    int rows[4];
} placement;

enum { ANY = -1 };

typedef strake_trial_config config;

typedef struct fixture {
    strake_trial trial;
    uint64_t reference; /* checksum of the serial result */
} fixture;

static void begin(fixture *f, const config *c)
{
    strake_trial_begin(&f->trial, c, 1);
    strake_trial_roughen(&f->trial, 2);
    strake_solver *solver = strake_trial_open(&f->trial, "serial", NULL, 0);
    const uint64_t before = strake_trial_checksum(&f->trial, solver);
    strake_harness_step(solver, STEPS);
    f->reference = strake_trial_checksum(&f->trial, solver);
    if (f->trial.cells > 1) { /* the only cell of a grid may keep its value */
        assert_int_not_equal(before, f->reference);
    }
    strake_close(&solver);
}

static void end(fixture *f)
{
    strake_trial_end(&f->trial);
}

static void check(const fixture *f, const placement *p)
{
    strake_solver *solver = strake_trial_open(&f->trial, p->where, p->split, p->threads);
    /* Two calls, so that the state between them is part of what is compared. */
    strake_harness_step(solver, 2);
    strake_harness_step(solver, STEPS - 2);
    assert_int_equal(strake_step_count(solver), STEPS);
    strake_part_report placed[4];
    const int entries = strake_solver_parts(solver, placed, 4);
    for (int k = 0; k < entries && p->rows[k] >= 0; k++) {
        if (placed[k].end - placed[k].first != p->rows[k]) {
            fail_msg("%s, split %s: entry %d has %lld rows, not %d", p->where, p->split, k,
                     (long long)(placed[k].end - placed[k].first), p->rows[k]);
        }
    }
    const uint64_t checksum = strake_trial_checksum(&f->trial, solver);
    strake_close(&solver);
    if (checksum != f->reference) {
        fail_msg("%s, split %s, %d threads: %016llx differs from serial %016llx (%s)", p->where,
                 p->split == NULL ? "none" : p->split, p->threads, (unsigned long long)checksum,
                 (unsigned long long)f->reference, f->trial.name);
    }
}

static const placement threads_only[] = {
    {"cpu", NULL, 1, {ANY}}, {"cpu", NULL, 2, {ANY}}, {"cpu", NULL, 3, {ANY}}};

/* Cuts of 61 rows, among them empty stripes and ones thinner than the halo. */
static const placement cuts_of_61[] = {
    {"ocl:0", NULL, 0, {61, ANY}},
    {"cpu,ocl:0", NULL, 2, {ANY}},
    {"cpu,ocl:0", "1,0", 2, {61, 0, ANY}},
    {"cpu,ocl:0", "0,1", 2, {0, 61, ANY}},
    {"cpu,ocl:0", "1,60", 2, {1, 60, ANY}},
    {"cpu,ocl:0", "59,2", 2, {59, 2, ANY}},
    {"cpu,ocl:0", "30,31", 1, {30, 31, ANY}},
    {"ocl:0,cpu", "60,1", 2, {60, 1, ANY}},
    {"ocl:0,cpu,ocl:0", "20,21,20", 2, {20, 21, 20, ANY}},
    {"ocl:0,cpu,ocl:0", "30,1,30", 2, {30, 1, 30, ANY}},
    {"ocl:0,cpu,ocl:0", "1,2,58", 2, {1, 2, 58, ANY}},
    {"ocl:0,cpu,ocl:0", "2,0,59", 2, {2, 0, 59, ANY}},
    {"ocl:0,cpu,ocl:0", "0,61,0", 2, {0, 61, 0, ANY}},
    {"ocl:0,ocl:0", "1,1", 0, {ANY}},
    {"ocl:0,ocl:0", "2,59", 0, {2, 59, ANY}},
};

static void check_all(const config *c, const placement *list, size_t count)
{
    fixture f;
    begin(&f, c);
    for (size_t k = 0; k < count; k++) {
        /* Every cut with mixed or with pure pairs of boundaries; other schemes with a third of the cuts. */
        const int mixed = (c->boundary ^ c->boundary >> 1) & 1;
        if (list != cuts_of_61 ||
            strake_trial_takes_of(c->subject, (int)k + c->variant + mixed + c->single,
                                  c->variant == 0 ? 2 : 3)) {
            check(&f, &list[k]);
        }
    }
    end(&f);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Of pairs of boundaries: lava always has walls, and a pure and a mixed pair take all cuts. */
static int step_of_pairs(const strake_subject *subject)
{
    return subject->is_walled ? 2 : 1;
}

static void any_number_of_threads_gives_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    for (int v = 0; v < subject->variants; v++) {
        for (int k = 0; k < 8; k += step_of_pairs(subject)) {
            const config c = {subject, v, 61, 97, k & 3, k >= 4, (v + k) % 5 == 4};
            check_all(&c, threads_only, COUNT(threads_only));
        }
        const config wide = {subject, v, 250, 333, v & 3, v % 2 == 1, false};
        check_all(&wide, threads_only, COUNT(threads_only));
    }
}

static void grids_smaller_than_the_halo_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    static const int sizes[][2] = {{1, 7}, {7, 1}, {2, 3}, {4, 130}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (int v = 0; v < subject->variants; v++) {
            const config c = {subject, v, sizes[s][0], sizes[s][1], v & 3, v % 2 == 1, false};
            check_all(&c, threads_only, COUNT(threads_only));
        }
    }
}

static void very_wide_rows_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    for (int boundary = 0; boundary < 4; boundary++) {
        const config c = {subject, boundary % 2, 9, 20011, boundary, boundary == 3, false};
        check_all(&c, threads_only, COUNT(threads_only));
    }
}

static void splits_agree(const strake_subject *subject, bool single)
{
    strake_harness_need_device(single ? STRAKE_SINGLE : STRAKE_DOUBLE);
    const int pairs = 4 / step_of_pairs(subject);
    strake_harness_build_quickly(true);
    for (int v = 0; v < subject->variants; v++) {
        if (v == 0) { /* in single with the pure pairs of boundaries */
            for (int boundary = 0; boundary < pairs; boundary += single ? 3 : 1) {
                const config c = {subject, v, 61, 97, boundary, single, false};
                check_all(&c, cuts_of_61, COUNT(cuts_of_61));
            }
            if (subject == &strake_subject_mpdata2d) { /* the others have no h */
                const config constant_h = {subject, v, 61, 97, 1, single, true};
                check_all(&constant_h, cuts_of_61, 6);
            }
        } else if ((v <= 3 || strake_trial_takes(v, 3)) && strake_trial_takes(v + single, 2)) {
            const config c = {subject, v, 61, 97, v & 3, single, false};
            check_all(&c, cuts_of_61, COUNT(cuts_of_61));
        }
    }
    strake_harness_build_quickly(false);
}

static void every_split_gives_the_bytes_of_serial_in_double(void **state)
{
    splits_agree(*state, false);
}

static void every_split_gives_the_bytes_of_serial_in_single(void **state)
{
    splits_agree(*state, true);
}

static void larger_splits_give_the_bytes_of_serial(void **state)
{
    const strake_subject *subject = *state;
    static const placement cuts[] = {
        {"ocl:0", NULL, 0, {250, ANY}},
        {"cpu,ocl:0", "3,1", 2, {ANY}},
        {"ocl:0,cpu,ocl:0", "1,2,3", 3, {ANY}},
    };
    strake_harness_need_device(STRAKE_DOUBLE);
    for (int v = 0; v < (strake_trial_is_whole() ? 4 : 2); v++) {
        const config c = {subject, v, 250, 333, 3 - v, v % 2 == 1, false};
        check_all(&c, cuts, COUNT(cuts));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_bytes_of_serial),
        cmocka_unit_test(grids_smaller_than_the_halo_give_the_bytes_of_serial),
        cmocka_unit_test(very_wide_rows_give_the_bytes_of_serial),
        /* First, so that no binary of the others, which are built quickly, takes the place of the vectorised kernels. */
        cmocka_unit_test(larger_splits_give_the_bytes_of_serial),
        cmocka_unit_test(every_split_gives_the_bytes_of_serial_in_double),
        cmocka_unit_test(every_split_gives_the_bytes_of_serial_in_single),
    };
    return strake_trial_run(tests, sizeof tests / sizeof tests[0]);
}
