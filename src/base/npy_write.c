#include "base/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER '>'
#else
#define NATIVE_ORDER '<'
#endif

enum { BUFFER = 1 << 16, NAMES = 1000 };

struct strake_npy_writer {
    char *path;
    char *temporary; /* NULL until the file exists under that name */
    int fd;
    int element_size;
    int64_t expected, written; /* elements */
    unsigned char *buffer;
    size_t used;
};

static strake_status complain(const strake_npy_writer *writer, int code, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_IO, "%s: cannot be written: %s%s", writer->path,
                       strerror(code),
                       code == ENOSPC || code == EDQUOT ? "; free some space and run again" : "");
}

static strake_status put(strake_npy_writer *writer, const void *data, size_t bytes,
                         strake_error *error)
{
    const unsigned char *from = data;
    while (bytes > 0) {
        const ssize_t done = write(writer->fd, from, bytes);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return complain(writer, done < 0 ? errno : ENOSPC, error);
        }
        from += done;
        bytes -= (size_t)done;
    }
    return STRAKE_OK;
}

static strake_status flush(strake_npy_writer *writer, strake_error *error)
{
    const strake_status status = put(writer, writer->buffer, writer->used, error);
    writer->used = 0;
    return status;
}

/* Bytes of the folder part of a path, its last slash included; 0 without one. */
static int folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash - path + 1);
}

/* Opens a file of a name that nobody uses, in the folder of the path (rename needs the same file system). */
static strake_status open_temporary(strake_npy_writer *writer, strake_error *error)
{
    const int folder = folder_length(writer->path);
    const size_t size = (size_t)folder + 64;
    char *const name = malloc(size);
    if (name == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to write it", writer->path);
    }
    errno = EEXIST;
    for (int k = 0; k < NAMES && writer->fd < 0 && errno == EEXIST; ++k) {
        (void)snprintf(name, size, "%.*s.strake-%ld-%d.tmp", folder, writer->path, (long)getpid(),
                       k);
        writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (writer->fd < 0) {
        const int code = errno;
        free(name);
        return complain(writer, code, error);
    }
    writer->temporary = name;
    return STRAKE_OK;
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
    const strake_status status = put(writer, start, sizeof start, error);
    return status == STRAKE_OK ? put(writer, text, (size_t)used, error) : status;
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
    writer->fd = -1;
    writer->element_size = element_size;
    writer->expected = bytes / element_size;
    writer->path = strdup(path);
    writer->buffer = malloc(BUFFER);
    STRAKE_CHECK(writer->path != NULL && writer->buffer != NULL, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to write it", path);
    STRAKE_TRY(open_temporary(writer, error));
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
        status = put(writer, data, bytes, error);
    } else if (status == STRAKE_OK && bytes > 0) {
        memcpy(writer->buffer + writer->used, data, bytes);
        writer->used += bytes;
    }
    if (status == STRAKE_OK) {
        writer->written += count;
    }
    return status;
}

/* Makes the new name itself durable; file systems that cannot do so are left alone. */
static void sync_folder(const char *path)
{
    const int length = folder_length(path);
    char *const folder = length > 0 ? strndup(path, (size_t)length) : strdup(".");
    if (folder == NULL) {
        return;
    }
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

strake_status strake_npy_write_end(strake_npy_writer **which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_npy_writer *const writer = *which;
    int closed = 0;
    STRAKE_CHECK(writer->written == writer->expected, error, STRAKE_ERR_STATE,
                 "%s: %" PRId64 " elements were written, its shape has %" PRId64, writer->path,
                 writer->written, writer->expected);
    STRAKE_TRY(flush(writer, error));
    if (fsync(writer->fd) != 0 && errno != EINVAL) { /* EINVAL: the file system has no fsync */
        status = complain(writer, errno, error);
        goto cleanup;
    }
    closed = close(writer->fd);
    writer->fd = -1;
    if (closed != 0 && errno != EINTR) {
        status = complain(writer, errno, error);
        goto cleanup;
    }
    if (rename(writer->temporary, writer->path) != 0) {
        status = complain(writer, errno, error);
        goto cleanup;
    }
    free(writer->temporary);
    writer->temporary = NULL;
    sync_folder(writer->path);

cleanup:
    strake_npy_write_cancel(which);
    return status;
}

void strake_npy_write_cancel(strake_npy_writer **writer)
{
    if (writer == NULL || *writer == NULL) {
        return;
    }
    if ((*writer)->fd >= 0) {
        (void)close((*writer)->fd);
    }
    if ((*writer)->temporary != NULL) {
        (void)unlink((*writer)->temporary);
    }
    free((*writer)->temporary);
    free((*writer)->path);
    free((*writer)->buffer);
    free(*writer);
    *writer = NULL;
}
