#include "autotune/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Strength of the ridge: an effect seen once counts for half. */
static const double ridge = 1.0;

/* A failed configuration counts as this many times the slowest. */
static const double failed_factor = 3.0;

static bool lay_out(strake_model *model, const strake_space *space)
{
    int next = 1;
    strake_model_free(model);
    model->first = calloc((size_t)space->parameters + 1, sizeof *model->first);
    if (model->first == NULL) {
        return false;
    }
    for (int p = 0; p < space->parameters; p++) {
        model->first[p] = next;
        next += space->parameter[p].values + 1;
    }
    model->effect = calloc((size_t)next, sizeof *model->effect);
    model->features = model->effect != NULL ? next : 0;
    return model->effect != NULL;
}

/* The features that a candidate has: the mean, and one per parameter. @return their number. */
static int features_of(const strake_model *model, const strake_space *space,
                       const strake_candidate *candidate, int out[STRAKE_SPACE_PARAMETERS + 1])
{
    int count = 0;
    out[count++] = 0;
    for (int p = 0; p < space->parameters; p++) {
        out[count++] = model->first[p] + 1 + candidate->index[p];
    }
    return count;
}

/* Solves the symmetric positive definite system in place: matrix n x n, right hand side into x. */
static void solve(int n, double *matrix, double *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            const double factor = matrix[i * n + k] / matrix[k * n + k];
            if (factor == 0.0) {
                continue;
            }
            for (int j = k; j < n; j++) {
                matrix[i * n + j] -= factor * matrix[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) {
            x[i] -= matrix[i * n + j] * x[j];
        }
        x[i] /= matrix[i * n + i];
    }
}

bool strake_model_fit(strake_model *model, const strake_space *space, int count,
                      const strake_candidate *candidate, const double *seconds)
{
    double slowest = 0.0;
    if (!lay_out(model, space)) {
        return false;
    }
    const int n = model->features;
    double *const matrix = calloc((size_t)n * (size_t)n, sizeof *matrix);
    if (matrix == NULL) {
        strake_model_free(model);
        return false;
    }
    for (int c = 0; c < count; c++) {
        slowest = isfinite(seconds[c]) && seconds[c] > slowest ? seconds[c] : slowest;
    }
    slowest = slowest > 0.0 ? slowest : 1.0;
    for (int i = 0; i < n; i++) {
        matrix[i * n + i] = i == 0 ? 1e-9 : ridge; /* the mean is not pulled towards zero */
    }
    for (int c = 0; c < count; c++) {
        int feature[STRAKE_SPACE_PARAMETERS + 1];
        const double y = log(isfinite(seconds[c]) ? seconds[c] : failed_factor * slowest);
        const int features = features_of(model, space, &candidate[c], feature);
        for (int a = 0; a < features; a++) {
            model->effect[feature[a]] += y;
            for (int b = 0; b < features; b++) {
                matrix[feature[a] * n + feature[b]] += 1.0;
            }
        }
    }
    solve(n, matrix, model->effect);
    free(matrix);
    return true;
}

double strake_model_predict(const strake_model *model, const strake_space *space,
                            const strake_candidate *candidate)
{
    int feature[STRAKE_SPACE_PARAMETERS + 1];
    double sum = 0.0;
    if (model->features == 0) {
        return 1.0;
    }
    const int features = features_of(model, space, candidate, feature);
    for (int a = 0; a < features; a++) {
        sum += model->effect[feature[a]];
    }
    return exp(sum);
}

void strake_model_free(strake_model *model)
{
    free(model->first);
    free(model->effect);
    *model = (strake_model){0};
}
