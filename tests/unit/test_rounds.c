/* What messages between ranks cost: models of what was measured, what follows from them, and that they are kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cost/messages.h"

static bool is_about(double value, double wanted, double ratio)
{
    return fabs(value / wanted - 1.0) < ratio;
}

/* A start-up below 64 KiB, another one from there on. */
static strake_path path_of(double alpha, double rate)
{
    return (strake_path){
        .regimes = 2,
        .regime = {{0.0, {alpha, 0.9 * alpha, 1.1 * alpha}, {1 / rate, 0, 2 / rate}},
                   {65536.0,
                    {2.0 * alpha, 1.9 * alpha, 2.1 * alpha},
                    {1 / rate, 0.9 / rate, 1.1 / rate}}},
        .least = 8.0,
        .most = 4e6,
        .error = 0.02,
        .worst = 0.1,
        .points = 20};
}

/* A link of 10 GB/s between machines, which three pairs of 4 GB/s each fill; 5 us, and 80 where threads sleep. */
static void make_model(strake_rank_model *m)
{
    memset(m, 0, sizeof *m);
    (void)snprintf(m->date, sizeof m->date, "2026-11-23");
    m->to = 4;
    m->path = path_of(5e-6, 4e9);
    for (int r = 0; r < STRAKE_ROUNDS; r++) {
        m->round[r][STRAKE_WAIT_AWAKE] = path_of(5e-6 * (r + 1), 4e9 / (r + 1));
        m->work[r] = path_of(1e-5 * (r + 1), 8e9);
        m->round[r][STRAKE_WAIT_CROWDED] = path_of(8e-5 * (r + 1), 4e9 / (r + 1));
    }
    m->pairs = 4;
    for (int k = 0; k < m->pairs; k++) {
        m->latency[k] = 5e-6;
        m->large[k] = 5e-6 + (k + 1) * STRAKE_ROUND_LARGE / fmin(10e9, (k + 1) * 4e9);
    }
    for (int k = 0; k < STRAKE_ROUND_MESSAGES; k++) {
        m->messages[k] = 7e-5 + 3e-6 * ((1 << k) - 1);
    }
    for (int k = 0; k < STRAKE_ROUNDS * STRAKE_WAITS;
         k++) { /* a jump after 1 KiB, and then its rate */
        strake_round_sizes *const s = &m->sizes[k / STRAKE_WAITS][k % STRAKE_WAITS];
        const strake_path *const path = &m->round[k / STRAKE_WAITS][k % STRAKE_WAITS];
        *s = (strake_round_sizes){.count = 4, .bytes = {1.0, 1024.0, 2048.0, 8192.0}};
        for (int n = 0; n < s->count; n++) {
            s->seconds[n] = strake_path_seconds(path, s->bytes[n]) + (n > 1 ? 3e-6 : 0.0);
        }
    }
    for (int w = 0; w < STRAKE_WAITS; w++) {
        m->reduce[w] = 1e-5 * (w + 1);
        m->meet[w] = 4e-6 * (w + 1);
    }
}

static void pairs_at_once_have_a_common_limit(void **state)
{
    (void)state;
    strake_rank_model m;
    make_model(&m);
    strake_rank_model_fit(&m);
    assert_true(is_about(m.rate.one, 4e9, 0.01));
    assert_true(m.rate.reached && is_about(m.rate.all, 10e9, 0.02));
    assert_true(is_about(m.further, 3e-6, 0.01));
    for (int k = 0; k < m.pairs; k++) { /* room for all */
        m.large[k] = m.large[0] * (1.0 + 0.004 * k);
    }
    strake_rank_model_fit(&m);
    assert_false(m.rate.reached);
    assert_true(m.rate.all > 15e9);
    m.messages[2] = (double)NAN; /* not measured */
    m.messages[0] = 0.0;
    strake_rank_model_fit(&m);
    assert_true(isnan(m.further));
}

static void rounds_take_what_their_neighbours_waits_and_devices_ask_for(void **state)
{
    (void)state;
    strake_rank_model m;
    strake_round_case c = {.round = STRAKE_ROUND_RING, .bytes = 4000.0};
    make_model(&m);
    assert_true(is_about(strake_round_seconds(&m, &c), 1.3e-5 + 4000.0 / 2e9, 1e-12));
    c.bytes = 1536.0; /* half way through the jump */
    assert_true(is_about(strake_round_seconds(&m, &c), 1.15e-5 + 1536.0 / 2e9, 1e-12));
    c.bytes = 1e6; /* larger than what was measured */
    assert_true(is_about(strake_round_seconds(&m, &c), 1.3e-5 + 1e6 / 2e9, 1e-12));
    c.bytes = 0.0;
    assert_true(is_about(strake_round_seconds(&m, &c), 1e-5 + 1.0 / 2e9, 1e-12));
    memset(&m.sizes, 0, sizeof m.sizes); /* then by the path */
    c.bytes = 4000.0;
    assert_true(is_about(strake_round_seconds(&m, &c), 1e-5 + 4000.0 / 2e9, 1e-12));
    c.round = STRAKE_ROUND_LINE;
    assert_true(is_about(strake_round_seconds(&m, &c), 5e-6 + 1e-6, 1e-12));
    assert_true(strake_round_work(&m, &c) == 0.0); /* each thread has a processor */
    c.is_crowded = true;
    assert_true(is_about(strake_round_seconds(&m, &c), 8e-5 + 1e-6, 1e-12));
    c.shares = true;
    assert_true(is_about(strake_round_work(&m, &c), 1e-5 + 4000.0 / 8e9, 1e-12));
    c.meets = true;
    assert_true(is_about(strake_round_seconds(&m, &c), 8.8e-5 + 1e-6, 1e-12));
    c.meets = c.is_crowded = false;
    c.has_device = true; /* whose way was not measured */
    assert_true(is_about(strake_round_seconds(&m, &c), 6e-6, 1e-12));
    m.whole = path_of(3e-5, 2e9); /* 25 us and 1 us more than the message itself */
    assert_true(is_about(strake_round_seconds(&m, &c), 3.2e-5, 1e-12));
    memset(&m.round, 0, sizeof m.round);
    assert_true(isnan(strake_round_seconds(&m, &c)));
}

static void steps_hide_exchanges_behind_what_they_compute(void **state)
{
    (void)state;
    strake_round_step s = {.compute = 1e-3, .steps = 1, .exchange = 4e-4, .hides = 0.9};
    assert_true(is_about(strake_round_step_seconds(&s), 1e-3, 1e-12));
    s.exchange = 2e-3;
    assert_true(is_about(strake_round_step_seconds(&s), 2.1e-3, 1e-12));
    s.steps = 2; /* behind two steps, 0.2 ms of the exchange are left for both */
    assert_true(is_about(strake_round_step_seconds(&s), 1.1e-3, 1e-12));
    s.hides = 0.0;
    assert_true(is_about(strake_round_step_seconds(&s), 2e-3, 1e-12));
    s.hides = 1.0;
    s.work = 3e-4; /* which the threads that compute do not */
    assert_true(is_about(strake_round_step_seconds(&s), 1.15e-3, 1e-12));
    s.hides = 0.0; /* nobody computes meanwhile */
    assert_true(is_about(strake_round_step_seconds(&s), 2e-3, 1e-12));
}

/* Each piece has slabs on its sides that are computed again; nothing of one piece travels while the rest is computed. */
static void slabs_beside_pieces_are_computed_again(void **state)
{
    (void)state;
    strake_round_slabs s = {.own = 100.0, .sent = 10.0, .pieces = 1};
    assert_true(is_about(strake_round_slabs_computed(&s), 100.0, 1e-12));
    assert_true(strake_round_slabs_hide(&s) == 0.0);
    s.again = 20.0;
    assert_true(is_about(strake_round_slabs_computed(&s), 120.0, 1e-12));
    s.pieces = 3;
    s.is_apart = true;
    assert_true(is_about(strake_round_slabs_computed(&s), 160.0, 1e-12));
    assert_true(is_about(strake_round_slabs_hide(&s), 110.0 / 160.0, 1e-12));
}

/* Eager up to 64 KiB and then 1 ms more, as Open MPI over Ethernet: a size below the jump lies on the lower line. */
static void sizes_below_a_jump_are_measured_too(void **state)
{
    strake_rank_model m;
    strake_round_case c = {.round = STRAKE_ROUND_RING, .is_crowded = true, .bytes = 49344.0};
    strake_round_sizes *const s = &m.sizes[STRAKE_ROUND_RING][STRAKE_WAIT_CROWDED];
    (void)state;
    make_model(&m);
    assert_false(strake_round_jumps(1e-4 + 32768 / 125e6, 1e-4 + 65536 / 125e6));
    assert_false(strake_round_jumps(32768 / 125e6, 65536 / 125e6));
    assert_true(strake_round_jumps(5.1e-4, 1.63e-3));
    *s = (strake_round_sizes){
        .count = 3, .bytes = {32768.0, 65280.0, 65536.0}, .seconds = {8.5e-4, 1.35e-3, 2.9e-3}};
    assert_true(fabs(strake_round_seconds(&m, &c) - 1.1e-3) < 0.01e-3);
    s->count = 2; /* without it */
    s->bytes[1] = 65536.0;
    s->seconds[1] = 2.9e-3;
    assert_true(strake_round_seconds(&m, &c) > 1.8e-3);
}

static void the_shortest_step_wins_and_the_first_of_equal_ones(void **state)
{
    (void)state;
    strake_round_option o[4] = {{0, 2, 0.0, 1.00, 0.0, 0.0, 0},
                                {0, 1, 0.0, 0.99, 0.0, 0.0, 0},
                                {1, 2, 0.0, 0.995, 0.0, 0.0, 0},
                                {1, 1, 0.0, 1.2, 0.0, 0.0, 0}};
    assert_int_equal(strake_round_best(o, 4, 0, 1.02), 0);
    o[2].step = 0.5;
    assert_int_equal(strake_round_best(o, 4, 0, 1.02), 2);
    assert_int_equal(strake_round_best(o, 4, 1, 1.02), 1);
    o[3].step = 0.1;
    assert_int_equal(strake_round_best(o, 4, 0, 1.02), 3);
    assert_int_equal(strake_round_best(o, 4, 3, 1.02), -1);
}

static void predictions_learn_from_trials_what_figures_do_not_have(void **state)
{
    (void)state;
    strake_round_option o[4] = {{0, 1, 0.0, 10.0, 0.0, 0.0, 0},
                                {0, 2, 0.0, 10.2, 0.0, 0.0, 0},
                                {0, 4, 0.0, 10.6, 0.0, 0.0, 0},
                                {0, 8, 0.0, 11.4, 0.0, 0.0, 0}};
    strake_round_learn(o, 4); /* nothing was tried */
    for (int k = 0; k < 4; k++) {
        assert_true(is_about(o[k].learnt, o[k].step, 1e-12));
    }
    for (int k = 0; k < 3; k++) { /* a fifth more to compute, and 4 for each exchange */
        o[k].measured = 1.2 * o[k].step + 4.0 / o[k].steps;
        o[k].samples = 4;
    }
    o[3].measured = (double)INFINITY; /* no room for it */
    o[3].samples = 0;
    strake_round_learn(o, 4);
    for (int k = 0; k < 4; k++) {
        assert_true(is_about(o[k].learnt, 1.2 * o[k].step + 4.0 / o[k].steps, 1e-9));
    }
    for (int k = 0; k < 4; k++) { /* of one number of steps alone: the ratio */
        o[k].steps = 2;
    }
    o[0].measured = 12.0, o[1].measured = 1.2 * 10.2, o[2].measured = 1.2 * 10.6;
    strake_round_learn(o, 4);
    assert_true(is_about(o[3].learnt, 1.2 * 11.4, 1e-9));
    for (int k = 0; k < 4; k++) { /* exchanges cannot take less than nothing */
        o[k].steps = 1 << k;
        o[k].measured = o[k].step - 4.0 / o[k].steps;
        o[k].samples = 4;
    }
    strake_round_learn(o, 4);
    assert_true(is_about(o[3].learnt / o[0].learnt, 1.14, 1e-9));
}

static void no_message_takes_longer_than_a_larger_one(void **state)
{
    (void)state;
    const double given[8] = {1.0, 3.0, 2.0, 90.0, 4.0, 5.0, 6.0, 8.0};
    const double wanted[8] = {1.0, 2.5, 2.5, 5.0, 5.0, 5.0, 6.0, 8.0}; /* by medians */
    strake_round_sizes s = {.count = 8};
    memcpy(s.seconds, given, sizeof given);
    strake_round_level(&s);
    for (int k = 0; k < 8; k++) {
        assert_true(is_about(s.seconds[k], wanted[k], 1e-12));
    }
}

static void medians_differ_by_more_than_both_scatter_or_tell_nothing(void **state)
{
    (void)state;
    const double quiet[8] = {1.00, 1.00, 1.01, 1.01, 1.02, 1.02, 1.03, 1.03};
    const double slow[8] = {1.09, 1.10, 1.10, 1.11, 1.11, 1.12, 1.12, 1.30};
    const double loud[8] = {0.70, 0.80, 0.90, 0.98, 0.99, 1.20, 1.30, 1.40};
    assert_true(strake_round_is_faster(quiet, 8, slow, 8));
    assert_false(strake_round_is_faster(slow, 8, quiet, 8));
    assert_false(strake_round_is_faster(quiet, 8, quiet, 8));
    assert_false(strake_round_is_faster(loud, 8, quiet, 8)); /* by 3 % of what is off by 20 */
    assert_false(strake_round_is_faster(loud, 8, slow, 8));
    assert_true(strake_round_is_faster(quiet, 1, slow, 1));
    assert_false(strake_round_is_faster(quiet, 8, slow, 0));
}

static int in_folder(const char *command, const char *folder)
{
    char text[400];
    (void)snprintf(text, sizeof text, "cd %s && %s", folder, command);
    return system(text);
}

static void figures_are_kept_for_their_own_ranks_only(void **state)
{
    (void)state;
    char folder[] = "/tmp/strake-ranks.XXXXXX";
    char why[1200];
    strake_error error;
    strake_rank_model *const m = calloc(2, sizeof *m);
    strake_rank_setup setup = {.ranks = 8, .machines = 2, .hash = 0x123456789abcdef0U};
    strake_rank_setup other = {.ranks = 3, .machines = 1, .hash = 0x123456789abcdef1U};
    (void)snprintf(setup.text, sizeof setup.text, "8 ranks on 2 machines (a, b), Some \"MPI\" 4");
    (void)snprintf(other.text, sizeof other.text, "3 ranks on 1 machine (a), Some \"MPI\" 4");
    assert_non_null(m);
    assert_non_null(mkdtemp(folder));
    make_model(m);
    strake_rank_model_fit(m);
    m->meet[0] = (double)NAN; /* could not be measured */
    assert_int_equal(strake_rank_model_load(folder, &setup, &m[1], why, sizeof why),
                     STRAKE_RANKS_MISSING);
    assert_non_null(strstr(why, "cost is not known: `mpirun -np 8 strake model` measures"));
    for (int whole = 0; whole < 2; whole++) {
        strake_text one = {0}, again = {0};
        strake_json first = strake_json_on(&one), second = strake_json_on(&again);
        m->whole = whole ? path_of(3e-5, 2e9) : (strake_path){.regimes = 0};
        (void)snprintf(m->device, sizeof m->device, "%s", whole ? "Some: device, {really}" : "");
        assert_int_equal(strake_rank_model_store(folder, &setup, m, &error), STRAKE_OK);
        assert_int_equal(strake_rank_model_load(folder, &setup, &m[1], why, sizeof why),
                         STRAKE_RANKS_FOUND);
        strake_json_object(&first, NULL, STRAKE_JSON_LINES);
        strake_json_object(&second, NULL, STRAKE_JSON_LINES);
        strake_rank_model_print(m, NULL, &first);
        strake_rank_model_print(&m[1], NULL, &second);
        assert_string_equal(one.data, again.data); /* 17 digits: every number is the same */
        strake_text_free(&one);
        strake_text_free(&again);
    }
    assert_int_equal(strake_rank_model_load(folder, &other, &m[1], why, sizeof why),
                     STRAKE_RANKS_OTHER);
    assert_non_null(strstr(why, "between 3 ranks on 1 machine (a)"));
    assert_non_null(strstr(why, "only that of another set-up (8 ranks on 2 machines (a, b), Some"));
    assert_non_null(strstr(why, "`mpirun -np 3 strake model` measures"));
    assert_int_equal(m[1].round[0][0].regimes, 0);
    /* A file that was copied to another set-up's name. */
    assert_int_equal(in_folder("cp ranks-*0.yaml ranks-123456789abcdef1.yaml", folder), 0);
    assert_int_equal(strake_rank_model_load(folder, &other, &m[1], why, sizeof why),
                     STRAKE_RANKS_DAMAGED);
    assert_int_equal(in_folder("rm -r $PWD", folder), 0);
    free(m);
}

static void damaged_figures_are_not_used(void **state)
{
    (void)state;
    static const char *const damage[] = {"head -c 900 $f >g && mv g $f",
                                         ": >$f",
                                         "sed -i '0,/\"alpha\": [0-9.e-]*/s//\"alpha\": -1/' $f",
                                         "sed -i 's/\"pairs\": 4/\"pairs\": 65/' $f",
                                         "sed -i 's/\"pairs\": 4/\"pairs\": 3/' $f",
                                         "sed -i 's/\"format\": [0-9]*/\"format\": 0/' $f",
                                         "sed -i '0,/\"bytes\": .1, 1024/s//\"bytes\": [1, 1/' $f",
                                         "sed -i '0,/\"bytes\": .1, 1024, /s//\"bytes\": [1, /' $f",
                                         "sed -i 's/\"one_way\"/\"one_wax\"/' $f",
                                         "sed -i 's/\"strake\": \"[^\"]*\"/\"strake\": \"0\"/' $f"};
    char folder[] = "/tmp/strake-ranks.XXXXXX";
    char why[1200], command[300];
    strake_error error;
    strake_rank_model m, read;
    const strake_rank_setup setup = {.ranks = 2, .machines = 1, .hash = 5, .text = "2 ranks"};
    make_model(&m);
    strake_rank_model_fit(&m);
    assert_non_null(mkdtemp(folder));
    for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
        assert_int_equal(strake_rank_model_store(folder, &setup, &m, &error), STRAKE_OK);
        assert_int_equal(strake_rank_model_load(folder, &setup, &read, why, sizeof why),
                         STRAKE_RANKS_FOUND);
        (void)snprintf(command, sizeof command, "f=$(echo ranks-*.yaml) && %s", damage[k]);
        assert_int_equal(in_folder(command, folder), 0);
        assert_int_equal(strake_rank_model_load(folder, &setup, &read, why, sizeof why),
                         STRAKE_RANKS_DAMAGED);
        assert_non_null(strstr(why, "is damaged or of another version, and not used: `mpirun"));
        assert_int_equal(read.path.regimes, 0);
    }
    assert_int_equal(in_folder("rm -r $PWD", folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_at_once_have_a_common_limit),
        cmocka_unit_test(rounds_take_what_their_neighbours_waits_and_devices_ask_for),
        cmocka_unit_test(steps_hide_exchanges_behind_what_they_compute),
        cmocka_unit_test(slabs_beside_pieces_are_computed_again),
        cmocka_unit_test(sizes_below_a_jump_are_measured_too),
        cmocka_unit_test(the_shortest_step_wins_and_the_first_of_equal_ones),
        cmocka_unit_test(predictions_learn_from_trials_what_figures_do_not_have),
        cmocka_unit_test(no_message_takes_longer_than_a_larger_one),
        cmocka_unit_test(medians_differ_by_more_than_both_scatter_or_tell_nothing),
        cmocka_unit_test(figures_are_kept_for_their_own_ranks_only),
        cmocka_unit_test(damaged_figures_are_not_used)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
