#include "view/vtp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { HEAD = 1 << 14 /* more than a header has */ };

/* The number in an attribute of an element, behind @p from and before its end. */
static bool find_number(const char *from, const char *name, int64_t *out)
{
    const char *const end = strchr(from, '>');
    const char *const at = strstr(from, name);
    char *rest = NULL;
    if (at == NULL || end == NULL || at > end) {
        return false;
    }
    const char *const number = at + strlen(name);
    const long long value = strtoll(number, &rest, 10);
    *out = value;
    return rest != number && *rest == '"' && value >= 0;
}

strake_status strake_vtp_open(const char *path, strake_vtp *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const char mark[] = "<AppendedData encoding=\"raw\">";
    const char *why = NULL, *piece = NULL;
    char *data = NULL;
    int64_t bytes = 0;
    size_t length = 0;
    *out = (strake_vtp){.path = path, .descriptor = strake_file_open(path, &bytes, &why)};
    out->is_open = out->descriptor >= 0;
    STRAKE_CHECK(out->is_open, error, STRAKE_ERR_IO, "cannot read %s: %s", path, why);
    out->bytes = (uint64_t)bytes;
    length = bytes < HEAD ? (size_t)bytes : HEAD;
    out->head = calloc(1, length + 1);
    STRAKE_CHECK(out->head != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    STRAKE_CHECK(strake_file_read_at(out->descriptor, out->head, length, 0), error, STRAKE_ERR_IO,
                 "cannot read %s", path);
    data = strstr(out->head, mark);
    piece = strstr(out->head, "<Piece ");
    STRAKE_CHECK(data != NULL && piece != NULL && piece < data &&
                     strstr(out->head, "header_type=\"UInt64\"") != NULL &&
                     strstr(out->head, "byte_order=\"LittleEndian\"") != NULL &&
                     strchr(data, '_') != NULL &&
                     find_number(piece, "NumberOfPoints=\"", &out->points),
                 error, STRAKE_ERR_USAGE, "%s is no file of particles that a run wrote", path);
    out->begins = (uint64_t)(strchr(data, '_') + 1 - out->head);
    *data = '\0';
cleanup:
    return status;
}

bool strake_vtp_find(const strake_vtp *vtp, const char *name, strake_vtp_array *out)
{
    static const struct {
        const char *name;
        int size;
    } types[] = {{"Float64", 8}, {"Float32", 4}, {"Int64", 8}, {"UInt8", 1}};
    char with_name[80], with_type[120];
    int64_t components = 0, offset = 0;
    (void)snprintf(with_name, sizeof with_name, "Name=\"%.60s\" ", name);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        (void)snprintf(with_type, sizeof with_type, "<DataArray type=\"%s\" %s", types[k].name,
                       with_name);
        const char *const at = strstr(vtp->head, with_type);
        if (at == NULL || !find_number(at, "NumberOfComponents=\"", &components) ||
            !find_number(at, " offset=\"", &offset) || components < 1 || components > 3) {
            continue;
        }
        *out = (strake_vtp_array){.components = (int)components, .size = types[k].size};
        (void)snprintf(out->type, sizeof out->type, "%s", types[k].name);
        out->begins = vtp->begins + (uint64_t)offset + sizeof(uint64_t);
        const uint64_t row = (uint64_t)components * (uint64_t)types[k].size;
        return out->begins <= vtp->bytes &&
               (uint64_t)vtp->points <= (vtp->bytes - out->begins) / row;
    }
    return false;
}

static double number_at(const strake_vtp_array *array, const char *bytes)
{
    double wide = 0.0;
    float narrow = 0.0F;
    int64_t number = 0;
    if (array->size == 1) {
        return (double)(unsigned char)bytes[0];
    }
    if (array->size == 4) {
        memcpy(&narrow, bytes, sizeof narrow);
        return (double)narrow;
    }
    if (array->type[0] == 'I') {
        memcpy(&number, bytes, sizeof number);
        return (double)number;
    }
    memcpy(&wide, bytes, sizeof wide);
    return wide;
}

strake_status strake_vtp_read(const strake_vtp *vtp, const strake_vtp_array *array, int64_t first,
                              int64_t count, int columns, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = (size_t)array->components * (size_t)array->size;
    char *const bytes = malloc((size_t)count * row + 1);
    STRAKE_CHECK(bytes != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %s", vtp->path);
    STRAKE_CHECK(strake_file_read_at(vtp->descriptor, bytes, (size_t)count * row,
                                     (int64_t)(array->begins + (uint64_t)first * row)),
                 error, STRAKE_ERR_IO, "cannot read %s", vtp->path);
    for (int64_t k = 0; k < count; k++) {
        for (int c = 0; c < columns; c++) {
            const int from = columns == 2 ? c * (array->components - 1) : c;
            out[k * columns + c] =
                number_at(array, bytes + (size_t)k * row + (size_t)(from * array->size));
        }
    }
cleanup:
    free(bytes);
    return status;
}

void strake_vtp_close(strake_vtp *vtp)
{
    if (vtp->is_open) {
        (void)close(vtp->descriptor);
    }
    free(vtp->head);
    *vtp = (strake_vtp){.descriptor = -1};
}
