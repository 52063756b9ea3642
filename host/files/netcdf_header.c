/*
 * Headers of the classic formats (CDF-1, 2 and 5), before libnetcdf reads them: it takes as much memory as their
 * counts ask for, reads address 0 where it got only a part of that, and copies names and dimensions of any number to
 * where there is room for NC_MAX_NAME and NC_MAX_VAR_DIMS. Grammar: the NetCDF Classic Format Specification.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "files/netcdf_impl.h"

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

strake_status strake_netcdf_check_header(const char *path, int64_t *bytes, strake_error *error)
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
