/* `strake compare`: two files of outputs, two folders of them, or two checkpoints. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "program/command.h"
#include "program/compare_footprint.h"
#include "program/say.h"
#include "output/array.h"
#include "output/output.h"

/* Output files without arrays: tables as numbers, others byte by byte. */

/** What a file of outputs is compared by, told by its name. */
typedef enum strake_compare_by {
    STRAKE_COMPARE_NOT,       /**< it is no output, or says only where and when others were made */
    STRAKE_COMPARE_VALUES,    /**< .npy, .asc, .tif */
    STRAKE_COMPARE_VARIABLES, /**< .nc */
    STRAKE_COMPARE_TABLE,     /**< .csv */
    STRAKE_COMPARE_BYTES      /**< .vti, .vtp, .geojson, .kml */
} strake_compare_by;

static const int64_t most_bytes = INT64_C(1) << 40;

static strake_compare_by compare_find(const char *name)
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

/**
 * Compares two files and prints where they differ; @p equal turns false. A table with a tolerance by its numbers, everything
 * else by bytes. @param[in] label  of what is printed @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
static strake_status compare_plain(strake_compare_by by, const char *label, const char *path_a,
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

enum { CHUNK = 1 << 16 };

static const char *const kind_name[] = {"a folder", "an .npy file", "a checkpoint", "a NetCDF file",
                                        "a grid of a map"};

/* --- how far two arrays are apart ----------------------------------------------------------------- */

/* Accumulated over the pieces of two arrays. Start from `no_difference`. */
typedef struct difference {
    int64_t elements;  /* compared */
    int64_t differing; /* elements whose bits differ */
    int64_t first;     /* index of the first of them, -1 for none */
    double first_a, first_b;
    double absolute; /* largest |a - b|; infinite where just one is not finite */
    int64_t worst;   /* index of that */
    double relative; /* largest |a - b| / max(|a|, |b|) */
    uint64_t ulp;    /* largest distance in representable numbers, finite pairs only */
    bool beyond;     /* some pair is not within the tolerance */
} difference;

static const difference no_difference = {.first = -1, .worst = -1};

/* Position among all doubles in ascending order; both zeros are 0. */
static int64_t rank_double(double x)
{
    int64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static int64_t rank_single(double x)
{
    const float narrow = (float)x;
    int32_t bits = 0;
    memcpy(&bits, &narrow, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static uint64_t ulp_between(double a, double b, bool single)
{
    const int64_t x = single ? rank_single(a) : rank_double(a);
    const int64_t y = single ? rank_single(b) : rank_double(b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/*
 * Adds @p count pairs. @param[in] tolerance  absolute; 0 means the same bits. With a tolerance, two NaN count as equal.
 * @param[in] single  the values come from floats: ulp counts floats
 */
static void add_pairs(difference *sum, const double *a, const double *b, size_t count,
                      double tolerance, bool single)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t index = sum->elements + (int64_t)k;
        if (memcmp(&a[k], &b[k], sizeof *a) == 0) {
            continue;
        }
        sum->differing++;
        if (sum->first < 0) {
            sum->first = index;
            sum->first_a = a[k];
            sum->first_b = b[k];
        }
        const bool finite = isfinite(a[k]) && isfinite(b[k]);
        const bool both_nan = isnan(a[k]) && isnan(b[k]);
        const double apart = finite ? fabs(a[k] - b[k]) : both_nan ? 0.0 : (double)INFINITY;
        if (apart > sum->absolute || sum->worst < 0) {
            sum->absolute = apart;
            sum->worst = index;
        }
        if (finite) {
            const double larger = fmax(fabs(a[k]), fabs(b[k]));
            const double relative = larger > 0.0 ? apart / larger : 0.0;
            const uint64_t ulp = ulp_between(a[k], b[k], single);
            sum->relative = fmax(sum->relative, relative);
            sum->ulp = ulp > sum->ulp ? ulp : sum->ulp;
        } else if (!both_nan) {
            sum->relative = (double)INFINITY;
        }
        sum->beyond = sum->beyond || tolerance <= 0.0 || apart > tolerance;
    }
    sum->elements += (int64_t)count;
}

/* --- files, and the arrays in them ---------------------------------------------------------------- */

/* "[3, 14]" of a flat index. */
static const char *index_text(const strake_array *of, int64_t flat, char *text, size_t size)
{
    int64_t index[STRAKE_NPY_DIMS] = {0};
    for (int d = of->dims - 1; d >= 0; d--) {
        index[d] = flat % of->shape[d];
        flat /= of->shape[d];
    }
    return strake_npy_shape_text(of->dims, index, text, size);
}

static void print_difference(const char *label, const strake_array *a, const difference *d,
                             double tolerance, bool same_type)
{
    char first[128], worst[128];
    (void)printf("%s: %lld of %lld values differ%s\n", label, (long long)d->differing,
                 (long long)d->elements,
                 tolerance <= 0.0 ? ""
                 : d->beyond      ? ", beyond the tolerance"
                                  : ", within the tolerance");
    (void)printf("  max absolute difference  %.17g at %s\n", d->absolute,
                 index_text(a, d->worst, worst, sizeof worst));
    (void)printf("  max relative difference  %.17g\n", d->relative);
    if (same_type) {
        (void)printf("  max difference in ulp    %llu\n", (unsigned long long)d->ulp);
    }
    (void)printf("  first at %s: %.17g and %.17g\n", index_text(a, d->first, first, sizeof first),
                 d->first_a, d->first_b);
}

/* Compares two arrays and prints what differs; `equal` turns false beyond the tolerance. */
static strake_status compare_arrays(const char *label, strake_array *a, strake_array *b,
                                    double tolerance, bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    difference sum = no_difference;
    double *values = NULL;
    const bool same_type = a->element_size == b->element_size;
    const bool same_shape =
        a->dims == b->dims && memcmp(a->shape, b->shape, (size_t)a->dims * sizeof a->shape[0]) == 0;
    if (!same_shape) {
        char x[160], y[160];
        (void)printf("%s: the shapes differ: %s and %s\n", label,
                     strake_npy_shape_text(a->dims, a->shape, x, sizeof x),
                     strake_npy_shape_text(b->dims, b->shape, y, sizeof y));
        *equal = false;
        return STRAKE_OK;
    }
    if (!same_type && tolerance <= 0.0) {
        (void)printf("%s: the types differ: float%d and float%d\n", label, 8 * a->element_size,
                     8 * b->element_size);
        *equal = false;
        return STRAKE_OK;
    }
    values = malloc(2 * CHUNK * sizeof *values);
    STRAKE_CHECK(values != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int64_t at = 0; at < a->count; at += CHUNK) {
        const int64_t count = a->count - at < CHUNK ? a->count - at : CHUNK;
        STRAKE_TRY(strake_array_read(a, at, count, values, error));
        STRAKE_TRY(strake_array_read(b, at, count, values + CHUNK, error));
        add_pairs(&sum, values, values + CHUNK, (size_t)count, tolerance, a->element_size == 4);
    }
    if (sum.differing > 0) {
        print_difference(label, a, &sum, tolerance, same_type);
    }
    *equal = *equal && !sum.beyond;
cleanup:
    free(values);
    return status;
}

static strake_status compare_files(const char *label, const char *path_a, const char *path_b,
                                   double tolerance, bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_array a = {0}, b = {0};
    STRAKE_TRY(strake_array_open(path_a, &a, error));
    STRAKE_TRY(strake_array_open(path_b, &b, error));
    STRAKE_TRY(compare_arrays(label, &a, &b, tolerance, equal, error));
cleanup:
    strake_array_close(&a);
    strake_array_close(&b);
    return status;
}

static strake_status compare_checkpoints(const char *path_a, const char *path_b, double tolerance,
                                         bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_checkpoint x = {.descriptor = -1}, y = {.descriptor = -1};
    STRAKE_TRY(strake_checkpoint_open(path_a, &x, error));
    STRAKE_TRY(strake_checkpoint_open(path_b, &y, error));
    if (x.header.step != y.header.step) {
        (void)printf("the steps differ: %lld and %lld\n", (long long)x.header.step,
                     (long long)y.header.step);
        *equal = false;
    }
    if (x.header.hash != y.header.hash) {
        (void)printf("the cases differ: they cannot be resumed by the same case\n");
        *equal = false;
    }
    for (uint32_t k = 0; k < y.header.fields; k++) {
        if (strake_checkpoint_find_field(&x.header, y.header.field[k].name) < 0) {
            (void)printf("%s: only in %s\n", y.header.field[k].name, path_b);
            *equal = false;
        }
    }
    for (uint32_t k = 0; k < x.header.fields; k++) {
        const char *const name = x.header.field[k].name;
        const int other = strake_checkpoint_find_field(&y.header, name);
        if (other < 0) {
            (void)printf("%s: only in %s\n", name, path_a);
            *equal = false;
            continue;
        }
        strake_array a = strake_array_of_checkpoint(&x, (int)k);
        strake_array b = strake_array_of_checkpoint(&y, other);
        STRAKE_TRY(compare_arrays(name, &a, &b, tolerance, equal, error));
    }
cleanup:
    strake_checkpoint_close(&x);
    strake_checkpoint_close(&y);
    return status;
}

/* Variables of the same name, whole. */
static strake_status compare_variables(const char *path_a, strake_netcdf_reader *x,
                                       const char *path_b, strake_netcdf_reader *y,
                                       const strake_netcdf *module, double tolerance, bool *equal,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_netcdf_info one, other;
    for (int k = 0; k < module->variables(x); k++) {
        bool found = false;
        for (int j = 0; module->describe(x, k, &one) && j < module->variables(y) && !found; j++) {
            found = module->describe(y, j, &other) && strcmp(one.name, other.name) == 0;
            if (found && one.dims > 0 && other.dims > 0) {
                strake_array a = strake_array_of_netcdf(path_a, module, x, k, &one, -1);
                strake_array b = strake_array_of_netcdf(path_b, module, y, j, &other, -1);
                STRAKE_TRY(compare_arrays(one.name, &a, &b, tolerance, equal, error));
            }
        }
        if (!found) {
            (void)printf("%s: only in %s\n", one.name, path_a);
            *equal = false;
        }
    }
cleanup:
    return status;
}

static strake_status compare_netcdf(const char *path_a, const char *path_b, double tolerance,
                                    bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf *module = NULL;
    strake_netcdf_reader *x = NULL, *y = NULL;
    STRAKE_TRY(strake_netcdf_load(path_a, &module, error));
    STRAKE_TRY(module->open(path_a, &x, error));
    STRAKE_TRY(module->open(path_b, &y, error));
    if (module->variables(x) < module->variables(y)) {
        (void)printf("%s has variables that %s has not\n", path_b, path_a);
        *equal = false;
    }
    STRAKE_TRY(compare_variables(path_a, x, path_b, y, module, tolerance, equal, error));
cleanup:
    if (module != NULL) {
        module->end(&x);
        module->end(&y);
    }
    return status;
}

static int is_output(const struct dirent *entry)
{
    return compare_find(entry->d_name) != STRAKE_COMPARE_NOT;
}

static strake_status list_folder(const char *path, struct dirent ***list, int *count,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    *count = scandir(path, list, is_output, NULL);
    STRAKE_CHECK(*count >= 0, error, STRAKE_ERR_IO, "cannot read folder %s: %s", path,
                 strake_file_reason(errno));
    STRAKE_CHECK(*count > 0, error, STRAKE_ERR_USAGE, "folder %s has no outputs to compare", path);
cleanup:
    return status;
}

/* Not alphasort: the order must not depend on the locale. */
static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct dirent *const *)a)->d_name, (*(struct dirent *const *)b)->d_name);
}

static void free_list(struct dirent **list, int count)
{
    for (int k = 0; k < count; k++) {
        free(list[k]);
    }
    free(list);
}

static strake_status compare_in_folders(const char *path_a, const char *path_b, const char *name,
                                        double tolerance, bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const file_a = strake_path_join(path_a, name);
    char *const file_b = strake_path_join(path_b, name);
    const strake_compare_by by = compare_find(name);
    STRAKE_CHECK(file_a != NULL && file_b != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (by == STRAKE_COMPARE_VALUES) {
        STRAKE_TRY(compare_files(name, file_a, file_b, tolerance, equal, error));
    } else if (by == STRAKE_COMPARE_VARIABLES) {
        STRAKE_TRY(compare_netcdf(file_a, file_b, tolerance, equal, error));
    } else {
        STRAKE_TRY(compare_plain(by, name, file_a, file_b, tolerance, equal, error));
    }
cleanup:
    free(file_a);
    free(file_b);
    return status;
}

static strake_status compare_folders(const char *path_a, const char *path_b, double tolerance,
                                     bool *equal, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct dirent **a = NULL, **b = NULL;
    int count_a = 0, count_b = 0, i = 0, j = 0, good = 0, total = 0, bytes = 0;
    STRAKE_TRY(list_folder(path_a, &a, &count_a, error));
    STRAKE_TRY(list_folder(path_b, &b, &count_b, error));
    qsort((void *)a, (size_t)count_a, sizeof *a, by_name);
    qsort((void *)b, (size_t)count_b, sizeof *b, by_name);
    for (; i < count_a || j < count_b; total++) {
        const int order = i == count_a ? 1 : j == count_b ? -1 : by_name(&a[i], &b[j]);
        const char *const name = order <= 0 ? a[i]->d_name : b[j]->d_name;
        const strake_compare_by by = compare_find(name);
        bytes += by == STRAKE_COMPARE_BYTES || (by == STRAKE_COMPARE_TABLE && tolerance <= 0.0);
        if (order != 0) {
            (void)printf("%s: only in %s\n", name, order < 0 ? path_a : path_b);
            *equal = false;
        } else {
            bool same = true;
            STRAKE_TRY(compare_in_folders(path_a, path_b, name, tolerance, &same, error));
            good += same;
            *equal = *equal && same;
        }
        i += order <= 0;
        j += order >= 0;
    }
    (void)printf("%d of %d files %s", good, total,
                 tolerance > 0.0 ? "agree within the tolerance" : "are equal");
    if (bytes > 0) {
        (void)printf("; %d of them %s compared byte by byte", bytes,
                     bytes > 1 ? "are not arrays and were" : "is not an array and was");
    }
    (void)printf("\n");
cleanup:
    free_list(a, count_a);
    free_list(b, count_b);
    return status;
}

/* Whether both are files of outputs without arrays, of one kind. */
static bool is_plain(const char *a, const char *b)
{
    struct stat one, other;
    const strake_compare_by by = compare_find(strake_path_last(a));
    return (by == STRAKE_COMPARE_TABLE || by == STRAKE_COMPARE_BYTES) &&
           by == compare_find(strake_path_last(b)) && stat(a, &one) == 0 && stat(b, &other) == 0 &&
           S_ISREG(one.st_mode) && S_ISREG(other.st_mode);
}

static strake_status compare_any(const char *a, const char *b, double tolerance, bool *equal,
                                 bool *is_folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_path_kind kind_a = STRAKE_PATH_NPY, kind_b = STRAKE_PATH_NPY;
    if (is_plain(a, b)) {
        return compare_plain(compare_find(strake_path_last(a)), a, a, b, tolerance, equal, error);
    }
    STRAKE_TRY(strake_path_find_kind(a, "compare", &kind_a, error));
    STRAKE_TRY(strake_path_find_kind(b, "compare", &kind_b, error));
    STRAKE_CHECK(kind_a == kind_b, error, STRAKE_ERR_USAGE,
                 "cannot compare %s (%s) with %s (%s); give two of one kind", a, kind_name[kind_a],
                 b, kind_name[kind_b]);
    *is_folder = kind_a == STRAKE_PATH_FOLDER;
    if (*is_folder) {
        STRAKE_TRY(compare_folders(a, b, tolerance, equal, error));
    } else if (kind_a == STRAKE_PATH_CHECKPOINT) {
        STRAKE_TRY(compare_checkpoints(a, b, tolerance, equal, error));
    } else if (kind_a == STRAKE_PATH_NETCDF) {
        STRAKE_TRY(compare_netcdf(a, b, tolerance, equal, error));
    } else {
        STRAKE_TRY(compare_files(a, a, b, tolerance, equal, error));
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    const char *const a = arguments->operand[0], *const b = arguments->operand[1];
    const double tolerance = arguments->tolerance;
    bool equal = true, is_folder = false;
    if (arguments->footprint) {
        STRAKE_CHECK(tolerance <= 0.0, error, STRAKE_ERR_USAGE,
                     "option --tolerance: has no meaning with --footprint; leave it out");
        status = strake_compare_footprints(
            a, b, isnan(arguments->threshold) ? STRAKE_USUAL_THRESHOLD : arguments->threshold,
            error);
        goto cleanup;
    }
    STRAKE_CHECK(isnan(arguments->threshold), error, STRAKE_ERR_USAGE,
                 "option --threshold: goes with --footprint");
    STRAKE_TRY(compare_any(a, b, tolerance, &equal, &is_folder, error));
    if (equal && !is_folder) {
        (void)printf("%s and %s %s\n", a, b,
                     tolerance > 0.0 ? "agree within the tolerance" : "are equal");
    }
cleanup:
    if (status != STRAKE_OK) {
        (void)strake_say_error(error);
        return STRAKE_EXIT_USAGE;
    }
    return equal ? STRAKE_EXIT_DONE : STRAKE_EXIT_FAILED;
}

static const strake_option options[] = {
    STRAKE_NUMBER("--tolerance", REAL, tolerance, "T", 0, 1e308,
                  "largest absolute difference accepted (default: 0,\nthe same bits)"),
    STRAKE_FLAG("--footprint", footprint,
                "how well two flows cover the same cells: e1 = cells in\nboth / cells in either"),
    STRAKE_NUMBER("--threshold", REAL, threshold, "M", 0, 1e308,
                  "thickness [m] from which on a cell belongs to a flow\n(default: 0.1)"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_compare = {
    .name = "compare",
    .operands = "A B",
    .operands_least = 2,
    .operands_most = 2,
    .text = "Compares two outputs: files, folders or checkpoints",
    .option = options,
    .details =
        "A and B are two .npy files, two folders (their outputs are compared by name; one that\n"
        "is missing is a difference), two NetCDF files (their variables), two checkpoints, or\n"
        "two tables (.csv) or files for VTK and maps, which are compared byte by byte, tables\n"
        "with a tolerance by their numbers; pictures, index.csv and run.json are not. Exit\n"
        "status: 0 equal, 1 different, 2 unreadable. With a tolerance, float32 and float64 may\n"
        "be compared and two NaN are equal.\n"
        "With --footprint, A and B are grids of thicknesses (.npy, .asc, GeoTIFF), NetCDF files\n"
        "or folders of outputs, of which the last step counts, fluid and solid; or one of them\n"
        "is polygons (GeoJSON; KML, Shapefile and what else GDAL reads), which have the cells\n"
        "whose middles are in them, but for holes. Grids of other extent or spacing on one map\n"
        "are looked at in the cells of A, each as that of B with the nearest middle. Exit status\n"
        "0 or 2.\n",
    .examples = "  strake compare out/psi_00000500.npy reference/psi_00000500.npy\n"
                "  strake compare out-cpu out-gpu\n"
                "  strake compare double single --tolerance 1e-5\n"
                "  strake compare out mapped-flow.asc --footprint\n"
                "  strake compare out mapped-flow.geojson --footprint\n",
    .run = command};
