/* Reading GeoJSON, which YAML includes. */
#include "case/features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "base/utm.h"
#include "case/read.h"

enum { MAX_BYTES = 1 << 27 };

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};

static bool has_suffix(const char *path, const char *const *suffix)
{
    const char *const own = strrchr(path, '.');
    while (own != NULL && *suffix != NULL && strcasecmp(own, *suffix) != 0) {
        suffix++;
    }
    return own != NULL && *suffix != NULL;
}

/* Whether it is a text that is read here. */
static bool is_geojson(const char *path)
{
    static const char *const suffix[] = {".geojson", ".json", NULL};
    char head[1] = "";
    return has_suffix(path, suffix) || (strake_file_head(path, head, sizeof head) && *head == '{');
}

bool strake_features_are_in(const char *path)
{
    static const char *const suffix[] = {".kml", ".kmz", ".shp", ".gpkg", ".gml", ".fgb", NULL};
    return has_suffix(path, suffix) || is_geojson(path);
}

/* --- geometries ---------------------------------------------------------------------------------- */

static strake_status no_memory(const strake_features *f, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", f->name);
}

/* An array with room for one more element: it grows to powers of two. NULL without memory */
static void *grow(void *array, int64_t count, size_t size)
{
    const bool is_full = (count & (count - 1)) == 0;
    return is_full ? realloc(array, (size_t)(count > 0 ? 2 * count : 1) * size) : array;
}

/* [x, y] or [x, y, z], of which the last shape gets one place more. */
static strake_status read_position(const strake_node *node, strake_features *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double at[2];
    if (node->kind != STRAKE_NODE_LIST || node->children < 2) {
        return strake_node_unlike(node, error, "a position: [x, y]");
    }
    void *grown = NULL;
    STRAKE_TRY(strake_read_real(node->child, &any, &at[0], error));
    STRAKE_TRY(strake_read_real(node->child->next, &any, &at[1], error));
    grown = grow(f->place, f->places, sizeof *f->place);
    if (grown == NULL) {
        return no_memory(f, error);
    }
    f->place = grown;
    memcpy(f->place[f->places++], at, sizeof at);
    f->shape[f->shapes - 1].count++;
cleanup:
    return status;
}

/* Positions in lists of lists, @p depth levels deep, of which the innermost is a shape. */
static strake_status read_positions(const strake_node *node, int depth, strake_shape_kind kind,
                                    strake_features *f, strake_error *error)
{
    static const char *const few[] = {
        [STRAKE_SHAPE_LINE] = "two or more positions of a line",
        [STRAKE_SHAPE_RING] = "four or more positions of a ring, the last as the first"};
    strake_status status = STRAKE_OK;
    const bool is_shape = depth == (kind == STRAKE_SHAPE_POINT ? 0 : 1);
    const int least = kind == STRAKE_SHAPE_RING ? 4 : 2;
    if (depth > 0 && node->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(node, error, "a list of positions");
    }
    if (is_shape && depth > 0 && node->children < least) {
        return strake_node_unlike(node, error, "%s", few[kind]);
    }
    if (is_shape) {
        void *const grown = grow(f->shape, f->shapes, sizeof *f->shape);
        if (grown == NULL) {
            return no_memory(f, error);
        }
        f->shape = grown;
        f->shape[f->shapes++] =
            (strake_shape){.kind = kind, .feature = f->features - 1, .first = f->places};
    }
    if (depth == 0) {
        return read_position(node, f, error);
    }
    for (const strake_node *item = node->child; item != NULL; item = item->next) {
        STRAKE_TRY(is_shape ? read_position(item, f, error)
                            : read_positions(item, depth - 1, kind, f, error));
    }
cleanup:
    return status;
}

static strake_status read_geometry(const strake_node *node, unsigned wanted, strake_features *f,
                                   strake_error *error)
{
    static const struct {
        int depth;
        strake_shape_kind kind;
    } of[] = {{0, STRAKE_SHAPE_POINT}, {1, STRAKE_SHAPE_POINT}, {1, STRAKE_SHAPE_LINE},
              {2, STRAKE_SHAPE_LINE},  {2, STRAKE_SHAPE_RING},  {3, STRAKE_SHAPE_RING}};
    enum { COLLECTION = sizeof of / sizeof *of };
    static const char words[] = "Point|MultiPoint|LineString|MultiLineString|Polygon|MultiPolygon|"
                                "GeometryCollection";
    strake_status status = STRAKE_OK;
    int type = 0;
    const strake_node *const name = strake_node_get(node, "type");
    const strake_node *const content = strake_node_get(
        node, name != NULL && name->text != NULL && strcmp(name->text, "GeometryCollection") == 0
                  ? "geometries"
                  : "coordinates");
    if (name == NULL || content == NULL) {
        return strake_node_fail(node, error, "expected a geometry: its type and its coordinates");
    }
    STRAKE_TRY(strake_read_choice(name, words, &type, error));
    if (type == COLLECTION) {
        for (const strake_node *item = content->child; item != NULL; item = item->next) {
            STRAKE_TRY(read_geometry(item, wanted, f, error));
        }
    } else if ((of[type].kind & wanted) == 0U) {
        static const char *const lists[] = {
            [STRAKE_SHAPE_POINT] = "points",
            [STRAKE_SHAPE_LINE] = "lines",
            [STRAKE_SHAPE_POINT | STRAKE_SHAPE_LINE] = "points or lines",
            [STRAKE_SHAPE_RING] = "polygons",
            [STRAKE_SHAPE_LINE | STRAKE_SHAPE_RING] = "lines or polygons"};
        status = strake_node_unlike(name, error, "%s", lists[wanted]);
    } else if (content->children > 0) { /* RFC 7946: an empty one is none */
        status = read_positions(content, of[type].depth, of[type].kind, f, error);
    }
cleanup:
    return status;
}

static strake_status read_feature(const strake_node *geometry, const strake_node *properties,
                                  unsigned wanted, strake_features *f, strake_error *error)
{
    void *const grown = grow((void *)f->properties, f->features, sizeof *f->properties);
    if (grown == NULL) {
        return no_memory(f, error);
    }
    f->properties = grown;
    f->properties[f->features++] = properties;
    return geometry != NULL && geometry->kind != STRAKE_NODE_NULL
               ? read_geometry(geometry, wanted, f, error)
               : STRAKE_OK;
}

/* A collection, a feature, or a geometry alone. */
static strake_status read_root(const strake_node *root, unsigned wanted, strake_features *f,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const type = strake_node_get(root, "type");
    const strake_node *const list = strake_node_get(root, "features");
    const char *const word = type != NULL && type->text != NULL ? type->text : "";
    if (strcmp(word, "Feature") == 0) {
        STRAKE_TRY(read_feature(strake_node_get(root, "geometry"),
                                strake_node_get(root, "properties"), wanted, f, error));
    } else if (strcmp(word, "FeatureCollection") != 0) {
        STRAKE_TRY(read_feature(root, NULL, wanted, f, error));
    } else if (list == NULL || list->kind != STRAKE_NODE_LIST) {
        return strake_node_fail(root, error, "expected a list of `features`");
    }
    for (const strake_node *item = list != NULL ? list->child : NULL; item != NULL;
         item = item->next) {
        STRAKE_TRY(read_feature(strake_node_get(item, "geometry"),
                                strake_node_get(item, "properties"), wanted, f, error));
    }
    STRAKE_CHECK(f->places > 0, error, STRAKE_ERR_USAGE, "%s: has no geometry", f->name);
cleanup:
    return status;
}

/* --- coordinates --------------------------------------------------------------------------------- */

typedef enum coordinates { OF_MAP, GEOGRAPHIC, OTHER } coordinates;

/* Whether all can be longitudes and latitudes. */
static bool are_degrees(const strake_features *f)
{
    bool are = true;
    for (int64_t k = 0; k < f->places && are; k++) {
        are = fabs(f->place[k][0]) <= 180.0 && fabs(f->place[k][1]) <= 90.0;
    }
    return are;
}

/* Which ones a file of GeoJSON has: what stood in `crs` before RFC 7946 is "urn:ogc:def:crs:EPSG::32633" and the like. */
static coordinates find_coordinates(const strake_features *f, const strake_georef *map)
{
    const strake_node *const name = strake_node_find(f->root, "crs.properties.name");
    const char *const word = name != NULL && name->text != NULL ? name->text : "";
    const char *const colon = strrchr(word, ':');
    const bool is_map_known = map->is_geographic || map->zone > 0 || map->system != NULL;
    const int code = colon != NULL && strstr(word, "EPSG") != NULL ? atoi(colon + 1) : 0;
    const bool is_geographic = code == 4326 || strstr(word, "CRS84") != NULL;
    const bool is_maps =
        map->system == NULL &&
        (map->is_geographic ? is_geographic
                            : map->zone > 0 && code == (map->is_south ? 32700 : 32600) + map->zone);
    if (!is_map_known || is_maps) {
        return OF_MAP;
    }
    if (word[0] == '\0') {
        const bool is_other = map->system != NULL || !map->is_geographic;
        return is_other && are_degrees(f) ? GEOGRAPHIC : OF_MAP;
    }
    return is_geographic ? GEOGRAPHIC : OTHER;
}

/* JSON may write characters beyond \uFFFF as two halves, which YAML refuses: each becomes a question mark. */
static void pass_halves(char *text)
{
    while ((text = strchr(text, '\\')) != NULL && text[1] != '\0') {
        const bool is_half = text[1] == 'u' && (text[2] == 'd' || text[2] == 'D') &&
                             text[3] != '\0' && strchr("89abcdefABCDEF", text[3]) != NULL &&
                             text[4] != '\0' && text[5] != '\0';
        if (is_half) {
            memcpy(text + 2, "003f", 4);
        }
        text += 2;
    }
}

static strake_status parse(char *text, size_t length, unsigned wanted, strake_features *f,
                           strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(strspn(text, " \t\r\n") < length, error, STRAKE_ERR_USAGE,
                 "%s: is empty; expected GeoJSON, such as a FeatureCollection", f->name);
    pass_halves(text);
    STRAKE_TRY(strake_tree_parse_data(f->name, text, length, &f->root, error));
    STRAKE_TRY(read_root(f->root, wanted, f, error));
cleanup:
    return status;
}

/* Through GDAL: what it makes is on the map. */
static strake_status read_other(const strake_input_kind *const *kinds, const char *path,
                                const strake_georef *map, unsigned wanted, strake_features *f,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    size_t length = 0;
    while (kinds != NULL && *kinds != NULL && (*kinds)->as_geojson == NULL) {
        kinds++;
    }
    const char *why = NULL;
    const int descriptor = strake_file_open(path, NULL, &why);
    STRAKE_CHECK(descriptor >= 0, error, STRAKE_ERR_IO, "%s: cannot be opened: %s", path, why);
    (void)close(descriptor);
    strake_features_free(f);
    f->name = malloc(strlen(path) + sizeof ", as GeoJSON");
    STRAKE_CHECK(f->name != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
    (void)sprintf(f->name, "%s, as GeoJSON", path);
    STRAKE_CHECK(kinds != NULL && *kinds != NULL, error, STRAKE_ERR_USAGE,
                 "%s: needs GDAL, which is not here", path);
    STRAKE_TRY((*kinds)->as_geojson(path, map, &text, &length, error));
    STRAKE_TRY(parse(text, length, wanted, f, error));
cleanup:
    free(text);
    return status;
}

strake_status strake_features_read(const strake_input_kind *const *kinds, const char *path,
                                   const strake_georef *map, unsigned wanted, strake_features *out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *data = NULL;
    char *text = NULL;
    size_t length = 0;
    coordinates has = OTHER;
    STRAKE_CHECK(map->is_known, error, STRAKE_ERR_USAGE,
                 "%s: has places on a map, but that of the grid is not known, for its terrain is "
                 "from no file that says it",
                 path);
    if (is_geojson(path)) {
        STRAKE_TRY(strake_file_read(path, MAX_BYTES, "file of geometries", &data, &length, error));
        text = strake_text_begin(data);
        out->name = strdup(path);
        STRAKE_CHECK(out->name != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
        STRAKE_TRY(parse(text, length - (size_t)(text - data), wanted, out, error));
        has = find_coordinates(out, map);
    }
    if (has == OTHER || (has == GEOGRAPHIC && map->system != NULL)) {
        STRAKE_TRY(read_other(kinds, path, map, wanted, out, error));
    } else if (has == GEOGRAPHIC) {
        for (int64_t k = 0; k < out->places; k++) {
            double *const at = out->place[k];
            strake_utm_from_geographic(map->zone, map->is_south, at[0], at[1], &at[0], &at[1]);
        }
    }
cleanup:
    free(data);
    return status;
}

const strake_node *strake_features_property(const strake_features *features, int64_t feature,
                                            const char *name)
{
    const strake_node *const node = strake_node_get(features->properties[feature], name);
    return node != NULL && node->kind != STRAKE_NODE_NULL ? node : NULL;
}

strake_status strake_features_check_place(const strake_features *f, const strake_georef *map,
                                          const int64_t cells[2], bool all, strake_error *error)
{
    const double side[2][2] = {{map->x, strake_georef_x(map, (double)cells[1])},
                               {strake_georef_y(map, (double)cells[0]), map->y}};
    double extent[2][2] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    int64_t inside = 0;
    char text[300];
    for (int64_t k = 0; k < f->places; k++) {
        const double *const at = f->place[k];
        for (int d = 0; d < 2; d++) {
            extent[d][0] = fmin(extent[d][0], at[d]);
            extent[d][1] = fmax(extent[d][1], at[d]);
        }
        inside +=
            at[0] >= side[0][0] && at[0] < side[0][1] && at[1] > side[1][0] && at[1] <= side[1][1]
                ? 1
                : 0;
    }
    if (inside > 0 && (!all || inside == f->places)) {
        return STRAKE_OK;
    }
    (void)strake_number_print(text, sizeof text,
                              "x from %.10g to %.10g and y from %.10g to %.10g, the grid x from "
                              "%.10g to %.10g and y from "
                              "%.10g to %.10g",
                              extent[0][0], extent[0][1], extent[1][0], extent[1][1], side[0][0],
                              side[0][1], side[1][0], side[1][1]);
    const bool has_system = map->is_geographic || map->zone > 0 || map->system != NULL;
    return strake_fail(
        error, STRAKE_ERR_USAGE, "%s: %s of its places is outside of the grid: they have %s%s",
        f->name, inside > 0 ? "one" : "each", text,
        !has_system && are_degrees(f)
            ? "; where they are longitudes and latitudes, the terrain has to say its "
              "zone: {file: NAME, utm: {zone: 33}}"
            : "");
}

/* --- cells --------------------------------------------------------------------------------------- */

/* Where the side of a polygon crosses the middle of a row. */
typedef struct crossing {
    int64_t row;
    double col; /* column whose middle lies there */
} crossing;

typedef struct crossings {
    crossing *at;
    int64_t count, room;
} crossings;

static int compare_crossings(const void *a, const void *b)
{
    const crossing *const x = a, *const y = b;
    return x->row != y->row ? (x->row < y->row ? -1 : 1) : x->col < y->col ? -1 : x->col > y->col;
}

/* A side between two places, in rows and columns of middles: a corner on a middle belongs to one of its sides. */
static strake_status add_side(crossings *all, const double a[2], const double b[2],
                              strake_error *error)
{
    static const double most = 0x1p31;
    const int64_t first = (int64_t)floor(fmin(a[0], b[0])) + 1;
    const int64_t end = (int64_t)floor(fmax(a[0], b[0])) + 1;
    if (!(fabs(a[0]) < most && fabs(b[0]) < most && fabs(a[1]) < most && fabs(b[1]) < most)) {
        return strake_fail(error, STRAKE_ERR_USAGE, "a polygon is more than 2^31 cells long");
    }
    if (all->count + (end - first) > all->room) {
        const int64_t room = 2 * (all->count + (end - first)) + 64;
        crossing *const grown = realloc(all->at, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the cells of polygons");
        }
        all->at = grown;
        all->room = room;
    }
    for (int64_t row = first; row < end; row++) {
        const double part = ((double)row - a[0]) / (b[0] - a[0]);
        all->at[all->count++] = (crossing){row, a[1] + part * (b[1] - a[1])};
    }
    return STRAKE_OK;
}

static strake_status add_sides(crossings *all, const strake_features *f, const strake_shape *ring,
                               const strake_georef *map, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double place[2][2];
    for (int64_t k = 0; k <= ring->count && status == STRAKE_OK; k++) {
        const double *const at = f->place[ring->first + k % ring->count];
        double *const now = place[k % 2];
        now[0] = (map->y - at[1]) / map->cell - 0.5;
        now[1] = (at[0] - map->x) / map->cell - 0.5;
        status = k > 0 ? add_side(all, place[(k + 1) % 2], now, error) : STRAKE_OK;
    }
    return status;
}

strake_status strake_features_fill(const strake_features *f, const strake_georef *map,
                                   strake_cells_adder *add, void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    crossings all = {0};
    for (int64_t k = 0; k < f->shapes; k++) {
        if (f->shape[k].kind == STRAKE_SHAPE_RING) {
            STRAKE_TRY(add_sides(&all, f, &f->shape[k], map, error));
        }
        if (k + 1 < f->shapes && f->shape[k + 1].feature == f->shape[k].feature) {
            continue;
        }
        if (all.count > 0) {
            qsort(all.at, (size_t)all.count, sizeof *all.at, compare_crossings);
        }
        for (int64_t m = 0; m + 1 < all.count; m += 2) { /* each row has an even number of them */
            STRAKE_TRY(add(user, all.at[m].row, (int64_t)ceil(all.at[m].col),
                           (int64_t)ceil(all.at[m + 1].col), error));
        }
        all.count = 0;
    }
cleanup:
    free(all.at);
    return status;
}

void strake_features_free(strake_features *features)
{
    strake_tree_free(&features->root);
    free((void *)features->properties);
    free(features->shape);
    free(features->place);
    free(features->name);
    *features = (strake_features){0};
}
