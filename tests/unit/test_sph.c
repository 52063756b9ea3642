/* Weakly compressible particles: kernels, the same bits by candidates and by lists, and flows with known solutions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/pipeline.h"
#include "tests/support/swarm.h"

enum { AXES = STRAKE_PARTICLE_AXES, STEPS = 24 };

static const double gravity = 9.81;

static strake_sph_particle *particles(void)
{
    strake_sph_particle *all = calloc(STRAKE_SWARM_MOST, sizeof *all);
    assert_non_null(all);
    return all;
}

static strake_sph_run *start(const strake_sph *sph, const double size[AXES], const bool *is_round,
                             strake_precision precision, strake_sph_way way, int threads,
                             strake_isa isa, int64_t count, const strake_sph_particle *all)
{
    static const bool none[AXES] = {false, false, false};
    strake_sph_run *run = NULL;
    strake_error error;
    if (strake_sph_open(sph, size, is_round != NULL ? is_round : none, precision, way, threads, isa,
                        count, all, &run, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return run;
}

static void step(strake_sph_run *run, int64_t steps, double until)
{
    strake_error error;
    if (strake_sph_step(run, steps, until, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

static uint64_t hash_of(strake_sph_run *run)
{
    uint64_t hash = 0;
    assert_int_equal(strake_sph_hash(run, &hash, NULL), STRAKE_OK);
    return hash;
}

static const strake_sph_image *view(strake_sph_run *run)
{
    const strake_sph_image *image = NULL;
    assert_int_equal(strake_sph_view(run, &image, NULL), STRAKE_OK);
    return image;
}

static void values_of_kernels(void **state)
{
    static const double wendland[] = {0.4177817256, 0.2643774982, 0.0783340736, 0.0065278395, 0.0};
    strake_sph sph = strake_swarm_fluid(3, 1.0 / 1.3, 1.0, 1.0);
    (void)state;
    for (int k = 0; k < 5; k++) {
        assert_true(fabs(strake_sph_weight(&sph, 0.5 * k) - wendland[k]) < 1e-10);
    }
    sph.kernel = STRAKE_SPH_CUBIC;
    assert_true(fabs(strake_sph_weight(&sph, 0.0) - 0.3183098862) < 1e-10);
    assert_true(strake_sph_weight(&sph, 2.0) == 0.0 && strake_sph_weight(&sph, 3.0) == 0.0);
    sph.dims = 2;
    assert_true(fabs(strake_sph_weight(&sph, 0.0) - 0.4547284088) < 1e-10);
    sph.kernel = STRAKE_SPH_WENDLAND;
    assert_true(fabs(strake_sph_weight(&sph, 0.0) - 0.5570423008) < 1e-10);
}

/* Sums over a perfect lattice, and the neighbours in it. */
static void sums_over_lattices(void **state)
{
    static const struct {
        double ratio;
        int neighbours[2]; /* in three and two dimensions */
        double wendland[2], cubic[2];
    } row[] = {{1.2, {56, 20}, {1.017457, 1.017952}, {1.000810, 0.999757}},
               {1.3, {80, 20}, {1.009501, 1.010473}, {0.997262, 0.999947}},
               {1.5, {92, 24}, {1.003141, 1.005142}, {1.001795, 1.003440}},
               {2.0, {250, 44}, {1.000549, 1.001206}, {1.000079, 0.999958}}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        for (int flat = 0; flat < 2; flat++) {
            strake_sph sph = strake_swarm_fluid(3 - flat, 1.0, 1.0, 1.0);
            double sum[2] = {0.0, 0.0};
            int neighbours = -1;
            sph.smoothing = row[k].ratio;
            for (int p = 0; p < 11 * 11 * (flat ? 1 : 11); p++) {
                const double x = p % 11 - 5, y = p / 11 % 11 - 5, z = flat ? 0 : p / 121 - 5;
                const double distance = sqrt(x * x + y * y + z * z);
                sph.kernel = STRAKE_SPH_WENDLAND;
                const double weight = strake_sph_weight(&sph, distance);
                neighbours += distance < 2.0 * sph.smoothing && weight > 0.0 ? 1 : 0;
                sum[0] += weight;
                sph.kernel = STRAKE_SPH_CUBIC;
                sum[1] += strake_sph_weight(&sph, distance);
            }
            assert_int_equal(neighbours, row[k].neighbours[flat]);
            assert_true(fabs(sum[0] - row[k].wendland[flat]) < 6e-7);
            assert_true(fabs(sum[1] - row[k].cubic[flat]) < 6e-7);
        }
    }
}

/* Particles that repel are at rest, whoever stood at their places in the order before. */
static void walls_stay(const strake_sph_image *image)
{
    const bool move = image->sph->motions != NULL;
    for (int64_t k = 0; k < image->count; k++) {
        const strake_sph_particle one = strake_sph_image_get(image, k);
        if (one.kind == STRAKE_PARTICLE_WALL && !move) {
            assert_true(one.v[0] == 0.0 && one.v[1] == 0.0 && one.v[2] == 0.0);
        }
    }
}

static void bits_of(const strake_swarm_variant *which, strake_precision precision)
{
    strake_swarm swarm = strake_swarm_block(which);
    const strake_sph sph = swarm.sph;
    const double *const size = swarm.size;
    const bool *const is_round = swarm.is_round;
    strake_sph_particle *const all = swarm.all;
    const int64_t count = swarm.count;
    strake_sph_run *reference = start(&sph, size, is_round, precision, STRAKE_SPH_REFERENCE, 1,
                                      STRAKE_ISA_SCALAR, count, all);
    strake_sph_run *later =
        start(&sph, size, is_round, precision, STRAKE_SPH_LISTS, 1, strake_isa_best(), count, all);
    const uint64_t before = hash_of(reference);
    step(reference, STEPS / 2 + 1, INFINITY);
    assert_int_equal(strake_sph_put(later, view(reference), NULL), STRAKE_OK);
    step(reference, STEPS - STEPS / 2 - 1, INFINITY);
    step(later, STEPS - STEPS / 2 - 1, INFINITY);
    assert_true(hash_of(later) == hash_of(reference));
    assert_int_equal(later->clock.rebuilds, reference->clock.rebuilds);
    strake_sph_close(&later);
    walls_stay(view(reference));
    assert_int_equal(reference->count + reference->clock.lost, count);
    assert_true(hash_of(reference) != before);
    assert_true(reference->clock.rebuilds > 1);
    for (int isa = STRAKE_ISA_BASE; isa < STRAKE_ISAS; isa++) {
        const int most = isa == (int)strake_isa_best() ? 3 : 1;
        for (int threads = 1; threads <= most && strake_isa_is_there((strake_isa)isa);
             threads += 2) {
            strake_sph_run *run = start(&sph, size, is_round, precision, STRAKE_SPH_LISTS, threads,
                                        (strake_isa)isa, count, all);
            step(run, STEPS, INFINITY);
            assert_true(run->clock.time == reference->clock.time);
            assert_true(run->clock.pairs == reference->clock.pairs);
            assert_true(hash_of(run) == hash_of(reference));
            strake_sph_close(&run);
        }
    }
    strake_sph_close(&reference);
    free(all);
}

static void candidates_and_lists_give_the_same_bits(void **state)
{
    static const strake_swarm_variant all[] = {
        {2, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_WALL,
         false, false, 0},
        {2, 4, STRAKE_SPH_CUBIC, STRAKE_SPH_LAMINAR, STRAKE_SPH_MOLTENI, STRAKE_PARTICLE_DYNAMIC,
         false, false, 0},
        {3, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_LAMINAR, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_WALL,
         false, false, 0},
        {3, -3, STRAKE_SPH_CUBIC, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_WALL,
         false, false, 0},
        {3, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_FOURTAKAS,
         STRAKE_PARTICLE_DYNAMIC, false, false, 0},
        {2, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_LAMINAR, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_DYNAMIC,
         true, true, 5},
        {3, 0, STRAKE_SPH_CUBIC, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_DYNAMIC,
         true, true, 7},
        {3, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_LAMINAR, STRAKE_SPH_FOURTAKAS, STRAKE_PARTICLE_WALL,
         true, false, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bits_of(&all[k], STRAKE_DOUBLE);
        bits_of(&all[k], STRAKE_SINGLE);
    }
}

/* F(r) of the two kernels, as tables of them have it: (1/r) dW/dr. */
static double slope_of(const strake_sph *sph, double r)
{
    const double h = sph->smoothing, q = r / h, pi = acos(-1.0);
    const bool flat = sph->dims == 2;
    if (q >= 2.0) {
        return 0.0;
    }
    if (sph->kernel == STRAKE_SPH_WENDLAND) {
        const double alpha = flat ? 7.0 / (4.0 * pi * h * h) : 21.0 / (16.0 * pi * h * h * h);
        return -5.0 * alpha / (h * h) * pow(1.0 - 0.5 * q, 3.0);
    }
    const double alpha = (flat ? 10.0 / (7.0 * pi * h * h) : 1.0 / (pi * h * h * h)) / (h * h);
    return q < 1.0 ? alpha * (2.25 * q - 3.0) : -0.75 * alpha * (2.0 - q) * (2.0 - q) / q;
}

/* Rates of change of one particle's velocity and density, of all pairs that there are: of nothing that a step is made of. */
static void rates_of(const strake_swarm *swarm, int64_t i, double acceleration[AXES],
                     double *change)
{
    const strake_sph *const sph = &swarm->sph;
    const strake_sph_particle *const one = &swarm->all[i];
    const double stiffness = sph->density * sph->sound * sph->sound / 7.0;
    const double mass = sph->density * pow(sph->spacing, sph->dims);
    const double eta = 0.01 * sph->smoothing * sph->smoothing;
    *change = 0.0;
    memcpy(acceleration, sph->gravity, AXES * sizeof *acceleration);
    for (int64_t j = 0; j < swarm->count; j++) {
        const strake_sph_particle *const two = &swarm->all[j];
        double d[AXES], square = 0.0, approach = 0.0;
        for (int a = 0; a < AXES; a++) {
            d[a] = one->x[a] - two->x[a];
            d[a] -= swarm->is_round[a] ? swarm->size[a] * round(d[a] / swarm->size[a]) : 0.0;
            square += d[a] * d[a];
            approach += d[a] * (one->v[a] - two->v[a]);
        }
        if (j == i || square >= 4.0 * sph->smoothing * sph->smoothing) {
            continue;
        }
        const double ratio[2] = {one->density / sph->density, two->density / sph->density};
        const double densities = one->density + two->density;
        double push = stiffness * (pow(ratio[0], 7.0) - 1.0) / (one->density * one->density) +
                      stiffness * (pow(ratio[1], 7.0) - 1.0) / (two->density * two->density);
        if (sph->viscosity == STRAKE_SPH_LAMINAR) {
            push -= 4.0 * (sph->dims + 2) * sph->nu * approach / ((square + eta) * densities);
        } else if (approach < 0.0) {
            const double sound = 0.5 * sph->sound * (pow(ratio[0], 3.0) + pow(ratio[1], 3.0));
            push -=
                sph->alpha * sound * sph->smoothing * approach / ((square + eta) * 0.5 * densities);
        }
        const double slope = mass * slope_of(sph, sqrt(square));
        *change += slope * approach;
        for (int a = 0; a < AXES; a++) {
            acceleration[a] -= slope * push * d[a];
        }
    }
}

/* A step of no length tells the rates with which it began: those that all pairs make. */
static void all_pairs_make_the_rates(void **state)
{
    static const double instant = 1e-9, bound = 2e-6;
    (void)state;
    for (int k = 0; k < 4; k++) {
        const strake_swarm_variant which = {2 + k / 2,
                                            0,
                                            k % 2 == 0 ? STRAKE_SPH_WENDLAND : STRAKE_SPH_CUBIC,
                                            k == 0 || k == 3 ? STRAKE_SPH_ARTIFICIAL
                                                             : STRAKE_SPH_LAMINAR,
                                            STRAKE_SPH_PLAIN,
                                            STRAKE_PARTICLE_DYNAMIC,
                                            false,
                                            false,
                                            0};
        strake_swarm swarm = strake_swarm_block(&which);
        swarm.sph.planes = 0;
        strake_sph_run *run = start(&swarm.sph, swarm.size, swarm.is_round, STRAKE_DOUBLE,
                                    STRAKE_SPH_LISTS, 1, strake_isa_best(), swarm.count, swarm.all);
        step(run, 1, instant);
        const strake_sph_image *const image = view(run);
        double most[2] = {0.0, 0.0}, off[2] = {0.0, 0.0};
        assert_int_equal(image->count, swarm.count);
        for (int64_t i = 0; i < swarm.count; i++) {
            double acceleration[AXES], change = 0.0;
            int64_t at = 0;
            while (image->number[at] != swarm.all[i].number) {
                at++;
            }
            const strake_sph_particle then = strake_sph_image_get(image, at);
            if (then.kind != STRAKE_PARTICLE_FLUID) {
                continue;
            }
            rates_of(&swarm, i, acceleration, &change);
            most[1] = fmax(most[1], fabs(change));
            off[1] = fmax(off[1], fabs((then.density - swarm.all[i].density) / instant - change));
            for (int a = 0; a < AXES; a++) {
                const double found = (then.v[a] - swarm.all[i].v[a]) / instant;
                most[0] = fmax(most[0], fabs(acceleration[a]));
                off[0] = fmax(off[0], fabs(found - acceleration[a]));
            }
        }
        if (!(most[0] > 0.0 && most[1] > 0.0 && off[0] < bound * most[0] &&
              off[1] < bound * most[1])) {
            fail_msg("case %d: accelerations of %g are off by %g, changes of density of %g by %g",
                     k, most[0], off[0], most[1], off[1]);
        }
        strake_sph_close(&run);
        free(swarm.all);
    }
}

/* A drop that is drawn out: a' = -a A, A' = A^2 (a^4 - 1)/(a^4 + 1), A0 = 100/s; its half axis b is 1.43922 at A0 t = 0.38,
 * 2.02676 at 0.82. */
static double drop(strake_precision precision, double until, double *energy, double *drift)
{
    const double spacing = 0.025, size[AXES] = {8.0, 1.0, 8.0};
    const strake_sph sph = strake_swarm_fluid(2, spacing, 1.0, 1400.0);
    strake_sph_particle *all = particles();
    int64_t count = 0;
    double highest = 0.0, before = 0.0, after = 0.0, sum[2] = {0.0, 0.0}, speeds = 0.0;
    for (int i = -40; i <= 40; i++) {
        for (int j = -40; j <= 40; j++) {
            const double x = i * spacing, y = j * spacing;
            const double pressure = 0.5e4 * (1.0 - x * x - y * y);
            if (pressure < 0.0) {
                continue;
            }
            all[count] = (strake_sph_particle){
                .number = count,
                .x = {4.0 + x, 0.0, 4.0 + y},
                .v = {-100.0 * x, 0.0, 100.0 * y},
                .density = pow(1.0 + pressure / strake_sph_stiffness(&sph), 1.0 / 7.0)};
            count++;
            before += 1e4 * (x * x + y * y);
        }
    }
    strake_sph_run *run =
        start(&sph, size, NULL, precision, STRAKE_SPH_LISTS, 1, strake_isa_best(), count, all);
    step(run, INT64_MAX, until);
    for (int64_t p = 0; p < run->count; p++) {
        const strake_sph_particle one = strake_sph_image_get(view(run), p);
        highest = fmax(highest, one.x[2] - 4.0);
        after += one.v[0] * one.v[0] + one.v[2] * one.v[2];
        sum[0] += one.v[0];
        sum[1] += one.v[2];
        speeds += hypot(one.v[0], one.v[2]);
    }
    assert_int_equal(run->count, count);
    strake_sph_close(&run);
    free(all);
    *energy = after / before;
    *drift = hypot(sum[0], sum[1]) / speeds;
    return highest;
}

static void a_drop_is_drawn_out(void **state)
{
    double energy = 0.0, drift = 0.0, rough = 0.0, fine = 0.0, high = 0.0;
    (void)state;
    high = drop(STRAKE_DOUBLE, 0.0082, &energy, &drift);
    print_message("drop: %.4f, energy %.4f, momentum %.1e\n", high / 2.02676, energy, drift);
    assert_true(fabs(high / 2.02676 - 1.0) <= 0.015);
    assert_true(energy >= 0.955 && energy <= 1.0);
    assert_true(drift <= 1e-13);
    fine = drop(STRAKE_DOUBLE, 0.0038, &energy, &drift);
    rough = drop(STRAKE_SINGLE, 0.0038, &energy, &drift);
    print_message("drop: %.4f, momentum %.1e in single precision\n", rough / 1.43922, drift);
    assert_true(fabs(fine / 1.43922 - 1.0) <= 0.015);
    assert_true(fabs(rough / fine - 1.0) <= 0.0005);
    assert_true(drift <= 1e-7);
}

/* Water in a tank 1 m wide, 0.5 m deep, in dynamic walls, stays at rest. */
static void water_stays_at_rest(void **state)
{
    const double spacing = 0.02, height = 0.5, margin = 4.0 * spacing;
    const double size[AXES] = {1.0 + 2.0 * margin, 1.0, 0.8 + 2.0 * margin};
    strake_sph sph = strake_swarm_fluid(2, spacing, 1000.0, 22.15);
    strake_sph_particle *all = particles();
    int64_t count = 0, moving = 0;
    double error = 0.0, fastest = 0.0, middle = 0.0;
    (void)state;
    sph.gravity[2] = -gravity;
    sph.diffusion = STRAKE_SPH_FOURTAKAS;
    for (int i = -3; i < 53; i++) {
        for (int j = -3; j < 40; j++) {
            const double z = (j + 0.5) * spacing;
            const bool is_wall = i < 0 || i >= 50 || j < 0;
            const double weight = sph.density * gravity * fmax(height - z, 0.0);
            if (is_wall || z < height) {
                all[count] = (strake_sph_particle){
                    .number = count,
                    .kind = is_wall ? STRAKE_PARTICLE_DYNAMIC : STRAKE_PARTICLE_FLUID,
                    .x = {(i + 0.5) * spacing + margin, 0.0, z + margin},
                    .density =
                        sph.density * pow(1.0 + weight / strake_sph_stiffness(&sph), 1.0 / 7.0)};
                count++;
            }
        }
    }
    strake_sph_run *run =
        start(&sph, size, NULL, STRAKE_DOUBLE, STRAKE_SPH_LISTS, 1, strake_isa_best(), count, all);
    step(run, INT64_MAX, 0.7);
    for (int64_t p = 0; p < run->count; p++) {
        const strake_sph_particle one = strake_sph_image_get(view(run), p);
        const double z = one.x[2] - margin;
        const double off = one.pressure - sph.density * gravity * (height - z);
        if (one.kind == STRAKE_PARTICLE_FLUID) {
            moving++;
            error += off * off;
            middle += z;
            fastest = fmax(fastest, hypot(one.v[0], one.v[2]));
        }
    }
    error = sqrt(error / (double)moving) / (sph.density * gravity * height);
    fastest /= sqrt(gravity * height);
    middle /= (double)moving;
    print_message("tank: pressure off by %.4f, speed %.4f, middle %.4f m\n", error, fastest,
                  middle);
    assert_int_equal(run->clock.lost, 0);
    assert_true(error <= 0.045 && error > 0.0);
    assert_true(fastest <= 0.04);
    assert_true(fabs(middle - 0.25) <= 0.01 * height);
    strake_sph_close(&run);
    free(all);
}

static void what_leaves_the_box_is_counted(void **state)
{
    const strake_sph sph = strake_swarm_fluid(2, 0.1, 1.0, 10.0);
    const double size[AXES] = {2.0, 1.0, 2.0};
    const strake_sph_particle two[] = {
        {.number = 4, .x = {1.9, 0.0, 1.0}, .v = {2.0, 0.0, 0.0}, .density = 1.0},
        {.number = 9, .x = {0.5, 0.0, 1.0}, .density = 1.0}};
    strake_sph_run *run =
        start(&sph, size, NULL, STRAKE_DOUBLE, STRAKE_SPH_REFERENCE, 1, STRAKE_ISA_SCALAR, 2, two);
    (void)state;
    step(run, INT64_MAX, 0.2);
    assert_int_equal(run->count, 1);
    assert_int_equal(run->clock.lost, 1);
    assert_int_equal(run->leavers, 1);
    const strake_sph_leaver *const one = run->leaver;
    assert_true(one->number == 4 && one->kind == STRAKE_PARTICLE_FLUID && one->step > 0);
    assert_true(one->x[0] > 2.0 && one->x[0] < 2.1 &&
                fabs(one->x[0] - (1.9 + 2.0 * one->time)) < 1e-12);
    assert_int_equal(strake_sph_image_get(view(run), 0).number, 9);
    strake_sph_close(&run);
}

static void a_particle_that_is_no_number_is_named(void **state)
{
    strake_sph sph = strake_swarm_fluid(2, 0.1, 1.0, 10.0);
    const double size[AXES] = {2.0, 1.0, 2.0};
    const strake_sph_particle two[] = {
        {.number = 4, .x = {1.0, 0.0, 1.0}, .density = 1.0},
        {.number = 9, .x = {1.05, 0.0, 1.0}, .v = {NAN, 0.0, 0.0}, .density = 1.0}};
    strake_error error;
    strake_sph_run *run =
        start(&sph, size, NULL, STRAKE_DOUBLE, STRAKE_SPH_LISTS, 1, strake_isa_best(), 2, two);
    (void)state;
    assert_int_equal(strake_sph_step(run, 1, INFINITY, &error), STRAKE_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "particle 4 has NaN"));
    strake_sph_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_kernels),
        cmocka_unit_test(sums_over_lattices),
        cmocka_unit_test(candidates_and_lists_give_the_same_bits),
        cmocka_unit_test(all_pairs_make_the_rates),
        cmocka_unit_test(a_drop_is_drawn_out),
        cmocka_unit_test(water_stays_at_rest),
        cmocka_unit_test(what_leaves_the_box_is_counted),
        cmocka_unit_test(a_particle_that_is_no_number_is_named),
    };
    return cmocka_run_group_tests_name("sph", tests, NULL, NULL);
}
