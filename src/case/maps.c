#include "case/maps.h"

#include "case/case.h"

bool strake_case_is_map(const strake_case *which)
{
    bool has_footprint = false;
    for (int f = 0; f < which->problem->fields; f++) {
        has_footprint = has_footprint || which->problem->field[f].is_extent;
    }
    return which->georef.is_known || has_footprint;
}

strake_georef strake_case_place(const strake_case *which)
{
    return which->georef.is_known ? which->georef
                                  : (strake_georef){.y = (double)which->n[0] * which->spacing[0],
                                                    .cell = which->spacing[0]};
}

/* Grids of maps: two dimensions, square cells. */
static strake_status check_grids(const strake_case *which, const char *format, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(which->problem->dims == 2, error, STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: is for problems in 2D; %s is in %dD", which->file, format,
                 which->problem->name, which->problem->dims);
    STRAKE_CHECK(which->georef.is_known || which->spacing[0] == which->spacing[2], error,
                 STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: needs square cells; grid.dx is %g m, grid.dy %g m",
                 which->file, format, which->spacing[0], which->spacing[2]);
    for (int f = 0; f < which->problem->fields; f++) {
        STRAKE_CHECK(!which->output_field[f] || which->problem->field[f].position == STRAKE_CELL,
                     error, STRAKE_ERR_USAGE,
                     "%s: output.formats: %s: %s lies on faces of cells; take it out of "
                     "output.fields",
                     which->file, format, which->problem->field[f].name);
    }
cleanup:
    return status;
}

/* Footprints are made of all fields that say where something is. */
static strake_status check_footprint(const strake_case *which, const char *format,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    int fields = 0;
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        STRAKE_CHECK(!field->is_extent || which->output_field[f], error, STRAKE_ERR_USAGE,
                     "%s: output.formats: %s: a footprint is made of %s, too; add it to "
                     "output.fields",
                     which->file, format, field->name);
        fields += field->is_extent ? 1 : 0;
    }
    STRAKE_CHECK(fields > 0, error, STRAKE_ERR_USAGE,
                 "%s: output.formats: %s: problem %s has no footprint; leave it out", which->file,
                 format, which->problem->name);
cleanup:
    return status;
}

strake_status strake_maps_check(const strake_case *which, strake_error *error)
{
    static const struct {
        strake_output_format format;
        const char *name;
        bool is_footprint;
    } maps[] = {{STRAKE_FORMAT_ASC, "asc", false},
                {STRAKE_FORMAT_GEOTIFF, "geotiff", false},
                {STRAKE_FORMAT_GEOJSON, "geojson", true},
                {STRAKE_FORMAT_KML, "kml", true}};
    strake_status status = STRAKE_OK;
    for (int k = 0; k < (int)(sizeof maps / sizeof maps[0]); k++) {
        if (!which->output_format[maps[k].format]) {
            continue;
        }
        STRAKE_TRY(check_grids(which, maps[k].name, error));
        if (maps[k].is_footprint) {
            STRAKE_TRY(check_footprint(which, maps[k].name, error));
        }
        STRAKE_CHECK(
            maps[k].format != STRAKE_FORMAT_KML || which->georef.is_geographic ||
                (which->georef.is_known &&
                 (which->georef.zone > 0 || which->georef.system != NULL)),
            error, STRAKE_ERR_USAGE,
            "%s: output.formats: kml: needs longitudes and latitudes; say beside the "
            "terrain's `file` which zone of UTM its coordinates are of, utm: {zone: 33}, or "
            "that they are degrees, geographic: true; or take a file that names its system",
            which->file);
    }
cleanup:
    return status;
}
