/**
 * @file rkc.h
 * Runge-Kutta-Chebyshev steps of second order for du/dt = F(u), where the eigenvalues of F's Jacobian lie near the negative
 * real axis: explicit steps of s stages, stable while the time step times the spectral radius is below some 0.65 s^2
 * (Verwer, Appl. Numer. Math. 22 (1996); Sommeijer, Shampine & Verwer, J. Comput. Appl. Math. 88 (1998), whose names
 * these are). b_0 = b_1 = b_2.
 *
 * Y_0 = u, Y_1 = Y_0 + mt_1 dt F(Y_0),
 * Y_j = (1 - mu_j - nu_j) Y_0 + mu_j Y_{j-1} + nu_j Y_{j-2} + mt_j dt F(Y_{j-1}) + g_j dt F(Y_0), and Y_s is the next u.
 */
#ifndef STRAKE_RKC_H
#define STRAKE_RKC_H

/** What a stage is told: whether it is the first one, then its coefficients, two of them times dt [s]. */
enum {
    STRAKE_RKC_BEGINS, /**< 1: the first stage, Y_0 = u; else 0 */
    STRAKE_RKC_START,  /**< 1 - mu - nu, of Y_0 */
    STRAKE_RKC_LAST,   /**< mu, of Y_{j-1} */
    STRAKE_RKC_BEFORE, /**< nu, of Y_{j-2} */
    STRAKE_RKC_RATE,   /**< mt dt, of F(Y_{j-1}) */
    STRAKE_RKC_FIRST,  /**< g dt, of F(Y_0) */
    /** of the first stage: 0.8, and 0.4 times the dt of the step before, whose error is then
     * |0.8 (u_before - u) + 0.4 dt (F(u_before) + F(u))|; 0: it is not estimated */
    STRAKE_RKC_CHANGE,
    STRAKE_RKC_RATES,
    STRAKE_RKC_TELLS
};

/** Least and most stages: of more, rounding would be seen. */
enum { STRAKE_RKC_LEAST = 2, STRAKE_RKC_MOST = 1000 };

/** The time step times the spectral radius up to which steps of so many stages are stable. */
double strake_rkc_limit(int stages);

/** Fewest stages of a step that is stable with that product; more than STRAKE_RKC_MOST: there are none. */
int strake_rkc_stages(double product);

/** The coefficients of the first stages of a step. @param[out] told  [rows][STRAKE_RKC_TELLS]; after so many stages the others change nothing */
void strake_rkc_tell(int stages, int rows, double dt, double *told);

/** Has the first stage of a step estimate the error of the step before it, of this length [s]. */
void strake_rkc_estimate(double dt, double *told);

/** Makes a step begin with Y_0 and F(Y_0) of the step before, which is thus done again. @param[in,out] told  its first two stages */
void strake_rkc_redo(double *told);

struct strake_case;

/**
 * The length of a run's first step, which has the fewest stages, a power of two; not longer than @p most [s].
 * @param[in] count  strake_problem.stages
 */
double strake_rkc_first(int (*count)(const struct strake_case *which, double dt, int *at_once),
                        const struct strake_case *which, double most);

/** The length of a step whose error would be the tolerance, from one with this ratio of its error to that [s]. */
double strake_rkc_next(double dt, double ratio);

#endif
