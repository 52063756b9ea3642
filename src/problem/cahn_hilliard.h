/** @file cahn_hilliard.h What the files of the Cahn-Hilliard problems share. */
#ifndef STRAKE_CAHN_HILLIARD_H
#define STRAKE_CAHN_HILLIARD_H

#include "case/case.h"
#include "problem/cahn_hilliard_points.h"
#include "problem/rows.h"

STRAKE_CAHN_HILLIARD_POINTS(STRAKE_POINT_DECLARE)

enum { STRAKE_FREE_ENERGY_TERMS = 7 }; /**< of a polynomial: degree 6 */

/** A case's free energy density f(u) = sum of coefficient[k] u^k [J/m3]. */
typedef struct strake_free_energy {
    const strake_formula *slope; /**< f'(u), where the case gives that; NULL: a polynomial */
    bool is_well;                /**< -B u^2/2 + U u^4/4, from its parameters */
    int terms;
    double coefficient[STRAKE_FREE_ENERGY_TERMS];
} strake_free_energy;

strake_free_energy strake_free_energy_of(const strake_case *which);

/** f(u), f'(u) and f''(u) for @p derivative 0, 1 and 2. */
double strake_free_energy_at(const strake_free_energy *energy, int derivative, double u);

/**
 * Largest f'' between @p low and @p high and all stationary points of f (the wells): what the values
 * of a field that starts within [low, high] meet.
 */
double strake_free_energy_stiffness(const strake_free_energy *energy, double low, double high);

/** The outermost stationary points of f; [-1, 1] without any. */
void strake_free_energy_wells(const strake_free_energy *energy, double *low, double *high);

/** The middle between the outermost stationary points of f: 0 for the double well; 0 without any. */
double strake_free_energy_middle(const strake_free_energy *energy);

/** Measures of a state: strake_problem.quantity and strake_problem.evaluate. */
enum { STRAKE_CAHN_HILLIARD_MEASURES = 4 };

#endif
