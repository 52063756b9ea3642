/*
 * fieldstat: one number of an output file, for shell tests.
 *
 *   fieldstat FILE.npy min | max | at ROW COL | rms OTHER.npy SECONDS   [near VALUE TOLERANCE]
 *
 * rms is sqrt(mean((FILE - OTHER)^2)) / SECONDS. TOLERANCE is absolute, or relative to VALUE with a
 * trailing "r" (2e-8r). Prints the number; exit status 0 if near, 1 if not, 2 for misuse.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct array {
    long rows, cols;
    double *value;
} array;

static void die(const char *file, const char *what)
{
    fprintf(stderr, "fieldstat: %s: %s\n", file, what);
    exit(2);
}

/* A two-dimensional .npy file of float64 or float32, C order, little-endian. */
static array load(const char *file)
{
    FILE *stream = fopen(file, "rb");
    if (stream == NULL) {
        die(file, "cannot open");
    }
    unsigned char start[10];
    char header[4096] = "";
    if (fread(start, 1, sizeof start, stream) != sizeof start ||
        memcmp(start, "\x93NUMPY\x01", 7) != 0) {
        die(file, "not a .npy file of version 1");
    }
    const size_t length = (size_t)start[8] + 256U * (size_t)start[9];
    if ((sizeof start + length) % 64 != 0) {
        die(file, "the data do not start at a multiple of 64 bytes");
    }
    if (length >= sizeof header || fread(header, 1, length, stream) != length) {
        die(file, "bad header");
    }
    const size_t size = strstr(header, "'<f8'") != NULL   ? 8
                        : strstr(header, "'<f4'") != NULL ? 4
                                                          : 0;
    const char *shape = strstr(header, "'shape': (");
    array a = {0, 0, NULL};
    if (size == 0 || strstr(header, "'fortran_order': False") == NULL || shape == NULL ||
        sscanf(shape, "'shape': (%ld, %ld)", &a.rows, &a.cols) != 2 || a.rows < 1 || a.cols < 1) {
        die(file, "not a two-dimensional C-order array of <f8 or <f4");
    }
    const size_t count = (size_t)a.rows * (size_t)a.cols;
    a.value = malloc(count * sizeof(double));
    if (a.value == NULL) {
        die(file, "out of memory");
    }
    for (size_t k = 0; k < count; k++) {
        float narrow = 0.0F;
        if (fread(size == 8 ? (void *)&a.value[k] : (void *)&narrow, size, 1, stream) != 1) {
            die(file, "truncated");
        }
        if (size == 4) {
            a.value[k] = (double)narrow;
        }
    }
    if (fgetc(stream) != EOF) {
        die(file, "longer than its header says");
    }
    fclose(stream);
    return a;
}

static double statistic(const char *file, int *used, int count, char **argument)
{
    array a = load(file);
    const size_t cells = (size_t)a.rows * (size_t)a.cols;
    const char *what = argument[0];
    double result = 0.0;
    if (strcmp(what, "min") == 0 || strcmp(what, "max") == 0) {
        *used = 1;
        result = a.value[0];
        for (size_t k = 0; k < cells; k++) {
            result = what[1] == 'i' ? fmin(result, a.value[k]) : fmax(result, a.value[k]);
            if (isnan(a.value[k])) {
                die(file, "holds a NaN");
            }
        }
    } else if (strcmp(what, "at") == 0 && count >= 3) {
        *used = 3;
        const long row = atol(argument[1]);
        const long col = atol(argument[2]);
        if (row < 0 || row >= a.rows || col < 0 || col >= a.cols) {
            die(file, "no such element");
        }
        result = a.value[row * a.cols + col];
    } else if (strcmp(what, "rms") == 0 && count >= 3) {
        *used = 3;
        array b = load(argument[1]);
        if (b.rows != a.rows || b.cols != a.cols) {
            die(argument[1], "has another shape");
        }
        for (size_t k = 0; k < cells; k++) {
            result += (a.value[k] - b.value[k]) * (a.value[k] - b.value[k]);
        }
        result = sqrt(result / (double)cells) / atof(argument[2]);
        free(b.value);
    } else {
        die(what, "unknown statistic, or operands missing");
    }
    free(a.value);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        die("usage",
            "fieldstat FILE.npy min|max|at ROW COL|rms OTHER.npy SECONDS [near VALUE TOL]");
    }
    int used = 0;
    const double result = statistic(argv[1], &used, argc - 2, argv + 2);
    printf("%.10g\n", result);
    char **rest = argv + 2 + used;
    if (rest[0] == NULL) {
        return 0;
    }
    if (strcmp(rest[0], "near") != 0 || rest[1] == NULL || rest[2] == NULL || rest[3] != NULL) {
        die(rest[0], "expected: near VALUE TOLERANCE");
    }
    const double value = atof(rest[1]);
    char *unit = NULL;
    double tolerance = strtod(rest[2], &unit);
    if (strcmp(unit, "r") == 0) {
        tolerance *= fabs(value);
    }
    return fabs(result - value) <= tolerance ? 0 : 1;
}
