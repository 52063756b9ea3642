/* Where eruptions of a scan are, and of which classes. */
#include "program/scan_events.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asc.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "case/features.h"
#include "case/read.h"
#include "case/vents_read.h"
#include "files/text.h"
#include "solver/solver.h"

enum { NUMBER = STRAKE_SCAN_NUMBER };

/* --- vents ----------------------------------------------------------------------------------------- */

static strake_status add_vent(strake_scan_vents *vents, double x, double y, double weight,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    double **const array[] = {&vents->x, &vents->y, &vents->weight};
    const double value[] = {x, y, weight};
    const int64_t n = vents->count;
    for (int k = 0; k < 3; k++) {
        if ((n & (n - 1)) == 0) { /* room for as many again */
            double *const grown =
                realloc(*array[k], (size_t)(n > 0 ? 2 * n : 1) * sizeof **array[k]);
            STRAKE_CHECK(grown != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
            *array[k] = grown;
        }
        (*array[k])[n] = value[k];
    }
    vents->count++;
cleanup:
    return status;
}

static strake_status read_grid_of_vents(const char *path, strake_scan_vents *out,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_asc_reader *reader = NULL;
    double *line = NULL;
    const strake_asc_info *info = NULL;
    STRAKE_TRY(strake_asc_open(path, &reader, error));
    info = strake_asc_header(reader);
    strake_asc_set_nodata(reader, STRAKE_NODATA_SHOWN,
                          0.0); /* 0 is no vent, whatever it stands for */
    line = malloc((size_t)info->cols * sizeof *line);
    STRAKE_CHECK(line != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
    for (int64_t row = 0; row < info->rows; row++) {
        STRAKE_TRY(strake_asc_read(reader, row * info->cols, info->cols, line, error));
        for (int64_t col = 0; col < info->cols; col++) {
            const strake_georef *const g = &info->georef;
            STRAKE_CHECK(!(line[col] < 0.0), error, STRAKE_ERR_USAGE,
                         "%s: cell [%lld, %lld] is %g, expected a weight >= 0", path,
                         (long long)row, (long long)col, line[col]);
            STRAKE_TRY(line[col] > 0.0
                           ? add_vent(out, g->x + ((double)col + 0.5) * g->cell,
                                      g->y - ((double)row + 0.5) * g->cell, line[col], error)
                           : STRAKE_OK);
        }
    }
cleanup:
    free(line);
    strake_asc_close(&reader);
    return status;
}

/* The numbers of a line. @return false where one that must be there is none */
static bool read_vent(const char *line, const int column[3], double value[3])
{
    bool good = true;
    for (int k = 0; k < 3; k++) {
        const char *word = NULL;
        size_t length = 0;
        char text[NUMBER];
        const bool is_there = column[k] >= 0 && strake_scan_word(line, column[k], &word, &length);
        (void)snprintf(text, sizeof text, "%.*s", is_there && length < NUMBER ? (int)length : 0,
                       is_there ? word : "");
        value[k] = 1.0;
        good = good && ((k == 2 && !is_there) || strake_text_real(text, &value[k]));
    }
    return good && value[2] >= 0.0;
}

static strake_status read_points(const char *path, const strake_case *which, strake_scan_vents *out,
                                 strake_error *error)
{
    static const strake_limits weights = {0.0, INFINITY, false, NULL};
    strake_status status = STRAKE_OK;
    strake_features f = {0};
    const int64_t cells[] = {which->n[0], which->n[2]};
    STRAKE_TRY(strake_features_read(strake_input_kinds, path, &which->georef, STRAKE_SHAPE_POINT,
                                    &f, error));
    STRAKE_TRY(strake_features_check_place(&f, &which->georef, cells, true, error));
    for (int64_t k = 0; k < f.shapes; k++) {
        const double *const at = f.place[f.shape[k].first];
        const strake_node *const node = strake_features_property(&f, f.shape[k].feature, "weight");
        double weight = 1.0;
        STRAKE_TRY(node != NULL ? strake_read_real(node, &weights, &weight, error) : STRAKE_OK);
        STRAKE_TRY(weight > 0.0 ? add_vent(out, at[0], at[1], weight, error) : STRAKE_OK);
    }
cleanup:
    strake_features_free(&f);
    return status;
}

strake_status strake_scan_vents_read(const char *path, const strake_case *which,
                                     strake_scan_vents *out, strake_error *error)
{
    enum { MOST_BYTES = 1 << 28 };
    static const char *const names[] = {"x", "y", "weight"};
    strake_status status = STRAKE_OK;
    char *data = NULL, *rest = NULL, *line = NULL;
    size_t length = 0;
    int number = 0, column[3] = {0, 1, 2};
    bool is_first = true;
    if (strake_asc_is_file(path)) {
        STRAKE_TRY(read_grid_of_vents(path, out, error));
    } else if (which != NULL) {
        STRAKE_TRY(read_points(path, which, out, error));
    } else {
        STRAKE_TRY(strake_file_read(path, MOST_BYTES, "text of vents", &data, &length, error));
    }
    rest = data != NULL ? strake_text_begin(data) : NULL;
    while ((line = strsep(&rest, "\n")) != NULL) {
        double value[3];
        number++;
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        if (is_first && strake_scan_column(line, "x") >= 0 && strake_scan_column(line, "y") >= 0) {
            for (int k = 0; k < 3; k++) {
                column[k] = strake_scan_column(line, names[k]);
            }
        } else {
            STRAKE_CHECK(read_vent(line, column, value), error, STRAKE_ERR_USAGE,
                         "%s: line %d: expected x, y and, if any, a weight >= 0 of a vent, got "
                         "'%.60s'",
                         path, number, line);
            STRAKE_TRY(value[2] > 0.0 ? add_vent(out, value[0], value[1], value[2], error)
                                      : STRAKE_OK);
        }
        is_first = false;
    }
    STRAKE_CHECK(out->count > 0, error, STRAKE_ERR_USAGE, "%s: has no vent with a weight above 0",
                 path);
cleanup:
    free(data);
    return status;
}

void strake_scan_vents_free(strake_scan_vents *vents)
{
    free(vents->x);
    free(vents->y);
    free(vents->weight);
    *vents = (strake_scan_vents){0};
}

/* Which one of @p count it is of which a part @p part of all weights lies before or in it. */
static int64_t find_by_weight(const double *sum, int64_t count, double part)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sum[middle] > part * sum[count - 1]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

strake_status strake_scan_vents_add(const strake_scan_vents *vents, strake_scan_draws *draws,
                                    strake_scan_values *out, strake_error *error)
{
    static const char *const paths[] = {"vents[0].x", "vents[0].y"};
    strake_status status = STRAKE_OK;
    const bool is_each = draws->count == 0;
    double *part = NULL, all = 0.0;
    double *const sum = malloc((size_t)vents->count * sizeof *sum);
    STRAKE_CHECK(sum != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
    for (int64_t v = 0; v < vents->count; v++) {
        all += vents->weight[v];
        sum[v] = all;
    }
    STRAKE_CHECK(isfinite(all), error, STRAKE_ERR_USAGE,
                 "option --vents: the weights have no finite sum; give smaller ones");
    STRAKE_CHECK(vents->count <= STRAKE_SCAN_MOST, error, STRAKE_ERR_USAGE,
                 "option --vents: more than %d vents; draw some of them with --draws",
                 (int)STRAKE_SCAN_MOST);
    draws->count = is_each ? vents->count : draws->count;
    part = strake_scan_parts(draws, "vents");
    STRAKE_CHECK(part != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
    for (int k = 0; k < 2; k++) {
        strake_scan_axis *const axis = &out->axis[out->axes++];
        axis->is_drawn = true;
        axis->path = strdup(paths[k]);
        STRAKE_CHECK(axis->path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
        for (int64_t n = 0; n < draws->count; n++) {
            const int64_t v = is_each ? n : find_by_weight(sum, vents->count, part[n]);
            STRAKE_TRY(
                strake_scan_axis_add_number(axis, k == 0 ? vents->x[v] : vents->y[v], error));
        }
    }
    if (is_each) {
        double **const weight = &out->axis[out->axes - 1].weight;
        *weight = malloc((size_t)vents->count * sizeof **weight);
        STRAKE_CHECK(*weight != NULL, error, STRAKE_ERR_MEMORY, "out of memory for vents");
        memcpy(*weight, vents->weight, (size_t)vents->count * sizeof *vents->weight);
    }
cleanup:
    free(part);
    free(sum);
    return status;
}

/* --- classes --------------------------------------------------------------------------------------- */

enum { CLASS, VOLUME, DURATION, CURVE, PROBABILITY, END, COLUMNS };

static const char *const class_columns[COLUMNS] = {"class", "volume",      "duration",
                                                   "curve", "probability", "end"};

/* A number as a case reads it back. */
static const char *show(double number, char text[NUMBER])
{
    (void)strake_number_print(text, NUMBER, "%.17g", number);
    return text;
}

/* The rates of a file: relative ones, which are brought to the volume and the duration. */
static strake_status shape_of_file(const char *path, double volume, double duration,
                                   strake_text *out, strake_error *error)
{
    static const strake_points_words words = {"rate", "-", "0.5, 1"};
    strake_status status = STRAKE_OK;
    strake_points p = {0};
    char one[NUMBER], other[NUMBER];
    double sum = 0.0, all = 0.0;
    const strake_node name = {
        .kind = STRAKE_NODE_SCALAR, .text = (char *)(uintptr_t)path, .origin = "option --classes"};
    bool good = true;
    STRAKE_TRY(strake_points_read_csv(&name, ".", &words, &p, error));
    for (int64_t k = 0; k < p.points; k++) {
        const bool is_last = k + 1 == p.points;
        good = good && p.value[k] >= 0.0 &&
               (is_last ? !(p.value[k] > 0.0) : p.time[k + 1] > p.time[k]);
        sum += is_last ? 0.0 : p.value[k] * (p.time[k + 1] - p.time[k]);
    }
    all = p.time[p.points - 1] - p.time[0];
    STRAKE_CHECK(
        good && sum > 0.0 && isfinite(sum) && isfinite(all), error, STRAKE_ERR_USAGE,
        "%s: expected times that ascend, and rates >= 0, one above 0, the last 0: each lasts "
        "until the next time",
        path);
    for (int64_t k = 0; k < p.points; k++) {
        const double time = k + 1 == p.points ? duration : (p.time[k] - p.time[0]) / all * duration;
        strake_text_print(out, "%s[%s, %s]", k > 0 ? ", " : "", show(time, one),
                          show(p.value[k] * (volume / sum) * (all / duration), other));
    }
cleanup:
    strake_points_free(&p);
    return status;
}

/* The rate of a class as a case says it. */
static strake_status write_curve(const char *file, const char *curve, double volume,
                                 double duration, strake_text *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *folder = NULL, *path = NULL;
    char one[NUMBER], other[NUMBER];
    bool is_constant = false;
    double peak = 0.0;
    const strake_node word = {
        .kind = STRAKE_NODE_SCALAR, .text = (char *)(uintptr_t)curve, .origin = file};
    STRAKE_CHECK(isfinite(2.0 * (volume / duration)), error, STRAKE_ERR_USAGE,
                 "%s: a volume of %g m3 in %g s: the rate has to be a finite number", file, volume,
                 duration);
    if (strcmp(curve, "constant") == 0 || strcmp(curve, "falling") == 0 ||
        strcmp(curve, "triangle") == 0 || strncmp(curve, "triangle:", 9) == 0) {
        STRAKE_TRY(strake_curve_read(&word, &is_constant, &peak, error));
        strake_text_print(out, "{curve: '%s', volume: %s, duration: %s}", curve, show(volume, one),
                          show(duration, other));
    } else {
        strake_text_print(out, "{series: [");
        folder = strake_path_folder(file);
        path = folder != NULL ? strake_path_from(folder, curve) : NULL;
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for classes");
        STRAKE_CHECK(access(path, R_OK) == 0, error, STRAKE_ERR_USAGE,
                     "%s: curve '%s': expected constant, falling, triangle, triangle:F or a file, "
                     "and there is no file %s",
                     file, curve, path);
        STRAKE_TRY(shape_of_file(path, volume, duration, out, error));
        strake_text_print(out, "]}");
    }
    STRAKE_CHECK(!out->failed, error, STRAKE_ERR_MEMORY, "out of memory for classes");
cleanup:
    free(folder);
    free(path);
    return status;
}

static strake_status read_class(const char *path, const char *line, int number,
                                const int column[COLUMNS], strake_scan_values *out,
                                strake_error *error)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    strake_status status = STRAKE_OK;
    strake_scan_class *const c = &out->one_class[out->classes];
    char word[COLUMNS][4 * NUMBER];
    double value[COLUMNS] = {0.0};
    strake_text rate = {0};
    STRAKE_CHECK(out->classes < STRAKE_SCAN_CLASSES, error, STRAKE_ERR_USAGE,
                 "%s: line %d: more than %d classes", path, number, (int)STRAKE_SCAN_CLASSES);
    out->classes++;
    for (int k = 0; k < COLUMNS; k++) {
        const char *at = "";
        size_t length = 0;
        const bool is_there = column[k] >= 0 && strake_scan_word(line, column[k], &at, &length);
        const bool is_number = k != CLASS && k != CURVE;
        (void)snprintf(word[k], sizeof word[k], "%.*s", (int)length, at);
        const bool is_good =
            column[k] < 0 ||
            (is_there && length < sizeof word[k] &&
             (!is_number || (strake_text_real(word[k], &value[k]) && value[k] >= 0.0 &&
                             (value[k] > 0.0 || k == PROBABILITY))));
        STRAKE_CHECK(is_good && (k != CLASS ||
                                 (word[k][strspn(word[k], letters)] == '\0' && length < NUMBER)),
                     error, STRAKE_ERR_USAGE, "%s: line %d: %s is '%.100s', expected %s", path,
                     number, class_columns[k], word[k],
                     k == CLASS         ? "a word of letters, digits, - and _"
                     : k == CURVE       ? "constant, falling, triangle:F or a file"
                     : k == PROBABILITY ? "a number >= 0"
                     : k == VOLUME      ? "a number > 0 [m3]"
                                        : "a number > 0 [s]");
    }
    for (int k = 0; k < out->classes - 1; k++) {
        STRAKE_CHECK(strcmp(out->one_class[k].name, word[CLASS]) != 0, error, STRAKE_ERR_USAGE,
                     "%s: line %d: class %s stands twice", path, number, word[CLASS]);
    }
    STRAKE_TRY(write_curve(path, word[CURVE], value[VOLUME], value[DURATION], &rate, error));
    c->name = strdup(word[CLASS]);
    c->end = column[END] >= 0 ? strdup(word[END]) : NULL;
    c->rate = rate.data;
    rate = (strake_text){0};
    c->duration = value[DURATION];
    c->probability = value[PROBABILITY];
    STRAKE_CHECK(c->name != NULL && (column[END] < 0 || c->end != NULL), error, STRAKE_ERR_MEMORY,
                 "out of memory for classes");
cleanup:
    strake_text_free(&rate);
    return status;
}

/* The axis over all classes, or of those that are drawn. */
static strake_status add_classes(const char *path, const strake_scan_draws *draws,
                                 strake_scan_values *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double sum[STRAKE_SCAN_CLASSES];
    double *part = NULL;
    strake_scan_axis *const axis = &out->axis[out->axes++];
    axis->path = strdup("class");
    axis->is_drawn = draws->count > 0;
    axis->weight = calloc(STRAKE_SCAN_CLASSES, sizeof *axis->weight);
    STRAKE_CHECK(axis->path != NULL && axis->weight != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for classes");
    for (int k = 0; k < out->classes; k++) {
        axis->weight[k] = out->one_class[k].probability;
        sum[k] = axis->weight[k] + (k > 0 ? sum[k - 1] : 0.0);
    }
    STRAKE_CHECK(out->classes > 0 && sum[out->classes - 1] > 0.0, error, STRAKE_ERR_USAGE,
                 "%s: has no class with a probability above 0", path);
    STRAKE_CHECK(isfinite(sum[out->classes - 1]), error, STRAKE_ERR_USAGE,
                 "%s: the probabilities have no finite sum; give smaller ones", path);
    part = axis->is_drawn ? strake_scan_parts(draws, axis->path) : NULL;
    STRAKE_CHECK(!axis->is_drawn || part != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for classes");
    for (int64_t n = 0; n < (axis->is_drawn ? draws->count : out->classes); n++) {
        const int64_t k = axis->is_drawn ? find_by_weight(sum, out->classes, part[n]) : n;
        const char *const name = out->one_class[k].name;
        STRAKE_TRY(strake_scan_axis_add(axis, name, strlen(name), error));
    }
    if (axis->is_drawn) { /* they are as many as their probabilities say */
        free(axis->weight);
        axis->weight = NULL;
    }
cleanup:
    free(part);
    return status;
}

strake_status strake_scan_classes_read(const char *path, const strake_scan_draws *draws,
                                       strake_scan_values *out, strake_error *error)
{
    enum { MOST_BYTES = 1 << 24 };
    strake_status status = STRAKE_OK;
    char *data = NULL, *rest = NULL, *line = NULL;
    size_t length = 0;
    int number = 0, column[COLUMNS];
    bool is_first = true;
    STRAKE_TRY(strake_file_read(path, MOST_BYTES, "text of classes", &data, &length, error));
    rest = strake_text_begin(data);
    while ((line = strsep(&rest, "\n")) != NULL) {
        number++;
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        for (int k = 0; k < COLUMNS && is_first; k++) {
            column[k] = strake_scan_column(line, class_columns[k]);
            STRAKE_CHECK(column[k] >= 0 || k == END, error, STRAKE_ERR_USAGE,
                         "%s: line %d: has no column '%s'; expected the names class, volume, "
                         "duration, curve, probability and, if any, end",
                         path, number, class_columns[k]);
        }
        STRAKE_TRY(is_first ? STRAKE_OK : read_class(path, line, number, column, out, error));
        is_first = false;
    }
    STRAKE_TRY(add_classes(path, draws, out, error));
cleanup:
    free(data);
    return status;
}
