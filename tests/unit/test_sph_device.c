/* Particles on a device: after every step the bits of the reference, in both precisions, with any groups. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/pipeline.h"
#include "particles/device.h"
#include "particles/run_opencl.h"
#include "tests/support/harness.h"
#include "tests/support/swarm.h"

enum { STEPS = 8 };

static strake_cl_list list;

static int open_list(void **state)
{
    strake_error error;
    (void)state;
    strake_harness_build_quickly(true);
    return strake_cl_list_open(&list, &error) == STRAKE_OK ? 0 : -1;
}

static int close_list(void **state)
{
    (void)state;
    strake_cl_list_free(&list);
    return 0;
}

/* Whether the device is taken for one without doubles. */
static bool has_none;

/* The first device; skips where there is none with bits of its own. */
static strake_cl_device *device(strake_precision precision)
{
    strake_error error;
    const char *const wanted = getenv("STRAKE_REQUIRE_OPENCL");
    const bool is_required = wanted != NULL && strcmp(wanted, "1") == 0;
    if (list.count > 0 &&
        strake_cl_selftest(list.cl, &list.device[0], precision, &error) == STRAKE_OK &&
        list.device[0].bit_exact[precision] == 1 && list.device[0].has_double) {
        static strake_cl_device without;
        without = list.device[0];
        without.has_double = false;
        return has_none ? &without : &list.device[0];
    }
    if (is_required) {
        fail_msg("no device that is held to bits: %s", list.why_none);
    }
    print_message("# skip: no OpenCL device that is held to bits: %s\n", list.why_none);
    skip();
    return NULL;
}

static void must(strake_status status, const strake_error *error)
{
    if (status != STRAKE_OK) {
        fail_msg("%s", error->text);
    }
}

static strake_sph_run *on_device_by(const strake_cl *cl, const strake_swarm *swarm,
                                    strake_precision precision, const strake_settings *settings)
{
    strake_sph_run *run = NULL;
    strake_error error;
    must(strake_sph_open_device(&swarm->sph, swarm->size, swarm->is_round, precision, cl,
                                device(precision), settings, swarm->count, swarm->all, &run,
                                &error),
         &error);
    return run;
}

static strake_sph_run *on_device(const strake_swarm *swarm, strake_precision precision,
                                 const strake_settings *settings)
{
    return on_device_by(list.cl, swarm, precision, settings);
}

static strake_sph_run *on_cpu(const strake_swarm *swarm, strake_precision precision)
{
    strake_sph_run *run = NULL;
    strake_error error;
    must(strake_sph_open(&swarm->sph, swarm->size, swarm->is_round, precision, STRAKE_SPH_LISTS, 1,
                         strake_isa_best(), swarm->count, swarm->all, &run, &error),
         &error);
    return run;
}

static void step(strake_sph_run *run, int64_t steps, double until)
{
    strake_error error;
    must(strake_sph_step(run, steps, until, &error), &error);
}

static uint64_t hash_of(strake_sph_run *run)
{
    uint64_t hash = 0;
    strake_error error;
    must(strake_sph_hash(run, &hash, &error), &error);
    return hash;
}

static void same(strake_sph_run *run, strake_sph_run *reference)
{
    assert_true(run->clock.time == reference->clock.time);
    assert_int_equal(run->clock.steps, reference->clock.steps);
    assert_int_equal(run->clock.rebuilds, reference->clock.rebuilds);
    assert_int_equal(run->clock.lost, reference->clock.lost);
    assert_int_equal(run->count, reference->count);
    assert_true(hash_of(run) == hash_of(reference));
}

static void bits_of(const strake_swarm_variant *which, strake_precision precision,
                    const strake_settings *settings)
{
    strake_swarm swarm = strake_swarm_block(which);
    strake_sph_run *reference = on_cpu(&swarm, precision);
    strake_sph_run *run = on_device(&swarm, precision, settings);
    for (int k = 0; k < STEPS; k++) {
        step(reference, 1, INFINITY);
        step(run, 1, INFINITY);
        same(run, reference);
    }
    assert_true(reference->clock.rebuilds > 1);
    assert_true(run->clock.pairs == reference->clock.pairs);
    /* Enqueued ahead, to a time that no step ends at by itself. */
    const double until = reference->clock.time + 20.5 * reference->clock.dt;
    step(reference, INT64_MAX, until);
    step(run, INT64_MAX, until);
    assert_true(run->clock.time == until);
    same(run, reference);
    strake_sph_close(&run);
    strake_sph_close(&reference);
    free(swarm.all);
}

static const strake_swarm_variant flat = {2,
                                          0,
                                          STRAKE_SPH_WENDLAND,
                                          STRAKE_SPH_ARTIFICIAL,
                                          STRAKE_SPH_PLAIN,
                                          STRAKE_PARTICLE_WALL,
                                          false,
                                          false,
                                          0};

static void flat_water_has_the_bits_of_the_processor(void **state)
{
    static const strake_swarm_variant dynamic = {2,
                                                 4,
                                                 STRAKE_SPH_CUBIC,
                                                 STRAKE_SPH_LAMINAR,
                                                 STRAKE_SPH_MOLTENI,
                                                 STRAKE_PARTICLE_DYNAMIC,
                                                 false,
                                                 true,
                                                 3};
    static const strake_settings wide = {
        .group_width = 32, .lists = STRAKE_SPH_WIDE, .vector = 2, .groups = "64x1/96x1/auto/32x1"};
    (void)state;
    bits_of(&flat, STRAKE_SINGLE, NULL);
    bits_of(&dynamic, STRAKE_DOUBLE, &wide);
}

static void deep_water_has_the_bits_of_the_processor(void **state)
{
    static const strake_swarm_variant walls = {3,
                                               -3,
                                               STRAKE_SPH_CUBIC,
                                               STRAKE_SPH_LAMINAR,
                                               STRAKE_SPH_PLAIN,
                                               STRAKE_PARTICLE_WALL,
                                               false,
                                               false,
                                               0},
                                      dynamic = {3,
                                                 0,
                                                 STRAKE_SPH_WENDLAND,
                                                 STRAKE_SPH_ARTIFICIAL,
                                                 STRAKE_SPH_FOURTAKAS,
                                                 STRAKE_PARTICLE_DYNAMIC,
                                                 true,
                                                 false,
                                                 4};
    static const strake_settings ahead = {.group_width = 64, .prefetch = 2},
                                 both = {.prefetch = 2, .lists = STRAKE_SPH_WIDE};
    (void)state;
    bits_of(&walls, STRAKE_DOUBLE, &ahead);
    bits_of(&dynamic, STRAKE_SINGLE, &both);
}

static int waits;

static cl_int CL_API_CALL read_counted(cl_command_queue queue, cl_mem buffer, cl_bool waiting,
                                       size_t offset, size_t size, void *to, cl_uint events,
                                       const cl_event *event, cl_event *out)
{
    waits += waiting == CL_TRUE ? 1 : 0;
    return list.cl->clEnqueueReadBuffer(queue, buffer, waiting, offset, size, to, events, event,
                                        out);
}

static cl_int CL_API_CALL write_counted(cl_command_queue queue, cl_mem buffer, cl_bool waiting,
                                        size_t offset, size_t size, const void *from,
                                        cl_uint events, const cl_event *event, cl_event *out)
{
    waits += waiting == CL_TRUE ? 1 : 0;
    return list.cl->clEnqueueWriteBuffer(queue, buffer, waiting, offset, size, from, events, event,
                                         out);
}

/*
 * Somebody waits for the first step at a time or later: the device finds it, and is waited for only once for each order
 * and the steps up to the next one; and now and then where that is later than it was before.
 */
static void a_lone_device_is_not_waited_for(void **state)
{
    strake_swarm swarm = strake_swarm_block(&flat);
    strake_cl counting = *list.cl;
    (void)state;
    counting.clEnqueueReadBuffer = read_counted;
    counting.clEnqueueWriteBuffer = write_counted;
    strake_sph_run *reference = on_cpu(&swarm, STRAKE_SINGLE);
    strake_sph_run *run = on_device_by(&counting, &swarm, STRAKE_SINGLE, NULL);
    step(reference, 5, INFINITY);
    step(run, 5, INFINITY);
    const int64_t steps = run->clock.steps, orders = run->clock.rebuilds;
    waits = 0;
    run->pause = reference->pause = reference->clock.time + 40.5 * reference->clock.dt;
    step(reference, 80, INFINITY);
    step(run, 80, INFINITY);
    assert_true(run->clock.time >= run->pause && run->clock.time - run->clock.dt < run->pause);
    print_message("# %d waits in %lld steps with %lld orders\n", waits,
                  (long long)(run->clock.steps - steps), (long long)(run->clock.rebuilds - orders));
    assert_true(run->clock.rebuilds > orders + 2);
    assert_true(waits <= 3 * (run->clock.rebuilds - orders));
    same(run, reference);
    strake_sph_close(&run);
    strake_sph_close(&reference);
    free(swarm.all);
}

/* Quotients and roots as the device likes: near the exact ones, and they say that they are not. */
static void fast_quotients_are_within_a_tolerance(void **state)
{
    strake_swarm swarm = strake_swarm_block(&flat);
    strake_sph_run *const reference = on_cpu(&swarm, STRAKE_SINGLE);
    strake_sph_run *run = NULL, *exact = reference;
    const strake_sph_image *image = NULL, *other = NULL;
    strake_error error;
    double farthest = 0.0;
    (void)state;
    swarm.sph.is_fast = true; /* the processor's own run, too, which divides exactly */
    run = on_device(&swarm, STRAKE_SINGLE, NULL);
    step(run, 12, INFINITY);
    step(exact, 12, INFINITY);
    must(strake_sph_view(run, &image, &error), &error);
    must(strake_sph_view(exact, &other, &error), &error);
    assert_int_equal(image->count, other->count);
    for (int64_t k = 0; k < image->count; k++) {
        const strake_sph_particle a = strake_sph_image_get(image, k),
                                  b = strake_sph_image_get(other, k);
        assert_int_equal(a.number, b.number);
        for (int axis = 0; axis < STRAKE_PARTICLE_AXES; axis++) {
            farthest = fmax(farthest, fabs(a.x[axis] - b.x[axis]));
        }
        assert_true(fabs(a.density - b.density) < 1e-4 * b.density);
    }
    print_message("# farthest %.2g spacings\n", farthest / swarm.sph.spacing);
    assert_true(farthest < 1e-4 * swarm.sph.spacing);
    strake_sph_close(&run);
    strake_sph_close(&exact);
    free(swarm.all);
}

/* Timed kernels leave a run where it is. */
static void times_of_kernels_leave_no_trace(void **state)
{
    strake_swarm swarm = strake_swarm_block(&flat);
    strake_sph_run *run = on_device(&swarm, STRAKE_SINGLE, NULL);
    strake_sph_run *reference = on_cpu(&swarm, STRAKE_SINGLE);
    strake_cl_time time[STRAKE_CL_MOST_KERNELS];
    strake_cl_description is;
    strake_error error;
    int count = 0;
    (void)state;
    step(run, 5, INFINITY);
    step(reference, 5, INFINITY);
    must(strake_sph_device_time(run, time, &count, &error), &error);
    strake_sph_device_describe(run, &is);
    assert_int_equal(count, is.count);
    assert_string_equal(time[0].name, "sph_predict");
    for (int k = 0; k < count; k++) {
        assert_true(time[k].seconds > 0.0);
    }
    same(run, reference);
    step(run, 5, INFINITY);
    step(reference, 5, INFINITY);
    same(run, reference);
    strake_sph_close(&run);
    strake_sph_close(&reference);
    free(swarm.all);
}

static void groups_that_are_none_are_refused(void **state)
{
    static const strake_settings odd = {.group_width = 48}, single = {.groups = "64x1/auto/20x1"};
    strake_swarm swarm = strake_swarm_block(&flat);
    const strake_settings *const wrong[] = {&odd, &single};
    (void)state;
    for (int k = 0; k < 2; k++) {
        strake_sph_run *run = NULL;
        strake_error error;
        assert_int_equal(strake_sph_open_device(&swarm.sph, swarm.size, swarm.is_round,
                                                STRAKE_SINGLE, list.cl, device(STRAKE_SINGLE),
                                                wrong[k], swarm.count, swarm.all, &run, &error),
                         STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, k == 0 ? "run.group_width: 48 work-items: groups of "
                                                    "particles have a multiple of 32"
                                                  : "run.groups: 20 work-items"));
        assert_null(run);
    }
    free(swarm.all);
}

/* What is said to be needed is what is taken, alone and beside others; and a bound of so many bytes is used up. */
static void needs_are_what_is_taken(void **state)
{
    static const strake_settings none = {.group_width = 0};
    strake_swarm swarm = strake_swarm_block(&flat);
    (void)state;
    for (int k = 0; k < 2; k++) {
        const strake_precision precision = k == 0 ? STRAKE_SINGLE : STRAKE_DOUBLE;
        const strake_settings *const settings = &none;
        const int64_t room = 1000 + 777 * k;
        strake_sph_run *run = NULL;
        strake_error error;
        must(strake_sph_open_device(&swarm.sph, swarm.size, swarm.is_round, precision, list.cl,
                                    device(precision), settings, room, NULL, &run, &error),
             &error);
        for (int shared = 0; shared < 2; shared++) {
            must(shared ? strake_sph_open_shared((strake_sph_device *)run, &error) : STRAKE_OK,
                 &error);
            must(shared ? strake_sph_make_out((strake_sph_device *)run, &error) : STRAKE_OK,
                 &error);
            assert_true(strake_sph_bytes(run) ==
                        strake_sph_device_needs(&swarm.sph, &run->cells, precision,
                                                device(precision), settings, shared == 1, room,
                                                0.0));
        }
        const double bytes = 1e6 * (k + 1), pairs = 20.0, near = 1.25 * pairs;
        const double fits = strake_sph_device_room(&swarm.sph, &run->cells, precision,
                                                   device(precision), settings, pairs, bytes);
        assert_true(fits > 100.0);
        for (int more = 0; more < 2; more++) {
            const int64_t count = (int64_t)fits + more;
            assert_true(
                (strake_sph_device_needs(&swarm.sph, &run->cells, precision, device(precision),
                                         settings, true, strake_sph_more_room(count),
                                         near * (double)count) <= bytes) == (more == 0));
        }
        strake_sph_close(&run);
    }
    free(swarm.all);
}

/* From the middle between two orders, on the processor, to a device and back. */
static void a_run_goes_on_elsewhere(void **state)
{
    strake_swarm swarm = strake_swarm_block(&flat);
    strake_sph_run *reference = on_cpu(&swarm, STRAKE_SINGLE);
    strake_sph_run *first = on_cpu(&swarm, STRAKE_SINGLE);
    strake_sph_run *run = on_device(&swarm, STRAKE_SINGLE, NULL);
    const strake_sph_image *image = NULL;
    strake_error error;
    (void)state;
    step(reference, 20, INFINITY);
    step(first, 7, INFINITY);
    assert_true(first->clock.since > 0);
    must(strake_sph_view(first, &image, &error), &error);
    must(strake_sph_put(run, image, &error), &error);
    step(run, 6, INFINITY);
    must(strake_sph_view(run, &image, &error), &error);
    must(strake_sph_put(first, image, &error), &error);
    step(first, 7, INFINITY);
    same(first, reference);
    strake_sph_close(&run);
    strake_sph_close(&first);
    strake_sph_close(&reference);
    free(swarm.all);
}

/* What the processor says of a run, a device says. */
static void same_message(const strake_swarm *swarm, const char *part)
{
    strake_error error, other;
    strake_sph_run *run = on_device(swarm, STRAKE_SINGLE, NULL);
    strake_sph_run *reference = on_cpu(swarm, STRAKE_SINGLE);
    assert_int_equal(strake_sph_step(reference, 5, INFINITY, &other), STRAKE_ERR_NUMERIC);
    assert_int_equal(strake_sph_step(run, 5, INFINITY, &error), STRAKE_ERR_NUMERIC);
    assert_non_null(strstr(error.text, part));
    assert_string_equal(error.text, other.text);
    strake_sph_close(&run);
    strake_sph_close(&reference);
}

/* One leaves, one stays; then one is no number, and one too fast: whom it concerns is said. */
static void what_goes_wrong_is_told(void **state)
{
    strake_sph_particle two[] = {
        {.number = 4, .x = {1.9, 0.0, 1.0}, .v = {2.0}, .density = 1.0},
        {.number = 9, .x = {0.5, 0.0, 1.0}, .density = 1.0},
        {.number = 2, .x = {0.5, 0.0, 0.1}, .density = 1.0, .kind = STRAKE_PARTICLE_WALL}};
    strake_swarm swarm = {.sph = strake_swarm_fluid(2, 0.1, 1.0, 10.0),
                          .size = {2.0, 1.0, 2.0},
                          .count = 3,
                          .all = two};
    const strake_sph_image *image = NULL;
    strake_error error;
    strake_sph_run *run = NULL;
    (void)state;
    swarm.sph.planes = 1; /* the kernels of flat water */
    run = on_device(&swarm, STRAKE_SINGLE, NULL);
    step(run, INT64_MAX, 0.2);
    assert_int_equal(run->count, 2);
    assert_int_equal(run->clock.lost, 1);
    must(strake_sph_view(run, &image, &error), &error);
    assert_int_equal(strake_sph_image_get(image, 1).number, 9);
    /* It is the one that the processor misses, at the same place to the last bit. */
    strake_sph_run *other = on_cpu(&swarm, STRAKE_SINGLE);
    step(other, INT64_MAX, 0.2);
    assert_true(run->leavers == 1 && other->leavers == 1);
    assert_true(run->leaver->number == other->leaver->number && run->leaver->number == 4);
    assert_true(run->leaver->step == other->leaver->step);
    assert_memory_equal(run->leaver->x, other->leaver->x, sizeof run->leaver->x);
    strake_sph_close(&other);
    strake_sph_close(&run);

    two[0].x[0] = 0.55;
    two[1].v[0] = (double)NAN;
    same_message(&swarm, "particle 4 has NaN");
    two[1].v[0] = 40.0;
    same_message(&swarm, "so fast");
}

/* The host keeps the clock, and walls that move are computed from integers: all that is promised above holds there, too. */
static void a_device_without_doubles_has_the_same_bits(void **state)
{
    static const strake_swarm_variant moves = {3,
                                               0,
                                               STRAKE_SPH_WENDLAND,
                                               STRAKE_SPH_ARTIFICIAL,
                                               STRAKE_SPH_FOURTAKAS,
                                               STRAKE_PARTICLE_DYNAMIC,
                                               true,
                                               false,
                                               4};
    has_none = true;
    bits_of(&flat, STRAKE_SINGLE, NULL);
    bits_of(&moves, STRAKE_SINGLE, NULL);
    a_run_goes_on_elsewhere(state);
    what_goes_wrong_is_told(state);
    has_none = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_water_has_the_bits_of_the_processor),
        cmocka_unit_test(deep_water_has_the_bits_of_the_processor),
        cmocka_unit_test(a_lone_device_is_not_waited_for),
        cmocka_unit_test(fast_quotients_are_within_a_tolerance),
        cmocka_unit_test(times_of_kernels_leave_no_trace),
        cmocka_unit_test(groups_that_are_none_are_refused),
        cmocka_unit_test(needs_are_what_is_taken),
        cmocka_unit_test(a_run_goes_on_elsewhere),
        cmocka_unit_test(what_goes_wrong_is_told),
        cmocka_unit_test(a_device_without_doubles_has_the_same_bits),
    };
    return cmocka_run_group_tests_name("particles on a device", tests, open_list, close_list);
}
