#include "tests/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/cl_device.h"

strake_case *strake_harness_case(const strake_inputs *in, const strake_scheme *scheme, bool single,
                                 bool constant_h)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "problem: mpdata2d\n"
                   "precision: %s\n"
                   "grid: {rows: %d, cols: %d}\n"
                   "time: {steps: 1000000}\n"
                   "boundary: {rows: %s, cols: %s}\n"
                   "scheme: {iterations: %d, nonoscillatory: %s, gauge: %s, third_order: %s,\n"
                   "         sign: %s, velocities: %s}\n"
                   "%s",
                   single ? "single" : "double", in->rows, in->cols,
                   in->open_rows ? "open" : "periodic", in->open_cols ? "open" : "periodic",
                   scheme->iterations, scheme->nonoscillatory ? "true" : "false",
                   scheme->gauge ? "infinite" : "none", scheme->third_order ? "true" : "false",
                   scheme->nonnegative ? "nonnegative" : "any",
                   scheme->unlimited_next ? "unlimited" : "limited",
                   constant_h ? "fields: {h: {constant: 1}}\n"
                              : "fields: {h: {random: {seed: 1, minimum: 0.5, maximum: 1.5}}}\n");
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("test", text, NULL, true, &which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, text);
    }
    return which;
}

void strake_harness_set(strake_solver *solver, const char *name, const double *data, size_t count)
{
    float *narrow = NULL;
    if (strake_element_size(solver) == sizeof(float)) {
        narrow = malloc(count * sizeof *narrow);
        assert_non_null(narrow);
        for (size_t k = 0; k < count; k++) {
            narrow[k] = (float)data[k];
        }
    }
    strake_error error;
    const strake_status status =
        strake_set_field(solver, name, narrow != NULL ? (const void *)narrow : data, &error);
    free(narrow);
    if (status != STRAKE_OK) {
        fail_msg("%s: %s", name, error.text);
    }
}

strake_solver *strake_harness_solver(const strake_case *which, const char *where, const char *split,
                                     int threads)
{
    const strake_options options = {.where = where, .split = split, .threads = threads};
    strake_solver *solver = NULL;
    strake_error error;
    if (strake_open(which, &options, &solver, &error) != STRAKE_OK) {
        fail_msg("%s, split %s: %s", where, split == NULL ? "none" : split, error.text);
    }
    return solver;
}

strake_solver *strake_harness_open(const strake_case *which, const strake_inputs *in, bool single,
                                   bool constant_h, const char *where, const char *split,
                                   int threads)
{
    strake_solver *const solver = strake_harness_solver(which, where, split, threads);
    assert_int_equal(strake_element_size(solver), single ? sizeof(float) : sizeof(double));
    strake_harness_set(solver, "psi", in->psi, in->cells);
    strake_harness_set(solver, "u1", in->u1, in->faces1);
    strake_harness_set(solver, "u2", in->u2, in->faces2);
    if (!constant_h) {
        strake_harness_set(solver, "h", in->h, in->cells);
    }
    return solver;
}

/* Whether ocl:0 can be held to bit equality in a precision; says why not. */
static bool device_is_exact(strake_precision precision, char *why, size_t size)
{
    strake_cl_list list;
    strake_error error;
    bool exact = false;
    if (strake_cl_list_open(&list, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    if (list.count == 0) {
        (void)snprintf(why, size, "no OpenCL device: %s", list.why_none);
    } else if (strake_cl_selftest(list.cl, &list.device[0], precision, &error) != STRAKE_OK) {
        (void)snprintf(why, size, "%s", error.text);
    } else if (list.device[0].bit_exact[precision] != 1) {
        (void)snprintf(why, size, "%s does not pass the arithmetic self-test in %s precision",
                       list.device[0].name, precision == STRAKE_DOUBLE ? "double" : "single");
    } else {
        exact = true;
    }
    strake_cl_list_free(&list);
    return exact;
}

void strake_harness_need_device(strake_precision precision)
{
    char why[2048];
    if (device_is_exact(precision, why, sizeof why)) {
        return;
    }
    const char *required = getenv("STRAKE_REQUIRE_OPENCL");
    if (required != NULL && strcmp(required, "1") == 0) {
        fail_msg("%s, and STRAKE_REQUIRE_OPENCL=1", why);
    }
    print_message("# skip: %s\n", why);
    skip();
}

void strake_harness_build_quickly(bool quickly)
{
    /* Besides, kernels for groups of all sizes are compiled once. */
    static const char *const quick[][2] = {{"POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable"},
                                           {"POCL_WORK_GROUP_SPECIALIZATION", "0"}};
    for (size_t k = 0; k < sizeof quick / sizeof quick[0]; k++) {
        assert_int_equal(quickly ? setenv(quick[k][0], quick[k][1], 1) : unsetenv(quick[k][0]), 0);
    }
}

void strake_harness_step(strake_solver *solver, int64_t steps)
{
    strake_error error;
    if (strake_step(solver, steps, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
}

void strake_harness_set_psi(strake_solver *solver, const double *psi, size_t cells)
{
    strake_harness_set(solver, "psi", psi, cells);
}

void strake_harness_get(strake_solver *solver, const char *name, double *data, size_t count)
{
    const bool single = strake_element_size(solver) == sizeof(float);
    float *narrow = single ? malloc(count * sizeof *narrow) : NULL;
    strake_error error;
    if (strake_get_field(solver, name, single ? (void *)narrow : data, &error) != STRAKE_OK) {
        free(narrow);
        fail_msg("%s", error.text);
    }
    for (size_t k = 0; single && k < count; k++) {
        data[k] = (double)narrow[k];
    }
    free(narrow);
}

void strake_harness_get_psi(strake_solver *solver, double *psi, size_t cells)
{
    strake_harness_get(solver, "psi", psi, cells);
}

void strake_harness_run(const strake_inputs *in, const strake_scheme *scheme, bool single,
                        int64_t steps, double *psi)
{
    strake_case *which = strake_harness_case(in, scheme, single, false);
    strake_solver *solver = strake_harness_open(which, in, single, false, "cpu", NULL, 2);
    strake_harness_step(solver, steps);
    strake_harness_get_psi(solver, psi, in->cells);
    strake_close(&solver);
    strake_case_close(&which);
}

uint64_t strake_harness_checksum(strake_solver *solver, const char *name, size_t count)
{
    const size_t bytes = count * strake_element_size(solver);
    unsigned char *data = malloc(bytes);
    assert_non_null(data);
    strake_error error;
    if (strake_get_field(solver, name, data, &error) != STRAKE_OK) {
        free(data);
        fail_msg("%s", error.text);
    }
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < bytes; k++) {
        hash = (hash ^ data[k]) * UINT64_C(0x100000001b3);
    }
    free(data);
    return hash;
}

double strake_harness_difference(const double *a, const double *b, size_t count)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) {
        /* Written so that a NaN counts as infinitely different. */
        const double difference = fabs(a[k] - b[k]);
        largest = difference <= largest ? largest : isnan(difference) ? INFINITY : difference;
    }
    return largest;
}
