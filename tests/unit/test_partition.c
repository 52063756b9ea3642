/* Stripes, ghosts and layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/partition.h"

static void stripes_cover_the_grid_without_gaps(void **state)
{
    (void)state;
    static const double weights[][4] = {
        {1, 1, 1, 1}, {0, 1, 0, 0}, {0.1, 0.2, 0.3, 0.4}, {1, 0, 0, 1e-9}, {3, 0, 1, 0}};
    for (int64_t n = 1; n < 40; n++) {
        for (size_t w = 0; w < sizeof weights / sizeof weights[0]; w++) {
            strake_range stripe[4];
            int64_t at = 0;
            strake_partition(n, 4, weights[w], stripe);
            for (int s = 0; s < 4; s++) {
                assert_int_equal(stripe[s].first, at);
                assert_true(stripe[s].end >= stripe[s].first);
                assert_true(weights[w][s] > 0.0 || stripe[s].end == stripe[s].first);
                at = stripe[s].end;
            }
            assert_int_equal(at, n);
        }
    }
}

static void ghost_sources_follow_the_boundary_kind(void **state)
{
    (void)state;
    assert_int_equal(strake_ghost_source(STRAKE_PERIODIC, 10, -1), 9);
    assert_int_equal(strake_ghost_source(STRAKE_PERIODIC, 10, 10), 0);
    assert_int_equal(strake_ghost_source(STRAKE_PERIODIC, 2, -3), 1);
    assert_int_equal(strake_ghost_source(STRAKE_PERIODIC, 1, 3), 0);
    assert_int_equal(strake_ghost_source(STRAKE_OPEN, 10, -3), 0);
    assert_int_equal(strake_ghost_source(STRAKE_OPEN, 10, 12), 9);
    assert_int_equal(strake_ghost_source(STRAKE_NO_FLUX, 10, -1), 0);
    assert_int_equal(strake_ghost_source(STRAKE_NO_FLUX, 10, -2), 1);
    assert_int_equal(strake_ghost_source(STRAKE_NO_FLUX, 10, 10), 9);
    assert_int_equal(strake_ghost_source(STRAKE_NO_FLUX, 10, 11), 8);
    assert_int_equal(strake_ghost_source(STRAKE_NO_FLUX, 2, 5), 1);
}

/* Every ghost slab of every stripe must be inside its owner's border ranges. */
static void check_borders(const strake_range *stripe, int stripes, int64_t n,
                          strake_boundary boundary)
{
    for (int s = 0; s < stripes; s++) {
        if (stripe[s].first == stripe[s].end) {
            continue;
        }
        for (int64_t k = -3; k < 3; k++) {
            const int64_t ghost = k < 0 ? stripe[s].first + k : stripe[s].end + k;
            const int64_t source = strake_ghost_source(boundary, n, ghost);
            for (int owner = 0; owner < stripes; owner++) {
                if (owner == s || source < stripe[owner].first || source >= stripe[owner].end) {
                    continue;
                }
                strake_range border[16];
                const int count =
                    strake_partition_border(stripe, stripes, owner, n, boundary, 3, 3, 16, border);
                int found = 0;
                for (int b = 0; b < count; b++) {
                    assert_true(border[b].first >= stripe[owner].first);
                    assert_true(border[b].end <= stripe[owner].end);
                    found += source >= border[b].first && source < border[b].end ? 1 : 0;
                }
                assert_int_equal(found, 1);
            }
        }
    }
}

static void borders_contain_every_slab_that_another_stripe_reads(void **state)
{
    (void)state;
    static const double weights[][5] = {{1, 1, 1, 1, 1},  {10, 1, 1, 1, 10}, {1, 0, 5, 0, 1},
                                        {0, 0, 1, 0, 30}, {1, 20, 1, 20, 1}, {9, 0, 0, 0, 1}};
    for (int64_t n = 1; n < 60; n++) {
        for (size_t w = 0; w < sizeof weights / sizeof weights[0]; w++) {
            strake_range stripe[5];
            strake_partition(n, 5, weights[w], stripe);
            check_borders(stripe, 5, n, STRAKE_PERIODIC);
            check_borders(stripe, 5, n, STRAKE_OPEN);
            check_borders(stripe, 5, n, STRAKE_NO_FLUX);
        }
    }
}

static void a_lone_stripe_sends_nothing(void **state)
{
    (void)state;
    const strake_range stripe[] = {{0, 0}, {0, 50}, {50, 50}};
    strake_range border[16];
    assert_int_equal(strake_partition_border(stripe, 3, 1, 50, STRAKE_PERIODIC, 3, 3, 16, border),
                     0);
}

/* A window has every slab that is read, or that a slab beyond an edge copies, and in a ring no other. */
static void check_window(const strake_layout *layout, strake_range own, int64_t before,
                         int64_t after)
{
    const int64_t n = layout->n[0];
    const strake_window window = strake_window_make(layout, own, before, after);
    bool wanted[16] = {false};
    for (int64_t i = own.first - before; i < own.end + after; i++) {
        wanted[strake_ghost_source(layout->boundary[0], n, i)] = true;
    }
    for (int64_t i = 0; i < n; i++) {
        assert_true(strake_window_has(&window, i) || !wanted[i]);
        assert_true(!strake_window_has(&window, i) || wanted[i] ||
                    layout->boundary[0] != STRAKE_PERIODIC);
    }
    assert_true(window.range[0].first >= 0 && window.range[window.ranges - 1].end <= n);
    assert_true(window.ranges == 1 || window.range[0].end < window.range[1].first);
}

static void windows_have_the_slabs_that_are_read(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        for (int64_t n = 1; n < 16; n++) {
            const strake_layout layout = {.n = {n, 1, 1}, .boundary = {(strake_boundary)k}};
            for (int64_t first = 0; first < n; first++) {
                for (int64_t end = first + 1; end <= n; end++) {
                    for (int64_t depth = 0; depth < 50; depth++) {
                        const strake_range own = {first, end};
                        const int64_t most = k == STRAKE_NO_FLUX ? end - first : 7;
                        if (depth / 7 <= most && depth % 7 <= most) {
                            check_window(&layout, own, depth / 7, depth % 7);
                        }
                    }
                }
            }
        }
    }
}

/* A layout of n columns with ghosts; the other axes have few cells. */
static void check_lines(strake_precision precision, int lo, int hi, int64_t n)
{
    static strake_graph graph;
    static const strake_boundary boundary[STRAKE_AXES];
    graph = (strake_graph){.values = 1, .precision = precision};
    graph.value[0] =
        (strake_value){.lo = {1, 2, lo}, .hi = {3, 1, hi}, .next = -1, .is_live = true};
    const strake_layout l =
        strake_layout_make_deep(&graph, 1, (const int64_t[STRAKE_AXES]){4, 5, n}, boundary);
    const int64_t line = 64 / l.element_size;
    const int64_t whole = (n + line - 1) / line * line;
    const int64_t needed = lo + (n + hi > whole ? n + hi : whole);
    /* Vectors of cells are whole cache lines, and one before the ghosts lies in the array. */
    assert_int_equal(l.origin % line, 0);
    assert_int_equal(l.pitch % line, 0);
    assert_true(strake_layout_at(&l, -1, -2, -lo) - line >= (lo + line - 1) / line * line - lo);
    /* Lines have what they need, and little more; nothing is between them. */
    assert_true(l.pitch >= needed && l.pitch < needed + 2 * line);
    assert_true(l.pitch * l.element_size % 4096 != 0);
    assert_int_equal(strake_layout_at(&l, -1, -2, -lo), strake_layout_slab_at(&l, -1));
    assert_int_equal(strake_layout_at(&l, 2, 5, -lo) + l.pitch, strake_layout_slab_at(&l, 3));
    assert_int_equal(strake_layout_slab_at(&l, 4 + 3), l.elements);
    assert_int_equal(strake_layout_slabs(&l), 1 + 4 + 3);
}

static void lines_of_a_layout_are_aligned_and_close_together(void **state)
{
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        for (int ghosts = 0; ghosts < 100; ghosts++) {
            for (int64_t n = 1; n < 70; n++) {
                check_lines((strake_precision)precision, ghosts / 10, ghosts % 10, n);
            }
            check_lines((strake_precision)precision, ghosts / 10, ghosts % 10, 512 - ghosts % 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stripes_cover_the_grid_without_gaps),
        cmocka_unit_test(ghost_sources_follow_the_boundary_kind),
        cmocka_unit_test(borders_contain_every_slab_that_another_stripe_reads),
        cmocka_unit_test(a_lone_stripe_sends_nothing),
        cmocka_unit_test(windows_have_the_slabs_that_are_read),
        cmocka_unit_test(lines_of_a_layout_are_aligned_and_close_together),
    };
    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
