/* The mass of a field. */
#include <stdlib.h>

#include "base/element.h"
#include "output/report.h"

/* data[k] times weight[k], in double. */
static void weigh(const strake_slabs *slabs, const void *weight, double *out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        out[k] = strake_element_get(slabs->data, (int)slabs->element_size, (int64_t)k) *
                 strake_element_get(weight, (int)slabs->element_size, (int64_t)k);
    }
}

strake_status strake_result_mass(strake_result *result, strake_slabs *slabs, const char *name,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = result->which;
    const char *const weight =
        result->has_mass ? which->problem->weight(which, result->last_step) : NULL;
    strake_slabs weights = {0};
    double *product = NULL;
    strake_statistics sum = strake_statistics_begin(false, strake_solver_threads(slabs->solver));
    if (weight == NULL) {
        goto cleanup;
    }
    STRAKE_TRY(strake_slabs_open(&weights, which, slabs->solver, error));
    product = malloc(slabs->capacity / slabs->element_size * sizeof *product);
    STRAKE_CHECK(product != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a mass");
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    STRAKE_TRY(strake_slabs_select(&weights, weight, error));
    while (strake_slabs_next(slabs) && strake_slabs_next(&weights)) {
        const size_t count = strake_slabs_bytes(slabs) / slabs->element_size;
        STRAKE_TRY(strake_slabs_get(slabs, error));
        STRAKE_TRY(strake_slabs_get(&weights, error));
        weigh(slabs, weights.data, product, count);
        strake_statistics_add(&sum, product, count, sizeof *product);
    }
cleanup:
    strake_statistics_end(&sum);
    result->mass[result->fields] =
        sum.sum * which->spacing[0] * which->spacing[1] * which->spacing[2];
    strake_slabs_close(&weights);
    free(product);
    return status;
}
