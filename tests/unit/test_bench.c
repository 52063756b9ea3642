/* What `strake bench` derives from measurements, against closed forms; how it notices other bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/bench_roofs.h"
#include "cpu/machine.h"

static const char text[] = "problem: mpdata2d\n"
                           "grid: {rows: 40, cols: 50}\n"
                           "time: {dt: 0.1, steps: 6}\n"
                           "boundary: {rows: open, cols: periodic}\n"
                           "fields:\n"
                           "  psi: {random: {seed: 1, minimum: 0, maximum: 1}}\n"
                           "  u1: {constant: 0.2}\n"
                           "  u2: {constant: -0.3}\n";

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1.0, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void median_minimum_and_maximum(void **state)
{
    (void)state;
    double odd[] = {5.0, -1.0, 3.0, 100.0, 4.0};
    double even[] = {8.0, 2.0, 6.0, 4.0};
    double one[] = {7.0};
    strake_sample s = strake_sample_of(odd, 5);
    assert_true(s.median == 4.0 && s.minimum == -1.0 && s.maximum == 100.0);
    s = strake_sample_of(even, 4);
    assert_true(s.median == 5.0 && s.minimum == 2.0 && s.maximum == 8.0);
    s = strake_sample_of(one, 1);
    assert_true(s.median == 7.0 && s.minimum == 7.0 && s.maximum == 7.0);
    s = strake_sample_of(one, 0);
    assert_true(isnan(s.median) && isnan(s.minimum) && isnan(s.maximum));
}

static void karp_flatt_inverts_amdahl(void **state)
{
    (void)state;
    for (int p = 2; p <= 64; p *= 2) {
        for (double f = 0.0; f <= 1.0; f += 0.125) {
            near(strake_karp_flatt(1.0 / (f + (1.0 - f) / p), p), f);
        }
        assert_true(strake_karp_flatt(1.5 * p, p) < 0.0);
    }
    assert_true(isnan(strake_karp_flatt(1.0, 1.0)));
    assert_true(isnan(strake_karp_flatt(0.0, 4.0)));
    assert_true(isnan(strake_karp_flatt((double)NAN, 4.0)));
}

/* A benchmark as if it had been measured. */
static strake_bench *new_bench(void)
{
    strake_bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->cells = 1e6;
    bench->steps = 10;
    bench->bytes_per_cell = 40;
    return bench;
}

/* Adds a placement that ran at `rate` [Mcell/s] on "cpu", "serial" or devices "ocl:0,ocl:1". */
static strake_bench_item *add(strake_bench *bench, const char *where, const char *ids, int threads,
                              double rate)
{
    strake_error error;
    char copy[64];
    assert_int_equal(strake_bench_add(bench, where, &error), STRAKE_OK);
    strake_bench_item *const item = &bench->item[bench->items - 1];
    item->part = calloc(4, sizeof *item->part);
    assert_non_null(item->part);
    (void)snprintf(copy, sizeof copy, "%s", ids);
    for (char *rest = NULL, *id = strtok_r(copy, ",", &rest); id != NULL;
         id = strtok_r(NULL, ",", &rest)) {
        strake_part_report *const p = &item->part[item->parts++];
        (void)snprintf(p->id, sizeof p->id, "%s", id);
        (void)snprintf(p->name, sizeof p->name, "a device");
        p->threads = strcmp(id, "cpu") == 0 ? threads : 1;
        p->bit_exact = true;
    }
    item->steps = 10;
    item->repeats = 3;
    item->seconds[0] = 0.5 * 10.0 / rate;
    item->seconds[1] = 10.0 / rate;
    item->seconds[2] = 2.0 * 10.0 / rate;
    item->warm_checksum = 1;
    item->end_checksum = 2;
    item->has_end = strcmp(where, "serial") != 0;
    item->roof = 1e11;
    return item;
}

/* Of particles rates are told in their own unit, and what a second brings of pairs. */
static void particles_have_units_of_their_own(void **state)
{
    char size[96];
    strake_bench *const bench = new_bench();
    const strake_case which = {.problem = strake_problem_find("sph3d")};
    strake_bench_item *const item = add(bench, "cpu", "cpu", 2, 4.0);
    (void)state;
    bench->which = &which;
    bench->cells = 4000.0;
    bench->domain = (strake_domain_report){.rate = "mips", .rate_unit = 1e6};
    item->work = 7e8;
    strake_bench_derive(bench);
    assert_string_equal(strake_bench_size_text(bench, size), "4000 particles");
    assert_string_equal(strake_bench_unit(bench), "mips");
    near(item->rate.median, 4000.0 * 10.0 / item->seconds[1]);
    near(item->work_rate, 7e8 / (item->seconds[0] + item->seconds[1] + item->seconds[2]));
    strake_bench_free(bench);
    free(bench);
}

static void end(strake_bench *bench)
{
    strake_bench_free(bench);
    free(bench);
}

static void speed_ups_sums_and_roofs(void **state)
{
    (void)state;
    strake_bench *const bench = new_bench();
    strake_bench_item *const serial = add(bench, "serial", "serial", 1, 10.0);
    strake_bench_item *const one = add(bench, "cpu@1", "cpu", 1, 100.0);
    strake_bench_item *const cpu = add(bench, "cpu", "cpu", 4, 250.0);
    strake_bench_item *const three = add(bench, "cpu@3", "cpu", 3, 240.0);
    strake_bench_item *const device = add(bench, "ocl:0", "ocl:0", 1, 1000.0);
    strake_bench_item *const two = add(bench, "ocl:0,ocl:1", "ocl:0,ocl:1", 1, 1600.0);
    strake_bench_item *const twice = add(bench, "ocl:0,ocl:0", "ocl:0,ocl:0", 1, 900.0);
    strake_bench_item *const hybrid = add(bench, "hybrid", "cpu,ocl:0", 3, 1116.0);
    strake_bench_derive(bench);
    near(serial->rate.median, 10e6);
    near(serial->rate.minimum, 5e6);
    near(serial->rate.maximum, 20e6);
    near(hybrid->over_serial, 111.6);
    near(hybrid->over_cpu, 1116.0 / 250.0);
    near(cpu->over_cpu, 1.0);
    near(hybrid->of_sum, 1116.0 / 1240.0); /* against three threads, which it has */
    near(cpu->karp_flatt, (1.0 / 2.5 - 0.25) / 0.75);
    near(three->karp_flatt, (1.0 / 2.4 - 1.0 / 3.0) / (2.0 / 3.0));
    near(two->karp_flatt, (1.0 / 1.6 - 0.5) / 0.5);
    near(device->of_roof, 1000e6 * 40.0 / 1e11);
    assert_true(isnan(two->of_sum));   /* ocl:1 was not measured alone */
    assert_true(isnan(twice->of_sum)); /* one device is not two */
    assert_true(isnan(twice->karp_flatt));
    assert_true(isnan(hybrid->karp_flatt)); /* unequal workers */
    assert_true(isnan(one->karp_flatt));    /* nothing to compare with */
    assert_true(isnan(device->of_sum));
    end(bench);
}

static void a_failed_placement_counts_nowhere(void **state)
{
    (void)state;
    strake_bench *const bench = new_bench();
    strake_bench_item *const cpu = add(bench, "cpu", "cpu", 4, 250.0);
    strake_bench_item *const device = add(bench, "ocl:0", "ocl:0", 1, 1000.0);
    strake_bench_item *const mixed = add(bench, "cpu,ocl:0", "cpu,ocl:0", 4, 1200.0);
    device->status = STRAKE_ERR_DEVICE;
    device->warm_checksum = 99;
    strake_bench_derive(bench);
    assert_true(isnan(device->rate.median) && isnan(device->over_cpu));
    assert_true(isnan(mixed->of_sum));
    near(mixed->over_cpu, 4.8);
    assert_true(isnan(cpu->over_serial));
    assert_int_equal(strake_bench_verify(bench), 0);
    end(bench);
}

static void other_bits_are_noticed(void **state)
{
    (void)state;
    strake_bench *const bench = new_bench();
    strake_bench_item *const serial = add(bench, "serial", "serial", 1, 10.0);
    strake_bench_item *const cpu = add(bench, "cpu", "cpu", 4, 250.0);
    strake_bench_item *const device = add(bench, "ocl:0", "ocl:0", 1, 1000.0);
    assert_int_equal(strake_bench_verify(bench), 0);
    assert_false(serial->differs || cpu->differs || device->differs);
    device->warm_checksum = 3;
    assert_int_equal(strake_bench_verify(bench), 1);
    assert_true(device->differs && !cpu->differs);
    device->warm_checksum = 1;
    device->end_checksum = 3; /* drifts apart later */
    assert_int_equal(strake_bench_verify(bench), 1);
    assert_true(device->differs && !cpu->differs);
    serial->warm_checksum = 4; /* the reference itself is wrong: everybody differs from it */
    assert_int_equal(strake_bench_verify(bench), 2);
    end(bench);
}

static strake_case *open_case(void)
{
    strake_error error;
    strake_case *which = NULL;
    if (strake_case_parse("bench", text, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static bool stop_at_once(void *user)
{
    (void)user;
    return true;
}

static void measuring_follows_the_plan(void **state)
{
    (void)state;
    bool stopped = true;
    strake_error error;
    strake_case *which = open_case();
    strake_bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    *bench = (strake_bench){.which = which, .title = "test", .steps = 6, .repeats = 4};
    assert_int_equal(strake_bench_add(bench, "cpu", &error), STRAKE_OK);
    assert_int_equal(strake_bench_add(bench, "cpu@3", &error), STRAKE_OK);
    assert_int_equal(strake_bench_add(bench, "serial", &error), STRAKE_OK);
    const strake_bench_options options = {.threads = 2};
    if (strake_bench_measure(bench, &options, &stopped, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_false(stopped);
    assert_string_equal(bench->item[0].where, "serial");
    assert_true(bench->together);
    assert_int_equal(bench->untimed, 1);
    assert_true(bench->warm_up == 2 + 4 * bench->item[0].steps);
    assert_int_equal(bench->item[1].part[0].threads, 2);
    assert_int_equal(bench->item[2].part[0].threads, 3);
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        assert_int_equal(item->repeats, 4);
        assert_int_equal(item->part[0].end, 40);
        assert_true(item->part[0].compute > 0.0);
        for (int r = 0; r < 4; r++) {
            assert_true(item->seconds[r] > 0.0);
        }
    }
    assert_int_equal(strake_bench_verify(bench), 0);
    assert_true(bench->item[1].warm_checksum != bench->item[1].end_checksum);
    strake_bench_free(bench);

    /* The checksums are those of as many plain steps. */
    strake_solver *solver = NULL;
    double psi[2000];
    assert_int_equal(strake_open(which, &(strake_options){.where = "serial"}, &solver, &error),
                     STRAKE_OK);
    assert_int_equal(strake_bench_add(bench, "cpu", &error), STRAKE_OK);
    assert_int_equal(strake_bench_measure(bench, &options, &stopped, &error), STRAKE_OK);
    assert_int_equal(bench->warm_up, 3);
    uint64_t hash[2];
    for (int part = 0; part < 2; part++) {
        assert_int_equal(strake_step(solver, part == 0 ? 3 : 4 * (1 + 6), &error), STRAKE_OK);
        assert_int_equal(strake_get_field(solver, "psi", psi, &error), STRAKE_OK);
        hash[part] = UINT64_C(0xcbf29ce484222325);
        for (size_t b = 0; b < sizeof psi; b++) {
            hash[part] = (hash[part] ^ ((const unsigned char *)psi)[b]) * UINT64_C(0x100000001b3);
        }
    }
    assert_true(bench->item[0].warm_checksum == hash[0]);
    assert_true(bench->item[0].end_checksum == hash[1]);
    strake_close(&solver);
    end(bench);
    strake_case_close(&which);
}

static void placements_that_do_not_fit_together_run_one_by_one(void **state)
{
    (void)state;
    static const char *const where[] = {"serial", "cpu", "hybrid"};
    bool stopped = true;
    strake_error error;
    strake_case *which = open_case();
    strake_bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    *bench = (strake_bench){.which = which, .title = "test", .steps = 6, .repeats = 2};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(strake_bench_add(bench, where[k], &error), STRAKE_OK);
    }
    /* Two arrays of 2000 cells (u1, u2 and h are folded) are more than 60 % of this GPU. */
    const strake_bench_options options = {.threads = 2, .device_memory = 50000.0};
    assert_int_equal(strake_bench_measure(bench, &options, &stopped, &error), STRAKE_OK);
    assert_false(stopped || bench->together);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(bench->item[k].repeats, 2);
    }
    assert_int_equal(strake_bench_verify(bench), 0);
    end(bench);
    strake_case_close(&which);
}

static void measuring_can_be_stopped(void **state)
{
    (void)state;
    bool stopped = false;
    strake_error error;
    strake_case *which = open_case();
    strake_bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    *bench = (strake_bench){.which = which, .title = "test", .steps = 6, .repeats = 4};
    assert_int_equal(strake_bench_add(bench, "cpu", &error), STRAKE_OK);
    const strake_bench_options options = {.threads = 2, .stop = stop_at_once};
    assert_int_equal(strake_bench_measure(bench, &options, &stopped, &error), STRAKE_OK);
    assert_true(stopped);
    assert_int_equal(bench->item[0].repeats, 0);
    end(bench);
    strake_case_close(&which);
}

static void wrong_places_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"cpu@",    "cpu@0",    "cpu@x", "cpu@2x", "cpu@4097",
                                        "ocl:0@2", "serial@2", "@2",    "cpu@-1", "cpu"};
    strake_error error;
    strake_bench *const bench = new_bench();
    assert_int_equal(strake_bench_add(bench, "cpu", &error), STRAKE_OK);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_int_equal(strake_bench_add(bench, wrong[k], &error), STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, wrong[k]));
        assert_int_equal(bench->items, 1);
    }
    end(bench);
}

static void pages_escape_what_drivers_call_themselves(void **state)
{
    (void)state;
    strake_text svg = {0}, json = {0};
    strake_case *which = open_case();
    strake_bench *const bench = new_bench();
    bench->which = which;
    bench->title = "a<b>&\"c\"\xff";
    (void)add(bench, "cpu", "cpu", 4, 250.0);
    strake_bench_item *const bad = add(bench, "ocl:0", "ocl:0", 1, 1000.0);
    bad->status = STRAKE_ERR_DEVICE;
    (void)snprintf(bad->why, sizeof bad->why, "<out> of \"memory\"\n");
    strake_bench_derive(bench);
    strake_bench_print_svg(bench, 1, &svg);
    assert_false(svg.failed);
    assert_non_null(strstr(svg.data, "a&lt;b&gt;&amp;&quot;c&quot;?:"));
    /* Where, with what and when: somebody finds the page in a year. */
    strake_machine machine;
    strake_machine_read(&machine);
    assert_non_null(strstr(svg.data, "strake " STRAKE_VERSION ", 20"));
    assert_non_null(strstr(svg.data, " UTC; host: "));
    assert_non_null(strstr(svg.data, machine.cpu));
    assert_non_null(strstr(svg.data, ">cpu: "));
    assert_null(strstr(svg.data, "One recorded step")); /* none was */
    assert_non_null(strstr(svg.data, "failed: &lt;out&gt; of &quot;memory&quot;?"));
    assert_null(strstr(svg.data, "nan"));
    strake_bench_print_json(bench, &json);
    assert_false(json.failed);
    assert_non_null(strstr(json.data, "\"failed\": \"<out> of \\\"memory\\\"\\u000a\"}\n"));
    assert_null(strstr(json.data, "nan"));
    strake_text_free(&svg);
    strake_text_free(&json);
    end(bench);
    strake_case_close(&which);
}

static void host_memory_has_a_bandwidth(void **state)
{
    (void)state;
    double rate = 0.0;
    strake_error error;
    assert_int_equal(strake_roof_host(2, &rate, &error), STRAKE_OK);
    assert_true(rate > 1e8 && rate < 1e14);
}

static void device_memory_has_a_bandwidth(void **state)
{
    (void)state;
    double rate = 0.0;
    strake_error error;
    strake_cl_list list;
    assert_int_equal(strake_cl_list_open(&list, &error), STRAKE_OK);
    if (list.count == 0) {
        strake_cl_list_free(&list);
        print_message("# skip: no OpenCL device\n");
        skip();
    }
    if (strake_roof_device(list.cl, &list.device[0], &rate, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    assert_true(rate > 1e7 && rate < 1e15);
    strake_cl_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_have_units_of_their_own),
        cmocka_unit_test(median_minimum_and_maximum),
        cmocka_unit_test(karp_flatt_inverts_amdahl),
        cmocka_unit_test(speed_ups_sums_and_roofs),
        cmocka_unit_test(a_failed_placement_counts_nowhere),
        cmocka_unit_test(other_bits_are_noticed),
        cmocka_unit_test(measuring_follows_the_plan),
        cmocka_unit_test(placements_that_do_not_fit_together_run_one_by_one),
        cmocka_unit_test(measuring_can_be_stopped),
        cmocka_unit_test(wrong_places_are_refused),
        cmocka_unit_test(pages_escape_what_drivers_call_themselves),
        cmocka_unit_test(host_memory_has_a_bandwidth),
        cmocka_unit_test(device_memory_has_a_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
