/* What libstrake-netcdf.so exports: all that Strake does with libnetcdf. */
#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "files/netcdf.h"

/*
 * HDF5, if libnetcdf has it, closes what is open when a program ends, and does not survive that a file cannot be
 * flushed then, as on a full disk. Every file is closed by itself, so nothing is lost without that.
 */
extern int H5dont_atexit(void) __attribute__((weak));

__attribute__((constructor)) static void leave_exit_alone(void)
{
    if (H5dont_atexit != NULL) {
        (void)H5dont_atexit();
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where HDF5 has a stack of errors for each thread, libnetcdf silences that of the first one that uses it. */
extern int H5Eset_auto2(int64_t stack, int (*print)(int64_t, void *), void *data)
    __attribute__((weak));

/* All calls of libnetcdf are between these two. */
static void netcdf_lock(void)
{
    static _Thread_local bool is_silent = false;
    (void)pthread_mutex_lock(&lock);
    if (!is_silent && H5Eset_auto2 != NULL) {
        (void)H5Eset_auto2(0, NULL, NULL);
        is_silent = true;
    }
    errno = 0;
}

static void netcdf_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* What a user reads for a code of libnetcdf (0: for errno). */
static const char *netcdf_reason(int code)
{
    /* HDF5 hides what the system said. */
    const bool hidden =
        code == NC_EHDFERR && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
    return code > 0              ? strake_file_reason(code)
           : code == 0 || hidden ? strake_file_reason(errno)
                                 : nc_strerror(code);
}

/* Jumps to `cleanup:` with "cannot WHAT PATH: reason" unless a call of libnetcdf succeeds. */
#define STRAKE_NETCDF_TRY(what, path, call)                                                        \
    do {                                                                                           \
        const int netcdf_code = (call);                                                            \
        STRAKE_CHECK(netcdf_code == NC_NOERR, error, STRAKE_ERR_IO, "cannot " what " %s: %s",      \
                     path, netcdf_reason(netcdf_code));                                            \
    } while (0)

/*
 * Headers of the classic formats (CDF-1, 2 and 5), before libnetcdf reads them: it takes as much memory as their
 * counts ask for, reads address 0 where it got only a part of that, and copies names and dimensions of any number to
 * where there is room for NC_MAX_NAME and NC_MAX_VAR_DIMS. Grammar: the NetCDF Classic Format Specification.
 */

enum { OF_DIMENSIONS = 10, OF_VARIABLES = 11, OF_ATTRIBUTES = 12 };

typedef struct {
    FILE *file;
    uint64_t bytes, at; /* of the file, and how many of them were read */
    int size, offset;   /* bytes of a count, and of the position of a variable */
    const char *counted;
    uint64_t count, most; /* of what there are too many, and how many could be */
} netcdf_header;

static bool get(netcdf_header *header, int bytes, uint64_t *out)
{
    *out = 0;
    for (int k = 0; k < bytes; k++) {
        const int byte = getc(header->file);
        if (byte == EOF) {
            return false;
        }
        *out = *out << 8 | (uint64_t)byte;
        header->at++;
    }
    return true;
}

/* How many elements of at least so many bytes follow: not more than the rest of the file holds, nor than `most`. */
static bool get_count(netcdf_header *header, const char *counted, int least, uint64_t most,
                      uint64_t *out)
{
    if (!get(header, header->size, out)) {
        return false;
    }
    const uint64_t room = (header->bytes - header->at) / (uint64_t)least;
    if (*out > room || *out > most) {
        header->counted = counted;
        header->count = *out;
        header->most = room < most ? room : most;
        return false;
    }
    return true;
}

/* Values that take so many bytes and what fills the last four. */
static bool pass(netcdf_header *header, uint64_t bytes)
{
    const uint64_t all = (bytes + 3) / 4 * 4;
    if (all > header->bytes - header->at || fseeko(header->file, (off_t)all, SEEK_CUR) != 0) {
        return false;
    }
    header->at += all;
    return true;
}

static bool pass_name(netcdf_header *header)
{
    uint64_t count = 0;
    return get_count(header, "characters of a name", 1, NC_MAX_NAME, &count) && pass(header, count);
}

/* The kind of a list and how many there are in it, or two zeros. */
static bool get_list(netcdf_header *header, uint64_t kind, const char *counted, int least,
                     uint64_t *out)
{
    uint64_t found = 0;
    return get(header, 4, &found) && (found == kind || found == 0) &&
           get_count(header, counted, least, found == 0 ? 0 : UINT64_MAX, out);
}

static bool pass_attributes(netcdf_header *header)
{
    static const int size_of[] = {[NC_BYTE] = 1,  [NC_CHAR] = 1,   [NC_SHORT] = 2, [NC_INT] = 4,
                                  [NC_FLOAT] = 4, [NC_DOUBLE] = 8, [NC_UBYTE] = 1, [NC_USHORT] = 2,
                                  [NC_UINT] = 4,  [NC_INT64] = 8,  [NC_UINT64] = 8};
    uint64_t count = 0;
    bool good = get_list(header, OF_ATTRIBUTES, "attributes", 2 * header->size + 4, &count);
    for (uint64_t k = 0; k < count && good; k++) {
        uint64_t type = 0, values = 0;
        good = pass_name(header) && get(header, 4, &type) && type > NC_NAT && type <= NC_UINT64 &&
               get_count(header, "values of an attribute", size_of[type], UINT64_MAX, &values) &&
               pass(header, values * (uint64_t)size_of[type]);
    }
    return good;
}

static bool pass_all(netcdf_header *header)
{
    const int size = header->size;
    uint64_t count = 0, value = 0;
    bool good = get(header, size, &value) && /* records, which are judged once the file is open */
                get_list(header, OF_DIMENSIONS, "dimensions", 2 * size, &count);
    for (uint64_t k = 0; k < count && good; k++) {
        good = pass_name(header) && get(header, size, &value);
    }
    good = good && pass_attributes(header) &&
           get_list(header, OF_VARIABLES, "variables", 4 * size + 8 + header->offset, &count);
    for (uint64_t k = 0; k < count && good; k++) {
        uint64_t dims = 0;
        good = pass_name(header) &&
               get_count(header, "dimensions of a variable", size, NC_MAX_VAR_DIMS, &dims) &&
               pass(header, dims * (uint64_t)size) && pass_attributes(header) &&
               get(header, 4, &value) && get(header, size, &value) &&
               get(header, header->offset, &value);
    }
    return good;
}

/*
 * Whether a file can be given to libnetcdf: a file that can be opened, and, in the classic formats, with a header
 * whose counts its bytes can hold. Formats of other kinds pass.
 * @param bytes  how many bytes the file has.
 * Errors: STRAKE_ERR_IO where it cannot be opened, STRAKE_ERR_USAGE for its header, STRAKE_ERR_MEMORY.
 */
static strake_status check_header(const char *path, int64_t *bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    char magic[4] = "";
    netcdf_header header = {0};
    /* No pipe or device, and no address in the network. */
    const int descriptor = strake_file_open(path, bytes, &why);
    STRAKE_CHECK(descriptor >= 0, error, STRAKE_ERR_IO, "%s: cannot be opened: %s", path, why);
    header.file = fdopen(descriptor, "rb");
    STRAKE_CHECK(header.file != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    if (fread(magic, 1, sizeof magic, header.file) != sizeof magic ||
        memcmp(magic, "CDF", 3) != 0 || (magic[3] != 1 && magic[3] != 2 && magic[3] != 5)) {
        goto cleanup; /* netCDF-4, or none: libnetcdf tells */
    }
    header.bytes = (uint64_t)*bytes;
    header.at = sizeof magic;
    header.size = magic[3] == 5 ? 8 : 4;
    header.offset = magic[3] == 1 ? 4 : 8;
    if (!pass_all(&header)) {
        STRAKE_CHECK(header.counted == NULL, error, STRAKE_ERR_USAGE,
                     "%s: its header counts %llu %s, and there can be no more than %llu (the file "
                     "has %lld bytes); the file is damaged",
                     path, (unsigned long long)header.count, header.counted,
                     (unsigned long long)header.most, (long long)*bytes);
        STRAKE_CHECK(false, error, STRAKE_ERR_USAGE,
                     "%s: its header is damaged, or cut off, at byte %llu of %lld", path,
                     (unsigned long long)header.at, (long long)*bytes);
    }
cleanup:
    if (header.file != NULL) {
        (void)fclose(header.file);
    } else if (descriptor >= 0) {
        (void)close(descriptor);
    }
    return status;
}

/* The file of a run: records that are there once they are complete. */

/*
 * libnetcdf changes a classic file through a buffer of at most two blocks that begin at multiples of their size.
 * Records begin behind the first two, so that the number of records, near the begin of the file, is never in one
 * buffer with values: nothing but nc_sync() writes it.
 */
enum {
    BLOCK = 32768,
    BEFORE_RECORDS = 2 * BLOCK,
    COUNT_AT = 4 /* of CDF-5: 8 bytes, big-endian */
};

struct strake_netcdf_file {
    char *path;
    const strake_netcdf_plan *plan;
    int id;          /* of libnetcdf, -1: not open */
    int descriptor;  /* of the same file, to flush and cut it */
    int *variable;   /* ids, by their numbers in the plan */
    int probe;       /* a variable in the first blocks */
    size_t records;  /* complete */
    off_t bytes;     /* of the file with these */
    bool is_partial; /* libnetcdf counts a record that is not complete */
};

static void netcdf_close(strake_netcdf_file **which);

static strake_status new_file(const char *path, const strake_netcdf_plan *plan,
                              strake_netcdf_file **out, strake_error *error)
{
    strake_netcdf_file *const file = calloc(1, sizeof *file);
    *out = file;
    if (file != NULL) {
        file->plan = plan;
        file->id = file->descriptor = -1;
        file->path = strdup(path);
        file->variable = calloc((size_t)plan->variables + 1, sizeof *file->variable);
    }
    return file != NULL && file->path != NULL && file->variable != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to write it", path);
}

/* Whole lines, about a megabyte, of one record. */
static strake_status compress(const strake_netcdf_file *file, int number, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf_variable *const v = &file->plan->variable[number];
    size_t chunk[4] = {1, 1, 1, 1}, bytes = (size_t)v->element_size;
    for (int d = v->dims - 1; d > 0; d--) {
        const size_t length = (size_t)file->plan->dim[v->dim[d]].length;
        const size_t fit = (size_t)(1 << 20) / bytes;
        chunk[d] = fit < 1 ? 1 : fit < length ? fit : length;
        bytes *= chunk[d];
    }
    STRAKE_NETCDF_TRY("create", file->path,
                      nc_def_var_chunking(file->id, file->variable[number], NC_CHUNKED, chunk));
    STRAKE_NETCDF_TRY("create", file->path,
                      nc_def_var_deflate(file->id, file->variable[number], 1, 1, 1));
cleanup:
    return status;
}

static strake_status define(strake_netcdf_file *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf_plan *const plan = file->plan;
    int dim[16] = {0}, old = 0;
    STRAKE_CHECK(plan->dims <= 16, error, STRAKE_ERR_STATE, "%s: too many dimensions", file->path);
    STRAKE_NETCDF_TRY("create", file->path, nc_set_fill(file->id, NC_NOFILL, &old));
    for (int d = 0; d < plan->dims; d++) {
        STRAKE_NETCDF_TRY(
            "create", file->path,
            nc_def_dim(file->id, plan->dim[d].name, (size_t)plan->dim[d].length, &dim[d]));
    }
    for (int k = 0; k < plan->variables; k++) {
        const strake_netcdf_variable *const v = &plan->variable[k];
        int of[4] = {0};
        for (int d = 0; d < v->dims; d++) {
            of[d] = dim[v->dim[d]];
        }
        STRAKE_NETCDF_TRY("create", file->path,
                          nc_def_var(file->id, v->name, v->element_size == 8 ? NC_DOUBLE : NC_FLOAT,
                                     v->dims, of, &file->variable[k]));
        if (plan->kind == STRAKE_NETCDF_4 && v->fixed == NULL && v->dims > 1) {
            STRAKE_TRY(compress(file, k, error));
        }
    }
    for (int k = 0; k < plan->attributes; k++) {
        const strake_netcdf_attribute *const a = &plan->attribute[k];
        const int variable = a->variable < 0 ? NC_GLOBAL : file->variable[a->variable];
        STRAKE_NETCDF_TRY(
            "create", file->path,
            a->text == NULL
                ? nc_put_att_double(file->id, variable, a->name, NC_DOUBLE, 1, &a->number)
                : nc_put_att_text(file->id, variable, a->name, strlen(a->text), a->text));
    }
    STRAKE_NETCDF_TRY("create", file->path,
                      plan->kind == STRAKE_NETCDF_CDF5
                          ? nc__enddef(file->id, 0, 4, 0, BEFORE_RECORDS)
                          : nc_enddef(file->id));
    for (int k = 0; k < plan->variables; k++) {
        if (plan->variable[k].fixed != NULL) {
            STRAKE_NETCDF_TRY(
                "create", file->path,
                nc_put_var_double(file->id, file->variable[k], plan->variable[k].fixed));
        }
    }
    STRAKE_NETCDF_TRY("create", file->path, nc_sync(file->id));
cleanup:
    return status;
}

/* A second descriptor, and what the file has now. */
static strake_status settle(strake_netcdf_file *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    const char *why = NULL;
    if (file->descriptor < 0) {
        file->descriptor = strake_file_change(file->path, &why);
    }
    STRAKE_CHECK(file->descriptor >= 0, error, STRAKE_ERR_IO, "cannot write %s: %s", file->path,
                 why);
    STRAKE_CHECK(fstat(file->descriptor, &info) == 0, error, STRAKE_ERR_IO, "cannot write %s: %s",
                 file->path, strake_file_reason(errno));
    file->bytes = info.st_size;
    file->probe = 0;
    while (file->probe < file->plan->variables && file->plan->variable[file->probe].fixed == NULL) {
        file->probe++;
    }
cleanup:
    return status;
}

static strake_status netcdf_create(const char *path, const strake_netcdf_plan *plan,
                                   strake_netcdf_file **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file complete = {.descriptor = -1};
    strake_netcdf_file *file = NULL;
    size_t block = BLOCK;
    netcdf_lock();
    STRAKE_TRY(new_file(path, plan, &file, error));
    STRAKE_TRY(strake_file_begin(&complete, path, 0, error));
    if (plan->kind == STRAKE_NETCDF_CDF5) {
        STRAKE_NETCDF_TRY(
            "create", path,
            nc__create(complete.temporary, NC_CLOBBER | NC_64BIT_DATA, 0, &block, &file->id));
    } else {
        /* HDF5 takes the same lock for itself. */
        (void)flock(complete.descriptor, LOCK_UN);
        STRAKE_NETCDF_TRY("create", path,
                          nc_create(complete.temporary, NC_CLOBBER | NC_NETCDF4, &file->id));
    }
    STRAKE_TRY(define(file, error));
    STRAKE_TRY(strake_file_commit(&complete, error));
    STRAKE_TRY(settle(file, error));
    *out = file;
    file = NULL;
cleanup:
    strake_file_abandon(&complete);
    netcdf_unlock();
    netcdf_close(&file);
    return status;
}

/* The variables of an open file, which must be those of the plan. */
static strake_status find_variables(strake_netcdf_file *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf_plan *const plan = file->plan;
    for (int k = 0; k < plan->variables; k++) {
        const strake_netcdf_variable *const v = &plan->variable[k];
        nc_type type = NC_NAT;
        int dims = 0, dim[NC_MAX_VAR_DIMS] = {0};
        bool same =
            nc_inq_varid(file->id, v->name, &file->variable[k]) == NC_NOERR &&
            nc_inq_var(file->id, file->variable[k], NULL, &type, &dims, dim, NULL) == NC_NOERR &&
            type == (v->element_size == 8 ? NC_DOUBLE : NC_FLOAT) && dims == v->dims;
        for (int d = 0; d < v->dims && same; d++) {
            const int64_t wanted = plan->dim[v->dim[d]].length;
            size_t length = 0;
            same = nc_inq_dimlen(file->id, dim[d], &length) == NC_NOERR &&
                   (wanted == 0 || (int64_t)length == wanted);
        }
        STRAKE_CHECK(same, error, STRAKE_ERR_USAGE,
                     "cannot go on with %s: it has no variable %s as this case writes it; give "
                     "another --output, or move the file away",
                     file->path, v->name);
    }
cleanup:
    return status;
}

/* Records of an open file that stay: those whose counter is below. */
static strake_status count_records(strake_netcdf_file *file, double least, size_t *all,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    int record = 0;
    double counter = 0.0;
    STRAKE_CHECK(nc_inq_unlimdim(file->id, &record) == NC_NOERR && record >= 0 &&
                     nc_inq_dimlen(file->id, record, all) == NC_NOERR,
                 error, STRAKE_ERR_USAGE, "cannot go on with %s: it has no records; move it away",
                 file->path);
    file->records = 0;
    for (size_t k = 0; k < *all && counter < least; k++) {
        STRAKE_NETCDF_TRY(
            "read", file->path,
            nc_get_var1_double(file->id, file->variable[file->plan->counter], &k, &counter));
        file->records += counter < least ? 1 : 0;
    }
cleanup:
    return status;
}

static bool write_count(int descriptor, size_t records)
{
    unsigned char bytes[8];
    for (int k = 0; k < 8; k++) {
        bytes[k] = (unsigned char)((uint64_t)records >> (8 * (7 - k)) & 0xffU);
    }
    return pwrite(descriptor, bytes, sizeof bytes, COUNT_AT) == (ssize_t)sizeof bytes;
}

/* Copies what stays of an open file, record by record, to a new one of the same name. */
static strake_status copy_records(strake_netcdf_file *from, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_netcdf_plan *const plan = from->plan;
    strake_file complete = {.descriptor = -1};
    strake_netcdf_file *to = NULL;
    void *data = NULL;
    STRAKE_TRY(new_file(from->path, plan, &to, error));
    STRAKE_TRY(strake_file_begin(&complete, from->path, 0, error));
    (void)flock(complete.descriptor, LOCK_UN);
    STRAKE_NETCDF_TRY("create", from->path,
                      nc_create(complete.temporary, NC_CLOBBER | NC_NETCDF4, &to->id));
    STRAKE_TRY(define(to, error));
    for (int k = 0; k < plan->variables; k++) {
        const strake_netcdf_variable *const v = &plan->variable[k];
        size_t start[4] = {0}, count[4] = {1, 1, 1, 1}, bytes = (size_t)v->element_size;
        for (int d = 1; d < v->dims; d++) {
            count[d] = (size_t)plan->dim[v->dim[d]].length;
            bytes *= count[d];
        }
        free(data);
        data = malloc(bytes);
        STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to copy it",
                     from->path);
        for (size_t r = 0; r < from->records && v->fixed == NULL; r++) {
            start[0] = r;
            STRAKE_NETCDF_TRY("read", from->path,
                              nc_get_vara(from->id, from->variable[k], start, count, data));
            STRAKE_NETCDF_TRY("write", from->path,
                              nc_put_vara(to->id, to->variable[k], start, count, data));
        }
    }
    STRAKE_NETCDF_TRY("write", from->path, nc_close(to->id));
    to->id = -1;
    STRAKE_TRY(strake_file_commit(&complete, error));
cleanup:
    free(data);
    strake_file_abandon(&complete);
    if (to != NULL) {
        if (to->id >= 0) {
            (void)nc_close(to->id);
        }
        free(to->path);
        free(to->variable);
        free(to);
    }
    return status;
}

static strake_status netcdf_append(const char *path, const strake_netcdf_plan *plan, double least,
                                   strake_netcdf_file **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_netcdf_file *file = NULL;
    size_t block = BLOCK, all = 0;
    int format = 0;
    int64_t bytes = 0;
    netcdf_lock();
    STRAKE_TRY(new_file(path, plan, &file, error));
    STRAKE_TRY(check_header(path, &bytes, error));
    STRAKE_NETCDF_TRY("go on with", path, nc_open(path, NC_NOWRITE, &file->id));
    STRAKE_TRY(find_variables(file, error));
    STRAKE_CHECK(nc_inq_format(file->id, &format) == NC_NOERR &&
                     format ==
                         (plan->kind == STRAKE_NETCDF_CDF5 ? NC_FORMAT_CDF5 : NC_FORMAT_NETCDF4),
                 error, STRAKE_ERR_USAGE,
                 "cannot go on with %s: it has not the format that output.netcdf.format asks for; "
                 "give another --output, or move the file away",
                 path);
    STRAKE_TRY(count_records(file, least, &all, error));
    if (all > file->records && plan->kind == STRAKE_NETCDF_4) {
        STRAKE_TRY(copy_records(file, error));
    }
    (void)nc_close(file->id);
    file->id = -1;
    STRAKE_TRY(settle(file, error));
    if (all > file->records && plan->kind == STRAKE_NETCDF_CDF5) {
        STRAKE_CHECK(write_count(file->descriptor, file->records) && fsync(file->descriptor) == 0,
                     error, STRAKE_ERR_IO, "cannot write %s: %s", path, strake_file_reason(errno));
    }
    STRAKE_NETCDF_TRY("go on with", path, nc__open(path, NC_WRITE, &block, &file->id));
    *out = file;
    file = NULL;
cleanup:
    netcdf_unlock();
    netcdf_close(&file);
    return status;
}

static strake_status netcdf_put(strake_netcdf_file *file, int variable, const int64_t *start,
                                const int64_t *count, const void *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t first[4] = {file->records}, many[4] = {1};
    for (int d = 1; d < file->plan->variable[variable].dims; d++) {
        first[d] = (size_t)start[d - 1];
        many[d] = (size_t)count[d - 1];
    }
    netcdf_lock();
    file->is_partial = true;
    STRAKE_NETCDF_TRY("write", file->path,
                      nc_put_vara(file->id, file->variable[variable], first, many, data));
cleanup:
    netcdf_unlock();
    return status;
}

static strake_status netcdf_commit(strake_netcdf_file *file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double ignored[1] = {0.0};
    const size_t first[STRAKE_NETCDF_DIMS] = {0};
    netcdf_lock();
    if (file->plan->kind == STRAKE_NETCDF_CDF5) {
        /* Looking at the first blocks makes libnetcdf write what it has of the record. */
        STRAKE_NETCDF_TRY(
            "write", file->path,
            nc_get_var1_double(file->id, file->variable[file->probe], first, ignored));
        STRAKE_CHECK(fdatasync(file->descriptor) == 0, error, STRAKE_ERR_IO, "cannot write %s: %s",
                     file->path, strake_file_reason(errno));
    }
    STRAKE_NETCDF_TRY("write", file->path, nc_sync(file->id));
    STRAKE_CHECK(fdatasync(file->descriptor) == 0, error, STRAKE_ERR_IO, "cannot write %s: %s",
                 file->path, strake_file_reason(errno));
    file->records++;
    file->is_partial = false;
    STRAKE_TRY(settle(file, error));
cleanup:
    netcdf_unlock();
    return status;
}

static void netcdf_close(strake_netcdf_file **which)
{
    strake_netcdf_file *const file = *which;
    if (file == NULL) {
        return;
    }
    netcdf_lock();
    if (file->id >= 0) {
        (void)nc_close(file->id);
    }
    if (file->is_partial && file->descriptor >= 0 && file->plan->kind == STRAKE_NETCDF_CDF5 &&
        write_count(file->descriptor, file->records)) {
        (void)ftruncate(file->descriptor, file->bytes);
    }
    if (file->descriptor >= 0) {
        (void)close(file->descriptor);
    }
    netcdf_unlock();
    free(file->path);
    free(file->variable);
    free(file);
    *which = NULL;
}

/* Variables of a file as doubles. */

struct strake_netcdf_reader {
    char *path;
    int id; /* of libnetcdf, -1: not open */
    int variables;
};

static void netcdf_end(strake_netcdf_reader **reader);

/* Whether the number of records in a classic file's header is one that its bytes can hold: a record has one at least. */
static bool has_records(int id, int64_t bytes)
{
    int format = 0, dim = -1;
    size_t records = 0;
    return nc_inq_format(id, &format) != NC_NOERR || format == NC_FORMAT_NETCDF4 ||
           format == NC_FORMAT_NETCDF4_CLASSIC || nc_inq_unlimdim(id, &dim) != NC_NOERR ||
           dim < 0 || nc_inq_dimlen(id, dim, &records) != NC_NOERR || records <= (size_t)bytes;
}

static strake_status netcdf_open(const char *path, strake_netcdf_reader **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_netcdf_reader *reader = calloc(1, sizeof *reader);
    int code = NC_NOERR;
    int64_t bytes = 0;
    netcdf_lock();
    STRAKE_CHECK(reader != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    reader->id = -1;
    reader->path = strdup(path);
    STRAKE_CHECK(reader->path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    STRAKE_TRY(check_header(path, &bytes, error));
    code = nc_open(path, NC_NOWRITE, &reader->id);
    STRAKE_CHECK(code == NC_NOERR, error, code > 0 ? STRAKE_ERR_IO : STRAKE_ERR_USAGE,
                 "%s: cannot be read as NetCDF: %s", path, netcdf_reason(code));
    STRAKE_CHECK(nc_inq_nvars(reader->id, &reader->variables) == NC_NOERR, error, STRAKE_ERR_USAGE,
                 "%s: cannot be read as NetCDF", path);
    STRAKE_CHECK(has_records(reader->id, bytes), error, STRAKE_ERR_USAGE,
                 "%s: its header counts more records than its %lld bytes can hold; the file is "
                 "damaged",
                 path, (long long)bytes);
    *out = reader;
    reader = NULL;
cleanup:
    netcdf_unlock();
    netcdf_end(&reader);
    return status;
}

static int netcdf_variables(const strake_netcdf_reader *reader)
{
    return reader->variables;
}

static void read_text(const strake_netcdf_reader *reader, int variable, const char *name, char *out,
                      size_t size)
{
    char *text = NULL;
    size_t length = 0;
    nc_type type = NC_NAT;
    out[0] = '\0';
    if (nc_inq_att(reader->id, variable, name, &type, &length) != NC_NOERR || type != NC_CHAR) {
        return;
    }
    text = calloc(length + 1, 1);
    if (text != NULL && nc_get_att_text(reader->id, variable, name, text) == NC_NOERR) {
        (void)snprintf(out, size, "%s", text);
    }
    free(text);
}

static bool netcdf_describe(strake_netcdf_reader *reader, int variable, strake_netcdf_info *out)
{
    char name[NC_MAX_NAME + 1] = "";
    nc_type type = NC_NAT;
    int dim[NC_MAX_VAR_DIMS] = {0};
    memset(out, 0, sizeof *out);
    netcdf_lock();
    bool good = nc_inq_var(reader->id, variable, name, &type, &out->dims, dim, NULL) == NC_NOERR &&
                type != NC_CHAR && type != NC_STRING && type <= NC_UINT64 &&
                out->dims <= STRAKE_NETCDF_DIMS && strlen(name) < sizeof out->name;
    for (int d = 0; d < out->dims && good; d++) {
        char of[NC_MAX_NAME + 1] = "";
        size_t length = 0;
        good = nc_inq_dim(reader->id, dim[d], of, &length) == NC_NOERR;
        out->shape[d] = (int64_t)length;
        (void)snprintf(out->dim[d], sizeof out->dim[d], "%.60s", of);
    }
    (void)snprintf(out->name, sizeof out->name, "%.60s", name);
    out->element_size = type == NC_FLOAT ? 4 : 8;
    if (good) {
        read_text(reader, variable, "units", out->unit, sizeof out->unit);
        read_text(reader, variable, "long_name", out->text, sizeof out->text);
        read_text(reader, variable, "calendar", out->calendar, sizeof out->calendar);
    }
    netcdf_unlock();
    return good;
}

/* A number that an attribute gives, as it stands. */
static bool read_number(const strake_netcdf_reader *reader, int variable, const char *name,
                        double *out)
{
    nc_type type = NC_NAT;
    size_t length = 0;
    return nc_inq_att(reader->id, variable, name, &type, &length) == NC_NOERR && length == 1 &&
           type != NC_CHAR && nc_get_att_double(reader->id, variable, name, out) == NC_NOERR;
}

/* What libnetcdf gives where nothing was written; bytes have no such value that they could not have. */
static bool find_unwritten(nc_type type, double *out)
{
    switch (type) {
    case NC_FLOAT:
        *out = (double)NC_FILL_FLOAT;
        return true;
    case NC_DOUBLE:
        *out = NC_FILL_DOUBLE;
        return true;
    case NC_SHORT:
        *out = NC_FILL_SHORT;
        return true;
    case NC_INT:
        *out = NC_FILL_INT;
        return true;
    default:
        return false;
    }
}

/* False where either is NaN, which xarray writes as _FillValue of every variable of floats. */
static bool is_number(double value, double number)
{
    return value <= number && value >= number;
}

/* Missing values become NaN and are counted; packed ones are unpacked. Errors of attributes mean that there are none. */
static int64_t unpack(const strake_netcdf_reader *reader, int variable, nc_type type,
                      int64_t values, double *out)
{
    double hole[2] = {0.0, 0.0}, scale = 1.0, offset = 0.0;
    int64_t missing = 0;
    const bool has_fill =
        read_number(reader, variable, "_FillValue", &hole[0]) || find_unwritten(type, &hole[0]);
    const bool has_missing = read_number(reader, variable, "missing_value", &hole[1]);
    (void)read_number(reader, variable, "scale_factor", &scale);
    (void)read_number(reader, variable, "add_offset", &offset);
    const bool is_packed = !is_number(scale, 1.0) || !is_number(offset, 0.0);
    for (int64_t k = 0; k < values; k++) {
        if ((has_fill && is_number(out[k], hole[0])) ||
            (has_missing && is_number(out[k], hole[1])) ||
            (isnan(out[k]) && (isnan(hole[0]) || isnan(hole[1])))) {
            out[k] = (double)NAN;
            missing++;
        } else if (is_packed) {
            out[k] = out[k] * scale + offset;
        }
    }
    return missing;
}

static strake_status netcdf_read(strake_netcdf_reader *reader, int variable, const int64_t *start,
                                 const int64_t *count, double *out, int64_t *missing,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t first[STRAKE_NETCDF_DIMS] = {0}, many[STRAKE_NETCDF_DIMS] = {0};
    int dims = 0;
    int64_t values = 1, holes = 0;
    nc_type type = NC_NAT;
    netcdf_lock();
    STRAKE_NETCDF_TRY("read", reader->path,
                      nc_inq_var(reader->id, variable, NULL, &type, &dims, NULL, NULL));
    for (int d = 0; d < dims; d++) {
        first[d] = (size_t)start[d];
        many[d] = (size_t)count[d];
        values *= count[d];
    }
    STRAKE_NETCDF_TRY("read", reader->path,
                      nc_get_vara_double(reader->id, variable, first, many, out));
    holes = unpack(reader, variable, type, values, out);
    if (missing != NULL) {
        *missing += holes;
    }
cleanup:
    netcdf_unlock();
    return status;
}

static void netcdf_end(strake_netcdf_reader **reader)
{
    if (*reader == NULL) {
        return;
    }
    netcdf_lock();
    if ((*reader)->id >= 0) {
        (void)nc_close((*reader)->id);
    }
    netcdf_unlock();
    free((*reader)->path);
    free(*reader);
    *reader = NULL;
}

const strake_netcdf strake_netcdf_module = {
    .head = {.version = STRAKE_VERSION,
             .size = sizeof(strake_netcdf),
             .error_size = sizeof(strake_error)},
    .create = netcdf_create,
    .append = netcdf_append,
    .put = netcdf_put,
    .commit = netcdf_commit,
    .close = netcdf_close,
    .open = netcdf_open,
    .variables = netcdf_variables,
    .describe = netcdf_describe,
    .read = netcdf_read,
    .end = netcdf_end,
};
