#include "main/compare_bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "output/index.h"

static const int64_t most_bytes = INT64_C(1) << 40;

strake_compare_by strake_compare_find(const char *name)
{
    static const struct {
        const char *suffix;
        strake_compare_by by;
    } known[] = {{".npy", STRAKE_COMPARE_VALUES}, {".nc", STRAKE_COMPARE_VARIABLES},
                 {".csv", STRAKE_COMPARE_TABLE},  {".vti", STRAKE_COMPARE_BYTES},
                 {".vtp", STRAKE_COMPARE_BYTES},  {".asc", STRAKE_COMPARE_VALUES},
                 {".tif", STRAKE_COMPARE_VALUES}, {".geojson", STRAKE_COMPARE_BYTES},
                 {".kml", STRAKE_COMPARE_BYTES}};
    const char *const dot = strrchr(name, '.');
    if (dot == NULL || name[0] == '.' || strcmp(name, STRAKE_INDEX_NAME) == 0) {
        return STRAKE_COMPARE_NOT;
    }
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(dot, known[k].suffix) == 0) {
            return known[k].by;
        }
    }
    return STRAKE_COMPARE_NOT;
}

/* Whether the words up to the next comma or end of line are numbers that are near enough, or the same. */
static bool is_near(const char *a, size_t length_a, const char *b, size_t length_b,
                    double tolerance)
{
    char *end_a = NULL, *end_b = NULL;
    const double x = strake_number_read(a, &end_a), y = strake_number_read(b, &end_b);
    if (end_a == a + length_a && end_b == b + length_b && length_a > 0 && length_b > 0) {
        return (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance;
    }
    return length_a == length_b && memcmp(a, b, length_a) == 0;
}

static void compare_tables(const char *label, const char *a, const char *b, double tolerance,
                           bool *equal)
{
    int64_t line = 1, column = 1;
    while (*a != '\0' || *b != '\0') {
        const size_t length_a = strcspn(a, ",\n"), length_b = strcspn(b, ",\n");
        if (!is_near(a, length_a, b, length_b, tolerance) || a[length_a] != b[length_b]) {
            (void)printf("%s: line %lld, column %lld: %.*s and %.*s\n", label, (long long)line,
                         (long long)column, (int)(length_a < 40 ? length_a : 40), a,
                         (int)(length_b < 40 ? length_b : 40), b);
            *equal = false;
            return;
        }
        a += length_a;
        b += length_b;
        line += *a == '\n' ? 1 : 0;
        column = *a == '\n' ? 1 : column + 1;
        a += *a != '\0' ? 1 : 0;
        b += *b != '\0' ? 1 : 0;
    }
}

strake_status strake_compare_plain(strake_compare_by by, const char *label, const char *path_a,
                                   const char *path_b, double tolerance, bool *equal,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *a = NULL, *b = NULL;
    size_t length_a = 0, length_b = 0, at = 0;
    STRAKE_TRY(strake_file_read(path_a, most_bytes, "output", &a, &length_a, error));
    STRAKE_TRY(strake_file_read(path_b, most_bytes, "output", &b, &length_b, error));
    while (at < length_a && at < length_b && a[at] == b[at]) {
        at++;
    }
    if (at == length_a && at == length_b) {
        goto cleanup;
    }
    if (by == STRAKE_COMPARE_TABLE && tolerance > 0.0) {
        compare_tables(label, a, b, tolerance, equal);
        goto cleanup;
    }
    *equal = false;
    if (length_a != length_b) {
        (void)printf("%s: %zu and %zu bytes, compared byte by byte; they differ from byte %zu on\n",
                     label, length_a, length_b, at);
    } else {
        (void)printf("%s: differs from byte %zu on, compared byte by byte\n", label, at);
    }
cleanup:
    free(a);
    free(b);
    return status;
}
