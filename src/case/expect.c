/* Shapes of fields, and of the arrays in files that their values come from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "case/source.h"

void strake_case_field_shape(const strake_case *which, int field, int64_t shape[STRAKE_AXES])
{
    const int face = strake_face_axis(which->problem->field[field].position);
    for (int a = 0; a < STRAKE_AXES; ++a) {
        shape[a] = which->n[a] + (a == face && which->boundary[a] != STRAKE_PERIODIC ? 1 : 0);
    }
}

void strake_source_shape(const strake_case *which, int field, const strake_source *source,
                         int64_t shape[STRAKE_AXES])
{
    strake_case_field_shape(which, field, shape);
    if (source->is_cells) {
        memcpy(shape, which->n, sizeof which->n);
    }
}

strake_expected strake_source_expect(const strake_case *which, int field,
                                     const strake_source *source)
{
    strake_expected out = {.faces = -1};
    const int dims = which->problem->dims;
    const int a = strake_face_axis(which->problem->field[field].position);
    int64_t shape[STRAKE_AXES];
    strake_source_shape(which, field, source, shape);
    for (int d = 0; d < dims; ++d) {
        const int axis = strake_axis_of(dims, d);
        out.shape[d] = shape[axis];
        out.faces = axis == a && shape[axis] > which->n[axis] ? d : out.faces;
    }
    if (source->is_cells) {
        (void)snprintf(out.why, sizeof out.why, " (`at: cells`: one value for each cell)");
    } else if (a >= 0) {
        const char *const name = strake_axis_name(dims, a);
        const strake_boundary kind = strake_case_boundary(which, a);
        (void)snprintf(
            out.why, sizeof out.why,
            kind == STRAKE_PERIODIC
                ? " (on the faces across %s; boundary.%s is %s, so face %" PRId64
                  " is face 0 and not stored)"
                : " (on the faces across %s; boundary.%s is %s, so there is one more than "
                  "the %" PRId64 " cells)",
            name, name, strake_boundary_name(kind), which->n[a]);
    }
    return out;
}

strake_status strake_source_check_shape(const strake_source *source, const strake_input *file,
                                        int lead, int dims, const strake_expected *expected,
                                        strake_error *error)
{
    const strake_npy_info *const info = &file->info;
    bool same = info->dims == dims + lead, is_cells = same && expected->faces >= 0;
    for (int d = 0; d < dims; ++d) {
        const int64_t found = info->shape[d + lead], cells = expected->shape[d] - 1;
        same = same && found == expected->shape[d];
        is_cells = is_cells && found == (d == expected->faces ? cells : expected->shape[d]);
    }
    if (same) {
        return STRAKE_OK;
    }
    char found[200];
    char wanted[80];
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s has shape %s, expected %s%s%s%s",
                       source->where, file->path,
                       strake_npy_shape_text(info->dims, info->shape, found, sizeof found),
                       strake_npy_shape_text(dims, expected->shape, wanted, sizeof wanted),
                       lead > 0 ? ", after the number of levels" : "", expected->why,
                       is_cells ? "; this is one value for each cell: `at: cells` takes them as "
                                  "those of the cells' centres and gives faces their means"
                                : "");
}
