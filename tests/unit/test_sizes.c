/* Cutting a stripe into blocks, and the model of how long they take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opencl/cl_choose.h"

/* 8192 rows of 8192 doubles on a GPU of 20 Gcell/s behind a link of 50 GB/s. */
static const strake_cl_demand grid = {.slabs = 8192,
                                      .reach = 3,
                                      .ghosts = 14,
                                      .slab_bytes = 65536.0,
                                      .slab_cells = 8192.0,
                                      .arrays = 9,
                                      .uploads = 4,
                                      .downloads = 1,
                                      .memory = (uint64_t)1800 << 20,
                                      .largest = (uint64_t)8 << 30,
                                      .horizon = 256,
                                      .follows = true};
static const strake_cl_rates rates = {.up = 50e9, .down = 50e9, .cells = 20e9};

static void assert_fits(const strake_cl_demand *d, const strake_cl_sizes *s)
{
    const double array = strake_cl_sizes_array(d, s->slabs, s->steps);
    assert_true(array <= (double)d->largest);
    assert_true(array * d->arrays * s->streams <= (double)d->memory);
    assert_true(s->slabs * s->blocks >= d->slabs);
    assert_true((s->slabs - 1) * s->blocks < d->slabs);
}

static void what_is_chosen_fits(void **state)
{
    (void)state;
    for (uint64_t mib = 4; mib <= 65536; mib *= 2) {
        for (int k = 0; k < 24; k++) {
            strake_cl_demand d = grid;
            strake_cl_sizes s;
            d.memory = mib << 20;
            d.steps = k % 3 == 0 ? 0 : 5 * (k % 3);
            d.streams = k % 4;
            d.slabs = k % 2 == 0 ? 8192 : 97;
            const bool found = strake_cl_sizes_choose(&d, &rates, &s);
            assert_int_equal(found, strake_cl_sizes_least(&d) <= (double)d.memory);
            if (!found) {
                continue;
            }
            assert_fits(&d, &s);
            assert_true(d.steps == 0 || s.steps == d.steps);
            assert_true(d.streams == 0 || s.streams == d.streams);
            assert_true(s.seconds > 0.0);
        }
    }
}

static void blocks_steps_and_streams_can_be_given(void **state)
{
    (void)state;
    strake_cl_demand d = grid;
    strake_cl_sizes s;
    d.blocks = 100;
    d.steps = 7;
    d.streams = 2;
    assert_true(strake_cl_sizes_choose(&d, &rates, &s));
    assert_int_equal(s.blocks, 100);
    assert_int_equal(s.slabs, 82);
    assert_int_equal(s.steps, 7);
    assert_int_equal(s.streams, 2);
    d.blocks = 1; /* all of it twice */
    assert_false(strake_cl_sizes_choose(&d, &rates, &s));
}

static void the_slowest_part_decides(void **state)
{
    (void)state;
    const strake_cl_sizes one = {.steps = 1, .blocks = 8, .streams = 3, .slabs = 1024};
    /* Upload alone: four arrays of 1024 + 14 slabs for each of 8 blocks. */
    const strake_cl_rates slow_up = {.up = 1e9, .down = 1e15, .cells = 1e18};
    const double up = 8.0 * 1038.0 * 65536.0 * 4.0 / 1e9;
    assert_true(fabs(strake_cl_sizes_sweep(&grid, &slow_up, &one, 1) / up - 1.0) < 0.01);
    const strake_cl_rates slow_down = {.up = 1e15, .down = 1e9, .cells = 1e18};
    const double down = 8192.0 * 65536.0 / 1e9;
    assert_true(fabs(strake_cl_sizes_sweep(&grid, &slow_down, &one, 1) / down - 1.0) < 0.01);
    /* Steps of 1024 + 2 * 3 * j slabs: for 3 steps 3 * 1024 + 3 * 3 * 2. */
    const strake_cl_rates slow_cells = {.up = 1e15, .down = 1e15, .cells = 1e9};
    const double compute = 8.0 * (3.0 * 1024.0 + 18.0) * 8192.0 / 1e9;
    assert_true(fabs(strake_cl_sizes_sweep(&grid, &slow_cells, &one, 3) / compute - 1.0) < 0.01);
    /* One stream overlaps nothing. */
    const strake_cl_sizes alone = {.steps = 1, .blocks = 8, .streams = 1, .slabs = 1024};
    const strake_cl_rates alike = {.up = 1e9, .down = 1e9, .cells = 1e9};
    assert_true(strake_cl_sizes_sweep(&grid, &alike, &alone, 1) >
                8.0 * (1038.0 * 4.0 + 1024.0) * 65536.0 / 1e9);
}

/* Every visit of a block starts transfers and steps, however few slabs it has. */
static void many_blocks_take_as_long_as_their_commands(void **state)
{
    (void)state;
    const strake_cl_rates r = {
        .up = 1e15, .down = 1e15, .cells = 1e18, .per_transfer = 1e-4, .per_step = 1e-3};
    strake_cl_sizes s = {.steps = 4, .blocks = 1024, .streams = 1, .slabs = 8};
    const double sweep = strake_cl_sizes_sweep(&grid, &r, &s, 4);
    const double commands = 1024.0 * (5 * 1e-4 + 5 * 1e-3);
    assert_true(sweep > commands && sweep < 1.1 * commands);
    s.blocks = 512;
    assert_true(fabs(strake_cl_sizes_sweep(&grid, &r, &s, 4) / sweep - 0.5) < 0.01);
}

static void slow_links_are_visited_less_often(void **state)
{
    (void)state;
    int last = 0;
    for (double link = 1e12; link > 5e9; link /= 4.0) {
        const strake_cl_rates r = {.up = link, .down = link, .cells = 20e9};
        strake_cl_sizes s;
        assert_true(strake_cl_sizes_choose(&grid, &r, &s));
        assert_true(s.steps >= last);
        last = s.steps;
    }
    assert_true(last >= 16);
}

static void a_chosen_sweep_is_no_longer_than_the_way_to_the_next_output(void **state)
{
    (void)state;
    for (int horizon = 1; horizon < 40; horizon++) {
        strake_cl_demand d = grid;
        strake_cl_sizes s;
        d.horizon = horizon;
        assert_true(strake_cl_sizes_choose(&d, &rates, &s));
        assert_true(s.steps <= horizon);
    }
}

/* Runs of bench/results/nvidia-h200/streaming: 8192 x 8192, 256 steps, rates as reported there. */
static void the_model_gives_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        strake_cl_sizes sizes;
        double seconds;
    } run[] = {{{.steps = 1, .blocks = 10, .streams = 3, .slabs = 820}, 10.855},
               {{.steps = 4, .blocks = 10, .streams = 3, .slabs = 820}, 2.801},
               {{.steps = 8, .blocks = 10, .streams = 3, .slabs = 820}, 1.464},
               {{.steps = 16, .blocks = 4, .streams = 1, .slabs = 2048}, 1.673},
               {{.steps = 16, .blocks = 7, .streams = 2, .slabs = 1171}, 1.060},
               {{.steps = 16, .blocks = 11, .streams = 3, .slabs = 745}, 0.966},
               {{.steps = 16, .blocks = 15, .streams = 4, .slabs = 547}, 0.996},
               {{.steps = 32, .blocks = 8, .streams = 2, .slabs = 1024}, 1.044}};
    const strake_cl_rates measured = {.up = 55.2e9, .down = 55.1e9, .cells = 20.3e9};
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++) {
        const double sweep =
            strake_cl_sizes_sweep(&grid, &measured, &run[k].sizes, run[k].sizes.steps);
        const double predicted = sweep * 256.0 / run[k].sizes.steps;
        print_message("# predicted %.3f s, measured %.3f s\n", predicted, run[k].seconds);
        assert_true(fabs(predicted / run[k].seconds - 1.0) < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_chosen_fits),
        cmocka_unit_test(blocks_steps_and_streams_can_be_given),
        cmocka_unit_test(the_slowest_part_decides),
        cmocka_unit_test(many_blocks_take_as_long_as_their_commands),
        cmocka_unit_test(slow_links_are_visited_less_often),
        cmocka_unit_test(a_chosen_sweep_is_no_longer_than_the_way_to_the_next_output),
        cmocka_unit_test(the_model_gives_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
