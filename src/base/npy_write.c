#include "base/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER '>'
#else
#define NATIVE_ORDER '<'
#endif

enum { BUFFER = 1 << 16 };

struct strake_npy_writer {
    strake_file file;
    char *path;
    int element_size;
    int64_t expected, written; /* elements */
    unsigned char *buffer;
    size_t used;
};

static strake_status flush(strake_npy_writer *writer, strake_error *error)
{
    const strake_status status =
        strake_file_write(&writer->file, writer->buffer, writer->used, error);
    writer->used = 0;
    return status;
}

/* The header of version 1.0; the data then begin at a multiple of 64 bytes. */
static strake_status put_header(strake_npy_writer *writer, int dims, const int64_t *shape,
                                strake_error *error)
{
    char text[384];
    int used = snprintf(text, sizeof text, "{'descr': '%cf%d', 'fortran_order': False, 'shape': (",
                        NATIVE_ORDER, writer->element_size);
    for (int d = 0; d < dims; ++d) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRId64, d > 0 ? ", " : "",
                         shape[d]);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, dims == 1 ? ",), }" : "), }");
    while ((10 + used + 1) % 64 != 0) {
        text[used++] = ' ';
    }
    text[used++] = '\n';
    const unsigned char start[10] = {0x93,
                                     'N',
                                     'U',
                                     'M',
                                     'P',
                                     'Y',
                                     1,
                                     0,
                                     (unsigned char)(used % 256),
                                     (unsigned char)(used / 256)};
    const strake_status status = strake_file_write(&writer->file, start, sizeof start, error);
    return status == STRAKE_OK ? strake_file_write(&writer->file, text, (size_t)used, error)
                               : status;
}

strake_status strake_npy_write_begin(const char *path, int element_size, int dims,
                                     const int64_t *shape, strake_npy_writer **out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_npy_writer *writer = NULL;
    int64_t bytes = element_size;
    STRAKE_CHECK((element_size == 4 || element_size == 8) && dims >= 0 && dims <= STRAKE_NPY_DIMS,
                 error, STRAKE_ERR_STATE, "%s: cannot write elements of %d bytes in %d dimensions",
                 path, element_size, dims);
    for (int d = 0; d < dims; ++d) {
        STRAKE_CHECK(shape[d] >= 0 && !__builtin_mul_overflow(bytes, shape[d], &bytes), error,
                     STRAKE_ERR_STATE, "%s: dimension %d has extent %" PRId64, path, d, shape[d]);
    }
    writer = calloc(1, sizeof *writer);
    STRAKE_CHECK(writer != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to write it", path);
    writer->element_size = element_size;
    writer->expected = bytes / element_size;
    writer->path = strdup(path);
    writer->buffer = malloc(BUFFER);
    STRAKE_CHECK(writer->path != NULL && writer->buffer != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to write it", path);
    STRAKE_TRY(strake_file_begin(&writer->file, path, 0, error));
    STRAKE_TRY(put_header(writer, dims, shape, error));
    *out = writer;
    writer = NULL;

cleanup:
    strake_npy_write_cancel(&writer);
    return status;
}

strake_status strake_npy_write_line(strake_npy_writer *writer, const void *data, int64_t count,
                                    strake_error *error)
{
    if (count < 0 || count > writer->expected - writer->written) {
        return strake_fail(error, STRAKE_ERR_STATE,
                           "%s: %" PRId64 " elements after %" PRId64 " of %" PRId64, writer->path,
                           count, writer->written, writer->expected);
    }
    const size_t bytes = (size_t)count * (size_t)writer->element_size;
    strake_status status = STRAKE_OK;
    if (writer->used + bytes > BUFFER) {
        status = flush(writer, error);
    }
    if (status == STRAKE_OK && bytes > BUFFER) {
        status = strake_file_write(&writer->file, data, bytes, error);
    } else if (status == STRAKE_OK && bytes > 0) {
        memcpy(writer->buffer + writer->used, data, bytes);
        writer->used += bytes;
    }
    if (status == STRAKE_OK) {
        writer->written += count;
    }
    return status;
}

strake_status strake_npy_write_end(strake_npy_writer **which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_npy_writer *const writer = *which;
    STRAKE_CHECK(writer->written == writer->expected, error, STRAKE_ERR_STATE,
                 "%s: %" PRId64 " elements were written, its shape has %" PRId64, writer->path,
                 writer->written, writer->expected);
    STRAKE_TRY(flush(writer, error));
    STRAKE_TRY(strake_file_commit(&writer->file, error));
cleanup:
    strake_npy_write_cancel(which);
    return status;
}

void strake_npy_write_cancel(strake_npy_writer **writer)
{
    if (writer == NULL || *writer == NULL) {
        return;
    }
    strake_file_abandon(&(*writer)->file);
    free((*writer)->path);
    free((*writer)->buffer);
    free(*writer);
    *writer = NULL;
}
