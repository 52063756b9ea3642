/* Opening the file of a source: what the case, the problem and the field say of it. */
#include <string.h>

#include "case/maps.h"
#include "case/source.h"

/* What a cell without a value holds: what the field says; in further terms of a sum, nothing. */
static strake_blank blank_of(const strake_case *which, const strake_source *source,
                             const char *field)
{
    strake_blank blank = source->blank;
    for (int f = 0; f < which->problem->fields; ++f) {
        const strake_field *const row = &which->problem->field[f];
        if (strcmp(row->name, field) == 0 && row->has_blank) {
            blank.is_filled = true;
            const bool is_open = which->boundary[2] == STRAKE_OPEN && row->beyond_open != 0.0;
            blank.fill = source->is_further ? 0.0 : is_open ? row->beyond_open : row->blank;
        }
    }
    return blank;
}

/* What a file says of its map and what the case says must not differ. */
static strake_status check_map(const strake_source *source, const strake_georef *file,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_other_zone =
        source->map.zone != file->zone || source->map.is_south != file->is_south;
    STRAKE_CHECK((source->map.zone == 0 && !source->map.is_geographic) || file->system == NULL,
                 error, STRAKE_ERR_USAGE,
                 "%s: says itself which system its coordinates are of; leave out `%s`",
                 source->file, source->map.zone > 0 ? "utm" : "geographic");
    STRAKE_CHECK(source->map.zone == 0 || !file->is_geographic, error, STRAKE_ERR_USAGE,
                 "%s: its coordinates are longitudes and latitudes; leave out `utm`", source->file);
    STRAKE_CHECK(file->zone == 0 || !source->map.is_geographic, error, STRAKE_ERR_USAGE,
                 "%s: its coordinates are of zone %d of UTM; leave out `geographic`", source->file,
                 file->zone);
    STRAKE_CHECK(file->zone == 0 || source->map.zone == 0 || !is_other_zone, error,
                 STRAKE_ERR_USAGE,
                 "%s: its coordinates are of zone %d %s of UTM, not of %d %s; leave out `utm`",
                 source->file, file->zone, file->is_south ? "south" : "north", source->map.zone,
                 source->map.is_south ? "south" : "north");
cleanup:
    return status;
}

strake_status strake_source_open_file(const strake_case *which, const strake_source *source,
                                      const char *field, strake_input *out, strake_error *error)
{
    strake_input_name name = {.path = source->file,
                              .variable = source->variable,
                              .index = source->index,
                              .furthers = source->furthers,
                              .level = source->has_level ? &source->level : NULL,
                              .goes_north = !strake_case_is_map(which),
                              .field = field,
                              .dims = which->problem->dims,
                              .blank = blank_of(which, source, field)};
    strake_status status = STRAKE_OK;
    memcpy(name.further, source->further, sizeof name.further);
    status = strake_input_open(which->inputs, &name, out, error);
    if (status == STRAKE_OK && out->georef.is_known) {
        status = check_map(source, &out->georef, error);
        out->georef.is_geographic = out->georef.is_geographic || source->map.is_geographic;
        out->georef.zone = source->map.zone > 0 ? source->map.zone : out->georef.zone;
        out->georef.is_south = source->map.zone > 0 ? source->map.is_south : out->georef.is_south;
    }
    return status;
}

bool strake_source_is_alone(const strake_case *which, const strake_source *source)
{
    bool found = false;
    strake_input file = {.kind = NULL};
    strake_error ignored; /* who reads the file says what is wrong with it */
    if (source == NULL) {
        return false;
    }
    if (source->kind == STRAKE_SOURCE_FILE || source->kind == STRAKE_SOURCE_SERIES) {
        (void)(source->kind == STRAKE_SOURCE_FILE
                   ? strake_source_open_file(which, source, "", &file, &ignored)
                   : strake_series_open(which, source, "", 0, &file, &ignored));
        found = strake_input_is_alone(&file);
    }
    strake_input_close(&file);
    for (int k = 0; k < source->children && !found; ++k) {
        found = strake_source_is_alone(which, source->child[k]);
    }
    return found;
}
