/* Free energies of the Cahn-Hilliard equation. */
#include <math.h>

#include "problem/cahn_hilliard.h"

enum { SCAN = 4096, BISECTIONS = 200, SAMPLES = 256, PIECES = 8 };

strake_free_energy strake_free_energy_of(const strake_case *which)
{
    const int key = strake_case_key(which, "scheme.free_energy.polynomial");
    strake_free_energy energy = {
        .slope = which->formula[strake_case_key(which, "scheme.free_energy.derivative")]};
    if (energy.slope != NULL) {
        return energy;
    }
    if (which->value[key] <= 0.0) {
        energy.is_well = true;
        energy.terms = 5;
        energy.coefficient[2] = -0.5 * strake_case_value(which, "parameters.B");
        energy.coefficient[4] = 0.25 * strake_case_value(which, "parameters.U");
        return energy;
    }
    energy.terms = (int)which->value[key];
    for (int k = 0; k < energy.terms; k++) {
        energy.coefficient[k] = which->list[key][k];
    }
    return energy;
}

/*
 * The integral of f' from 0 by Gauss and Legendre's rule with five points on each of some pieces, or a difference of f'
 * (Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 25.4.30).
 */
static double slope_at(const strake_formula *slope, int derivative, double u)
{
    static const double node[] = {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831,
                                  0.9061798459386640};
    static const double weight[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                    0.4786286704993665, 0.2369268850561891};
    if (derivative == 1) {
        return strake_formula_at(slope, &u);
    }
    if (derivative == 2) {
        const double step = 1e-5 * fmax(1.0, fabs(u)), after = u + step, before = u - step;
        return (strake_formula_at(slope, &after) - strake_formula_at(slope, &before)) /
               (after - before);
    }
    double sum = 0.0;
    const double half = 0.5 * u / PIECES;
    for (int k = 0; k < PIECES; k++) {
        for (int m = 0; m < 5; m++) {
            const double at = half * (2 * k + 1 + node[m]);
            sum += half * weight[m] * strake_formula_at(slope, &at);
        }
    }
    return sum;
}

double strake_free_energy_at(const strake_free_energy *energy, int derivative, double u)
{
    if (energy->slope != NULL) {
        return slope_at(energy->slope, derivative, u);
    }
    double sum = 0.0;
    for (int k = energy->terms - 1; k >= derivative; k--) {
        double factor = energy->coefficient[k];
        for (int d = 0; d < derivative; d++) {
            factor *= k - d;
        }
        sum = sum * u + factor;
    }
    return sum;
}

/* A root of f' between two points where it has different signs. */
static double find_root(const strake_free_energy *energy, double low, double high)
{
    const bool rises = strake_free_energy_at(energy, 1, high) > 0.0;
    for (int k = 0; k < BISECTIONS; k++) {
        const double middle = 0.5 * (low + high);
        if ((strake_free_energy_at(energy, 1, middle) > 0.0) == rises) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return rises ? high : low;
}

/* Widens [low, high] to all stationary points of f, which lie within Cauchy's bound of the roots of f'. */
static void reach_wells(const strake_free_energy *energy, double *low, double *high)
{
    int degree = energy->slope != NULL ? 0 : energy->terms - 1;
    while (degree > 1 && !(fabs(energy->coefficient[degree]) > 0.0)) {
        degree--;
    }
    double bound = 0.0;
    for (int k = 1; k < degree; k++) {
        const double ratio =
            fabs(k * energy->coefficient[k] / (degree * energy->coefficient[degree]));
        bound = ratio > bound ? ratio : bound; /* fmax() here crashes gcc 12 for 64-bit Arm */
    }
    /* Of a formula nothing bounds the wells: they are looked for about the values that there are. */
    bound = energy->slope != NULL ? 2.0 * fmax(1.0, fmax(-*low, *high)) : bound + 1.0;
    bound = isfinite(bound) ? bound : 2.0;
    for (int k = 0; k < SCAN && (degree > 1 || energy->slope != NULL); k++) {
        const double a = bound * (2.0 * k / SCAN - 1.0);
        const double b = bound * (2.0 * (k + 1) / SCAN - 1.0);
        const double at_a = strake_free_energy_at(energy, 1, a);
        const double at_b = strake_free_energy_at(energy, 1, b);
        if (isfinite(at_a) && isfinite(at_b) && (at_a > 0.0) != (at_b > 0.0)) {
            const double root = find_root(energy, a, b);
            *low = fmin(*low, root);
            *high = fmax(*high, root);
        }
    }
}

double strake_free_energy_stiffness(const strake_free_energy *energy, double low, double high)
{
    reach_wells(energy, &low, &high);
    double most = -INFINITY;
    for (int k = 0; k <= SAMPLES; k++) {
        const double u = low + (high - low) * k / SAMPLES;
        most = fmax(most, strake_free_energy_at(
                              energy, 2, u)); /* NaN outside of a logarithm's range: left out */
    }
    return fmax(most, strake_free_energy_at(energy, 2, high));
}

void strake_free_energy_wells(const strake_free_energy *energy, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    reach_wells(energy, low, high);
    if (*low > *high) {
        *low = -1.0;
        *high = 1.0;
    }
}

double strake_free_energy_middle(const strake_free_energy *energy)
{
    double low, high;
    strake_free_energy_wells(energy, &low, &high);
    return energy->is_well ? 0.0 : 0.5 * (low + high);
}
