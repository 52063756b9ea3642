/*
 * Particles against flows that are known: a drop that is drawn out, water at rest, standing waves, dams that break, waves of a
 * piston; and energies. Cases are those of data/cases. With STRAKE_LONG=1 as the cases have them and finer (make
 * check-physics-long), otherwise coarse; what is measured is printed with its band.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/harness.h"
#include "tests/support/water.h"

static const double pi = 3.14159265358979323846;

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- a standing wave ------------------------------------------------------------------------------- */

/* Of the wave of data/cases/standing-wave.yaml. */
typedef struct wave {
    double period, kept; /* measured over that of theory */
} wave;

/*
 * The rate at which a wave of viscous water fades and its period, by the exact relation (Lamb 1932, section 349) (s + 2 nu k^2)^2 +
 * w^2 = 4 nu^2 k^4 sqrt(1 + s/(nu k^2)) to the second order of nu k^2/w = q: s = w (i (1 - sqrt(2) q^1.5) - 2 q + sqrt(2) q^1.5).
 * To the first order energies fade with 4 nu k^2.
 */
static void theory(double viscosity, double *rate, double *period)
{
    const double k = pi, w = sqrt(k * tanh(k)), q = viscosity * k * k / w;
    const double second = sqrt(2.0) * pow(q, 1.5);
    *rate = 2.0 * w * (2.0 * q - second);
    *period = 2.0 * pi / (w * (1.0 - second));
}

/* Greatest kinetic energies, by the parabola through three samples. */
static int find_crests(water *w, double until, double every, double *at, double *height, int most)
{
    double e[3] = {0.0, 0.0, w->kinetic};
    int found = 0, n = 0;
    for (double t = every; t <= until && found < most; t += every) {
        water_run(w, t);
        e[0] = e[1];
        e[1] = e[2];
        e[2] = w->kinetic;
        n++;
        if (n > 1 && t > 1.0 && e[1] > e[0] && e[1] >= e[2] && e[1] > e[2] * 0.5) {
            const double off = 0.5 * (e[0] - e[2]) / (e[0] - 2.0 * e[1] + e[2]);
            at[found] = t - every + off * every;
            height[found++] = e[1] - 0.25 * (e[0] - e[2]) * off;
        }
    }
    return found;
}

static void a_standing_wave_fades(void **state)
{
    const bool is_long = water_is_long();
    const double viscosity = 0.004;
    double rate = 0.0, period = 0.0, at[4], height[4];
    const double crest = 0.000625 * 1000.0 * 2.0; /* eps^2 g H^2 lambda/32 rho, twice */
    water w;
    (void)state;
    theory(viscosity, &rate, &period);
    water_open(&w, "data/cases/standing-wave.yaml",
               is_long ? SETS("time.end=8") : SETS("time.end=8", "scene.spacing=0.05"));
    water_judge("wave: kinetic energy at the start, of theory", w.kinetic / crest, 0.98, 1.02);
    const int wanted = is_long ? 4 : 1;
    assert_int_equal(find_crests(&w, is_long ? 7.6 : 2.2, is_long ? 0.05 : 0.1, at, height, wanted),
                     wanted);
    water_judge("wave: first half period, of theory", at[0] / (0.5 * period), 0.96, 1.02);
    water_judge("wave: energy then, of theory", height[0] / crest / exp(-rate * at[0]), 0.95, 1.05);
    if (is_long) {
        const double measured = 2.0 * (at[3] - at[0]) / 3.0;
        const double decay = log(height[0] / height[3]) / (at[3] - at[0]);
        water_judge("wave: period, of 3.55153 s", measured / 3.55153, 0.98, 1.02);
        water_judge("wave: energy after two periods, of 0.3257",
                    height[3] / crest * exp(-decay * (7.10306 - at[3])) / 0.3257, 0.85, 1.15);
        water_judge("wave: period, of viscous theory", measured / period, 0.99, 1.01);
        water_judge("wave: rate of decay, of viscous theory", decay / rate, 0.95, 1.05);
    }
    assert_true(w.lost == 0.0);
    water_close(&w);
    water_judged();
}

/* --- a drop that is drawn out ------------------------------------------------------------------------ */

/* What a drop keeps, and how long it gets. */
typedef struct drop {
    double highest, energy, regain; /* regain: most that kinetic energy grew by, of the first */
    double drift, turn;             /* of momentum and angular momentum, over sums of magnitudes */
} drop;

/* Momenta per mass: along x and z and about the origin, with the sums of their magnitudes. */
static void add_momenta(const water *w, double sum[3], double most[2])
{
    sum[0] = sum[1] = sum[2] = most[0] = most[1] = 0.0;
    for (int64_t k = 0; k < w->count; k++) {
        const double *const x = w->now[k].x, *const v = w->now[k].v;
        sum[0] += v[0];
        sum[1] += v[2];
        sum[2] += x[2] * v[0] - x[0] * v[2];
        most[0] += hypot(v[0], v[2]);
        most[1] += hypot(x[0], x[2]) * hypot(v[0], v[2]);
    }
}

/* @param[in] spin  turned at this rate beside [1/s] */
static drop draw_out(const char *spacing, const char *precision, double until, double spin)
{
    drop out = {.highest = 0.0};
    water w;
    char text[2][64];
    double before[3], after[3], most[2], least = INFINITY;
    (void)snprintf(text[0], sizeof text[0], "scene.spacing=%s", spacing);
    (void)snprintf(text[1], sizeof text[1], "precision=%s", precision);
    water_open(&w, "data/cases/drop.yaml", SETS(text[0], text[1]));
    water_spin(&w, spin);
    const double first = w.kinetic;
    add_momenta(&w, before, most);
    for (int k = 0; k <= 10; k++) {
        water_run(&w, until * k / 10.0);
        out.regain = fmax(out.regain, (w.kinetic - least) / first);
        least = fmin(least, w.kinetic);
    }
    add_momenta(&w, after, most);
    out.drift = hypot(after[0] - before[0], after[1] - before[1]) / most[0];
    out.turn = fabs(after[2] - before[2]) / most[1];
    out.energy = w.kinetic / first;
    for (int64_t k = 0; k < w.count; k++) {
        out.highest = fmax(out.highest, w.now[k].x[2]);
    }
    assert_true(w.lost == 0.0);
    water_close(&w);
    return out;
}

static void a_drop_is_drawn_out(void **state)
{
    static const char *const spacing[] = {"0.025", "0.0125"};
    (void)state;
    const drop turned = draw_out(water_is_long() ? "0.025" : "0.1", "double", 0.002, 30.0);
    water_judge("drop: drift of angular momentum", turned.turn, 0.0, 1e-12);
    water_judge("drop: drift of momentum", turned.drift, 0.0, 1e-13);
    for (int k = 0; k < 2 && water_is_long(); k++) {
        const drop exact = draw_out(spacing[k], "double", 0.0082, 0.0);
        print_message("drop of particles %s m apart\n", spacing[k]);
        water_judge("drop: half axis, of 2.02676 m", exact.highest / 2.02676, k == 0 ? 0.985 : 0.99,
                    k == 0 ? 1.015 : 1.01);
        water_judge("drop: kinetic energy left", exact.energy, 0.955, 1.0);
        water_judge("drop: kinetic energy regained", exact.regain, 0.0, 0.01);
        water_judge("drop: drift of momentum", exact.drift, 0.0, 1e-13);
        if (k == 0) {
            const drop rough = draw_out(spacing[k], "single", 0.0082, 0.0);
            water_judge("drop: drift of momentum in single precision", rough.drift, 0.0, 1e-7);
            water_judge("drop: half axis in single precision, of double",
                        rough.highest / exact.highest, 0.9995, 1.0005);
        }
    }
    water_judged();
}

/* --- water at rest ----------------------------------------------------------------------------------- */

static void stay(const char *diffusion, double until, double most_off)
{
    const double depth = 0.5, g = 9.81, speed = sqrt(g * depth);
    double off = 0.0, fastest = 0.0, first = 0.0, middle = 0.0;
    char text[64], what[80];
    water w;
    (void)snprintf(text, sizeof text, "scheme.diffusion=%s", diffusion);
    water_open(&w, "data/cases/still-water.yaml", SETS(text));
    const double mass = strake_sph_mass(&w.scene.sph) * (double)w.scene.kinds[0];
    first = w.potential / (mass * g);
    for (int k = 1; k <= 20; k++) {
        double squares = 0.0;
        water_run(&w, until * k / 20.0);
        for (int64_t p = 0; p < w.count; p++) {
            const strake_sph_particle *const one = &w.now[p];
            const double rest = 1000.0 * g * (depth - one->x[2]);
            if (one->kind == STRAKE_PARTICLE_FLUID) {
                squares += (one->pressure - rest) * (one->pressure - rest);
                fastest = fmax(fastest, hypot(one->v[0], one->v[2]));
            }
        }
        off = fmax(off, sqrt(squares / (double)w.scene.kinds[0]) / (1000.0 * g * depth));
        middle = fmax(middle, fabs(w.potential / (mass * g) - first));
    }
    (void)snprintf(what, sizeof what, "still water, diffusion %s: pressure off, of rho g H",
                   diffusion);
    water_judge(what, off, 0.0, most_off);
    (void)snprintf(what, sizeof what, "still water, diffusion %s: speed, of sqrt(g H)", diffusion);
    water_judge(what, fastest / speed, 0.0, 0.04);
    (void)snprintf(what, sizeof what, "still water, diffusion %s: middle shifts, of H", diffusion);
    water_judge(what, middle / depth, 0.0, 0.01);
    (void)snprintf(what, sizeof what, "still water, diffusion %s: particles lost", diffusion);
    water_judge(what, w.lost, 0.0, 0.0);
    water_close(&w);
}

static void water_stays_at_rest(void **state)
{
    (void)state;
    stay("none", 2.0, 0.07);
    stay("fourtakas", 2.0, 0.045);
    water_judged();
}

/* --- waves of a piston ------------------------------------------------------------------------------- */

/* Waves of data/cases/wave-tank.yaml at its gauge: H/S = 2 (cosh 2kh - 1)/(sinh 2kh + 2kh), k from w^2 = g k tanh kh. */
static void a_piston_makes_waves(void **state)
{
    enum { SAMPLES = 25 };
    const double w0 = 2.0 * pi, depth = 0.25, stroke = 0.03;
    double k = w0 * w0 / 9.81, sum[2] = {0.0, 0.0}, mean = 0.0, height[SAMPLES];
    water w;
    (void)state;
    for (int n = 0; n < 200; n++) {
        k = 0.5 * (k + w0 * w0 / (9.81 * tanh(k * depth)));
    }
    const double twice = 2.0 * k * depth;
    const double wanted = stroke * 2.0 * (cosh(twice) - 1.0) / (sinh(twice) + twice);
    water_open(&w, "data/cases/wave-tank.yaml", SETS("time.end=5"));
    for (int n = 0; n < SAMPLES; n++) {
        water_run(&w, 3.5 + (double)n / SAMPLES);
        water_probe(&w, 1, &height[n]);
        mean += height[n] / SAMPLES;
        sum[0] += height[n] * cos(2.0 * pi * n / SAMPLES) * 2.0 / SAMPLES;
        sum[1] += height[n] * sin(2.0 * pi * n / SAMPLES) * 2.0 / SAMPLES;
    }
    water_judge("piston: theory's height of its waves [m]", wanted, 0.0345, 0.0355);
    water_judge("piston: height of waves, of theory", 2.0 * hypot(sum[0], sum[1]) / wanted, 0.9,
                1.05);
    water_judge("piston: mean level, of the depth", mean / depth, 0.99, 1.01);
    assert_true(w.lost == 0.0);
    water_close(&w);
    water_judged();
}

/* --- dams that break ------------------------------------------------------------------------------- */

/* Where the fluid below a height has got to: its outermost particle, and half a spacing. */
static double front_of(const water *w, double below)
{
    double out = 0.0;
    for (int64_t k = 0; k < w->count; k++) {
        if (w->now[k].kind == STRAKE_PARTICLE_FLUID && w->now[k].x[2] < below) {
            out = fmax(out, w->now[k].x[0]);
        }
    }
    return out + 0.5 * w->scene.sph.spacing;
}

typedef struct point {
    double x, y;
} point;

/* Piecewise linear. */
static double between(const point *table, int rows, double x)
{
    int k = 1;
    while (k < rows - 1 && table[k].x < x) {
        k++;
    }
    const double part = (x - table[k - 1].x) / (table[k].x - table[k - 1].x);
    return table[k - 1].y + part * (table[k].y - table[k - 1].y);
}

/* Martin and Moyce 1952, columns twice as high as wide (2.25 in): t sqrt(2g/a), x/a. */
static const point martin[] = {{0.832, 1.217}, {1.219, 1.474}, {1.997, 2.292},
                               {2.547, 2.995}, {3.345, 4.134}, {4.034, 4.944}};
enum { MARTIN = sizeof martin / sizeof *martin };

/* DualSPHysics 5.4, the same tank, alpha 0.02 and Fourtakas's diffusion, dp 0.01 m: t [s], x [m] at z = 0.03 m. */
static const point dual[] = {{0.1, 1.140}, {0.2, 1.446}, {0.3, 1.867}, {0.4, 2.366},
                             {0.5, 2.932}, {0.6, 3.556}, {0.65, 3.886}};
enum { DUAL = sizeof dual / sizeof *dual };

enum { FRAMES = 65 }; /* 0.01 s apart */

/* A column, 1 x 2 m, in a tank of 4 x 3 m. */
typedef struct dam {
    point front[FRAMES]; /* t sqrt(2g/a), x/a */
    double moving[FRAMES], present[FRAMES], rise,
        lost; /* kinetic, with potential; of the first one */
} dam;

static const double a_dam = 4.4294469180700204; /* sqrt(2 g/a) */

static void break_dam(dam *out, const char *spacing, const char *alpha, const char *diffusion,
                      int every)
{
    water w;
    char text[3][64];
    double total = 0.0, least = 0.0;
    (void)snprintf(text[0], sizeof text[0], "scene.spacing=%s", spacing);
    (void)snprintf(text[1], sizeof text[1], "scheme.alpha=%s", alpha);
    (void)snprintf(text[2], sizeof text[2], "scheme.diffusion=%s", diffusion);
    water_open(&w, "data/cases/dambreak2d.yaml", SETS(text[0], text[1], text[2]));
    const double first = w.kinetic + w.potential;
    out->rise = 0.0;
    for (int k = 0; k < FRAMES; k += every) {
        const double t = 0.01 * k;
        water_run(&w, t);
        total = water_energy(&w);
        least = k == 0 ? total : fmin(least, total);
        out->rise = fmax(out->rise, (total - least) / first);
        out->front[k / every].x = t * a_dam;
        out->front[k / every].y = front_of(&w, fmax(0.1, 2.5 * w.scene.sph.spacing));
        out->moving[k / every] = w.kinetic / first;
        out->present[k / every] = (w.kinetic + w.potential) / first;
    }
    out->lost = w.lost;
    water_close(&w);
}

/* How far the front is ahead of the experiment, at worst, of Z; with the experiment's clock early by a shift. */
static void compare(const dam *d, int rows, double shift, double *behind, double *ahead)
{
    *behind = *ahead = 0.0;
    for (int k = 0; k < MARTIN; k++) {
        const double t = martin[k].x - shift;
        if (martin[k].x >= 0.8 && martin[k].x <= 3.0 && martin[k].y <= 3.75 && t > 0.0 &&
            t <= d->front[rows - 1].x) {
            const double off = between(d->front, rows, t) / martin[k].y - 1.0;
            *behind = fmin(*behind, off);
            *ahead = fmax(*ahead, off);
        }
    }
}

static void judge_dam(const dam *d, const char *name, int rows, bool is_fine)
{
    char what[80];
    double behind = 0.0, ahead = 0.0, best = 1.0, best_shift = 0.0, grown = 0.0;
    compare(d, rows, 0.0, &behind, &ahead);
    (void)snprintf(what, sizeof what, "dam, %s: front behind the experiment's, raw", name);
    water_judge(what, behind, -0.03, 0.0);
    (void)snprintf(what, sizeof what, "dam, %s: ahead", name);
    water_judge(what, ahead, 0.0, 0.22);
    for (double shift = 0.0; shift <= 0.4001; shift += 0.005) {
        compare(d, rows, shift, &behind, &ahead);
        if (fmax(-behind, ahead) < best) {
            best = fmax(-behind, ahead);
            best_shift = shift;
        }
    }
    (void)snprintf(what, sizeof what, "dam, %s: off after a shift by %.3f", name, best_shift);
    water_judge(what, best, 0.0, is_fine ? 0.06 : 0.08);
    const double slope =
        (between(d->front, rows, 2.85) - between(d->front, rows, 1.6)) / (2.85 - 1.6);
    (void)snprintf(what, sizeof what, "dam, %s: speed dZ/dT", name);
    water_judge(what, slope, is_fine ? 1.22 : 1.15, 1.5);
    for (int k = 1; k < rows; k++) {
        const bool is_late = d->front[k - 1].x > 0.1 * a_dam;
        grown = fmax(grown, is_late ? d->present[k] - d->present[k - 1] : 0.0);
        grown = fmax(grown, d->present[k] - 1.003);
    }
    (void)snprintf(what, sizeof what, "dam, %s: rise of kinetic and potential energy", name);
    water_judge(what, grown, 0.0, is_fine ? 0.0 : 1e-3);
    (void)snprintf(what, sizeof what, "dam, %s: rise of all energy, at most", name);
    water_judge(what, d->rise, 0.0, 1e-5);
    (void)snprintf(what, sizeof what, "dam, %s: particles lost", name);
    water_judge(what, d->lost, 0.0, 0.0);
}

/* Kinetic and all energy at four times, as a reference of other make has them (within 0.02). */
static void judge_energies(const dam *d, const char *name, const double reference[2][4])
{
    double off[2] = {0.0, 0.0};
    char what[80];
    for (int k = 0; k < 4; k++) {
        off[0] = fmax(off[0], fabs(d->present[16 * (k + 1)] - reference[0][k]));
        off[1] = fmax(off[1], fabs(d->moving[16 * (k + 1)] - reference[1][k]));
    }
    (void)snprintf(what, sizeof what, "dam, %s: energy off the reference", name);
    water_judge(what, off[0], 0.0, 0.02);
    (void)snprintf(what, sizeof what, "dam, %s: kinetic energy off it", name);
    water_judge(what, off[1], 0.0, 0.02);
}

static void a_dam_breaks(void **state)
{
    static const double viscous[2][4] = {{0.998, 0.986, 0.966, 0.946},
                                         {0.082, 0.274, 0.466, 0.586}};
    static const double smooth[2][4] = {{1.000, 0.995, 0.986, 0.979}, {0.085, 0.287, 0.494, 0.628}};
    static dam coarse, fine;
    (void)state;
    if (!water_is_long()) {
        break_dam(&coarse, "0.0625", "0.1", "none", 4);
        judge_dam(&coarse, "0.0625 m", FRAMES / 4 + 1, false);
        water_judged();
        return;
    }
    break_dam(&coarse, "0.05", "0.1", "none", 1);
    judge_dam(&coarse, "0.05 m", FRAMES, true);
    break_dam(&fine, "0.025", "0.1", "none", 1);
    judge_dam(&fine, "0.025 m", FRAMES, true);
    judge_energies(&fine, "0.025 m", viscous);
    double refined = 0.0;
    for (int k = 20; k < FRAMES; k++) {
        refined = fmax(refined, fabs(fine.front[k].y / coarse.front[k].y - 1.0));
    }
    water_judge("dam: half the spacing moves the front by", refined, 0.0, 0.05);
    break_dam(&fine, "0.025", "0.02", "fourtakas", 1);
    judge_dam(&fine, "0.025 m, diffusion", FRAMES, true);
    judge_energies(&fine, "0.025 m, diffusion", smooth);
    double off = 0.0;
    for (int k = 0; k < DUAL - 1; k++) {
        const double t = dual[k].x * a_dam;
        off = fmax(off, fabs(between(fine.front, FRAMES, t) / dual[k].y - 1.0));
    }
    water_judge("dam: front off that of another program", off, 0.0, 0.05);
    water_judged();
}

/* In three dimensions, with walls that repel and such whose density follows. */
static double break_3d(const char *spacing, const char *walls, double *front, int frames,
                       double every, bool is_strict)
{
    water w;
    char text[2][64], what[80];
    double least = 0.0, rise = 0.0;
    (void)snprintf(text[0], sizeof text[0], "scene.spacing=%s", spacing);
    (void)snprintf(text[1], sizeof text[1], "scheme.walls=%s", walls);
    water_open(&w, "data/cases/dambreak3d.yaml", SETS(text[0], text[1]));
    const double first = w.kinetic + w.potential;
    for (int k = 0; k < frames; k++) {
        water_run(&w, every * k);
        front[k] = front_of(&w, 1.0);
        least = k == 0 ? water_energy(&w) : fmin(least, water_energy(&w));
        rise = fmax(rise, (water_energy(&w) - least) / first);
    }
    (void)snprintf(what, sizeof what, "dam in 3D, %s m, %s: rise of energy, at most", spacing,
                   walls);
    water_judge(what, rise, 0.0, 1e-5);
    if (is_strict) {
        water_run(&w, 1.5);
        (void)snprintf(what, sizeof what, "dam in 3D, %s m, %s: energy left at the end", spacing,
                       walls);
        water_judge(what, water_energy(&w) / first, 0.0, 0.5);
    }
    (void)snprintf(what, sizeof what, "dam in 3D, %s m, %s: particles lost", spacing, walls);
    water_judge(what, w.lost, 0.0, 0.0);
    water_close(&w);
    return rise;
}

static void a_dam_breaks_in_3d(void **state)
{
    double repelled[40], dynamic[40], off = 0.0;
    const char *const spacing = water_is_long() ? "0.04" : "0.08";
    const double every = 0.02;
    int frames = 0;
    (void)state;
    (void)break_3d(spacing, "lennard_jones", repelled, 21, every, water_is_long());
    if (water_is_long()) {
        (void)break_3d(spacing, "dynamic", dynamic, 21, every, true);
        for (; frames < 21 && fmax(repelled[frames], dynamic[frames]) < 0.9; frames++) {
            off = fmax(off, fabs(repelled[frames] / dynamic[frames] - 1.0));
        }
        water_judge("dam in 3D: fronts differ before the pillar", off, 0.0, 0.05);
        for (int k = 0; k < frames; k++) {
            print_message("  %.2f s %.4f %.4f m\n", every * k, repelled[k], dynamic[k]);
        }
    }
    water_judged();
}

/* At the longest time steps that viscosity allows a drop that is drawn out by a very viscous fluid only gets slower. */
static void viscosity_is_stable(void **state)
{
    double least = INFINITY, regain = 0.0;
    water w;
    (void)state;
    water_parse(&w,
                "problem: sph2d\n"
                "scene: {spacing: 0.05, from: [-2, -2], to: [2, 2],\n"
                "  fluid: [{sphere: {center: [0, 0], radius: 0.6},\n"
                "           velocity: {strain: [-100, 100], center: [0, 0]}}]}\n"
                "parameters: {density: 1, gravity: [0, 0], viscosity: 300}\n"
                "scheme: {sound: 1400, viscosity: laminar, cfl: 0.0189}\ntime: {end: 1}\n",
                NULL);
    const double first = w.kinetic;
    for (int k = 1; k <= 10; k++) {
        water_run(&w, 3e-5 * k);
        regain = fmax(regain, (w.kinetic - least) / first);
        least = fmin(least, w.kinetic);
    }
    water_judge("viscous drop: kinetic energy regained", regain, 0.0, 0.0);
    water_judge("viscous drop: kinetic energy left", w.kinetic / first, 0.0, 0.08);
    water_close(&w);
    water_judged();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drop_is_drawn_out),   cmocka_unit_test(viscosity_is_stable),
        cmocka_unit_test(a_standing_wave_fades), cmocka_unit_test(a_dam_breaks),
        cmocka_unit_test(a_dam_breaks_in_3d),
    };
    const struct CMUnitTest longer[] = {
        cmocka_unit_test(water_stays_at_rest), /* its short form is in unit/test_sph.c */
        cmocka_unit_test(a_piston_makes_waves),
    };
    const int failed = cmocka_run_group_tests_name("flows of particles", tests, NULL, NULL);
    return failed +
           (water_is_long() ? cmocka_run_group_tests_name("longer", longer, NULL, NULL) : 0);
}
