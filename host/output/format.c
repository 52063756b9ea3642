/* Words that all formats use. */
#include "output/format.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "case/case.h"
#include "problem/sph.h"

void strake_format_name(const char *field, int64_t step, const char *suffix,
                        char file[STRAKE_FORMAT_FILE])
{
    if (step < 0) {
        (void)snprintf(file, STRAKE_FORMAT_FILE, "%s.%s", field, suffix);
    } else {
        (void)snprintf(file, STRAKE_FORMAT_FILE, "%s_%08lld.%s", field, (long long)step, suffix);
    }
}

strake_status strake_format_path(strake_format_state *state, const char *field, const char *suffix,
                                 char **path, strake_error *error)
{
    strake_format_name(field, state->run->output.step, suffix, state->file);
    *path = strake_path_join(state->run->folder, state->file);
    return *path != NULL ? STRAKE_OK
                         : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
}

const char *strake_format_axis(const strake_case *which, int axis)
{
    const bool is_map = strake_case_is_map(which);
    return axis == 2                                ? (is_map ? "x" : "y")
           : which->problem->dims == 3 && axis == 0 ? "z"
                                                    : (is_map ? "y" : "x");
}

double strake_format_place(const strake_case *which, int axis, bool is_face, int64_t k)
{
    if (!strake_case_is_map(which)) {
        return ((double)k - (is_face ? 0.5 : 0.0)) * which->spacing[axis];
    }
    const strake_georef place = strake_case_place(which);
    const double at = (double)k + (is_face ? 0.0 : 0.5);
    return axis == 2 ? strake_georef_x(&place, at) : strake_georef_y(&place, at);
}

size_t strake_format_element_size(const strake_case *which, int field)
{
    const bool is_exact =
        field == STRAKE_SPH_POSITION || field == STRAKE_SPH_KIND || field == STRAKE_SPH_NUMBER;
    return which->problem->has_particles && !is_exact
               ? (size_t)strake_precision_size(which->precision)
               : (size_t)strake_case_element_size(which);
}

void strake_format_unit(const char *unit, char *out, size_t size)
{
    const size_t length = strlen(unit);
    const bool is_number =
        strcmp(unit, "[-]") == 0 || strcmp(unit, "[any]") == 0 || length < sizeof "[]";
    (void)snprintf(out, size, "%.*s", is_number ? 0 : (int)(length - 2), unit + 1);
}
