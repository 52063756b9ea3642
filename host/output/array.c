#include "output/array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "files/netcdf.h"
#include "output/output.h"
#include "solver/solver.h"

strake_status strake_path_find_kind(const char *path, const char *verb, strake_path_kind *out,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    unsigned char head[8] = {0};
    const char *why = NULL;
    int file = -1;
    bool known = false;
    bool npy = false, netcdf = false, grid = false;
    STRAKE_CHECK(stat(path, &info) == 0, error, STRAKE_ERR_IO, "cannot read %s: %s", path,
                 strake_file_reason(errno));
    if (S_ISDIR(info.st_mode)) {
        *out = STRAKE_PATH_FOLDER;
        goto cleanup;
    }
    file = strake_file_open(path, NULL, &why);
    STRAKE_CHECK(file >= 0, error, STRAKE_ERR_IO, "cannot read %s: %s", path, why);
    known = pread(file, head, sizeof head, 0) == (ssize_t)sizeof head;
    npy = known && memcmp(head, "\x93NUMPY", 6) == 0;
    netcdf = strake_netcdf_is_file(path);
    grid = strake_input_has_place(strake_input_kinds, path);
    STRAKE_CHECK(
        npy || netcdf || grid || (known && memcmp(head, "\x89STRAKE", 7) == 0), error,
        STRAKE_ERR_USAGE,
        "cannot %s %s: neither an .npy file, a NetCDF file, an ESRI ASCII grid, a GeoTIFF, "
        "a checkpoint nor a folder",
        verb, path);
    *out = npy      ? STRAKE_PATH_NPY
           : netcdf ? STRAKE_PATH_NETCDF
           : grid   ? STRAKE_PATH_GRID
                    : STRAKE_PATH_CHECKPOINT;
cleanup:
    if (file >= 0) {
        (void)close(file);
    }
    return status;
}

strake_status strake_array_open(const char *path, strake_array *out, strake_error *error)
{
    const strake_input_name name = {
        .path = path,
        .index = -1,
        .field = "a picture",
        .dims = 2,
        .blank = {.nodata = STRAKE_NODATA_SHOWN, .is_filled = true, .fill = NAN}};
    *out = (strake_array){.name = path};
    const strake_status status = strake_input_open(strake_input_kinds, &name, &out->input, error);
    if (status == STRAKE_OK) {
        const strake_npy_info *const info = &out->input.info;
        out->dims = info->dims;
        out->element_size = info->element_size;
        out->count = info->count;
        memcpy(out->shape, info->shape, sizeof out->shape);
    }
    return status;
}

strake_array strake_array_of_checkpoint(const strake_checkpoint *checkpoint, int field)
{
    const strake_checkpoint_field *const f = &checkpoint->header.field[field];
    strake_array out = {.name = checkpoint->path,
                        .checkpoint = checkpoint,
                        .field = field,
                        .dims = (int)f->dims,
                        .element_size = (int)checkpoint->header.element_size};
    out.count = (int64_t)f->bytes / out.element_size;
    memcpy(out.shape, f->shape, sizeof f->shape);
    return out;
}

strake_array strake_array_of_netcdf(const char *path, const strake_netcdf *module,
                                    strake_netcdf_reader *reader, int variable,
                                    const strake_netcdf_info *info, int64_t record)
{
    strake_array out = {.name = path,
                        .module = module,
                        .reader = reader,
                        .field = variable,
                        .info = *info,
                        .record = record,
                        .element_size = info->element_size,
                        .count = 1};
    const int lead = record >= 0 ? 1 : 0;
    out.dims = info->dims - lead;
    for (int d = 0; d < out.dims; d++) {
        out.shape[d] = info->shape[d + lead];
        out.count *= out.shape[d];
    }
    return out;
}

strake_status strake_array_read(strake_array *array, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    if (array->module != NULL) {
        return strake_netcdf_elements(array->module, array->reader, array->field, &array->info,
                                      array->record, first, count, out, NULL, error);
    }
    if (array->checkpoint == NULL) {
        return strake_input_read(&array->input, first, count, out, error);
    }
    const size_t size = (size_t)array->element_size;
    const strake_status status = strake_checkpoint_read(
        array->checkpoint, array->field, (uint64_t)first * size, out, (size_t)count * size, error);
    /* Floats lie in the first half of the room and are widened from the last one on. */
    for (int64_t k = count - 1; k >= 0 && status == STRAKE_OK && size == sizeof(float); k--) {
        float narrow = 0.0F;
        memcpy(&narrow, (const char *)out + (size_t)k * size, size);
        out[k] = (double)narrow;
    }
    return status;
}

int strake_checkpoint_find_field(const strake_checkpoint_header *header, const char *name)
{
    for (uint32_t k = 0; k < header->fields; k++) {
        if (strcmp(header->field[k].name, name) == 0) {
            return (int)k;
        }
    }
    return -1;
}
