/*
 * What a CPU stripe does differently from one machine and one size to another changes no bytes: vector
 * instructions, and states written past the caches where the arrays do not fit them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "tests/support/harness.h"

enum { STEPS = 5 };

static const strake_scheme schemes[] = {
    {STRAKE_DEFAULT_SCHEME},
    {STRAKE_DEFAULT_SCHEME, .gauge = true},
    {STRAKE_DEFAULT_SCHEME, .nonnegative = true},
    {.iterations = 3, .nonoscillatory = true, .third_order = true},
    {.iterations = 1},
};

static uint64_t run(strake_case *which, const strake_inputs *in, bool single, bool constant_h,
                    const char *where, int threads)
{
    strake_solver *solver =
        strake_harness_open(which, in, single, constant_h, where, NULL, threads);
    strake_harness_step(solver, STEPS);
    const uint64_t checksum = strake_harness_checksum(solver, in->cells);
    strake_close(&solver);
    return checksum;
}

static void check_instructions(const strake_scheme *scheme, bool single, bool constant_h)
{
    uint64_t seed = 11;
    strake_inputs in;
    assert_true(strake_inputs_open(&in, 67, 211, true, false));
    if (!constant_h) {
        strake_inputs_random_h(&in, &seed);
    }
    strake_inputs_random_flow(&in, 0.95, 1.0, &seed);
    strake_inputs_random_psi(&in, scheme->nonnegative ? 0.0 : -1.0, 2.0, &seed);
    strake_case *which = strake_harness_case(&in, scheme, single, constant_h);
    const uint64_t expected = run(which, &in, single, constant_h, "serial", 1);
    int tried = 0;
    for (int isa = STRAKE_ISA_BASE; isa < STRAKE_ISAS; isa++) {
        which->instruction_set = isa;
        if (!strake_isa_is_there((strake_isa)isa)) {
            strake_error error;
            strake_solver *solver = NULL;
            assert_int_equal(strake_open(which, &(strake_options){.where = "cpu"}, &solver, &error),
                             STRAKE_ERR_USAGE);
            assert_non_null(strstr(error.text, "run.instruction_set"));
            continue;
        }
        for (int sweep = 1; sweep <= 2; sweep++) {
            which->steps_per_sweep = sweep;
            assert_int_equal(run(which, &in, single, constant_h, "cpu", 2), expected);
            tried++;
        }
    }
    assert_true(tried >= 2);
    strake_case_close(&which);
    strake_inputs_close(&in);
}

static void every_instruction_set_gives_the_bytes_of_serial(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        for (int mode = 0; mode < 4; mode++) {
            check_instructions(&schemes[k], (mode & 1) != 0, (mode & 2) != 0);
        }
    }
}

/* Four arrays, a tenth larger than the last-level cache, in rows that are no whole cache lines. */
static void check_large(int64_t cache, bool single, bool rows_open, bool cols_open)
{
    uint64_t seed = 13;
    strake_inputs in;
    const int cols = 1203;
    const int64_t element = single ? 4 : 8;
    const int rows = (int)(cache * 11 / 10 / (4 * element * cols)) + 1;
    assert_true(strake_inputs_open(&in, rows, cols, rows_open, cols_open));
    strake_inputs_random_flow(&in, 0.95, 1.0, &seed);
    strake_inputs_random_psi(&in, -1.0, 2.0, &seed);
    strake_case *which = strake_harness_case(&in, &schemes[0], single, true);
    const uint64_t expected = run(which, &in, single, true, "serial", 1);
    for (int isa = STRAKE_ISA_BASE; isa < STRAKE_ISAS; isa++) {
        which->instruction_set = isa;
        for (int sweep = 1; sweep <= 2 && strake_isa_is_there((strake_isa)isa); sweep++) {
            which->steps_per_sweep = sweep;
            assert_int_equal(run(which, &in, single, true, "cpu", sweep + 1), expected);
        }
    }
    strake_case_close(&which);
    strake_inputs_close(&in);
}

static void arrays_beyond_the_caches_give_the_bytes_of_serial(void **state)
{
    (void)state;
    const int64_t cache =
        strake_topology_cache("/sys/devices/system", (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (cache <= 0 || cache > INT64_C(256) * 1024 * 1024) {
        print_message("last-level cache of %lld bytes: unknown or too large to outgrow in a test\n",
                      (long long)cache);
        skip();
    }
    check_large(cache, false, true, true);
    check_large(cache, true, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_bytes_of_serial),
        cmocka_unit_test(arrays_beyond_the_caches_give_the_bytes_of_serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
