/* Reading vents: places, lines, and rates over time. */
#include "case/vents_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asc.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "case/features.h"
#include "case/read.h"

/*
 * SCIARA's input: a grid of the same cells as the terrain that holds the number of a vent where there is one, 0
 * elsewhere, and a text of rates:
 *   [TIME] 86400 [VENT_ID] 1 [EMISSION_RATE] 2.5 3.0 0.7 [VENT_ID] 2 [EMISSION_RATE] 1 [END]
 * A rate [m3/s] lasts for a period of [TIME] [s]; after the last one there is none. Cells of a vent share its rate.
 */

enum { MAX_EMISSION = 1 << 26, MAX_ID = 1 << 20 };

/* Reading the text of rates. */
typedef struct emission {
    const char *where, *path;
    char *text;
    int64_t line;
    double period;
    int *vent; /* number of the vent in strake_vents, by its id; -1: there is none in the grid */
    int ids;   /* ids are below this */
} emission;

static int vents_add(strake_vents *vents);
static bool vents_add_cell(strake_vents *vents, int vent, int64_t row, int64_t col);
static strake_status vents_path(const strake_node *node, const strake_vents_place *place,
                                char **path, strake_error *error);

/* The next word, NULL at the end; counts lines. */
static char *next_word(emission *e, char **rest)
{
    while (**rest == ' ' || **rest == '\t' || **rest == '\r' || **rest == '\n') {
        e->line += **rest == '\n' ? 1 : 0;
        (*rest)++;
    }
    char *const word = **rest != '\0' ? *rest : NULL;
    *rest += strcspn(*rest, " \t\r\n");
    if (word != NULL && **rest != '\0') {
        e->line += **rest == '\n' ? 1 : 0;
        *(*rest)++ = '\0';
    }
    return word;
}

STRAKE_COLD static strake_status vents_sciara_wrong(const emission *e, const char *word,
                                                    const char *expected, strake_error *error)
{
    char shown[STRAKE_SHOW_SIZE];
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s: near line %lld: found %s%s%s, expected %s",
                       e->where, e->path, (long long)e->line, word != NULL ? "'" : "",
                       word != NULL ? strake_text_show(word, shown, sizeof shown) : "the end",
                       word != NULL ? "'" : "", expected);
}

/* The number that follows a keyword. */
static strake_status read_value(emission *e, char **rest, const char *expected, double least,
                                double *out, strake_error *error)
{
    char *end = NULL;
    const char *const word = next_word(e, rest);
    *out = word != NULL ? strake_number_read(word, &end) : 0.0;
    return word != NULL && end != word && *end == '\0' && *out >= least && isfinite(*out)
               ? STRAKE_OK
               : vents_sciara_wrong(e, word, expected, error);
}

/* The rates of a vent up to the next keyword, which goes to @p word. */
static strake_status read_rates(emission *e, char **rest, strake_schedule *rate, char **word,
                                strake_error *error)
{
    double period = 0.0;
    while ((*word = next_word(e, rest)) != NULL && **word != '[') {
        char *end = NULL;
        const double value = strake_number_read(*word, &end);
        if (end == *word || *end != '\0' || !(value >= 0.0) || !isfinite(value)) {
            return vents_sciara_wrong(e, *word, "a rate >= 0 [m3/s] or a keyword", error);
        }
        if (!strake_schedule_add(rate, period++ * e->period, value)) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", e->where);
        }
    }
    if (!strake_schedule_add(rate, period * e->period, 0.0)) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", e->where);
    }
    return STRAKE_OK;
}

static strake_status read_emission(emission *e, strake_vents *vents, bool *given,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *rest = strake_text_begin(e->text);
    char *word = next_word(e, &rest);
    double id = -1.0;
    while (word != NULL && strcasecmp(word, "[END]") != 0) {
        if (strcasecmp(word, "[TIME]") == 0) {
            STRAKE_TRY(
                read_value(e, &rest, "the period of [TIME] > 0 [s]", 1e-300, &e->period, error));
            word = next_word(e, &rest);
        } else if (strcasecmp(word, "[VENT_ID]") == 0) {
            STRAKE_TRY(read_value(e, &rest, "the number of a vent from 1 on", 1.0, &id, error));
            const int vent = id < e->ids && id == floor(id) ? e->vent[(int)id] : -1;
            STRAKE_CHECK(vent >= 0, error, STRAKE_ERR_USAGE,
                         "%s: %s: near line %lld: the grid of vents has no cell of vent %.0f",
                         e->where, e->path, (long long)e->line, id);
            STRAKE_CHECK(!given[vent], error, STRAKE_ERR_USAGE,
                         "%s: %s: near line %lld: vent %.0f stands twice", e->where, e->path,
                         (long long)e->line, id);
            word = next_word(e, &rest);
        } else if (strcasecmp(word, "[EMISSION_RATE]") == 0) {
            STRAKE_CHECK(id > 0.0 && e->period > 0.0, error, STRAKE_ERR_USAGE,
                         "%s: %s: near line %lld: [EMISSION_RATE] needs %s before it", e->where,
                         e->path, (long long)e->line, id > 0.0 ? "[TIME]" : "[VENT_ID]");
            const int vent = e->vent[(int)id];
            given[vent] = true;
            STRAKE_TRY(read_rates(e, &rest, &vents->rate[vent], &word, error));
            id = -1.0;
        } else {
            return vents_sciara_wrong(e, word, "[TIME], [VENT_ID], [EMISSION_RATE] or [END]",
                                      error);
        }
    }
    STRAKE_TRY(word != NULL ? STRAKE_OK : vents_sciara_wrong(e, NULL, "[END]", error));
    word = next_word(e, &rest);
    status = word == NULL ? STRAKE_OK : vents_sciara_wrong(e, word, "nothing after [END]", error);
cleanup:
    return status;
}

/* One cell of the grid that holds a number other than 0. */
static strake_status add_cell(emission *e, strake_vents *vents, int64_t row, int64_t col, double id,
                              strake_error *error)
{
    if (!(id >= 1.0 && id < MAX_ID && id == floor(id))) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: %s: cell [%lld, %lld] is %.10g, expected 0 or the number of a vent, "
            "1 to %d",
            e->where, e->path, (long long)row, (long long)col, id, MAX_ID - 1);
    }
    if ((int)id >= e->ids) {
        int *const more = realloc(e->vent, ((size_t)id + 1) * sizeof *more);
        if (more == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", e->where);
        }
        e->vent = more;
        for (; e->ids <= (int)id; e->ids++) {
            e->vent[e->ids] = -1;
        }
    }
    if (e->vent[(int)id] < 0) {
        e->vent[(int)id] = vents_add(vents);
    }
    const int vent = e->vent[(int)id];
    return vent >= 0 && vents_add_cell(vents, vent, row, col)
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", e->where);
}

static strake_status read_grid(emission *e, const strake_vents_place *place, strake_vents *vents,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_asc_reader *reader = NULL;
    const strake_asc_info *info = NULL;
    strake_error inner;
    double *const line = malloc((size_t)place->cols * sizeof *line);
    STRAKE_CHECK(line != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", e->where);
    status = strake_asc_open(e->path, &reader, &inner);
    STRAKE_CHECK(status == STRAKE_OK, error, STRAKE_ERR_USAGE, "%s: %s", e->where, inner.text);
    info = strake_asc_header(reader);
    STRAKE_CHECK(info->rows == place->rows && info->cols == place->cols, error, STRAKE_ERR_USAGE,
                 "%s: %s has %lld x %lld cells, the grid %lld x %lld", e->where, e->path,
                 (long long)info->rows, (long long)info->cols, (long long)place->rows,
                 (long long)place->cols);
    STRAKE_CHECK(!place->georef->is_known || strake_georef_same(&info->georef, place->georef),
                 error, STRAKE_ERR_USAGE, "%s: %s lies at another place than the terrain", e->where,
                 e->path);
    strake_asc_set_nodata(reader, STRAKE_NODATA_NONE, 0.0);
    for (int64_t i = 0; i < info->rows; i++) {
        status = strake_asc_read(reader, i * info->cols, info->cols, line, &inner);
        STRAKE_CHECK(status == STRAKE_OK, error, STRAKE_ERR_USAGE, "%s: %s", e->where, inner.text);
        for (int64_t j = 0; j < info->cols; j++) {
            const bool is_none = line[j] == 0.0 || isnan(line[j]) ||
                                 (info->has_nodata && strake_nodata_is(line[j], info->nodata));
            if (!is_none) {
                STRAKE_TRY(add_cell(e, vents, i, j, line[j], error));
            }
        }
    }
    STRAKE_CHECK(vents->count > 0, error, STRAKE_ERR_USAGE, "%s: %s has no vent", e->where,
                 e->path);
cleanup:
    strake_asc_close(&reader);
    free(line);
    return status;
}

/** SCIARA's {grid: FILE, emission: FILE}. @return as strake_vents_read() */
static strake_status vents_read_sciara(const strake_node *node, const strake_vents_place *place,
                                       strake_vents *vents, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const grid = strake_node_get(node, "grid");
    const strake_node *const rates = strake_node_get(node, "emission");
    char where[STRAKE_PLACE_SIZE];
    char *grid_path = NULL, *path = NULL;
    bool *given = NULL;
    size_t length = 0;
    strake_error inner;
    emission e = {.where = where, .line = 1};
    if (grid == NULL || rates == NULL) {
        return strake_node_fail(node, error,
                                "expected both files of SCIARA: {grid: FILE, emission: FILE}");
    }
    STRAKE_TRY(vents_path(grid, place, &grid_path, error));
    STRAKE_TRY(vents_path(rates, place, &path, error));
    e.path = grid_path;
    (void)strake_node_where(grid, where, sizeof where);
    STRAKE_TRY(read_grid(&e, place, vents, error));
    e.path = path;
    (void)strake_node_where(rates, where, sizeof where);
    STRAKE_CHECK(strake_file_read(path, MAX_EMISSION, "file of rates", &e.text, &length, &inner) ==
                     STRAKE_OK,
                 error, STRAKE_ERR_USAGE, "%s: %s", where, inner.text);
    given = calloc((size_t)vents->count, sizeof *given);
    STRAKE_CHECK(given != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", where);
    STRAKE_TRY(read_emission(&e, vents, given, error));
    for (int id = 0; id < e.ids; id++) {
        STRAKE_CHECK(e.vent[id] < 0 || given[e.vent[id]], error, STRAKE_ERR_USAGE,
                     "%s: %s: has no rates of vent %d, which the grid of vents has", where, path,
                     id);
    }
cleanup:
    free(e.vent);
    free(e.text);
    free(given);
    free(grid_path);
    free(path);
    return status;
}

/* Vents: what they are, and what comes out of them. */

/** A vent more, without cells. @return its number, or -1 without memory */
static int vents_add(strake_vents *vents)
{
    strake_schedule *const rate =
        realloc(vents->rate, (size_t)(vents->count + 1) * sizeof *vents->rate);
    if (rate == NULL) {
        return -1;
    }
    vents->rate = rate;
    vents->rate[vents->count] = (strake_schedule){0};
    return vents->count++;
}

/** A cell more, with a weight beside the others of its vent. @return false without memory */
static bool vents_add_weighted(strake_vents *vents, int vent, int64_t row, int64_t col,
                               double weight)
{
    /* Room for a power of two. */
    if ((vents->cells & (vents->cells - 1)) == 0) {
        const size_t room = vents->cells > 0 ? 2 * (size_t)vents->cells : 1;
        strake_vent_cell *const cell = realloc(vents->cell, room * sizeof *cell);
        if (cell == NULL) {
            return false;
        }
        vents->cell = cell;
    }
    vents->cell[vents->cells++] = (strake_vent_cell){row, col, vent, weight};
    return true;
}

static bool vents_add_cell(strake_vents *vents, int vent, int64_t row, int64_t col)
{
    return vents_add_weighted(vents, vent, row, col, 1.0);
}

/** The cells of each vent share its rate by their weights. @return false without memory */
static bool vents_share(strake_vents *vents)
{
    double *const sum = calloc((size_t)vents->count + 1, sizeof *sum);
    for (int64_t k = 0; sum != NULL && k < vents->cells; k++) {
        sum[vents->cell[k].vent] += vents->cell[k].share;
    }
    for (int64_t k = 0; sum != NULL && k < vents->cells; k++) {
        vents->cell[k].share /= sum[vents->cell[k].vent];
    }
    const bool is_good = sum != NULL;
    free(sum);
    return is_good;
}

double strake_vents_rate(const strake_vents *vents, const strake_vent_cell *cell, double time)
{
    return cell->share * strake_schedule_rate(&vents->rate[cell->vent], time);
}

double strake_vents_next(const strake_vents *vents, double time)
{
    double next = INFINITY;
    for (int v = 0; v < vents->count; v++) {
        next = fmin(next, strake_schedule_next(&vents->rate[v], time));
    }
    return next;
}

bool strake_vents_are_over(const strake_vents *vents, double time)
{
    for (int v = 0; v < vents->count; v++) {
        const strake_schedule *const s = &vents->rate[v];
        if (strake_schedule_rate(s, time) > 0.0 || strake_schedule_next(s, time) < INFINITY) {
            return false;
        }
    }
    return true;
}

double strake_vents_volume(const strake_vents *vents, double from, double to)
{
    double volume = 0.0;
    for (int v = 0; v < vents->count; v++) {
        volume += strake_schedule_volume(&vents->rate[v], from, to);
    }
    return volume;
}

void strake_vents_free(strake_vents *vents)
{
    for (int v = 0; v < vents->count; v++) {
        strake_schedule_free(&vents->rate[v]);
    }
    free(vents->rate);
    free(vents->cell);
    *vents = (strake_vents){0};
}

static const strake_limits any = {-INFINITY, INFINITY, false, NULL};

/* What the points of a series are. */
static const strake_points_words vents_read_words = {"rate", "m3/s", "3600, 4.5"};

static strake_status out_of_memory(const strake_node *node, strake_error *error)
{
    char where[STRAKE_PLACE_SIZE];
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                       strake_node_where(node, where, sizeof where));
}

/** The file that a node names, as seen from the folder of the case; free() it. */
static strake_status vents_path(const strake_node *node, const strake_vents_place *place,
                                char **path, strake_error *error)
{
    const char *name = NULL;
    const strake_status status = strake_read_text(node, "the name of a file", &name, error);
    if (status != STRAKE_OK) {
        return status;
    }
    *path = strake_path_from(place->folder, name);
    return *path != NULL ? STRAKE_OK : out_of_memory(node, error);
}

/* --- where --------------------------------------------------------------------------------------- */

/* One coordinate of a place on the map as the index of a cell. */
static strake_status read_side(const strake_node *node, const strake_vents_place *place,
                               bool is_row, int64_t *out, strake_error *error)
{
    const strake_georef *const g = place->georef;
    const int64_t cells = is_row ? place->rows : place->cols;
    double at = 0.0;
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_read_real(node, &any, &at, error));
    if (!g->is_known) {
        return strake_node_fail(node, error,
                                "the place of the grid on the map is not known, for its terrain is "
                                "from no file that says it; give row and col instead");
    }
    *out = strake_georef_cell(is_row ? g->y - at : at - g->x, g->cell);
    if (*out < 0 || *out >= cells) {
        char text[200];
        const double far =
            is_row ? strake_georef_y(g, (double)cells) : strake_georef_x(g, (double)cells);
        (void)strake_number_print(text, sizeof text,
                                  "%.10g is outside of the grid, which is from %.10g to %.10g", at,
                                  is_row ? far : g->x, is_row ? g->y : far);
        return strake_node_fail(node, error, "%s", text);
    }
cleanup:
    return status;
}

static strake_status read_index(const strake_node *node, int64_t cells, int64_t *out,
                                strake_error *error)
{
    const strake_limits range = {0.0, (double)cells - 1.0, false, "[cells of the grid]"};
    return strake_read_integer(node, &range, out, error);
}

/* {row, col} or {x, y} of a mapping. */
static strake_status read_place(const strake_node *map, const strake_vents_place *place,
                                int64_t *row, int64_t *col, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const r = strake_node_get(map, "row"), *const c =
                                                                  strake_node_get(map, "col");
    const strake_node *const x = strake_node_get(map, "x"), *const y = strake_node_get(map, "y");
    if (r != NULL && c != NULL && x == NULL && y == NULL) {
        STRAKE_TRY(read_index(r, place->rows, row, error));
        STRAKE_TRY(read_index(c, place->cols, col, error));
    } else if (x != NULL && y != NULL && r == NULL && c == NULL) {
        STRAKE_TRY(read_side(y, place, true, row, error));
        STRAKE_TRY(read_side(x, place, false, col, error));
    } else {
        const bool is_twice = (r != NULL || c != NULL) && (x != NULL || y != NULL);
        return strake_node_fail(map, error,
                                "expected its place: either row and col, counted from 0 in the "
                                "north-west, or x and y on the map%s",
                                is_twice ? "; it has keys of both" : "");
    }
cleanup:
    return status;
}

/*
 * The cells of a line, each touching the next one along a side or at a corner (Bresenham); of one that is tight along a side
 * always.
 */
static bool add_line(strake_vents *vents, int vent, bool is_tight, int64_t row, int64_t col,
                     int64_t last_row, int64_t last_col)
{
    const int64_t rows = llabs(last_row - row), cols = llabs(last_col - col);
    const int64_t down = row < last_row ? 1 : -1, right = col < last_col ? 1 : -1;
    int64_t off = cols - rows;
    bool is_good = vents_add_cell(vents, vent, row, col);
    while (is_good && (row != last_row || col != last_col)) {
        const int64_t twice = 2 * off;
        if (twice >= -rows) {
            off -= rows;
            col += right;
        }
        if (twice >= -rows && twice <= cols && is_tight) {
            is_good = vents_add_cell(vents, vent, row, col);
        }
        if (twice <= cols) {
            off += cols;
            row += down;
        }
        is_good = is_good && vents_add_cell(vents, vent, row, col);
    }
    return is_good;
}

/* A place on the map, in cells: middles have whole numbers. */
typedef struct spot {
    double row, col;
} spot;

/*
 * Cells whose middles are within a distance of a line, in sides of cells. Where shares fall, they do so with the square of
 * the distance, as the speed does across a laminar flow between walls, so that nothing jumps at the edge.
 */
static bool add_width(strake_vents *vents, int vent, const strake_vents_place *place, spot a,
                      spot b, double most, bool falls)
{
    bool is_good = true;
    const double rows = b.row - a.row, cols = b.col - a.col, square = rows * rows + cols * cols;
    const int64_t first = (int64_t)fmax(ceil(fmin(a.row, b.row) - most), 0.0);
    const int64_t end = (int64_t)fmin(floor(fmax(a.row, b.row) + most) + 1.0, (double)place->rows);
    const int64_t west = (int64_t)fmax(ceil(fmin(a.col, b.col) - most), 0.0);
    const int64_t east = (int64_t)fmin(floor(fmax(a.col, b.col) + most) + 1.0, (double)place->cols);
    for (int64_t i = first; i < end && is_good; i++) {
        for (int64_t j = west; j < east && is_good; j++) {
            const double down = (double)i - a.row, right = (double)j - a.col;
            const double along =
                square > 0.0 ? fmin(fmax((down * rows + right * cols) / square, 0.0), 1.0) : 0.0;
            const double y = down - along * rows, x = right - along * cols;
            const double far = (y * y + x * x) / (most * most), weight = falls ? 1.0 - far : 1.0;
            is_good = far > 1.0 || !(weight > 0.0) || vents_add_weighted(vents, vent, i, j, weight);
        }
    }
    return is_good;
}

static int compare_cells(const void *a, const void *b)
{
    const strake_vent_cell *const x = a, *const y = b;
    if (x->row != y->row || x->col != y->col) {
        return x->row != y->row ? (x->row < y->row ? -1 : 1) : x->col < y->col ? -1 : 1;
    }
    return x->share > y->share ? -1 : x->share < y->share;
}

/* The cells of a vent from @p first on, each once, with the largest of its shares. */
static void keep_one_of_each(strake_vents *vents, int64_t first)
{
    int64_t kept = first;
    qsort(vents->cell + first, (size_t)(vents->cells - first), sizeof *vents->cell, compare_cells);
    for (int64_t k = first; k < vents->cells; k++) {
        if (k == first || vents->cell[k].row != vents->cell[kept - 1].row ||
            vents->cell[k].col != vents->cell[kept - 1].col) {
            vents->cell[kept++] = vents->cell[k];
        }
    }
    vents->cells = kept;
}

/* What cells of polygons are added to. */
typedef struct filling {
    strake_vents *vents;
    int vent;
    const strake_vents_place *place;
} filling;

static strake_status add_run(void *user, int64_t row, int64_t first, int64_t end,
                             strake_error *error)
{
    const filling *const to = user;
    bool is_good = true;
    for (int64_t col = first; col < end && is_good; col++) {
        is_good = row < 0 || row >= to->place->rows || col < 0 || col >= to->place->cols ||
                  vents_add_cell(to->vents, to->vent, row, col);
    }
    return is_good ? STRAKE_OK
                   : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for cells of polygons");
}

/* A point or a line in the grid: the line of a barrier, which must not leak, and its width, or one of the two of a vent. */
static bool add_shape(strake_vents *vents, int vent, const strake_vents_place *place,
                      const strake_features *f, const strake_shape *shape, bool is_barrier,
                      double width)
{
    const strake_georef *const g = place->georef;
    const double most = 0.5 * width / place->spacing;
    spot last = {0.0, 0.0};
    int64_t row = 0, col = 0;
    bool is_good = true;
    for (int64_t m = 0; m < shape->count && is_good; m++) {
        const double *const at = f->place[shape->first + m];
        const spot now = {(g->y - at[1]) / g->cell - 0.5, (at[0] - g->x) / g->cell - 0.5};
        const int64_t down = strake_georef_cell(g->y - at[1], g->cell);
        const int64_t right = strake_georef_cell(at[0] - g->x, g->cell);
        const int64_t to[] = {down < place->rows ? down : place->rows - 1,
                              right < place->cols ? right : place->cols - 1};
        const int64_t before = vents->cells;
        is_good = !(width > 0.0) ||
                  add_width(vents, vent, place, m > 0 ? last : now, now, most, !is_barrier);
        if (is_barrier || vents->cells == before) {
            is_good = is_good && add_line(vents, vent, is_barrier, m > 0 ? row : to[0],
                                          m > 0 ? col : to[1], to[0], to[1]);
        }
        row = to[0];
        col = to[1];
        last = now;
    }
    return is_good;
}

/* Points and lines of vents, or lines and polygons of barriers, of a file. @param[in] width  [m] */
static strake_status read_features(const strake_node *node, const strake_vents_place *place,
                                   bool is_barrier, double width, strake_vents *vents, int vent,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_georef *const g = place->georef;
    const int64_t cells[] = {place->rows, place->cols}, before = vents->cells;
    strake_features f = {0};
    strake_error inner;
    filling to = {vents, vent, place};
    char *path = NULL;
    char where[STRAKE_PLACE_SIZE];
    STRAKE_TRY(vents_path(node, place, &path, error));
    status = strake_features_read(
        place->inputs, path, g,
        STRAKE_SHAPE_LINE | (is_barrier ? STRAKE_SHAPE_RING : STRAKE_SHAPE_POINT), &f, &inner);
    status = status == STRAKE_OK ? strake_features_check_place(&f, g, cells, true, &inner) : status;
    STRAKE_CHECK(status == STRAKE_OK, error,
                 status == STRAKE_ERR_MEMORY ? STRAKE_ERR_MEMORY : STRAKE_ERR_USAGE, "%s: %s",
                 strake_node_where(node, where, sizeof where), inner.text);
    for (int64_t k = 0; k < f.shapes; k++) {
        if (f.shape[k].kind != STRAKE_SHAPE_RING) {
            STRAKE_CHECK(add_shape(vents, vent, place, &f, &f.shape[k], is_barrier, width), error,
                         STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
        }
    }
    STRAKE_TRY(strake_features_fill(&f, g, add_run, &to, error));
    STRAKE_CHECK(vents->cells > before, error, STRAKE_ERR_USAGE,
                 "%s: %s: has no middle of a cell in its polygons",
                 strake_node_where(node, where, sizeof where), path);
    keep_one_of_each(vents, before);
cleanup:
    strake_features_free(&f);
    free(path);
    return status;
}

/* --- how much ------------------------------------------------------------------------------------ */

strake_status strake_curve_read(const strake_node *node, bool *is_constant, double *peak,
                                strake_error *error)
{
    static const char triangle[] = "triangle";
    const char *word = NULL;
    const strake_status status = strake_read_text(node, "a curve", &word, error);
    if (status != STRAKE_OK) {
        return status;
    }
    const char *const rest =
        strncmp(word, triangle, sizeof triangle - 1) == 0 ? word + sizeof triangle - 1 : NULL;
    *is_constant = strcmp(word, "constant") == 0;
    *peak = rest != NULL ? 0.25 : 0.0;
    const bool is_good =
        *is_constant || strcmp(word, "falling") == 0 ||
        (rest != NULL && (*rest == '\0' || (*rest == ':' && strake_text_real(rest + 1, peak) &&
                                            *peak >= 0.0 && *peak < 1.0)));
    return is_good
               ? STRAKE_OK
               : strake_node_unlike(node, error,
                                    "constant, falling (linearly to 0), triangle, or triangle:F "
                                    "with the part F of the duration after which the rate is "
                                    "largest, 0 <= F < 1");
}

/* {curve: WORD, volume: V, duration: T}: a rate that erupts the volume in the duration. */
static strake_status read_curve(const strake_node *map, strake_points *s, bool *is_linear,
                                strake_error *error)
{
    static const strake_limits volumes = {0.0, INFINITY, true, "[m3]"},
                               durations = {0.0, INFINITY, true, "[s]"};
    strake_status status = STRAKE_OK;
    const strake_node *const volume = strake_node_get(map, "volume");
    const strake_node *const duration = strake_node_get(map, "duration");
    double amount = 0.0, seconds = 0.0, peak = 0.0;
    bool is_constant = false;
    if (volume == NULL || duration == NULL) {
        return strake_node_fail(map, error,
                                "a curve needs a volume [m3] and a duration [s], such as {curve: "
                                "triangle, volume: 2e7, duration: 864000}");
    }
    STRAKE_TRY(strake_read_keys(map, "curve|volume|duration", error));
    STRAKE_TRY(strake_curve_read(strake_node_get(map, "curve"), &is_constant, &peak, error));
    STRAKE_TRY(strake_read_real(volume, &volumes, &amount, error));
    STRAKE_TRY(strake_read_real(duration, &durations, &seconds, error));
    s->time = calloc(3, sizeof *s->time);
    s->value = calloc(3, sizeof *s->value);
    if (s->time == NULL || s->value == NULL) {
        return out_of_memory(map, error);
    }
    s->points = peak > 0.0 ? 1 : 0; /* the rate of the first point is 0 */
    s->time[s->points] = peak * seconds;
    s->value[s->points++] = (is_constant ? 1.0 : 2.0) * (amount / seconds);
    s->time[s->points++] = seconds;
    *is_linear = !is_constant;
cleanup:
    return status;
}

/* {series: [[t, r], ...]} or {file: NAME}, and how to go from point to point; or a curve. */
static strake_status read_series(const strake_node *map, const strake_vents_place *place,
                                 strake_points *s, bool *is_linear, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int choice = 0;
    const strake_node *const list = strake_node_get(map, "series");
    const strake_node *const file = strake_node_get(map, "file");
    const strake_node *const how = strake_node_get(map, "interpolate");
    if (strake_node_get(map, "curve") != NULL) {
        return read_curve(map, s, is_linear, error);
    }
    STRAKE_TRY(strake_read_keys(map, "series|file|interpolate|curve|volume|duration", error));
    if ((list == NULL) == (file == NULL) || strake_node_get(map, "volume") != NULL ||
        strake_node_get(map, "duration") != NULL) {
        return strake_node_fail(map, error,
                                "expected one of series: [[time, rate], ...], file: NAME, and "
                                "curve: constant, falling or triangle, with volume and duration");
    }
    if (how != NULL) {
        STRAKE_TRY(strake_read_choice(how, "constant|linear", &choice, error));
        *is_linear = choice == 1;
    }
    status = list != NULL
                 ? strake_points_read_pairs(list, &vents_read_words, s, error)
                 : strake_points_read_csv(file, place->folder, &vents_read_words, s, error);
cleanup:
    return status;
}

static strake_status read_rate(const strake_node *node, const strake_vents_place *place,
                               strake_schedule *out, strake_error *error)
{
    static const strake_limits range = {0.0, INFINITY, false, "[m3/s]"};
    strake_status status = STRAKE_OK;
    strake_points s = {0};
    double number = 0.0;
    bool is_linear = false, is_good = true;
    char wrong[200];
    switch (node->kind) {
    case STRAKE_NODE_MAP:
        STRAKE_TRY(read_series(node, place, &s, &is_linear, error));
        break;
    case STRAKE_NODE_LIST:
        STRAKE_TRY(strake_points_read_pairs(node, &vents_read_words, &s, error));
        break;
    case STRAKE_NODE_SCALAR:
    case STRAKE_NODE_NULL:
        if (node->kind == STRAKE_NODE_SCALAR && !strake_text_real(node->text, &number) &&
            strchr("+-.0123456789", node->text[0]) == NULL) {
            STRAKE_TRY(strake_points_read_csv(node, place->folder, &vents_read_words, &s, error));
            break;
        }
        STRAKE_TRY(strake_read_real(node, &range, &number, error));
        is_good = strake_schedule_add(out, 0.0, number);
        break;
    }
    if (strake_schedule_wrong(s.points, s.time, s.value, wrong, sizeof wrong) != NULL) {
        status = strake_node_fail(node, error, "%s", wrong);
        goto cleanup;
    }
    if (!is_good || !strake_schedule_points(out, s.points, s.time, s.value, is_linear)) {
        status = out_of_memory(node, error);
    }
cleanup:
    strake_points_free(&s);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------------ */

/* {row, col} or {x, y} and, if any, the place that a line goes to. */
static strake_status read_line(const strake_node *map, const strake_vents_place *place,
                               int64_t from[2], int64_t last[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_node *const to = strake_node_get(map, "to");
    STRAKE_TRY(read_place(map, place, &from[0], &from[1], error));
    last[0] = from[0];
    last[1] = from[1];
    if (to != NULL) {
        if (to->kind != STRAKE_NODE_MAP) {
            return strake_node_unlike(to, error, "the other end of a line: {row, col} or {x, y}");
        }
        STRAKE_TRY(strake_read_keys(to, "row|col|x|y", error));
        STRAKE_TRY(read_place(to, place, &last[0], &last[1], error));
    }
cleanup:
    return status;
}

/* Where a file says the place nothing else does. */
static strake_status check_file(const strake_node *map, strake_error *error)
{
    static const char *const other[] = {"row", "col", "x", "y", "to"};
    for (int k = 0; k < 5; k++) {
        const strake_node *const node = strake_node_get(map, other[k]);
        if (node != NULL) {
            return strake_node_fail(node, error, "`file` says where it is; leave this out");
        }
    }
    return STRAKE_OK;
}

static strake_status read_vent(const strake_node *map, const strake_vents_place *place,
                               strake_vents *vents, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const strake_limits widths = {0.0, INFINITY, false, "[m]"};
    const int64_t before = vents->cells;
    int64_t from[2], last[2];
    double width = 0.0;
    int vent = 0;
    const strake_node *const wide = strake_node_get(map, "width");
    const strake_node *const rate = strake_node_get(map, "rate");
    const strake_node *const file = strake_node_get(map, "file");
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a vent such as {row: 10, col: 12, rate: 4}");
    }
    STRAKE_TRY(strake_read_keys(map, "row|col|x|y|to|file|width|rate", error));
    if (rate == NULL) {
        return strake_node_fail(
            map, error, "its rate is missing; expected a number [m3/s], a series or a file");
    }
    STRAKE_TRY(wide != NULL ? strake_read_real(wide, &widths, &width, error) : STRAKE_OK);
    vent = vents_add(vents);
    if (vent < 0) {
        return out_of_memory(map, error);
    }
    if (file != NULL) {
        STRAKE_TRY(check_file(map, error));
        STRAKE_TRY(read_features(file, place, false, width, vents, vent, error));
    } else {
        STRAKE_TRY(read_line(map, place, from, last, error));
        const spot a = {(double)from[0], (double)from[1]}, b = {(double)last[0], (double)last[1]};
        if ((width > 0.0 &&
             !add_width(vents, vent, place, a, b, 0.5 * width / place->spacing, true)) ||
            (vents->cells == before &&
             !add_line(vents, vent, false, from[0], from[1], last[0], last[1]))) {
            return out_of_memory(map, error);
        }
    }
    status = read_rate(rate, place, &vents->rate[vent], error);
cleanup:
    return status;
}

static strake_status read_barrier(const strake_node *map, const strake_vents_place *place,
                                  strake_vents *out, strake_error *error)
{
    static const strake_limits heights = {0.0, 1e4, true, "[m]"},
                               lengths = {0.0, INFINITY, false, "[m]"},
                               times = {0.0, INFINITY, false, "[s]"};
    strake_status status = STRAKE_OK;
    int64_t at[2], last[2], before = out->cells;
    double height = 0.0, width = 0.0, from = 0.0, until = INFINITY;
    bool is_good = true;
    const strake_node *const file = strake_node_get(map, "file");
    const strake_node *const high = strake_node_get(map, "height");
    const strake_node *const wide = strake_node_get(map, "width");
    const strake_node *const begin = strake_node_get(map, "from");
    const strake_node *const end = strake_node_get(map, "until");
    const int barrier = vents_add(out);
    if (barrier < 0) {
        return out_of_memory(map, error);
    }
    if (map->kind != STRAKE_NODE_MAP) {
        return strake_node_unlike(map, error, "a barrier such as {file: dam.geojson, height: 5}");
    }
    STRAKE_TRY(strake_read_keys(map, "row|col|x|y|to|file|height|width|from|until", error));
    if (high == NULL) {
        return strake_node_fail(map, error, "its height is missing; expected a number > 0 [m]");
    }
    STRAKE_TRY(strake_read_real(high, &heights, &height, error));
    STRAKE_TRY(wide != NULL ? strake_read_real(wide, &lengths, &width, error) : STRAKE_OK);
    STRAKE_TRY(begin != NULL ? strake_read_real(begin, &times, &from, error) : STRAKE_OK);
    STRAKE_TRY(end != NULL ? strake_read_real(end, &times, &until, error) : STRAKE_OK);
    if (!(until > from)) {
        return strake_node_fail(end, error, "expected a time after `from` [s]");
    }
    if (file != NULL) {
        STRAKE_TRY(check_file(map, error));
        STRAKE_TRY(read_features(file, place, true, width, out, barrier, error));
    } else {
        STRAKE_TRY(read_line(map, place, at, last, error));
        const spot a = {(double)at[0], (double)at[1]}, b = {(double)last[0], (double)last[1]};
        is_good = add_line(out, barrier, true, at[0], at[1], last[0], last[1]) &&
                  (!(width > 0.0) ||
                   add_width(out, barrier, place, a, b, 0.5 * width / place->spacing, false));
        keep_one_of_each(out, before);
    }
    is_good = is_good && strake_schedule_add(&out->rate[barrier], from, height) &&
              (until == INFINITY || strake_schedule_add(&out->rate[barrier], until, 0.0));
    status = is_good ? STRAKE_OK : out_of_memory(map, error);
cleanup:
    return status;
}

strake_status strake_barriers_read(const strake_node *node, const strake_vents_place *place,
                                   strake_vents *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (strake_vents){0};
    if (node != NULL && node->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(node, error,
                                  "a list of barriers such as [{file: dam.geojson, height: 5}]");
    }
    for (const strake_node *item = node != NULL ? node->child : NULL; item != NULL;
         item = item->next) {
        STRAKE_TRY(read_barrier(item, place, out, error));
    }
cleanup:
    return status;
}

strake_status strake_vents_read(const strake_node *node, const strake_vents_place *place,
                                strake_vents *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *out = (strake_vents){0};
    if (node == NULL) {
        return STRAKE_OK;
    }
    if (node->kind == STRAKE_NODE_MAP) {
        STRAKE_TRY(strake_read_keys(node, "grid|emission", error));
        STRAKE_TRY(vents_read_sciara(node, place, out, error));
    } else if (node->kind != STRAKE_NODE_LIST) {
        return strake_node_unlike(
            node, error,
            "a list of vents such as [{row: 10, col: 12, rate: 4}], or SCIARA's "
            "{grid: FILE, emission: FILE}");
    }
    for (const strake_node *item = node->child; node->kind == STRAKE_NODE_LIST && item != NULL;
         item = item->next) {
        STRAKE_TRY(read_vent(item, place, out, error));
    }
    status = vents_share(out) ? STRAKE_OK : out_of_memory(node, error);
cleanup:
    return status;
}
