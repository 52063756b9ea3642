/*
 * Output as one NetCDF file of a run, fields.nc, after the CF conventions 1.8: dimensions (time, z, x, y), where x is
 * the direction of rows, y that of columns, z that of planes. Latitudes, longitudes and the time's origin that the files
 * of fields have are kept, with their names. A grid that lies on a map has the map's coordinates
 * instead, and where it is known which map that is a variable crs that says so (5.6 there: grid_mapping).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "case/axes.h"
#include "case/case.h"
#include "case/source.h"
#include "files/netcdf.h"
#include "output/format.h"

/* What is first among the variables of a file. */
enum { TIME, STEP, FIRST_AXIS };

#define MAPPING "crs"

enum {
    MOST_DIMS = 1 + 2 * STRAKE_AXES,
    MOST_VARIABLES = FIRST_AXIS + 3 * STRAKE_AXES + 1 + STRAKE_MAX_FIELDS,
    MOST_ATTRIBUTES = 24 + 8 * MOST_VARIABLES
};

typedef struct netcdf {
    strake_format_state out;
    const strake_netcdf *module;
    char *path;
    strake_netcdf_file *file; /* NULL before the first output */
    strake_netcdf_plan plan;
    strake_netcdf_dim dim[MOST_DIMS];
    strake_netcdf_variable variable[MOST_VARIABLES];
    strake_netcdf_attribute attribute[MOST_ATTRIBUTES];
    double *coordinate[MOST_DIMS];
    double spacing[STRAKE_AXES];
    char unit[STRAKE_MAX_FIELDS][40];
    char projection[40];
    char title[200];
    char since[100];
    strake_text sets;
    int dim_of[2][STRAKE_AXES]; /* of cells and of faces along an axis */
    int variable_of[STRAKE_MAX_FIELDS];
    int now; /* variable of the present field */
} netcdf;

/* "x", "x_face", ...: dimensions along an axis. */
static const char *axis_name(const strake_case *which, int axis, bool is_face)
{
    static const char *const face[] = {"x_face", "y_face", "z_face"};
    const char *const name = strake_format_axis(which, axis);
    if (which->axes.cell[axis].n > 0) {
        return is_face ? which->axes.face[axis] : which->axes.cell[axis].name;
    }
    return is_face ? face[name[0] - 'x'] : name;
}

/* 0 for rows, 1 for columns, 2 for planes. */
static int kind_of(const strake_case *which, int axis)
{
    return axis == 2 ? 1 : which->problem->dims == 3 && axis == 0 ? 2 : 0;
}

static const char *spacing_name(const strake_case *which, int axis)
{
    static const char *const name[] = {"dx", "dy", "dz"};
    return name[kind_of(which, axis)];
}

static int add_variable(netcdf *n, strake_netcdf_variable variable)
{
    n->variable[n->plan.variables] = variable;
    return n->plan.variables++;
}

static void tell(netcdf *n, int variable, const char *name, const char *text)
{
    n->attribute[n->plan.attributes++] =
        (strake_netcdf_attribute){.variable = variable, .name = name, .text = text};
}

static void tell_number(netcdf *n, int variable, const char *name, double number)
{
    n->attribute[n->plan.attributes++] =
        (strake_netcdf_attribute){.variable = variable, .name = name, .number = number};
}

static void add_times(netcdf *n)
{
    const int records = n->plan.dims++;
    n->dim[records] = (strake_netcdf_dim){"time", 0};
    for (int k = TIME; k <= STEP; k++) {
        (void)add_variable(n, (strake_netcdf_variable){.name = k == TIME ? "time" : "step",
                                                       .element_size = 8,
                                                       .dims = 1,
                                                       .dim = {records}});
    }
    n->plan.counter = STEP;
    tell(n, TIME, "standard_name", "time");
    const strake_case_axes *const axes = &n->out.run->which->axes;
    const bool has_origin = axes->origin[0] != '\0';
    (void)snprintf(n->since, sizeof n->since, "seconds since %s",
                   has_origin ? axes->origin : STRAKE_AXES_NO_DATE);
    tell(n, TIME, "long_name",
         has_origin ? "simulated time"
                    : "simulated time; its origin stands for the initial fields");
    tell(n, TIME, "units", n->since);
    tell(n, TIME, "calendar", axes->calendar[0] != '\0' ? axes->calendar : "standard");
    tell(n, TIME, "axis", "T");
    tell(n, STEP, "long_name", "number of time steps");
    tell(n, STEP, "units", "1");
}

/* What readers know places on maps by, and the earth. */
static void tell_map(netcdf *n, int variable, int axis, bool is_geographic)
{
    static const char *const name[2][2] = {{"projection_y_coordinate", "projection_x_coordinate"},
                                           {"latitude", "longitude"}};
    static const char *const unit[2][2] = {{"m", "m"}, {"degrees_north", "degrees_east"}};
    static const char *const text[2][2] = {{"northing", "easting"}, {"latitude", "longitude"}};
    tell(n, variable, "standard_name", name[is_geographic][axis == 2]);
    tell(n, variable, "long_name", text[is_geographic][axis == 2]);
    tell(n, variable, "units", unit[is_geographic][axis == 2]);
    tell(n, variable, "axis", axis == 2 ? "X" : "Y");
}

/* Whether it is known which map the coordinates belong to. */
static bool has_mapping(const strake_case *which)
{
    const strake_georef *const georef = &which->georef;
    return strake_case_is_map(which) &&
           (georef->is_geographic || georef->zone > 0 || georef->system != NULL);
}

/* Universal Transverse Mercator (Snyder, Map Projections: A Working Manual, 1987, page 57). */
static void tell_zone(netcdf *n, int variable, const strake_georef *georef)
{
    (void)snprintf(n->projection, sizeof n->projection, "WGS 84 / UTM zone %d%s", georef->zone,
                   georef->is_south ? "S" : "N");
    tell(n, variable, "projected_crs_name", n->projection);
    tell_number(n, variable, "longitude_of_central_meridian", 6.0 * georef->zone - 183.0);
    tell_number(n, variable, "latitude_of_projection_origin", 0.0);
    tell_number(n, variable, "scale_factor_at_central_meridian", 0.9996);
    tell_number(n, variable, "false_easting", 500000.0);
    tell_number(n, variable, "false_northing", georef->is_south ? 1e7 : 0.0);
}

/* The map that the coordinates belong to; the variable's own number says nothing. */
static void add_mapping(netcdf *n)
{
    static const double nothing = 0.0;
    const strake_georef *const georef = &n->out.run->which->georef;
    const int v = add_variable(
        n, (strake_netcdf_variable){.name = MAPPING, .element_size = 8, .fixed = &nothing});
    tell(n, v, "long_name", "the map that the coordinates belong to");
    if (georef->is_geographic || georef->zone > 0) {
        tell(n, v, "grid_mapping_name",
             georef->is_geographic ? "latitude_longitude" : "transverse_mercator");
    }
    if (georef->system != NULL) { /* the text says all */
        tell(n, v, "crs_wkt", georef->system);
        return;
    }
    tell(n, v, "geographic_crs_name", "WGS 84");
    tell(n, v, "horizontal_datum_name", "World Geodetic System 1984");
    tell(n, v, "reference_ellipsoid_name", "WGS 84");
    tell_number(n, v, "semi_major_axis", 6378137.0);
    tell_number(n, v, "inverse_flattening", 298.257223563);
    tell(n, v, "prime_meridian_name", "Greenwich");
    tell_number(n, v, "longitude_of_prime_meridian", 0.0);
    if (!georef->is_geographic) {
        tell_zone(n, v, georef);
    }
}

/* A coordinate of a file; a face lies midway between two cells, the outer ones as far beyond, but for the poles. */
static double place_of(const strake_case *which, int axis, bool is_face, int64_t k)
{
    const strake_input_axis *const cells = &which->axes.cell[axis];
    const double *const at = cells->at;
    const int64_t n = cells->n;
    if (n == 0) {
        return strake_format_place(which, axis, is_face, k);
    }
    if (!is_face || n == 1) {
        return at[k < n ? k : n - 1];
    }
    const double face = k == 0   ? at[0] - 0.5 * (at[1] - at[0])
                        : k == n ? at[n - 1] + 0.5 * (at[n - 1] - at[n - 2])
                                 : 0.5 * (at[k - 1] + at[k]);
    return strake_input_axis_is_latitude(cells->name, cells->unit) ? fmax(-90.0, fmin(90.0, face))
                                                                   : face;
}

/* Says what the coordinates of a file are. */
static void tell_place(netcdf *n, int variable, int axis)
{
    const strake_input_axis *const cells = &n->out.run->which->axes.cell[axis];
    if (strake_input_axis_is_latitude(cells->name, cells->unit) ||
        strake_input_axis_is_longitude(cells->name, cells->unit)) {
        tell_map(n, variable, axis, true);
        return;
    }
    tell(n, variable, "long_name", cells->name);
    tell(n, variable, "units", cells->unit[0] != '\0' ? cells->unit : "1");
}

/* Places along an axis, of cells or of faces. */
static strake_status add_axis(netcdf *n, int axis, bool is_face, int64_t points,
                              strake_error *error)
{
    static const char *const text[2][3] = {{"distance in the direction of rows",
                                            "distance in the direction of columns",
                                            "distance in the direction of planes"},
                                           {"distance of faces in the direction of rows",
                                            "distance of faces in the direction of columns",
                                            "distance of faces in the direction of planes"}};
    const char *const name = axis_name(n->out.run->which, axis, is_face);
    const int which = kind_of(n->out.run->which, axis);
    const int d = n->plan.dims++;
    double *const at = calloc((size_t)points, sizeof *at);
    if (at == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    }
    for (int64_t k = 0; k < points; k++) {
        at[k] = place_of(n->out.run->which, axis, is_face, k);
    }
    n->coordinate[d] = at;
    n->dim[d] = (strake_netcdf_dim){name, points};
    n->dim_of[is_face][axis] = d;
    const int v =
        add_variable(n, (strake_netcdf_variable){
                            .name = name, .element_size = 8, .dims = 1, .dim = {d}, .fixed = at});
    if (strake_case_is_map(n->out.run->which)) {
        tell_map(n, v, axis, n->out.run->which->georef.is_geographic);
        return STRAKE_OK;
    }
    if (n->out.run->which->axes.cell[axis].n > 0) {
        tell_place(n, v, axis);
        return STRAKE_OK;
    }
    tell(n, v, "long_name", text[is_face][which]);
    tell(n, v, "units", "m");
    return STRAKE_OK;
}

static void add_spacing(netcdf *n, int axis)
{
    static const char *const text[] = {"spacing between rows", "spacing between columns",
                                       "spacing between planes"};
    const int which = kind_of(n->out.run->which, axis);
    n->spacing[axis] = n->out.run->which->spacing[axis];
    const int v =
        add_variable(n, (strake_netcdf_variable){.name = spacing_name(n->out.run->which, axis),
                                                 .element_size = 8,
                                                 .fixed = &n->spacing[axis]});
    tell(n, v, "long_name", text[which]);
    tell(n, v, "units", "m");
}

static strake_status add_field(netcdf *n, int f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_field *const field = &n->out.run->which->problem->field[f];
    const int dims = n->out.run->which->problem->dims;
    strake_netcdf_variable variable = {.name = field->name,
                                       .element_size =
                                           strake_precision_size(n->out.run->which->precision),
                                       .dims = 1 + dims};
    int64_t shape[STRAKE_AXES];
    strake_case_field_shape(n->out.run->which, f, shape);
    for (int d = 0; d < dims; d++) {
        const int axis = strake_axis_of(dims, d);
        const bool is_face =
            field->position != STRAKE_CELL && axis == (int)field->position - (int)STRAKE_FACE_0;
        if (n->dim_of[is_face][axis] == 0) {
            STRAKE_TRY(add_axis(n, axis, is_face, shape[axis], error));
        }
        variable.dim[1 + d] = n->dim_of[is_face][axis];
    }
    n->variable_of[f] = add_variable(n, variable);
    strake_format_unit(field->unit, n->unit[f], sizeof n->unit[f]);
    tell(n, n->variable_of[f], "long_name", field->text);
    tell(n, n->variable_of[f], "units", n->unit[f][0] != '\0' ? n->unit[f] : "1");
    if (has_mapping(n->out.run->which)) {
        tell(n, n->variable_of[f], "grid_mapping", MAPPING);
    }
cleanup:
    return status;
}

static strake_status make_plan(netcdf *n, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = n->out.run->which;
    n->plan = (strake_netcdf_plan){
        .kind = which->netcdf, .dim = n->dim, .variable = n->variable, .attribute = n->attribute};
    add_times(n);
    for (int d = 0; d < which->problem->dims; d++) {
        const int axis = strake_axis_of(which->problem->dims, d);
        STRAKE_TRY(add_axis(n, axis, false, which->n[axis], error));
        add_spacing(n, axis);
    }
    if (has_mapping(n->out.run->which)) {
        add_mapping(n);
    }
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f]) {
            STRAKE_TRY(add_field(n, f, error));
        }
    }
    (void)snprintf(n->title, sizeof n->title, "%s: %s", which->problem->name, which->problem->text);
    for (int k = 0; n->out.run->sets[k] != NULL; k++) {
        strake_text_print(&n->sets, "%s%s", k > 0 ? "\n" : "", n->out.run->sets[k]);
    }
    STRAKE_CHECK(!n->sets.failed, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    tell(n, -1, "Conventions", "CF-1.8");
    tell(n, -1, "title", n->title);
    tell(n, -1, "source", n->out.run->source);
    tell(n, -1, "history", n->out.run->history);
    tell(n, -1, "problem", which->problem->name);
    tell(n, -1, "case_file", which->file);
    tell(n, -1, "case", which->text);
    if (n->sets.length > 0) {
        tell(n, -1, "case_changes", n->sets.data);
    }
cleanup:
    return status;
}

static const char who[] = "output.formats: netcdf";

/* Whether the file has a variable or a dimension of a name beside those of fields. */
static bool is_taken(const strake_case *which, const char *name)
{
    bool is = strcmp(name, "time") == 0 || strcmp(name, "step") == 0 ||
              (has_mapping(which) && strcmp(name, MAPPING) == 0);
    for (int d = 0; d < which->problem->dims; d++) {
        const int axis = strake_axis_of(which->problem->dims, d);
        is = is || strcmp(name, axis_name(which, axis, false)) == 0 ||
             strcmp(name, axis_name(which, axis, true)) == 0 ||
             strcmp(name, spacing_name(which, axis)) == 0;
    }
    return is;
}

static strake_status look(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf *module = NULL;
    for (int f = 0; f < which->problem->fields; f++) {
        const char *const name = which->problem->field[f].name;
        STRAKE_CHECK(!which->output_field[f] || !is_taken(which, name), error, STRAKE_ERR_USAGE,
                     "%s: %s: field %s has the name of a coordinate or a spacing in such files; "
                     "call it otherwise, or leave it out of output.fields",
                     which->file, who, name);
    }
    STRAKE_TRY(strake_netcdf_load(who, &module, error));
cleanup:
    return status;
}

static strake_status begin(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    netcdf *const n = self;
    STRAKE_TRY(strake_netcdf_load(who, &n->module, error));
    (void)snprintf(n->out.file, sizeof n->out.file, "%s", STRAKE_FORMAT_NETCDF_NAME);
    n->path = strake_path_join(n->out.run->folder, n->out.file);
    STRAKE_CHECK(n->path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_check(n->path, error));
    STRAKE_TRY(make_plan(n, error));
cleanup:
    return status;
}

/* A record begins with its time, so that a file without fields is one without records. */
static strake_status output_begin(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    netcdf *const n = self;
    const double step = (double)n->out.run->output.step;
    if (n->file == NULL && n->out.run->resumed >= 0 && access(n->path, F_OK) == 0) {
        STRAKE_TRY(
            n->module->append(n->path, &n->plan, (double)n->out.run->resumed, &n->file, error));
    } else if (n->file == NULL) {
        STRAKE_TRY(n->module->create(n->path, &n->plan, &n->file, error));
    }
    STRAKE_TRY(n->module->put(n->file, TIME, NULL, NULL, &n->out.run->output.time, error));
    STRAKE_TRY(n->module->put(n->file, STEP, NULL, NULL, &step, error));
cleanup:
    return status;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    netcdf *const n = self;
    (void)slabs;
    (void)error;
    n->now = n->variable_of[field];
    return STRAKE_OK;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    netcdf *const n = self;
    const int64_t start[] = {slabs->dims > 1 ? slabs->first : 0, 0, 0};
    const int64_t count[] = {slabs->dims > 1 ? slabs->end - slabs->first : slabs->shape[0],
                             slabs->shape[1], slabs->shape[2]};
    return n->module->put(n->file, n->now, start, count, slabs->data, error);
}

static strake_status output_end(void *self, strake_error *error)
{
    netcdf *const n = self;
    return n->module->commit(n->file, error);
}

static void close_netcdf(void *self)
{
    netcdf *const n = self;
    if (n->file != NULL) {
        n->module->close(&n->file);
    }
    for (int d = 0; d < MOST_DIMS; d++) {
        free(n->coordinate[d]);
    }
    strake_text_free(&n->sets);
    free(n->path);
}

const strake_format strake_format_netcdf = {.name = "netcdf",
                                            .size = sizeof(netcdf),
                                            .look = look,
                                            .begin = begin,
                                            .output_begin = output_begin,
                                            .field_begin = field_begin,
                                            .piece = piece,
                                            .output_end = output_end,
                                            .close = close_netcdf};
