/* Outlines of cells are valid polygons of just these cells; UTM coordinates as PROJ converts them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/outline.h"
#include "base/utm.h"

enum { MOST = 40 };

static strake_outline trace(const char *const *picture, int rows)
{
    unsigned char mask[MOST * MOST];
    strake_outline outline;
    const int cols = (int)strlen(picture[0]);
    for (int k = 0; k < rows * cols; k++) {
        mask[k] = picture[k / cols][k % cols] == '#';
    }
    assert_int_equal(strake_outline_trace(mask, rows, cols, &outline, NULL), STRAKE_OK);
    return outline;
}

static void expect_ring(const strake_outline *o, int k, int part, bool is_hole, int count,
                        const int (*corner)[2])
{
    const strake_ring *const ring = &o->ring[k];
    assert_true(ring->part == part && ring->is_hole == is_hole && ring->count == count);
    for (int m = 0; m < count; m++) {
        if (o->corner[ring->first + m][0] != corner[m][0] ||
            o->corner[ring->first + m][1] != corner[m][1]) {
            fail_msg("corner %d is [%d, %d]", m, o->corner[ring->first + m][0],
                     o->corner[ring->first + m][1]);
        }
    }
}

static void a_cell_has_four_corners_counter_clockwise(void **state)
{
    (void)state;
    const char *const picture[] = {"....", "..#.", "...."};
    strake_outline o = trace(picture, 3);
    assert_true(o.cells == 1 && o.parts == 1 && o.rings == 1);
    expect_ring(&o, 0, 0, false, 4, (const int[][2]){{1, 2}, {2, 2}, {2, 3}, {1, 3}});
    strake_outline_free(&o);
}

static void holes_belong_to_their_parts(void **state)
{
    (void)state;
    const char *const picture[] = {"####.#", "#.##..", "####.#", "#..###", "######"};
    strake_outline o = trace(picture, 5);
    assert_true(o.cells == 23 && o.parts == 2 && o.rings == 4);
    assert_true(!o.ring[0].is_hole && o.ring[1].is_hole && o.ring[2].is_hole && !o.ring[3].is_hole);
    assert_true(o.ring[2].part == 0 && o.ring[3].part == 1);
    expect_ring(&o, 1, 0, true, 4, (const int[][2]){{2, 1}, {1, 1}, {1, 2}, {2, 2}});
    strake_outline_free(&o);
}

/* Cells that touch at a corner: apart, or, where they are joined elsewhere, with a hole between them. */
static void no_ring_visits_a_corner_twice(void **state)
{
    (void)state;
    const char *const apart[] = {"#.", ".#"};
    strake_outline o = trace(apart, 2);
    assert_true(o.parts == 2 && o.rings == 2 && !o.ring[1].is_hole);
    strake_outline_free(&o);
    const char *const joined[] = {"###", "#.#", "##."};
    o = trace(joined, 3);
    assert_true(o.parts == 1 && o.rings == 2 && o.ring[1].is_hole);
    assert_int_equal(o.ring[1].count, 4);
    strake_outline_free(&o);
    const unsigned char none[4] = {0};
    assert_int_equal(strake_outline_trace(none, 2, 2, &o, NULL), STRAKE_OK);
    assert_true(o.cells == 0 && o.parts == 0 && o.rings == 0);
    strake_outline_free(&o);
}

/* Whether the centre of a cell is within a ring: sides to the north of it in its column. */
static bool is_within(const strake_outline *o, const strake_ring *ring, int i, int j)
{
    bool within = false;
    for (int64_t m = 0; m < ring->count; m++) {
        const int32_t *const a = o->corner[ring->first + m];
        const int32_t *const b = o->corner[ring->first + (m + 1) % ring->count];
        const bool covers = (a[1] <= j && b[1] > j) || (b[1] <= j && a[1] > j);
        within ^= a[0] == b[0] && a[0] <= i && covers;
    }
    return within;
}

static void check_random(const unsigned char *mask, int n)
{
    strake_outline o;
    assert_int_equal(strake_outline_trace(mask, n, n, &o, NULL), STRAKE_OK);
    int64_t outer = 0;
    for (int64_t k = 0; k < o.rings; k++) {
        unsigned char visited[(MOST + 1) * (MOST + 1)] = {0};
        int64_t area = 0;
        const strake_ring *const ring = &o.ring[k];
        for (int64_t m = 0; m < ring->count; m++) {
            const int32_t *const a = o.corner[ring->first + m];
            const int32_t *const b = o.corner[ring->first + (m + 1) % ring->count];
            assert_true((a[0] == b[0]) != (a[1] == b[1])); /* each corner is one */
            area += (int64_t)a[1] * -b[0] + (int64_t)b[1] * a[0];
            /* All corners on the way, not only the ends. */
            const int length = abs(b[0] - a[0]) + abs(b[1] - a[1]);
            for (int s = 0; s < length; s++) {
                const int at = (a[0] + (b[0] - a[0]) / length * s) * (MOST + 1) + a[1] +
                               (b[1] - a[1]) / length * s;
                assert_int_equal(visited[at]++, 0);
            }
        }
        assert_true((area < 0) == ring->is_hole); /* y is -row: counter-clockwise is positive */
        assert_true(ring->is_hole ? k > 0 && o.ring[k - 1].part == ring->part
                                  : ring->part == outer);
        outer += ring->is_hole ? 0 : 1;
    }
    assert_true(outer == o.parts);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int within = 0;
            for (int64_t k = 0; k < o.rings; k++) {
                within += is_within(&o, &o.ring[k], i, j) ? (o.ring[k].is_hole ? -1 : 1) : 0;
            }
            assert_int_equal(within, mask[i * n + j]);
        }
    }
    strake_outline_free(&o);
}

static void outlines_of_random_cells_are_valid_and_cover_just_these(void **state)
{
    (void)state;
    unsigned char mask[MOST * MOST];
    uint64_t random = 7;
    for (int turn = 0; turn < 300; turn++) {
        const int n = 1 + turn % MOST;
        for (int k = 0; k < n * n; k++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            mask[k] = (random >> 33) % 100 < (uint64_t)(20 + turn % 7 * 10);
        }
        check_random(mask, n);
    }
}

/* Expected values: cs2cs of PROJ 9.1.1, +proj=utm +ellps=WGS84. */
static void utm_is_what_proj_says(void **state)
{
    (void)state;
    static const struct {
        int zone;
        bool is_south;
        double x, y, longitude, latitude;
    } place[] = {
        {33, false, 500000.0, 4177000.0, 15.0, 37.7402873575},
        {33, false, 499999.5, 4178283.25, 14.9999943241, 37.7518536617},
        {33, false, 712345.678, 4051234.567, 17.3734501151, 36.5829786099},
        {33, false, 200000.0, 1000.0, 12.3049767444, 0.0090372396},
        {33, false, 833978.56, 0.0, 18.0000000276, 0.0},
        {40, true, 361000.123, 7648123.456, 55.6602741686, -21.2632900667},
        {40, true, 500000.0, 10000000.0, 57.0, 0.0},
        {40, true, 300000.0, 1100000.0, 46.6250445930, -80.0047438047},
        {1, false, 600000.0, 9000000.0, -171.2544832375, 81.0164742703},
    };
    for (size_t k = 0; k < sizeof place / sizeof place[0]; k++) {
        double longitude = 0.0, latitude = 0.0;
        strake_utm_to_geographic(place[k].zone, place[k].is_south, place[k].x, place[k].y,
                                 &longitude, &latitude);
        if (fabs(longitude - place[k].longitude) > 1e-10 ||
            fabs(latitude - place[k].latitude) > 1e-10) {
            fail_msg("place %d is at %.10f %.10f", (int)k, longitude, latitude);
        }
        double x = 0.0, y = 0.0;
        strake_utm_from_geographic(place[k].zone, place[k].is_south, place[k].longitude,
                                   place[k].latitude, &x, &y);
        if (fabs(x - place[k].x) > 2e-5 || fabs(y - place[k].y) > 2e-5) { /* 1e-10 degrees */
            fail_msg("place %d is %.6f %.6f", (int)k, x, y);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_four_corners_counter_clockwise),
        cmocka_unit_test(holes_belong_to_their_parts),
        cmocka_unit_test(no_ring_visits_a_corner_twice),
        cmocka_unit_test(outlines_of_random_cells_are_valid_and_cover_just_these),
        cmocka_unit_test(utm_is_what_proj_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
