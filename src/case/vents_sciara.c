/*
 * SCIARA's input: a grid of the same cells as the terrain that holds the number of a vent where there is one, 0
 * elsewhere, and a text of rates:
 *   [TIME] 86400 [VENT_ID] 1 [EMISSION_RATE] 2.5 3.0 0.7 [VENT_ID] 2 [EMISSION_RATE] 1 [END]
 * A rate [m3/s] lasts for a period of [TIME] [s]; after the last one there is none. Cells of a vent share its rate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/asc.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "case/read.h"
#include "case/vents_impl.h"

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

STRAKE_COLD static strake_status wrong(const emission *e, const char *word, const char *expected,
                                       strake_error *error)
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
               : wrong(e, word, expected, error);
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
            return wrong(e, *word, "a rate >= 0 [m3/s] or a keyword", error);
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
            return wrong(e, word, "[TIME], [VENT_ID], [EMISSION_RATE] or [END]", error);
        }
    }
    STRAKE_TRY(word != NULL ? STRAKE_OK : wrong(e, NULL, "[END]", error));
    word = next_word(e, &rest);
    status = word == NULL ? STRAKE_OK : wrong(e, word, "nothing after [END]", error);
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
        e->vent[(int)id] = strake_vents_add(vents);
    }
    const int vent = e->vent[(int)id];
    return vent >= 0 && strake_vents_add_cell(vents, vent, row, col)
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

strake_status strake_vents_read_sciara(const strake_node *node, const strake_vents_place *place,
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
    STRAKE_TRY(strake_vents_path(grid, place, &grid_path, error));
    STRAKE_TRY(strake_vents_path(rates, place, &path, error));
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
