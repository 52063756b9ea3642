#include "case/axes.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "case/case.h"
#include "case/input.h"
#include "case/source.h"

typedef enum date_calendar { STANDARD, PROLEPTIC, NO_LEAP, ALL_30, UNKNOWN } date_calendar;

static date_calendar calendar_of(const char *name)
{
    static const struct {
        const char *name;
        date_calendar is;
    } known[] = {{"", STANDARD},          {"standard", STANDARD},
                 {"gregorian", STANDARD}, {"proleptic_gregorian", PROLEPTIC},
                 {"noleap", NO_LEAP},     {"365_day", NO_LEAP},
                 {"360_day", ALL_30}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(known[k].name, name) == 0) {
            return known[k].is;
        }
    }
    return UNKNOWN;
}

static bool is_leap(date_calendar is, int64_t year)
{
    return is != NO_LEAP && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_of_year(date_calendar is, int64_t year)
{
    return is == ALL_30 ? 360 : is_leap(is, year) ? 366 : 365;
}

static int64_t days_of_month(date_calendar is, int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return is == ALL_30 ? 30 : days[month - 1] + (month == 2 && is_leap(is, year) ? 1 : 0);
}

/* Days and seconds of a day after the date of a unit. @return whether the clock is that of UTC */
static bool read_origin(const char *unit, int *year, int *month, int *day, double *seconds)
{
    int hour = 0, minute = 0, used = 0;
    double second = 0.0;
    const char *at = strstr(unit, " since ");
    if (at == NULL || sscanf(at + strlen(" since "), "%d-%d-%d%n", year, month, day, &used) != 3 ||
        *month < 1 || *month > 12 || *day < 1 || *day > 31) {
        return false;
    }
    at += strlen(" since ") + (size_t)used;
    if (*at == 'T' || *at == ' ') {
        if (sscanf(at + 1, "%d:%d%n", &hour, &minute, &used) == 2) {
            char *end = NULL;
            at += 1 + used;
            second = *at == ':' ? strake_number_read(at + 1, &end) : 0.0;
            at = end != NULL ? end : at;
        }
    }
    *seconds = 3600.0 * hour + 60.0 * minute + second;
    at += strspn(at, " ");
    return *at == '\0' || strcmp(at, "Z") == 0 || strcmp(at, "UTC") == 0 ||
           strcmp(at, "+0:00") == 0 || strcmp(at, "+00:00") == 0 || strcmp(at, "0:00") == 0 ||
           strcmp(at, "00:00") == 0;
}

/**
 * Reads the coordinates along a dimension. @param[in] d  of the array, slowest first; -1: the first one before them,
 * along which there are several arrays @return STRAKE_ERR_MEMORY, _IO, _USAGE
 */
static strake_status axis_read(strake_input *input, int d, strake_input_axis *out,
                               strake_error *error)
{
    *out = (strake_input_axis){.n = 0};
    return input->kind->axis != NULL ? input->kind->axis(input, d, out, error) : STRAKE_OK;
}

static void axis_free(strake_input_axis *axis)
{
    free(axis->at);
    *axis = (strake_input_axis){.n = 0};
}

/* Spellings that UDUNITS, and so the CF conventions, know. */
static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    while (*words != NULL && !(strlen(*words) == length && strncmp(*words, word, length) == 0)) {
        words++;
    }
    return *words != NULL;
}

/** Seconds of the unit of times such as "hours since 1900-01-01"; NaN: it is none, or has no fixed length. */
static double axis_seconds(const char *unit)
{
    static const double seconds[] = {1.0, 60.0, 3600.0, 86400.0};
    static const char *const words[][6] = {{"s", "sec", "secs", "second", "seconds", NULL},
                                           {"min", "mins", "minute", "minutes", NULL},
                                           {"h", "hr", "hrs", "hour", "hours", NULL},
                                           {"d", "day", "days", NULL}};
    const char *const since = strstr(unit, " since ");
    for (int k = 0; k < 4 && since != NULL; k++) {
        if (is_one_of(unit, (size_t)(since - unit), words[k])) {
            return seconds[k];
        }
    }
    return (double)NAN;
}

bool strake_date_of(const char *unit, const char *name, double time, char *out, size_t size)
{
    static const double of_day = 86400.0, far = 1e7, thousandth = 1e-3;
    const date_calendar is = calendar_of(name);
    int from = 0, month = 0, day = 0;
    double seconds = 0.0;
    out[0] = '\0';
    if (is == UNKNOWN || !read_origin(unit, &from, &month, &day, &seconds) ||
        (is == STANDARD && from < 1583)) { /* the Gregorian date_calendar begins in October 1582 */
        return false;
    }
    seconds += time * axis_seconds(unit);
    const double whole = floor(seconds + 0.5);
    seconds = fabs(seconds - whole) < thousandth ? whole : seconds;
    double days = floor(seconds / of_day);
    if (!(days >= 0.0 && days < far)) {
        return false;
    }
    seconds -= days * of_day;
    int64_t left = (int64_t)days + day - 1, year = from;
    for (int m = 1; m < month; m++) {
        left += days_of_month(is, year, m);
    }
    while (left >= days_of_year(is, year)) {
        left -= days_of_year(is, year++);
    }
    for (month = 1; left >= days_of_month(is, year, month); month++) {
        left -= days_of_month(is, year, month);
    }
    const int minutes = (int)(seconds / 60.0);
    const double rest = seconds - 60.0 * minutes;
    (void)strake_number_print(out, size, "%04d-%02d-%02d %02d:%02d:%0*.*f", (int)year, month,
                              (int)left + 1, minutes / 60, minutes % 60,
                              rest == floor(rest) ? 2 : 6, rest == floor(rest) ? 0 : 3, rest);
    return true;
}

/* Whether the levels of a series are in one file, which may have their times. */
static bool has_times(const strake_case *which, const strake_source *source)
{
    return strchr(source->file, '%') == NULL && strake_input_has_many(which->inputs, source->file);
}

/*
 * The time from one level to the next [s], if all are as far apart as the first two, up to the digits that the file has;
 * @p odd is the first one that is not, or 0.
 */
static double interval_of(const strake_input_axis *axis, int64_t *odd)
{
    static const double rounded = 1e-6, single = 2e-7;
    const int64_t last = axis->n - 1;
    const double first = axis->at[1] - axis->at[0];
    const double most = fmax(fabs(axis->at[0]), fabs(axis->at[last]));
    const double slack = rounded * fabs(first) + (axis->is_single ? single * most : 0.0);
    *odd = 0;
    for (int64_t k = 2; k <= last && *odd == 0; k++) {
        *odd = fabs(axis->at[k] - axis->at[k - 1] - first) <= slack ? 0 : k;
    }
    return (axis->at[last] - axis->at[0]) / (double)last * axis_seconds(axis->unit);
}

/* Without times in the file `every` says it. */
static strake_status need_every(const strake_source *source, const strake_input_axis *axis,
                                strake_error *error)
{
    return source->every > 0.0
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_USAGE,
                             "%s: 'every' is missing: time from level to level > 0 [s]; %s %s",
                             source->where, source->file,
                             axis->n == 1  ? "has one level"
                             : axis->n > 1 ? "has no times in seconds, minutes, hours or days "
                                             "since a date"
                                           : "does not say it");
}

static strake_status compare_every(strake_source *source, const strake_input_axis *axis,
                                   strake_error *error)
{
    static const double rounded = 1e-6;
    strake_status status = STRAKE_OK;
    int64_t odd = 0;
    if (axis->n < 2 || isnan(axis_seconds(axis->unit))) {
        return need_every(source, axis, error);
    }
    const double every = interval_of(axis, &odd);
    STRAKE_CHECK(odd == 0, error, STRAKE_ERR_USAGE,
                 "%s: levels of a series are evenly apart, and those of %s are not: %s is %.10g, "
                 "%.10g, ..., but level %lld is at %.10g and level %lld at %.10g (%s)",
                 source->where, source->file, axis->name, axis->at[0], axis->at[1],
                 (long long)odd - 1, axis->at[odd - 1], (long long)odd, axis->at[odd], axis->unit);
    STRAKE_CHECK(every > 0.0, error, STRAKE_ERR_USAGE,
                 "%s: levels of a series follow each other in time, and those of %s do not: %s is "
                 "%.10g, %.10g, ... (%s)",
                 source->where, source->file, axis->name, axis->at[0], axis->at[1], axis->unit);
    if (source->every > 0.0) {
        STRAKE_CHECK(fabs(source->every - every) <= rounded * every, error, STRAKE_ERR_USAGE,
                     "%s: every is %.10g s, but the levels of %s are %.10g s apart: %s is %.10g, "
                     "%.10g, ... (%s); leave out `every`, which is then the file's",
                     source->where, source->every, source->file, every, axis->name, axis->at[0],
                     axis->at[1], axis->unit);
        return STRAKE_OK;
    }
    source->every = every;
cleanup:
    return status;
}

/* What the coordinates along each axis are called; "": no file has told. */
typedef struct coordinates {
    char of_cells[STRAKE_AXES][STRAKE_INPUT_TEXT];
    char of_faces[STRAKE_AXES][STRAKE_INPUT_TEXT]; /* of a field on the faces across this axis */
    const char *on_faces[STRAKE_AXES];             /* this field; NULL: none */
} coordinates;

/* An open file of a field, and what it says. */
typedef struct found {
    coordinates *names;
    const strake_source *source;
    const strake_field *field;
    strake_input file;
    strake_input_axis times;
} found;

static void note(strake_case *which, const char *format, ...) STRAKE_PRINTF(2, 3);

static void note(strake_case *which, const char *format, ...)
{
    va_list list;
    if (which->axes.notes < STRAKE_CASE_NOTES) {
        char *const text = which->axes.note[which->axes.notes++];
        va_start(list, format);
        (void)strake_number_vprint(text, sizeof which->axes.note[0], format, list);
        va_end(list);
    }
}

/* The date of time 0: that of the first level of a series; without one, of the first field that has a time. */
static void find_origin(strake_case *which, const found *in)
{
    strake_case_axes *const axes = &which->axes;
    char date[STRAKE_INPUT_TEXT];
    const int64_t index = in->source->kind == STRAKE_SOURCE_SERIES ? 0 : in->file.index;
    if (strcmp(in->times.unit, "seconds since " STRAKE_AXES_NO_DATE) == 0 || index >= in->times.n ||
        !strake_date_of(in->times.unit, in->times.calendar, in->times.at[index], date,
                        sizeof date)) {
        return;
    }
    if (axes->origin[0] == '\0') {
        (void)snprintf(axes->origin, sizeof axes->origin, "%s", date);
        (void)snprintf(axes->calendar, sizeof axes->calendar, "%s", in->times.calendar);
    } else if (strcmp(axes->origin, date) != 0 &&
               (in->field->is_state || in->source->kind == STRAKE_SOURCE_SERIES)) {
        note(which, "%s begins at %s, and other files at %s: time 0 is %s for outputs",
             in->source->where, date, axes->origin, axes->origin);
    }
}

/* What coordinates are called, by which winds at cells are known where their shape is that of winds on faces, too. */
static void remember_names(const found *in, int across, const strake_input_axis at[STRAKE_AXES])
{
    coordinates *const axes = in->names;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (at[axis].name[0] != '\0' && strake_face_axis(in->field->position) < 0) {
            (void)snprintf(axes->of_cells[axis], sizeof axes->of_cells[axis], "%.*s",
                           (int)sizeof axes->of_cells[axis] - 1, at[axis].name);
        } else if (axis == across && at[axis].name[0] != '\0') {
            (void)snprintf(axes->of_faces[axis], sizeof axes->of_faces[axis], "%.*s",
                           (int)sizeof axes->of_faces[axis] - 1, at[axis].name);
            axes->on_faces[axis] = in->field->name;
        }
    }
}

/* A wind whose coordinate is that of the cells is most likely half a cell from where it is taken. */
static void tell_winds(strake_case *which, const coordinates *axes)
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (axes->on_faces[axis] != NULL &&
            strcmp(axes->of_cells[axis], axes->of_faces[axis]) == 0) {
            note(which,
                 STRAKE_NOTICE_WARNING
                 "fields.%s is read as winds on the faces of cells, but its file gives them the "
                 "coordinate %s, which is that of the fields in cells: winds at the centres of "
                 "cells need `at: cells`, else they are half a cell off",
                 axes->on_faces[axis], axes->of_faces[axis]);
            return;
        }
    }
}

/* Rows go between poles, columns east: what a file says otherwise would be taken for something else. */
static strake_status check_sphere(const strake_case *which, const found *in,
                                  const strake_input_axis at[STRAKE_AXES], strake_error *error)
{
    static const double pole = 90.0 - 1e-6;
    const int rows = strake_axis_of(which->problem->dims, which->problem->dims - 2);
    const strake_input_axis *const north = &at[rows], *const east = &at[2];
    if (east->n > 1 && east->at[1] < east->at[0] && east->at[0] - east->at[1] < 180.0) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: longitudes of %s go west, from %g to %g; expected columns that go "
                           "east: turn them round, in Python by .sortby('%s') of xarray",
                           in->source->where, in->source->file, east->at[0], east->at[1],
                           east->name);
    }
    if (which->boundary[rows] == STRAKE_POLAR && north->n > 1 &&
        fmax(fabs(north->at[0]), fabs(north->at[north->n - 1])) > pole) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: latitudes of %s reach from %g to %g; with boundary.rows: polar the "
                           "centres of rows lie between the poles, at most half a row from them: "
                           "interpolate to such rows, or leave out those at the poles and give "
                           "another boundary",
                           in->source->where, in->source->file, north->at[0],
                           north->at[north->n - 1]);
    }
    return STRAKE_OK;
}

/* Coordinates of cells where rows are latitudes and columns longitudes. */
static strake_status find_places(strake_case *which, found *in, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = which->problem->dims;
    const int across = in->source->is_cells ? -1 : strake_face_axis(in->field->position);
    strake_input_axis at[STRAKE_AXES] = {{.n = 0}};
    bool is_sphere = dims > 1;
    for (int d = 0; d < dims; d++) {
        const int axis = strake_axis_of(dims, d);
        STRAKE_TRY(axis_read(&in->file, d, &at[axis], error));
        if (d >= dims - 2) {
            is_sphere = is_sphere && axis != across && at[axis].n == which->n[axis] &&
                        (axis == 2 ? strake_input_axis_is_longitude
                                   : strake_input_axis_is_latitude)(at[axis].name, at[axis].unit);
        }
    }
    remember_names(in, across, at);
    STRAKE_TRY(is_sphere ? check_sphere(which, in, at, error) : STRAKE_OK);
    if (in->file.is_turned && which->axes.notes == 0) {
        note(which,
             "latitudes of %s go south: its rows are read from the last one on, as those of all "
             "files that say so, so that row 0 is the southernmost; winds to the north are along "
             "growing rows",
             in->source->file);
    }
    for (int axis = 0; axis < STRAKE_AXES && is_sphere; axis++) {
        strake_input_axis *const to = &which->axes.cell[axis];
        if (to->n == 0 && axis != across && at[axis].n == which->n[axis]) {
            (void)snprintf(which->axes.face[axis], sizeof which->axes.face[axis], "%.*s_face",
                           (int)(sizeof which->axes.face[axis] - sizeof "_face"), at[axis].name);
            *to = at[axis];
            at[axis] = (strake_input_axis){.n = 0};
        }
    }
cleanup:
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        axis_free(&at[axis]);
    }
    return status;
}

/* What the file of a source says; of those that say nothing of axes, and those that cannot be opened, nothing. */
static strake_status look(strake_case *which, int f, strake_source *source, bool is_series,
                          coordinates *names, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error inner;
    found in = {names, source, &which->problem->field[f], {.kind = NULL}, {.n = 0}};
    const bool is_of_kind = is_series == (source->kind == STRAKE_SOURCE_SERIES);
    if (is_series && is_of_kind && !has_times(which, source)) {
        return need_every(source, &in.times, error);
    }
    if (!is_of_kind || source->file == NULL ||
        !strake_input_has_many(which->inputs, source->file)) {
        return STRAKE_OK;
    }
    status = is_series ? strake_series_open(which, source, in.field->name, 0, &in.file, &inner)
                       : strake_source_open_file(which, source, in.field->name, &in.file, &inner);
    status = status == STRAKE_OK ? axis_read(&in.file, -1, &in.times, &inner) : status;
    STRAKE_CHECK(status == STRAKE_OK, error,
                 status == STRAKE_ERR_MEMORY ? status : STRAKE_ERR_USAGE, "%s: %s", source->where,
                 inner.text);
    STRAKE_TRY(is_series ? compare_every(source, &in.times, error) : STRAKE_OK);
    if (!strake_case_is_map(which)) {
        STRAKE_TRY(find_places(which, &in, error));
        find_origin(which, &in);
    }
cleanup:
    axis_free(&in.times);
    strake_input_close(&in.file);
    return status;
}

strake_status strake_axes_complete(strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    coordinates names = {.on_faces = {NULL}};
    for (int pass = 0; pass < 2; pass++) { /* series first: they say what time 0 is */
        for (int f = 0; f < which->problem->fields; f++) {
            strake_source *const source = which->source[f];
            for (int k = 0; source != NULL && k < source->children; k++) {
                STRAKE_TRY(look(which, f, source->child[k], pass == 0, &names, error));
            }
            if (source != NULL) {
                STRAKE_TRY(look(which, f, source, pass == 0, &names, error));
            }
        }
    }
    tell_winds(which, &names);
cleanup:
    return status;
}

void strake_axes_free(strake_case *which)
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        axis_free(&which->axes.cell[axis]);
    }
}

bool strake_input_axis_is_latitude(const char *name, const char *unit)
{
    static const char *const units[] = {"degrees_north", "degree_north", "degree_N", "degrees_N",
                                        "degreeN",       "degreesN",     NULL};
    static const char *const names[] = {"latitude", "lat", NULL};
    return unit[0] != '\0' ? is_one_of(unit, strlen(unit), units)
                           : is_one_of(name, strlen(name), names);
}

bool strake_input_axis_is_longitude(const char *name, const char *unit)
{
    static const char *const units[] = {"degrees_east", "degree_east", "degree_E", "degrees_E",
                                        "degreeE",      "degreesE",    NULL};
    static const char *const names[] = {"longitude", "lon", NULL};
    return unit[0] != '\0' ? is_one_of(unit, strlen(unit), units)
                           : is_one_of(name, strlen(name), names);
}
