/* What models of data movement imply, and that they are stored and read as they are. */
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

#include "cost/model.h"
#include "cost/say.h"

/* A GPU behind a link: 6 us and 50 GB/s, pageable 15 GB/s, mapped after 40 us. */
static void make_model(strake_device_model *m)
{
    memset(m, 0, sizeof *m);
    (void)snprintf(m->platform, sizeof m->platform, "Some \"platform\"");
    (void)snprintf(m->version, sizeof m->version, "OpenCL 3.0");
    (void)snprintf(m->name, sizeof m->name, "Some: device, {really}");
    (void)snprintf(m->driver, sizeof m->driver, "580.1");
    (void)snprintf(m->date, sizeof m->date, "2026-11-21");
    for (int k = 0; k < STRAKE_PATHS; k++) {
        const double alpha = k == STRAKE_UP_MAPPED || k == STRAKE_DOWN_MAPPED ? 40e-6 : 6e-6;
        const double rate = k == STRAKE_UP_PAGEABLE || k == STRAKE_DOWN_PAGEABLE ? 15e9 : 50e9;
        m->path[k] =
            (strake_path){.regimes = 2,
                          .regime = {{0.0, {alpha, 0.9 * alpha, 1.1 * alpha}, {0.0, 0.0, 0.0}},
                                     {4096.0,
                                      {alpha, 0.8 * alpha, 1.2 * alpha},
                                      {1 / rate, 0.9 / rate, 1.1 / rate}}},
                          .least = 64.0,
                          .most = 6.7e7,
                          .error = 0.01 * (k + 1),
                          .worst = 0.1,
                          .points = 21};
    }
    for (int k = 0; k < STRAKE_MODEL_MESSAGES; k++) {
        m->messages[k] =
            (strake_both){1e-5 + 2e-6 * ((1 << k) - 1), 1.1e-5 + 3e-6 * ((1 << k) - 1)};
    }
    m->message = (strake_both){2e-6, 3e-6};
    for (int k = 0; k < STRAKE_MODEL_ACTIVE; k++) {
        m->queues[k] = (strake_both){1e-4 * (k + 1), 2e-4 * (k + 1)};
        m->threads[k] = (strake_both){3e-4 * (k + 1), 4e-4 * (k + 1)};
    }
    m->active_up = (strake_max_rate){50e9, 50e9, true};
    m->active_down = (strake_max_rate){50e9, 150e9, false};
    m->both_ways = 0.9;
    m->overlap = (strake_both){1.0, 0.95};
    m->launch = 4e-6;
    m->launch_wait = 9e-6;
    m->wait = 5e-6;
    m->barrier = 1e-6;
    m->enqueue_pinned = 3e-6;
    m->enqueue_pageable = 3e-4;
    m->bandwidth = 4e12;
}

static strake_cl_device make_device(void)
{
    strake_device_model m;
    strake_cl_device device;
    make_model(&m);
    memset(&device, 0, sizeof device);
    (void)snprintf(device.platform_name, sizeof device.platform_name, "%s", m.platform);
    (void)snprintf(device.platform_version, sizeof device.platform_version, "%s", m.version);
    (void)snprintf(device.name, sizeof device.name, "%s", m.name);
    (void)snprintf(device.driver, sizeof device.driver, "%s", m.driver);
    return device;
}

static void models_are_read_as_they_were_stored(void **state)
{
    (void)state;
    char folder[] = "/tmp/strake-model.XXXXXX";
    strake_error error;
    strake_device_model m, read;
    strake_cl_device device = make_device();
    make_model(&m);
    m.bandwidth = (double)NAN; /* could not be measured */
    assert_non_null(mkdtemp(folder));
    assert_false(strake_model_load(folder, &device, &read));
    assert_int_equal(strake_model_store(folder, &device, &m, &error), STRAKE_OK);
    assert_true(strake_model_load(folder, &device, &read));
    assert_true(isnan(read.bandwidth));
    read.bandwidth = m.bandwidth;
    strake_text one = {0}, other = {0};
    strake_json first = strake_json_on(&one), second = strake_json_on(&other);
    strake_model_print(&m, NULL, &first);
    strake_model_print(&read, NULL, &second);
    assert_string_equal(one.data, other.data); /* 17 digits: every number is the same */
    assert_true(read.path[STRAKE_FETCH].regime[1].beta.high ==
                m.path[STRAKE_FETCH].regime[1].beta.high);
    strake_text_free(&one);
    strake_text_free(&other);
    (void)snprintf(device.driver, sizeof device.driver, "580.2");
    assert_false(strake_model_load(folder, &device, &read)); /* another driver */
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The only file of a folder, with the value of its first "points" replaced. */
static void replace_points(const char *folder, const char *instead)
{
    char command[300];
    (void)snprintf(command, sizeof command,
                   "sed -i '0,/\"points\": /s/\\(\"points\": \\)[^}]*/\\1%s/' %s/model-*.yaml",
                   instead, folder);
    assert_int_equal(system(command), 0);
}

static void models_with_impossible_numbers_of_points_are_not_used(void **state)
{
    (void)state;
    char folder[] = "/tmp/strake-model.XXXXXX";
    static const char *const bad[] = {"1e30", "2147483648", "-1", "null", "nan"};
    strake_error error;
    strake_device_model m, read;
    strake_cl_device device = make_device();
    make_model(&m);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(strake_model_store(folder, &device, &m, &error), STRAKE_OK);
    replace_points(folder, "7");
    assert_true(strake_model_load(folder, &device, &read));
    assert_int_equal(read.path[0].points, 7);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        replace_points(folder, bad[k]);
        assert_false(strake_model_load(folder, &device, &read));
    }
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void exchanges_add_up(void **state)
{
    (void)state;
    strake_device_model m;
    make_model(&m);
    const double one = 6e-6 + 1e6 / 50e9;
    assert_true(fabs(strake_model_seconds(&m, STRAKE_UP_PINNED, 1e6, 1) / one - 1.0) < 1e-12);
    assert_true(fabs(strake_model_seconds(&m, STRAKE_UP_PINNED, 1e6, 5) / (one + 8e-6) - 1.0) <
                1e-12);
    assert_true(fabs(strake_model_exchange(&m, false, 1e6, 1, 1e6, 1, 1) / (2.0 * one) - 1.0) <
                1e-12);
    /* Two stripes share the way up, which one alone fills; there is room for both on the way down. */
    const double two = 2.0 * one + 1e6 / 50e9;
    assert_true(fabs(strake_model_exchange(&m, false, 1e6, 1, 1e6, 1, 2) / two - 1.0) < 1e-12);
    m.path[STRAKE_PUBLISH_BESIDE].regime[1].alpha.value += 5e-6;
    m.path[STRAKE_FETCH_BESIDE].regime[1].alpha.value -= 2e-6;
    assert_true(fabs(strake_model_exchange(&m, true, 1e6, 1, 1e6, 1, 1) - 2.0 * one - 3e-6) <
                1e-15);
    assert_true(strake_model_exchange(&m, false, 0.0, 0, 0.0, 0, 1) == 0.0);
    /* A number that comes down with borders: what brings it down, and one more message. */
    assert_true(fabs(strake_model_reduce(&m, 2) - 2.0 * 3e-6) < 1e-15);
    assert_true(strake_model_reduce(&m, 0) == 0.0);
    /* Two passes: a wait of the queue, half of it down and half of it up each, and of five messages down three more. */
    const double pass = 1e-6 + 2.0 * 6e-6 + (1e6 + 5e5) / 15e9;
    assert_true(fabs(strake_model_passes(&m, true, 2, 2e6, 5.0, 1e6, 2.0) / (2.0 * pass + 9e-6) -
                     1.0) < 1e-12);
    assert_true(fabs(strake_model_passes(&m, true, 2, 0.0, 0.0, 1e6, 2.0) -
                     2.0 * (1e-6 + 6e-6 + 5e5 / 15e9)) < 1e-15);
    /* Pinned, as borders go beside kernels, what is published after the wait of the queue. */
    assert_true(fabs(strake_model_passes(&m, false, 2, 2e6, 2.0, 2e6, 2.0) /
                         (2.0 * strake_model_exchange(&m, true, 1e6, 1, 1e6, 1, 1)) -
                     1.0) < 1e-12);
    assert_int_equal(strake_model_fastest(&m, true, 1e6), STRAKE_UP_PINNED);
    assert_int_equal(strake_model_fastest(&m, false, 1e6), STRAKE_DOWN_PINNED);
}

static const strake_exchange_case stripe = {.slabs = 1000,
                                            .halo = {3, 3},
                                            .reach = 3,
                                            .sides = 1,
                                            .states = 1,
                                            .slab_bytes = 8192.0,
                                            .slab_seconds = 1e-6};

static void sizes_of_exchanges_follow_the_steps(void **state)
{
    (void)state;
    strake_exchange_case c = stripe;
    strake_exchange_size size = strake_exchange_size_of(&c, 1);
    assert_true(size.bytes_down == 3 * 8192.0 && size.bytes_up == size.bytes_down);
    assert_int_equal(size.messages, 1);
    size = strake_exchange_size_of(&c, 3);
    assert_true(size.bytes_up == 9 * 8192.0);
    c.sides = 2;
    size = strake_exchange_size_of(&c, 1);
    assert_true(size.bytes_up == 6 * 8192.0);
    assert_int_equal(size.messages, 2);
    /* Several states: one message for a border that is small, and on the queue of the kernels. */
    c.states = 2;
    c.slab_bytes = 32768.0 / 6.0;
    size = strake_exchange_size_of(&c, 1);
    assert_true(size.messages == 2 && size.apart == 4 && size.bytes_up == 2.0 * 32768.0);
    size = strake_exchange_size_of(&c, 2);
    assert_true(size.messages == 4 && size.apart == 4);
    c.sides = 0;
    size = strake_exchange_size_of(&c, 1);
    assert_true(size.bytes_up == 0.0 && size.messages == 0);
}

static void steps_trade_exchanges_for_slabs_computed_again(void **state)
{
    (void)state;
    double added[STRAKE_CHOOSE_STEPS], best = 0.0;
    for (int k = 0; k < STRAKE_CHOOSE_STEPS; k++) {
        added[k] = 24e-6;
    }
    /* 24/k + 1.5 (k - 1) is least at k = 4. */
    assert_int_equal(strake_choose_steps(&stripe, added, STRAKE_CHOOSE_STEPS, &best), 4);
    assert_true(fabs(best - 10.5e-6) < 1e-12);
    assert_int_equal(strake_choose_steps(&stripe, added, 2, NULL), 2);
    strake_exchange_case slow = stripe;
    slow.slab_seconds = 1e-4;
    assert_int_equal(strake_choose_steps(&slow, added, STRAKE_CHOOSE_STEPS, NULL), 1);
    strake_exchange_case thin = stripe;
    thin.slabs = 7; /* no room for the slabs of three steps */
    assert_int_equal(strake_choose_steps(&thin, added, STRAKE_CHOOSE_STEPS, NULL), 2);
}

static void transfers_move_beside_kernels_where_that_hides_more_than_it_costs(void **state)
{
    (void)state;
    strake_overlap_case c = {
        .exchange = 50e-6, .beside = 50e-6, .factor = 1.0, .interior = 1e-3, .extra = 10e-6};
    assert_true(strake_overlap_pays(&c));
    assert_true(fabs(strake_overlap_seconds(&c) - 10e-6) < 1e-15);
    c.beside = 70e-6; /* following another queue costs time, which is hidden too */
    assert_true(strake_overlap_pays(&c) && fabs(strake_overlap_seconds(&c) - 10e-6) < 1e-15);
    c.beside = 50e-6;
    c.factor = 0.0; /* a device that computes and copies with the same cores */
    assert_false(strake_overlap_pays(&c));
    c.factor = 1.0;
    c.interior = 5e-6; /* hardly anything to hide behind */
    assert_false(strake_overlap_pays(&c));
}

static void advice_follows_the_model(void **state)
{
    (void)state;
    strake_device_model m;
    make_model(&m);
    strake_advice a = strake_advise(&m, &stripe, 8, 1);
    assert_true(a.overlap);
    assert_int_equal(a.path, STRAKE_THROUGH_PINNED);
    strake_exchange_case met = stripe;
    met.meets = true; /* borders that are worth it */
    const strake_advice together = strake_advise(&m, &met, 8, 1);
    assert_true(together.overlap);
    assert_true(together.added[0] == a.added[0]);
    assert_true(together.added[0] < together.seconds[0] && a.added[0] < a.seconds[0]);
    met.states = 2;
    met.slab_bytes = 4096.0;
    const strake_advice packed = strake_advise(&m, &met, 1, 1);
    assert_false(packed.overlap);
    assert_true(packed.added[0] == packed.seconds[0]);
    assert_int_equal(a.most, 8);
    m.overlap = (strake_both){0.0, 0.0};
    a = strake_advise(&m, &stripe, 8, 1);
    assert_false(a.overlap);
    assert_true(a.steps > 1);
    /* Slabs so dear that nothing is computed twice. */
    strake_exchange_case dear = stripe;
    dear.slab_seconds = 1e-3;
    assert_int_equal(strake_advise(&m, &dear, 8, 1).steps, 1);
    m.path[STRAKE_DOWN_PINNED].regime[0].alpha.value = 1e-3;
    m.path[STRAKE_DOWN_PINNED].regime[1].alpha.value = 1e-3;
    assert_int_equal(strake_advise(&m, &dear, 8, 1).path, STRAKE_THROUGH_PAGEABLE);
}

static void sentences_have_the_measured_numbers(void **state)
{
    (void)state;
    char text[32];
    strake_model_machine *machine = calloc(1, sizeof *machine);
    assert_non_null(machine);
    machine->devices = 1;
    machine->host_bandwidth = 1e11;
    machine->threads = 16;
    make_model(&machine->device[0].model);
    machine->pairs = 1;
    strake_pair_model *pair = &machine->pair[0];
    pair->to = 1;
    pair->through_host = machine->device[0].model.path[STRAKE_UP_PINNED];
    pair->in_context = pair->through_host;
    pair->in_context.regime[0].alpha.value *= 5.0;
    pair->in_context.regime[1].alpha.value *= 5.0;
    pair->in_context.regime[1].beta.value *= 5.0;
    pair->together = 0.97;
    strake_text said = {0};
    strake_model_say(machine, &said);
    assert_non_null(strstr(said.data, "up: pinned memory starts after 6 us and reaches 50 GB/s"));
    assert_non_null(strstr(said.data, "pinned memory at 16 MiB (1.10 times as fast as the next)"));
    assert_non_null(strstr(said.data, "100 % of a copy up and 95 % of a copy down hide behind"));
    assert_non_null(
        strstr(said.data, "launch takes 4 us in a row of launches and 9 us with waiting"));
    assert_non_null(strstr(said.data, "through the host 6.08 us, 5.00 times"));
    assert_non_null(strstr(said.data, "the way through the host is faster at every size"));
    assert_non_null(strstr(said.data, "uploads to both at once hide each other by 97 %"));
    assert_non_null(strstr(said.data, "memory moves 100 GB/s (triad, 16 threads); ocl:0 40 times"));
    strake_text_free(&said);
    strake_model_verdict(machine, &said);
    assert_non_null(strstr(said.data, "transfers from pinned memory: ocl:0 50 GB/s up, 50 GB/s "
                                      "down, after a start of 6 us\n"));
    assert_non_null(strstr(said.data, "95 % of it beside kernels\n"));
    assert_non_null(strstr(said.data, "off by 6.0 % (median of 11 paths), by 11.0 % at worst"));
    assert_non_null(strstr(said.data, "(ocl:0, fetch_beside): uncertain"));
    strake_text_free(&said);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        machine->device[0].model.path[k].error = 0.01;
    }
    strake_model_verdict(machine, &said);
    assert_non_null(strstr(said.data, ": good\n"));
    strake_text_free(&said);
    free(machine);
    assert_string_equal(strake_say_bytes(196608.0, text), "192 KiB");
    assert_string_equal(strake_say_seconds(6.7e-6, text), "6.7 us");
    assert_string_equal(strake_say_rate(4.48e12, text), "4.48 TB/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_read_as_they_were_stored),
        cmocka_unit_test(models_with_impossible_numbers_of_points_are_not_used),
        cmocka_unit_test(exchanges_add_up),
        cmocka_unit_test(sizes_of_exchanges_follow_the_steps),
        cmocka_unit_test(steps_trade_exchanges_for_slabs_computed_again),
        cmocka_unit_test(transfers_move_beside_kernels_where_that_hides_more_than_it_costs),
        cmocka_unit_test(advice_follows_the_model),
        cmocka_unit_test(sentences_have_the_measured_numbers)};
    return cmocka_run_group_tests_name("model_use", tests, NULL, NULL);
}
