#include "base/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER '>'
#else
#define NATIVE_ORDER '<'
#endif

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum {
    MAX_HEADER = 1 << 20, /* a sane header has some hundred bytes */
    CHUNK = 8192,         /* elements converted at a time */
    BAND = 1 << 20, /* bytes of a Fortran-order file held at once, if not more are needed to ... */
    BANDS = 32      /* ... read it in so many bands: many tiny reads would take for ever */
};

struct strake_npy_reader {
    char *path;
    int fd;
    strake_npy_info info;
    char kind;            /* of numbers: 'f', 'i', 'u' or 'b', as NumPy's dtype.kind */
    unsigned char *chunk; /* CHUNK elements as they stand in the file */
    unsigned char
        *band; /* of a Fortran-order file: band_rows of every column, NULL until first read */
    int64_t band_rows;  /* indices of the first dimension in a band */
    int64_t band_first; /* first of them */
};

const char *strake_npy_shape_text(int dims, const int64_t *shape, char *buffer, size_t size)
{
    size_t used = 0;
    if (size > 0) {
        (void)snprintf(buffer, size, "[");
        used = strlen(buffer);
    }
    for (int d = 0; d < dims && used < size; ++d) {
        (void)snprintf(buffer + used, size - used, "%s%" PRId64, d > 0 ? ", " : "", shape[d]);
        used += strlen(buffer + used);
    }
    if (used < size) {
        (void)snprintf(buffer + used, size - used, "]");
    }
    return buffer;
}

/* Reads exactly @p bytes at @p offset. */
static strake_status read_at(const strake_npy_reader *reader, void *out, size_t bytes,
                             int64_t offset, strake_error *error)
{
    if (!strake_file_read_at(reader->fd, out, bytes, offset)) {
        return errno == 0 ? strake_fail(error, STRAKE_ERR_IO, "%s: ends while it is being read",
                                        reader->path)
                          : strake_fail(error, STRAKE_ERR_IO, "%s: cannot be read: %s",
                                        reader->path, strake_file_reason(errno));
    }
    return STRAKE_OK;
}

/* ---- header: the literal of a Python dictionary ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
        ++at;
    }
    return at;
}

/* A quoted string without escapes into @p out; NULL if there is none. */
static const char *parse_string(const char *at, char *out, size_t size)
{
    const char quote = *at;
    if (quote != '\'' && quote != '"') {
        return NULL;
    }
    const char *const end = strchr(at + 1, quote);
    if (end == NULL || (size_t)(end - at) > size) {
        return NULL;
    }
    const size_t length = (size_t)(end - at - 1);
    memcpy(out, at + 1, length);
    out[length] = '\0';
    return end + 1;
}

/* A tuple of non-negative integers; NULL if there is none or it has too many. */
static const char *parse_shape(const char *at, strake_npy_info *info)
{
    if (*at != '(') {
        return NULL;
    }
    at = skip_blanks(at + 1);
    info->dims = 0;
    while (*at != ')') {
        if (*at < '0' || *at > '9' || info->dims == STRAKE_NPY_DIMS) {
            return NULL;
        }
        char *end = NULL;
        errno = 0;
        const long long extent = strtoll(at, &end, 10);
        if (errno != 0) {
            return NULL;
        }
        info->shape[info->dims++] = extent;
        at = skip_blanks(*end == 'L' ? end + 1 : end); /* Python 2 wrote long integers as 3L */
        if (*at == ',') {
            at = skip_blanks(at + 1);
        } else if (*at != ')') {
            return NULL;
        }
    }
    return at + 1;
}

/* The header's text. @p dtype receives descr, "" where it is not one simple type. */
static bool parse_header(const char *text, strake_npy_info *info, char *dtype, size_t dtype_size)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    unsigned seen = 0;
    const char *at = skip_blanks(text);
    if (*at != '{') {
        return false;
    }
    at = skip_blanks(at + 1);
    while (*at != '}') {
        char key[32];
        unsigned bit = 0;
        at = parse_string(at, key, sizeof key);
        if (at == NULL || *(at = skip_blanks(at)) != ':') {
            return false;
        }
        at = skip_blanks(at + 1);
        if (strcmp(key, "descr") == 0) {
            bit = DESCR;
            if (*at == '[') { /* a structured type: of no use here, nothing behind it is needed */
                dtype[0] = '\0';
                return true;
            }
            at = parse_string(at, dtype, dtype_size);
        } else if (strcmp(key, "fortran_order") == 0) {
            bit = ORDER;
            info->fortran = strncmp(at, "True", 4) == 0;
            at = info->fortran ? at + 4 : strncmp(at, "False", 5) == 0 ? at + 5 : NULL;
        } else if (strcmp(key, "shape") == 0) {
            bit = SHAPE;
            at = parse_shape(at, info);
        }
        if (bit == 0 || (seen & bit) != 0 || at == NULL) {
            return false;
        }
        seen |= bit;
        at = skip_blanks(at);
        if (*at == ',') {
            at = skip_blanks(at + 1);
        } else if (*at != '}') {
            return false;
        }
    }
    return seen == (DESCR | ORDER | SHAPE) && *skip_blanks(at + 1) == '\0';
}

/* Derives the element type, or says which one cannot be used. */
static strake_status apply_dtype(strake_npy_reader *reader, const char *dtype, strake_error *error)
{
    strake_npy_info *const info = &reader->info;
    const char order = dtype[0], kind = order != '\0' ? dtype[1] : '\0';
    const int size = strlen(dtype) == 3 ? dtype[2] - '0' : 0;
    const bool is_whole = (kind == 'i' || kind == 'u') && (size == 1 || size == 2);
    const bool has_size = size == 4 || size == 8 ? kind == 'f' || kind == 'i' || kind == 'u'
                                                 : is_whole || (kind == 'b' && size == 1);
    if (!has_size || !(order == '<' || order == '>' || (order == '|' && size == 1))) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: has dtype %s%s%s, expected float64, float32, integers or bool "
                           "('<f8', '>f4', '<i8', '|b1', ...); convert it with "
                           "array.astype('<f8')",
                           reader->path, dtype[0] != '\0' ? "'" : "(structured)", dtype,
                           dtype[0] != '\0' ? "'" : "");
    }
    reader->kind = kind;
    info->stored_size = size;
    info->element_size = kind == 'f' ? size : (int)sizeof(double);
    info->swapped = order != NATIVE_ORDER && size > 1;
    return STRAKE_OK;
}

/* Element count and file length must agree. */
static strake_status check_length(strake_npy_reader *reader, const char *dtype, int64_t length,
                                  strake_error *error)
{
    strake_npy_info *const info = &reader->info;
    char shape[200];
    int64_t bytes = reader->info.stored_size;
    bool fits = true;
    info->count = 1;
    for (int d = 0; d < info->dims && fits; ++d) {
        fits = !__builtin_mul_overflow(info->count, info->shape[d], &info->count) &&
               !__builtin_mul_overflow(info->count, (int64_t)reader->info.stored_size, &bytes);
    }
    (void)strake_npy_shape_text(info->dims, info->shape, shape, sizeof shape);
    if (!fits || bytes > INT64_MAX - info->data) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: malformed: its shape %s is too large",
                           reader->path, shape);
    }
    if (length != info->data + bytes) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: %s: has %" PRId64 " bytes, but its shape %s of '%s' needs %" PRId64,
                           reader->path, length < info->data + bytes ? "truncated" : "too long",
                           length, shape, dtype, info->data + bytes);
    }
    return STRAKE_OK;
}

static strake_status read_header(strake_npy_reader *reader, int64_t length, strake_error *error)
{
    strake_status status = STRAKE_OK;
    unsigned char start[12] = {0};
    char dtype[64] = "";
    char *text = NULL;
    int64_t prefix = 10; /* bytes before the dictionary */
    int64_t header = 0;

    STRAKE_CHECK(length >= 10, error, STRAKE_ERR_USAGE,
                 "%s: is not a .npy file: %" PRId64 " bytes, expected at least a header",
                 reader->path, length);
    STRAKE_TRY(read_at(reader, start, length < 12 ? 10 : 12, 0, error));
    STRAKE_CHECK(memcmp(start, magic, sizeof magic) == 0, error, STRAKE_ERR_USAGE,
                 "%s: is not a .npy file: it does not begin with \\x93NUMPY", reader->path);
    STRAKE_CHECK(start[6] >= 1 && start[6] <= 3, error, STRAKE_ERR_USAGE,
                 "%s: has .npy version %d.%d, expected 1.0, 2.0 or 3.0", reader->path, start[6],
                 start[7]);
    prefix = start[6] == 1 ? 10 : 12;
    header = start[8] + 256 * (int64_t)start[9];
    if (prefix == 12) {
        header += 65536 * (start[10] + 256 * (int64_t)start[11]);
    }
    STRAKE_CHECK(prefix + header <= length, error, STRAKE_ERR_USAGE,
                 "%s: truncated: its header needs %" PRId64 " bytes, the file has %" PRId64,
                 reader->path, prefix + header, length);
    STRAKE_CHECK(header <= MAX_HEADER, error, STRAKE_ERR_USAGE,
                 "%s: malformed: a header of %" PRId64 " bytes", reader->path, header);
    text = calloc((size_t)header + 1, 1);
    STRAKE_CHECK(text != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory for its header",
                 reader->path);
    STRAKE_TRY(read_at(reader, text, (size_t)header, prefix, error));
    reader->info.data = prefix + header;
    STRAKE_CHECK(strlen(text) == (size_t)header &&
                     parse_header(text, &reader->info, dtype, sizeof dtype),
                 error, STRAKE_ERR_USAGE,
                 "%s: malformed header, expected {'descr': '<f8', 'fortran_order': False, 'shape': "
                 "(...)} with at most %d dimensions",
                 reader->path, STRAKE_NPY_DIMS);
    STRAKE_TRY(apply_dtype(reader, dtype, error));
    STRAKE_TRY(check_length(reader, dtype, length, error));

cleanup:
    free(text);
    return status;
}

strake_status strake_npy_open(const char *path, strake_npy_reader **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t bytes = 0;
    const char *why = NULL;
    strake_npy_reader *reader = calloc(1, sizeof *reader);
    STRAKE_CHECK(reader != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    reader->fd = -1;
    reader->path = strdup(path);
    reader->chunk = malloc((size_t)CHUNK * 8);
    STRAKE_CHECK(reader->path != NULL && reader->chunk != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to open it", path);
    reader->fd = strake_file_open(path, &bytes, &why);
    STRAKE_CHECK(reader->fd >= 0, error, STRAKE_ERR_IO, "%s: cannot be opened: %s", path, why);
    STRAKE_TRY(read_header(reader, bytes, error));
    *out = reader;
    reader = NULL;

cleanup:
    strake_npy_close(&reader);
    return status;
}

const strake_npy_info *strake_npy_header(const strake_npy_reader *reader)
{
    return &reader->info;
}

void strake_npy_close(strake_npy_reader **reader)
{
    if (reader == NULL || *reader == NULL) {
        return;
    }
    if ((*reader)->fd >= 0) {
        (void)close((*reader)->fd);
    }
    free((*reader)->path);
    free((*reader)->chunk);
    free((*reader)->band);
    free(*reader);
    *reader = NULL;
}

/* A whole number of two's complement, or without a sign, or a truth value. */
static double decode_whole(const unsigned char *at, char kind, int size, bool swapped)
{
    uint64_t bits = 0;
    for (int k = 0; k < size; k++) { /* from the highest byte on */
        const bool is_reversed = (NATIVE_ORDER == '<') != swapped;
        bits = bits << 8 | at[is_reversed ? size - 1 - k : k];
    }
    const int unused = 64 - 8 * size;
    return kind == 'b'   ? (bits != 0 ? 1.0 : 0.0)
           : kind == 'u' ? (double)bits
                         : (double)((int64_t)(bits << unused) >> unused);
}

/* One element as it stands in the file. */
static inline double decode(const unsigned char *at, const strake_npy_reader *reader)
{
    if (reader->kind != 'f') {
        return decode_whole(at, reader->kind, reader->info.stored_size, reader->info.swapped);
    }
    if (reader->info.stored_size == 8) {
        uint64_t bits = 0;
        double value = 0.0;
        memcpy(&bits, at, sizeof bits);
        bits = reader->info.swapped ? __builtin_bswap64(bits) : bits;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t bits = 0;
    float value = 0.0F;
    memcpy(&bits, at, sizeof bits);
    bits = reader->info.swapped ? __builtin_bswap32(bits) : bits;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static strake_status new_band(strake_npy_reader *reader, strake_error *error)
{
    const strake_npy_info *const info = &reader->info;
    const int64_t row = info->count / info->shape[0] * reader->info.stored_size; /* bytes */
    const int64_t least = (info->shape[0] + BANDS - 1) / BANDS;
    const int64_t fit = BAND / row > least ? BAND / row : least;
    reader->band_rows = fit < info->shape[0] ? fit : info->shape[0];
    reader->band_first = -1;
    reader->band = malloc((size_t)(reader->band_rows * row));
    return reader->band != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY,
                             "%s: no memory for %" PRId64 " bytes of it, needed at once because it "
                             "is in Fortran order; save it with numpy.ascontiguousarray",
                             reader->path, reader->band_rows * row);
}

/* Reads the band that holds index @p i of the first dimension: a piece of every column. */
static strake_status read_band(strake_npy_reader *reader, int64_t i, strake_error *error)
{
    const strake_npy_info *const info = &reader->info;
    const int64_t first = i / reader->band_rows * reader->band_rows;
    const int64_t left = info->shape[0] - first;
    const int64_t rows = left < reader->band_rows ? left : reader->band_rows;
    const bool is_whole = rows == info->shape[0];
    const int64_t pieces = is_whole ? 1 : info->count / info->shape[0];
    const int64_t bytes = (is_whole ? info->count : rows) * reader->info.stored_size;
    strake_status status = STRAKE_OK;
    reader->band_first = -1;
    for (int64_t k = 0; k < pieces && status == STRAKE_OK; ++k) {
        status = read_at(
            reader, reader->band + k * reader->band_rows * reader->info.stored_size, (size_t)bytes,
            info->data + (k * info->shape[0] + first) * reader->info.stored_size, error);
    }
    reader->band_first = status == STRAKE_OK ? first : -1;
    return status;
}

static strake_status read_fortran(strake_npy_reader *reader, int64_t first, int64_t count,
                                  double *out, strake_error *error)
{
    const strake_npy_info *const info = &reader->info;
    strake_status status = reader->band == NULL ? new_band(reader, error) : STRAKE_OK;
    for (int64_t e = 0; e < count && status == STRAKE_OK; ++e) {
        int64_t rest = first + e; /* C-order index, taken apart from the last dimension on */
        int64_t column = 0;
        int64_t stride = info->count / info->shape[0];
        for (int d = info->dims - 1; d > 0; --d) {
            stride /= info->shape[d];
            column += rest % info->shape[d] * stride;
            rest /= info->shape[d];
        }
        if (reader->band_first < 0 || rest < reader->band_first ||
            rest >= reader->band_first + reader->band_rows) {
            status = read_band(reader, rest, error);
        }
        if (status == STRAKE_OK) {
            const int64_t at = column * reader->band_rows + rest - reader->band_first;
            out[e] = decode(reader->band + at * reader->info.stored_size, reader);
        }
    }
    return status;
}

strake_status strake_npy_read(strake_npy_reader *reader, int64_t first, int64_t count, double *out,
                              strake_error *error)
{
    const strake_npy_info *const info = &reader->info;
    if (first < 0 || count < 0 || first > info->count - count) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "%s: elements [%" PRId64 ", %" PRId64 ") asked for, it has %" PRId64,
                           reader->path, first, first + count, info->count);
    }
    if (info->fortran && info->dims > 1 && count > 0) {
        return read_fortran(reader, first, count, out, error);
    }
    const int size = reader->info.stored_size;
    for (int64_t done = 0; done < count;) {
        const int64_t part = count - done < CHUNK ? count - done : CHUNK;
        const strake_status status = read_at(reader, reader->chunk, (size_t)(part * size),
                                             info->data + (first + done) * size, error);
        if (status != STRAKE_OK) {
            return status;
        }
        for (int64_t e = 0; e < part; ++e) {
            out[done + e] = decode(reader->chunk + e * size, reader);
        }
        done += part;
    }
    return STRAKE_OK;
}

/* The data begin at a multiple of 64 bytes. */
strake_status strake_npy_write_header(strake_file *file, int element_size, int dims,
                                      const int64_t *shape, strake_error *error)
{
    char text[384];
    int used = snprintf(text, sizeof text, "{'descr': '%cf%d', 'fortran_order': False, 'shape': (",
                        NATIVE_ORDER, element_size);
    for (int d = 0; d < dims; ++d) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRId64, d > 0 ? ", " : "",
                         shape[d]);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, dims == 1 ? ",), }" : "), }");
    while ((10 + used + 1) % 64 != 0) {
        text[used++] = ' ';
    }
    text[used++] = '\n';
    unsigned char start[10] = "\x93NUMPY\1"; /* version 1.0, then the length in two bytes */
    start[8] = (unsigned char)(used % 256);
    start[9] = (unsigned char)(used / 256);
    const strake_status status = strake_file_write(file, start, sizeof start, error);
    return status == STRAKE_OK ? strake_file_write(file, text, (size_t)used, error) : status;
}
