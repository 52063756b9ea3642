#include "program/scan_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "case/read.h"

enum { NUMBER = 40 };

static strake_status add(strake_scan_axis *axis, const char *text, size_t length,
                         strake_error *error)
{
    char **const grown = realloc(axis->value, ((size_t)axis->count + 1) * sizeof *grown);
    if (grown != NULL) {
        axis->value = grown;
        axis->value[axis->count] = strndup(text, length);
        axis->count += axis->value[axis->count] != NULL ? 1 : 0;
    }
    return grown != NULL && axis->count > 0
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the values of a scan");
}

/* 15 digits: 0.15 between 0.1 and 0.2, not what binary makes of it. */
static strake_status add_number(strake_scan_axis *axis, double number, strake_error *error)
{
    char text[NUMBER];
    const bool whole = fabs(number) < 1e15 && floor(number) >= number; /* 1e+05 is no integer */
    (void)strake_number_print(text, sizeof text, whole ? "%.0f" : "%.15g", number);
    return add(axis, text, strlen(text), error);
}

/* Texts between colons, as many as @p most. @return how many there are */
static int split_colons(const char *text, int most, char word[][NUMBER])
{
    int count = 0;
    for (const char *at = text; count < most; at++) {
        const size_t length = strcspn(at, ":");
        (void)snprintf(word[count++], NUMBER, "%.*s", length < NUMBER ? (int)length : NUMBER - 1,
                       at);
        at += length;
        if (*at == '\0') {
            return count;
        }
    }
    return most + 1;
}

static bool is_count(const char *text, double least, double most, double *out)
{
    return strake_text_real(text, out) && *out >= least && *out <= most && floor(*out) >= *out;
}

static strake_status add_range(strake_scan_axis *axis, double from, double to, double count,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < (int)count && status == STRAKE_OK; k++) {
        /* The ends are exact. */
        const double value = k == (int)count - 1 && k > 0 ? to
                             : k == 0                     ? from
                                      : from + (to - from) * ((double)k / (count - 1.0));
        status = add_number(axis, value, error);
    }
    return status;
}

/* A number from 0 to 1 as the next draw. */
static double draw(uint64_t *state)
{
    return (double)(strake_random_next(state) >> 11) * 0x1p-53;
}

static strake_status add_random(strake_scan_axis *axis, double low, double high, double count,
                                double seed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint64_t state = (uint64_t)seed;
    axis->is_random = true;
    axis->low = low;
    axis->high = high;
    axis->seed = state;
    for (int k = 0; k < (int)count && status == STRAKE_OK; k++) {
        status = add_number(axis, low + (high - low) * draw(&state), error);
    }
    return status;
}

strake_status strake_scan_axis_draw_integers(strake_scan_axis *axis, strake_error *error)
{
    const double low = ceil(axis->low), high = floor(axis->high);
    uint64_t state = axis->seed;
    for (int k = 0; k < axis->count && axis->is_random && low <= high; k++) {
        char text[NUMBER];
        const double number = fmin(low + floor((high - low + 1.0) * draw(&state)), high);
        (void)strake_number_print(text, sizeof text, "%.0f", number);
        char *const value = strdup(text);
        if (value == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the values of a scan");
        }
        free(axis->value[k]);
        axis->value[k] = value;
    }
    return STRAKE_OK;
}

/* A,B,C: what stands in brackets or quotes belongs together. */
static strake_status add_list(strake_scan_axis *axis, const char *text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int depth = 0;
    char quote = '\0';
    const char *begin = text;
    for (const char *at = text; status == STRAKE_OK; at++) {
        if (quote != '\0') {
            quote = *at == quote ? '\0' : quote;
        } else if (*at == '"' || *at == '\'') {
            quote = *at;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if (*at == ']' || *at == '}') {
            depth--;
        }
        if (*at == '\0' || (*at == ',' && depth <= 0 && quote == '\0')) {
            STRAKE_CHECK(at > begin, error, STRAKE_ERR_USAGE,
                         "option --over: %s=%s: a value is empty; expected for example %s=1,2,3",
                         axis->path, text, axis->path);
            status = add(axis, begin, (size_t)(at - begin), error);
            begin = at + 1;
        }
        if (*at == '\0') {
            break;
        }
    }
cleanup:
    return status;
}

static strake_status read_axis(const char *option, strake_scan_axis *axis, strake_error *error)
{
    enum { RANGE = 3, RANDOM = 5 };
    strake_status status = STRAKE_OK;
    char word[RANDOM][NUMBER];
    double a = 0.0, b = 0.0, count = 0.0, seed = 0.0;
    const char *const text = strchr(option, '=') + 1;
    const int words = split_colons(text, RANDOM, word);
    axis->path = strndup(option, (size_t)(text - 1 - option));
    STRAKE_CHECK(axis->path != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the values of a scan");
    if (strncmp(text, "random:", strlen("random:")) == 0) {
        STRAKE_CHECK(words == RANDOM && strake_text_real(word[1], &a) &&
                         strake_text_real(word[2], &b) && a <= b &&
                         is_count(word[3], 1.0, STRAKE_SCAN_MOST, &count) &&
                         is_count(word[4], 0.0, 0x1p53, &seed),
                     error, STRAKE_ERR_USAGE,
                     "option --over: %s: expected %s=random:LOW:HIGH:COUNT:SEED, for example "
                     "%s=random:0:1:20:1",
                     option, axis->path, axis->path);
        STRAKE_TRY(add_random(axis, a, b, count, seed, error));
    } else if (words == RANGE && strake_text_real(word[0], &a) && strake_text_real(word[1], &b)) {
        STRAKE_CHECK(is_count(word[2], 1.0, STRAKE_SCAN_MOST, &count), error, STRAKE_ERR_USAGE,
                     "option --over: %s: expected %s=FROM:TO:COUNT with a COUNT from 1 to %d, for "
                     "example %s=0:1:11",
                     option, axis->path, (int)STRAKE_SCAN_MOST, axis->path);
        STRAKE_TRY(add_range(axis, a, b, count, error));
    } else {
        STRAKE_TRY(add_list(axis, text, error));
    }
cleanup:
    return status;
}

strake_status strake_scan_values_read(const char *const *overs, strake_scan_values *out,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    out->runs = 1;
    for (int k = 0; overs[k] != NULL; k++) {
        STRAKE_CHECK(k < STRAKE_SCAN_AXES, error, STRAKE_ERR_USAGE,
                     "option --over: more than %d keys", (int)STRAKE_SCAN_AXES);
        out->axes = k + 1;
        STRAKE_TRY(read_axis(overs[k], &out->axis[k], error));
        for (int other = 0; other < k; other++) {
            STRAKE_CHECK(strcmp(out->axis[other].path, out->axis[k].path) != 0, error,
                         STRAKE_ERR_USAGE,
                         "option --over: %s is given twice; write all its values "
                         "after one --over",
                         out->axis[k].path);
        }
        STRAKE_CHECK(out->runs <= STRAKE_SCAN_MOST / out->axis[k].count, error, STRAKE_ERR_USAGE,
                     "option --over: more than %d runs", (int)STRAKE_SCAN_MOST);
        out->runs *= out->axis[k].count;
    }
cleanup:
    return status;
}

static strake_status read_weights(const char *option, strake_scan_axis *axis, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const text = strchr(option, '=') + 1;
    double sum = 0.0;
    bool good = false;
    const char *end = NULL;
    STRAKE_CHECK(axis->weight == NULL, error, STRAKE_ERR_USAGE,
                 "option --weights: %s is given twice", axis->path);
    axis->weight = calloc((size_t)axis->count, sizeof *axis->weight);
    STRAKE_CHECK(axis->weight != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the values of a scan");
    end = strake_number_list(text, ',', axis->count, axis->weight);
    good = end != NULL && *end == '\0';
    for (int k = 0; k < axis->count; k++) {
        good = good && axis->weight[k] >= 0.0;
        sum += axis->weight[k];
    }
    STRAKE_CHECK(
        good && isfinite(sum) && sum > 0.0, error, STRAKE_ERR_USAGE,
        "option --weights: %s: expected %d number%s >= 0, one of them above 0: --over gives "
        "%s so many values",
        option, axis->count, axis->count == 1 ? "" : "s", axis->path);
cleanup:
    return status;
}

strake_status strake_scan_weights_read(const char *const *weights, strake_scan_values *values,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; weights[k] != NULL; k++) {
        const size_t length = (size_t)(strchr(weights[k], '=') - weights[k]);
        int axis = 0;
        while (axis < values->axes && (strlen(values->axis[axis].path) != length ||
                                       strncmp(values->axis[axis].path, weights[k], length) != 0)) {
            axis++;
        }
        STRAKE_CHECK(axis < values->axes, error, STRAKE_ERR_USAGE,
                     "option --weights: %s: no --over varies %.*s", weights[k], (int)length,
                     weights[k]);
        STRAKE_TRY(read_weights(weights[k], &values->axis[axis], error));
    }
cleanup:
    return status;
}

/* Which value of an axis a run has. */
static int64_t place_of(const strake_scan_values *values, int64_t run, int axis)
{
    for (int k = values->axes - 1; k > axis; k--) {
        run /= values->axis[k].count;
    }
    return run % values->axis[axis].count;
}

double strake_scan_weight(const strake_scan_values *values, int64_t run)
{
    double weight = 1.0;
    for (int k = 0; k < values->axes; k++) {
        const double *const of = values->axis[k].weight;
        weight *= of != NULL ? of[place_of(values, run, k)] : 1.0;
    }
    return weight;
}

const char *strake_scan_value(const strake_scan_values *values, int64_t run, int axis)
{
    return values->axis[axis].value[place_of(values, run, axis)];
}

void strake_scan_values_free(strake_scan_values *values)
{
    for (int k = 0; k < values->axes; k++) {
        for (int v = 0; v < values->axis[k].count; v++) {
            free(values->axis[k].value[v]);
        }
        free(values->axis[k].value);
        free(values->axis[k].weight);
        free(values->axis[k].path);
    }
    *values = (strake_scan_values){0};
}
