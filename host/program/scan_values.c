#include "program/scan_values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/lines.h"
#include "base/number.h"
#include "base/random.h"
#include "case/read.h"

enum { NUMBER = STRAKE_SCAN_NUMBER };

strake_status strake_scan_axis_add(strake_scan_axis *axis, const char *text, size_t length,
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

strake_status strake_scan_axis_add_number(strake_scan_axis *axis, double number,
                                          strake_error *error)
{
    char text[NUMBER];
    const bool whole = fabs(number) < 1e15 && floor(number) >= number; /* 1e+05 is no integer */
    (void)strake_number_print(text, sizeof text, whole ? "%.0f" : "%.15g", number);
    return strake_scan_axis_add(axis, text, strlen(text), error);
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
        status = strake_scan_axis_add_number(axis, value, error);
    }
    return status;
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
        status = strake_scan_axis_add_number(axis, low + (high - low) * strake_random_unit(&state),
                                             error);
    }
    return status;
}

/* In place of a value. */
static strake_status set_value(strake_scan_axis *axis, int k, const char *text, strake_error *error)
{
    char *const value = strdup(text);
    if (value == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the values of a scan");
    }
    free(axis->value[k]);
    axis->value[k] = value;
    return STRAKE_OK;
}

/*
 * Values that were drawn as real numbers, to the nearest integers; evenly distributed ones such that each integer from LOW to
 * HIGH is as probable.
 */
static strake_status round_values(strake_scan_axis *axis, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double low = ceil(axis->low), high = floor(axis->high), all = axis->high - axis->low;
    for (int k = 0; k < axis->count && low <= high && status == STRAKE_OK; k++) {
        char text[NUMBER];
        double real = 0.0;
        if (!strake_text_real(axis->value[k], &real)) {
            continue; /* a word of a column, which its run refuses */
        }
        const double number = axis->is_even && all > 0.0
                                  ? low + floor((real - axis->low) / all * (high - low + 1.0))
                                  : floor(real + 0.5);
        (void)strake_number_print(text, sizeof text, "%.0f", fmin(fmax(number, low), high));
        status = set_value(axis, k, text, error);
    }
    return status;
}

strake_status strake_scan_axis_draw_integers(strake_scan_axis *axis, strake_error *error)
{
    if (axis->is_drawn) {
        return round_values(axis, error);
    }
    strake_status status = STRAKE_OK;
    const double low = ceil(axis->low), high = floor(axis->high);
    uint64_t state = axis->seed;
    for (int k = 0; k < axis->count && axis->is_random && low <= high; k++) {
        char text[NUMBER];
        const double number =
            fmin(low + floor((high - low + 1.0) * strake_random_unit(&state)), high);
        (void)strake_number_print(text, sizeof text, "%.0f", number);
        STRAKE_TRY(set_value(axis, k, text, error));
    }
cleanup:
    return status;
}

/*
 * The standard normal deviate below which a part @p p of all lie, to 16 digits (Wichura, Algorithm AS 241: The percentage
 * points of the normal distribution, Applied Statistics 37, 1988).
 */
static double normal_of(double p)
{
    static const double a[2][8] = {
        {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
         3.3430575583588128105e4, 2.5090809287301226727e3},
        {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
         2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
         5.2264952788528545610e3}};
    static const double c[2][8] = {
        {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
         3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4},
        {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double e[2][8] = {
        {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    const double q = p - 0.5, tail = sqrt(-log(fmin(p, 1.0 - p)));
    const bool is_middle = fabs(q) <= 0.425, is_near = tail <= 5.0;
    const double x = is_middle ? 0.180625 - q * q : is_near ? tail - 1.6 : tail - 5.0;
    double sum[2] = {0.0, 0.0};
    for (int n = 0; n < 2; n++) {
        const double *const of = is_middle ? a[n] : is_near ? c[n] : e[n];
        for (int k = 7; k >= 0; k--) {
            sum[n] = sum[n] * x + of[k];
        }
    }
    return is_middle ? q * (sum[0] / sum[1]) : copysign(sum[0] / sum[1], q);
}

double *strake_scan_parts(const strake_scan_draws *draws, const char *path)
{
    const int64_t n = draws->count;
    uint64_t state = strake_fnv1a(STRAKE_FNV_SEED, path, strlen(path)) ^ draws->seed;
    double *const part = calloc((size_t)n, sizeof *part);
    for (int64_t k = 0; k < n && part != NULL; k++) {
        part[k] =
            (floor(strake_random_unit(&state) * 0x1p52) + 0.5) * 0x1p-52; /* neither 0 nor 1 */
        part[k] = draws->is_latin ? ((double)k + part[k]) / (double)n : part[k];
    }
    for (int64_t k = n - 1; k > 0 && part != NULL && draws->is_latin; k--) {
        const int64_t other = (int64_t)(strake_random_unit(&state) * (double)(k + 1));
        const double kept = part[k];
        part[k] = part[other];
        part[other] = kept;
    }
    return part;
}

typedef enum law { UNIFORM, NORMAL, LOGNORMAL, LAWS } law;

static const char *const laws[LAWS] = {"uniform", "normal", "lognormal"};
static const char *const law_words[LAWS] = {"LOW:HIGH", "MEAN:SD", "MEDIAN:FACTOR"};

static strake_status add_draws(strake_scan_axis *axis, law of, double a, double b,
                               const strake_scan_draws *draws, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double *const part = strake_scan_parts(draws, axis->path);
    STRAKE_CHECK(part != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the values of a scan");
    axis->low = of == UNIFORM ? a : -DBL_MAX;
    axis->high = of == UNIFORM ? b : DBL_MAX;
    axis->is_even = of == UNIFORM;
    for (int64_t k = 0; k < draws->count; k++) {
        const double number = of == UNIFORM  ? a + (b - a) * part[k]
                              : of == NORMAL ? a + b * normal_of(part[k])
                                             : a * exp(normal_of(part[k]) * log(b));
        char text[NUMBER]; /* 12 digits: those of any library's functions */
        (void)strake_number_print(text, sizeof text, "%.12g", number);
        STRAKE_TRY(strake_scan_axis_add(axis, text, strlen(text), error));
    }
cleanup:
    free(part);
    return status;
}

static bool is_between(char byte)
{
    return byte == ',' || byte == ';' || byte == ' ' || byte == '\t' || byte == '\r';
}

bool strake_scan_word(const char *line, int column, const char **word, size_t *length)
{
    const char *at = line;
    for (int k = 0;; k++) {
        while (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
        }
        const bool is_quoted = *at == '"' && strchr(at + 1, '"') != NULL;
        at += is_quoted ? 1 : 0;
        size_t n = is_quoted ? strcspn(at, "\"") : 0;
        while (!is_quoted && at[n] != '\0' && !is_between(at[n])) {
            n++;
        }
        if (k == column) {
            *word = at;
            *length = n;
            return n > 0;
        }
        at += n + (is_quoted ? 1 : 0);
        while (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
        }
        at += *at == ',' || *at == ';' ? 1 : 0;
        if (*at == '\0') {
            return false;
        }
    }
}

int strake_scan_column(const char *first, const char *name)
{
    double number = 0.0;
    const char *word = NULL;
    size_t length = 0;
    if (name[0] == '\0') {
        return 0;
    }
    for (int k = 0; strake_scan_word(first, k, &word, &length); k++) {
        if (strlen(name) == length && strncmp(name, word, length) == 0) {
            return k;
        }
    }
    return is_count(name, 1.0, 1000.0, &number) ? (int)number - 1 : -1;
}

/* Draw k has line k of a column. */
static strake_status add_column(strake_scan_axis *axis, const char *text, const char *option,
                                const strake_scan_draws *draws, strake_error *error)
{
    enum { MOST_BYTES = 1 << 28 };
    strake_status status = STRAKE_OK;
    char *data = NULL, *rest = NULL, *line = NULL;
    size_t length = 0;
    int column = -1, number = 0;
    const char *const colon = strrchr(text, ':');
    char *const path = strndup(text, colon != NULL ? (size_t)(colon - text) : strlen(text));
    const char *const name = colon != NULL ? colon + 1 : "";
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the values of a scan");
    STRAKE_CHECK(path[0] != '\0', error, STRAKE_ERR_USAGE,
                 "option --over: %s: expected %s=of:FILE or %s=of:FILE:COLUMN", option, axis->path,
                 axis->path);
    STRAKE_TRY(strake_file_read(path, MOST_BYTES, "text of values", &data, &length, error));
    axis->low = -DBL_MAX;
    axis->high = DBL_MAX;
    rest = strake_text_begin(data);
    while ((line = strsep(&rest, "\n")) != NULL && axis->count < draws->count) {
        const char *word = "";
        char value[NUMBER];
        size_t letters = 0;
        double real = 0.0;
        number++;
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            continue;
        }
        const bool is_first = column < 0;
        column = is_first ? strake_scan_column(line, name) : column;
        STRAKE_CHECK(column >= 0, error, STRAKE_ERR_USAGE,
                     "option --over: %s: %s has no column '%s'; expected its name in the first "
                     "line, or its number from 1 on",
                     option, path, name);
        const bool is_there = strake_scan_word(line, column, &word, &letters);
        const bool is_quoted = is_there && word > line && word[-1] == '"';
        (void)snprintf(value, sizeof value, "%.*s", letters < NUMBER ? (int)letters : NUMBER - 1,
                       word);
        const bool is_value = is_there && ((is_quoted && !is_first) ||
                                           (letters < NUMBER && strake_text_real(value, &real)));
        STRAKE_CHECK(
            is_value || is_first, error, STRAKE_ERR_USAGE,
            "option --over: %s: %s: line %d: column %d is '%s', expected a number, or a text in "
            "double quotes",
            option, path, number, column + 1, value);
        STRAKE_TRY(is_value ? strake_scan_axis_add(axis, word, letters, error) : STRAKE_OK);
    }
    STRAKE_CHECK(axis->count > 0, error, STRAKE_ERR_USAGE,
                 "option --over: %s: %s has no line with a value", option, path);
    for (int k = 0; axis->count < draws->count; k++) {
        STRAKE_TRY(strake_scan_axis_add(axis, axis->value[k], strlen(axis->value[k]), error));
    }
cleanup:
    free(path);
    free(data);
    return status;
}

/* What is drawn together with others. @param[out] is  whether a key's values are */
static strake_status read_drawn(const char *option, const strake_scan_draws *draws,
                                strake_scan_axis *axis, bool *is, strake_error *error)
{
    enum { WORDS = 3 };
    strake_status status = STRAKE_OK;
    char word[WORDS][NUMBER];
    const char *const text = strchr(option, '=') + 1;
    double a = 0.0, b = 0.0;
    int of = 0;
    while (of < LAWS &&
           (strncmp(text, laws[of], strlen(laws[of])) != 0 || text[strlen(laws[of])] != ':')) {
        of++;
    }
    *is = of < LAWS || strncmp(text, "of:", 3) == 0;
    if (!*is) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(draws->count > 0, error, STRAKE_ERR_USAGE,
                 "option --over: %s: is drawn; say how often, for example --draws 100", option);
    axis->is_drawn = axis->is_random = true;
    if (of == LAWS) {
        return add_column(axis, text + 3, option, draws, error);
    }
    STRAKE_CHECK(split_colons(text, WORDS, word) == WORDS && strake_text_real(word[1], &a) &&
                     strake_text_real(word[2], &b) &&
                     (of == UNIFORM  ? a <= b
                      : of == NORMAL ? b >= 0.0
                                     : a > 0.0 && b >= 1.0),
                 error, STRAKE_ERR_USAGE, "option --over: %s: expected %s=%s:%s%s", option,
                 axis->path, laws[of], law_words[of],
                 of == UNIFORM  ? " with LOW <= HIGH"
                 : of == NORMAL ? " with SD >= 0"
                                : " with MEDIAN > 0 and FACTOR >= 1");
    STRAKE_TRY(add_draws(axis, (law)of, a, b, draws, error));
cleanup:
    return status;
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
            status = strake_scan_axis_add(axis, begin, (size_t)(at - begin), error);
            begin = at + 1;
        }
        if (*at == '\0') {
            break;
        }
    }
cleanup:
    return status;
}

static strake_status read_axis(const char *option, const strake_scan_draws *draws,
                               strake_scan_axis *axis, strake_error *error)
{
    enum { RANGE = 3, RANDOM = 5 };
    strake_status status = STRAKE_OK;
    char word[RANDOM][NUMBER];
    double a = 0.0, b = 0.0, count = 0.0, seed = 0.0;
    const char *const text = strchr(option, '=') + 1;
    const int words = split_colons(text, RANDOM, word);
    bool is_drawn = false;
    axis->path = strndup(option, (size_t)(text - 1 - option));
    STRAKE_CHECK(axis->path != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the values of a scan");
    STRAKE_TRY(read_drawn(option, draws, axis, &is_drawn, error));
    if (is_drawn) {
        return STRAKE_OK;
    }
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

/* What a class says of its runs. */
static const char rate_path[] = "vents[0].rate", end_path[] = "time.end";

strake_status strake_scan_values_read(const char *const *overs, const strake_scan_draws *draws,
                                      strake_scan_values *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool any = out->axes > 0; /* vents */
    const int before = out->axes;
    out->draws = draws->count > 0 ? draws->count : 1;
    out->runs = out->draws;
    if (out->classes > 0 && !out->axis[0].is_drawn) {
        STRAKE_CHECK(out->runs <= STRAKE_SCAN_MOST / out->classes, error, STRAKE_ERR_USAGE,
                     "option --classes: with all vents there are more than %d runs; draw some of "
                     "them with --draws",
                     (int)STRAKE_SCAN_MOST);
        out->runs *= out->classes;
    }
    for (int n = 0; overs[n] != NULL; n++) {
        const int k = before + n;
        STRAKE_CHECK(k < STRAKE_SCAN_AXES, error, STRAKE_ERR_USAGE,
                     "option --over: more than %d keys", (int)STRAKE_SCAN_AXES);
        out->axes = k + 1;
        STRAKE_TRY(read_axis(overs[n], draws, &out->axis[k], error));
        const char *const path = out->axis[k].path;
        const bool has_end = strake_scan_set_count(out) > out->axes;
        STRAKE_CHECK(out->classes == 0 || (strcmp(path, rate_path) != 0 &&
                                           (!has_end || strcmp(path, end_path) != 0)),
                     error, STRAKE_ERR_USAGE, "option --over: %s: --classes says it", path);
        for (int other = 0; other < k; other++) {
            STRAKE_CHECK(strcmp(out->axis[other].path, out->axis[k].path) != 0, error,
                         STRAKE_ERR_USAGE,
                         "option --over: %s is given twice; write all its values "
                         "after one --over",
                         out->axis[k].path);
        }
        const int count = out->axis[k].is_drawn ? 1 : out->axis[k].count;
        any = any || out->axis[k].is_drawn;
        STRAKE_CHECK(out->runs <= STRAKE_SCAN_MOST / count, error, STRAKE_ERR_USAGE,
                     "option --over: more than %d runs", (int)STRAKE_SCAN_MOST);
        out->runs *= count;
    }
    STRAKE_CHECK(any || draws->count == 0, error, STRAKE_ERR_USAGE,
                 "option --draws: nothing is drawn; give for example --over "
                 "PATH=uniform:LOW:HIGH");
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
    static const double most = 1e300; /* sums of thicknesses have to be finite, too */
    strake_status status = STRAKE_OK;
    double sum = 0.0;
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
    for (int64_t run = 0; run < values->runs; run++) {
        sum += strake_scan_weight(values, run);
    }
    STRAKE_CHECK(sum <= most, error, STRAKE_ERR_USAGE,
                 "the weights of the runs (--weights, --vents and --classes, multiplied) add up to "
                 "%g, expected at most %g; give smaller ones",
                 sum, most);
cleanup:
    return status;
}

/* Which value of an axis a run has. */
static int64_t place_of(const strake_scan_values *values, int64_t run, int axis)
{
    const bool is_drawn = values->axis[axis].is_drawn;
    for (int k = values->axes - 1; k > (is_drawn ? -1 : axis); k--) {
        run /= values->axis[k].is_drawn ? 1 : values->axis[k].count;
    }
    return is_drawn ? run : run % values->axis[axis].count;
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

int strake_scan_set_count(const strake_scan_values *values)
{
    return values->axes + (values->classes > 0 && values->one_class[0].end != NULL ? 1 : 0);
}

const char *strake_scan_set(const strake_scan_values *values, int64_t run, int k, const char **path)
{
    const bool is_end = k == values->axes;
    if (values->classes > 0 && (k == 0 || is_end)) {
        const strake_scan_class *const c = &values->one_class[strake_scan_class_of(values, run)];
        *path = is_end ? end_path : rate_path;
        return is_end ? c->end : c->rate;
    }
    *path = values->axis[k].path;
    return strake_scan_value(values, run, k);
}

int strake_scan_class_of(const strake_scan_values *values, int64_t run)
{
    const char *const name = strake_scan_value(values, run, 0);
    int k = 0;
    while (strcmp(values->one_class[k].name, name) != 0) {
        k++;
    }
    return k;
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
    for (int k = 0; k < values->classes; k++) {
        free(values->one_class[k].name);
        free(values->one_class[k].rate);
        free(values->one_class[k].end);
    }
    *values = (strake_scan_values){0};
}
