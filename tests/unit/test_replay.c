/*
 * The log of the balancing is enough to make every decision again, on a device that becomes slower and
 * under every policy.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/balance.h"
#include "solver/solver.h"
#include "tests/support/harness.h"

enum { ROWS = 240, COLS = 200, STEPS = 160 };

/* So little that nearly every look moves a slice. */
static const double threshold = 0.01;

static const strake_scheme scheme = {STRAKE_DEFAULT_SCHEME};

/* Decides again from what was seen; the slabs that were moved are those of the next look. */
static int replay(const strake_solver *solver, const strake_decision *log, int count)
{
    double slab_seconds = 0.0;
    int moves = 0;
    strake_balancer *b = malloc(sizeof *b);
    assert_non_null(b);
    const int policy = strake_solver_policy(solver, &slab_seconds);
    strake_balancer_begin(b, (strake_balance_policy)policy, log[0].parts, log[0].slabs,
                          slab_seconds);
    b->threshold = threshold;
    for (int k = 0; k < count; k++) {
        int64_t owned[STRAKE_BALANCE_PARTS];
        char why[sizeof log[k].why];
        for (int p = 0; p < log[k].parts; p++) {
            assert_int_equal(b->owned[p], log[k].slabs[p]);
        }
        if (log[k].warned) {
            strake_balancer_warn(b);
        }
        const bool decided =
            strake_balancer_decide(b, log[k].seconds, STEPS - log[k].step, owned, why, sizeof why);
        assert_int_equal(decided, log[k].moves);
        assert_string_equal(why, log[k].why);
        if (decided) {
            strake_balancer_moved(b, owned, log[k].move_seconds);
            moves++;
        }
    }
    free(b);
    return moves;
}

static int run(strake_balance_policy policy)
{
    strake_inputs in;
    uint64_t seed = 5;
    const strake_decision *log = NULL;
    strake_harness_need_device(STRAKE_DOUBLE);
    assert_true(strake_inputs_open(&in, ROWS, COLS, true, false));
    strake_inputs_random_psi(&in, -1.0, 2.0, &seed);
    strake_inputs_random_h(&in, &seed);
    strake_inputs_random_flow(&in, 0.95, 1.0, &seed);
    strake_case *which = strake_harness_case(&in, &scheme, false, false);
    which->run.balance = 1 + (int)policy;
    which->run.balance_threshold = threshold;
    which->steps = STEPS;
    assert_int_equal(setenv("STRAKE_INJECT", "slow:ocl:0@60*25", 1), 0);
    strake_solver *solver = strake_harness_open(which, &in, false, false, "ocl:0,ocl:0", "1,1", 1);
    assert_int_equal(unsetenv("STRAKE_INJECT"), 0);
    strake_harness_step(solver, STEPS);
    const int count = strake_solver_decisions(solver, &log);
    assert_true(count > 2);
    const int moves = replay(solver, log, count);
    strake_close(&solver);
    strake_case_close(&which);
    strake_inputs_close(&in);
    return moves;
}

static void every_decision_can_be_made_again(void **state)
{
    (void)state;
    assert_true(run(STRAKE_BALANCE_MODEL) > 0);
    assert_true(run(STRAKE_BALANCE_BISECTION) > 0);
    assert_true(run(STRAKE_BALANCE_SLICE) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_decision_can_be_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
