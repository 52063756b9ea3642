/*
 * `at: cells`: winds at the centres of cells become those of faces, for all dimensions, edges and units, from one file
 * or a series: each face against a second statement of the rule.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "case/case.h"
#include "case/source.h"
#include "strake.h"

enum { LEVELS = 3, MOST = 6 * 5 * 4 };

static char folder[] = "/tmp/strake-faces-XXXXXX";

/* Cells of [plane, row, col] at a level: no two are alike. */
static double value_of(int level, const int64_t cell[3])
{
    return 0.001 * (double)(level * 997 + (int)(cell[0] * 101 + cell[1] * 37 + cell[2] * 11) % 89);
}

static void write_npy(const char *name, int levels, const int64_t n[3], int dims)
{
    char path[100], head[120], shape[60];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    int used = levels > 1 ? snprintf(shape, sizeof shape, "%d, ", levels) : 0;
    for (int d = 3 - dims; d < 3; d++) {
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%d, ", (int)n[d]);
    }
    (void)snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }",
                   shape);
    (void)fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    (void)fprintf(file, "%-117s\n", head);
    for (int level = 0; level < levels; level++) {
        for (int64_t k = 0; k < n[0] * n[1] * n[2]; k++) {
            const int64_t cell[] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]};
            const double x = value_of(level, cell);
            (void)fwrite(&x, sizeof x, 1, file);
        }
    }
    assert_int_equal(fclose(file), 0);
}

/* What a face has, from the two sides of the face; axis is that of [plane, row, col]. */
static double face_of(int level, const char *edge, int axis, const int64_t n[3],
                      const int64_t face[3])
{
    int64_t before[3], after[3];
    memcpy(before, face, sizeof before);
    memcpy(after, face, sizeof after);
    before[axis]--;
    if (strcmp(edge, "periodic") == 0) {
        before[axis] = (before[axis] + n[axis]) % n[axis];
        after[axis] = after[axis] % n[axis];
    } else if (face[axis] == 0 || face[axis] == n[axis]) {
        if (strcmp(edge, "open") != 0) {
            return 0.0;
        }
        before[axis] = after[axis] = face[axis] == 0 ? 0 : n[axis] - 1;
    }
    return (value_of(level, before) + value_of(level, after)) / 2.0;
}

/* Cells of "u1" are a file or a series, whose step lies at 1.25 levels. */
static void compare(int dims, int component, const char *edge, bool is_series, bool is_velocity)
{
    static const char *const axis_name[] = {"planes", "rows", "cols"};
    static const double spacing[] = {3.0, 2.0, 0.5}; /* dz, dx, dy */
    const int64_t n[] = {dims > 2 ? 6 : 1, dims > 1 ? 4 : 1, 5 + 1};
    const int axis = dims == 3 ? component : dims == 2 ? 1 + component : 2;
    char yaml[900], others[100] = "";
    strake_error error;
    strake_case *which = NULL;
    strake_source_reader *reader = NULL;
    int field = 0;
    int64_t shape[STRAKE_AXES];
    double line[MOST];
    write_npy("cells.npy", is_series ? LEVELS : 1, n, dims);
    for (int u = 0; u < dims; u++) {
        const size_t used = strlen(others);
        if (u != component) {
            (void)snprintf(others + used, sizeof others - used, "  u%d: 0\n", u + 1);
        }
    }
    (void)snprintf(
        yaml, sizeof yaml,
        "problem: mpdata%dd\ngrid: {%s%scols: 6, %sdy: 0.5}\ntime: {dt: 0.5, steps: 3}\n"
        "boundary: {%s: %s}\nfields:\n  psi: 1\n%s  u%d: {%sfile: %s/cells.npy, at: cells%s%s}\n",
        dims, dims > 2 ? "planes: 6, " : "", dims > 1 ? "rows: 4, " : "",
        dims > 2   ? "dz: 3, dx: 2, "
        : dims > 1 ? "dx: 2, "
                   : "",
        axis_name[axis], edge, others, component + 1, is_series ? "series: {" : "", folder,
        is_velocity ? ", as: velocity" : "", is_series ? ", every: 1, interpolate: linear}" : "");
    if (strake_case_parse("faces", yaml, NULL, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s\n%s", error.text, yaml);
    }
    char name[8];
    (void)snprintf(name, sizeof name, "u%d", component + 1);
    while (strcmp(which->problem->field[field].name, name) != 0) {
        field++;
    }
    const strake_moment moment = {1.0, 0.5, 0};
    assert_int_equal(strake_source_open_at(which, field, &moment, &reader, &error), STRAKE_OK);
    strake_case_field_shape(which, field, shape);
    for (int64_t k = shape[0] * shape[1] - 1, up = 0; up < 2 * (k + 1); up++) {
        const int64_t at = up <= k ? k - up : up - k - 1; /* backwards, then forwards */
        const int64_t i = at / shape[1], m = at % shape[1];
        assert_int_equal(strake_source_line(reader, i, m, line, &error), STRAKE_OK);
        for (int64_t j = 0; j < shape[2]; j++) {
            const int64_t face[] = {dims == 3 ? i : 0, dims == 3 ? m : i, j};
            const double scale = is_velocity ? 0.5 / spacing[axis] : 1.0;
            const double wanted = is_series ? 0.75 * face_of(1, edge, axis, n, face) +
                                                  0.25 * face_of(2, edge, axis, n, face)
                                            : face_of(0, edge, axis, n, face);
            assert_true(fabs(line[j] - scale * wanted) <= 1e-14);
        }
    }
    strake_source_close(&reader);
    strake_case_close(&which);
}

static void faces_have_the_means_of_cells(void **state)
{
    static const char *const edges[] = {"periodic", "open", "no_flux"};
    (void)state;
    for (int k = 0; k < 6 * 3 * 4; k++) {
        const int pair = k / 12, dims = pair == 0 ? 1 : pair < 3 ? 2 : 3;
        const int component = pair - (dims == 1 ? 0 : dims == 2 ? 1 : 3);
        compare(dims, component, edges[k % 12 / 4], k % 2 == 1, k % 4 > 1);
    }
}

static void nothing_passes_a_pole(void **state)
{
    (void)state;
    int64_t cell[2];
    assert_int_equal(strake_faces_cells(STRAKE_POLAR, 4, 0, cell), 0);
    assert_int_equal(strake_faces_cells(STRAKE_POLAR, 4, 4, cell), 0);
    assert_int_equal(strake_faces_cells(STRAKE_POLAR, 4, 3, cell), 2);
    assert_int_equal(cell[0], 2);
    assert_int_equal(cell[1], 3);
}

static void one_cell_has_two_faces(void **state)
{
    (void)state;
    double open[] = {3.0, -1.0}, wall[] = {3.0, -1.0}, round[] = {3.0, -1.0};
    strake_faces_along(STRAKE_OPEN, 1, open);
    strake_faces_along(STRAKE_NO_FLUX, 1, wall);
    strake_faces_along(STRAKE_PERIODIC, 1, round);
    assert_true(open[0] == 3.0 && open[1] == 3.0 && wall[0] == 0.0 && wall[1] == 0.0);
    assert_true(round[0] == 3.0 && round[1] == -1.0);
}

static void expect_refusal(const char *u1, const char *text)
{
    char yaml[500];
    strake_error error = {STRAKE_OK, ""};
    strake_case *which = NULL;
    (void)snprintf(yaml, sizeof yaml,
                   "problem: mpdata1d\ngrid: {cols: 6}\ntime: {dt: 1, steps: 1}\n"
                   "boundary: {cols: open}\nfields: {%s}\n",
                   u1);
    assert_int_equal(strake_case_parse("faces", yaml, NULL, false, &which, &error),
                     STRAKE_ERR_USAGE);
    print_message("# %s\n", error.text);
    assert_non_null(strstr(error.text, text));
}

static void what_does_not_fit_is_said(void **state)
{
    static const int64_t six[] = {1, 1, 6}, five[] = {1, 1, 5};
    char text[200];
    (void)state;
    write_npy("six.npy", 1, six, 1);
    write_npy("five.npy", 1, five, 1);
    write_npy("levels.npy", LEVELS, six, 1);
    (void)snprintf(text, sizeof text, "psi: 1, u1: {file: %s/six.npy}", folder);
    expect_refusal(text, "one value for each cell: `at: cells` takes them");
    (void)snprintf(text, sizeof text, "psi: 1, u1: {series: {file: %s/levels.npy, every: 1}}",
                   folder);
    expect_refusal(text, "one value for each cell: `at: cells` takes them");
    (void)snprintf(text, sizeof text, "psi: 1, u1: {file: %s/five.npy, at: cells}", folder);
    expect_refusal(text, "expected [6] (`at: cells`: one value for each cell)");
    (void)snprintf(text, sizeof text, "psi: {file: %s/six.npy, at: cells}, u1: 0", folder);
    expect_refusal(text, "is for fields on faces, which field 'psi' is not");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_have_the_means_of_cells),
        cmocka_unit_test(nothing_passes_a_pole),
        cmocka_unit_test(one_cell_has_two_faces),
        cmocka_unit_test(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
