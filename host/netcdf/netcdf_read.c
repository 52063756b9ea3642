/* Variables of a file as doubles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netcdf/netcdf_impl.h"

struct strake_netcdf_reader {
    char *path;
    int id; /* of libnetcdf, -1: not open */
    int variables;
};

/* Whether the number of records in a classic file's header is one that its bytes can hold: a record has one at least. */
static bool has_records(int id, int64_t bytes)
{
    int format = 0, dim = -1;
    size_t records = 0;
    return nc_inq_format(id, &format) != NC_NOERR || format == NC_FORMAT_NETCDF4 ||
           format == NC_FORMAT_NETCDF4_CLASSIC || nc_inq_unlimdim(id, &dim) != NC_NOERR ||
           dim < 0 || nc_inq_dimlen(id, dim, &records) != NC_NOERR || records <= (size_t)bytes;
}

strake_status strake_netcdf_open(const char *path, strake_netcdf_reader **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_netcdf_reader *reader = calloc(1, sizeof *reader);
    int code = NC_NOERR;
    int64_t bytes = 0;
    strake_netcdf_lock();
    STRAKE_CHECK(reader != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    reader->id = -1;
    reader->path = strdup(path);
    STRAKE_CHECK(reader->path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", path);
    STRAKE_TRY(strake_netcdf_check_header(path, &bytes, error));
    code = nc_open(path, NC_NOWRITE, &reader->id);
    STRAKE_CHECK(code == NC_NOERR, error, code > 0 ? STRAKE_ERR_IO : STRAKE_ERR_USAGE,
                 "%s: cannot be read as NetCDF: %s", path, strake_netcdf_reason(code));
    STRAKE_CHECK(nc_inq_nvars(reader->id, &reader->variables) == NC_NOERR, error, STRAKE_ERR_USAGE,
                 "%s: cannot be read as NetCDF", path);
    STRAKE_CHECK(has_records(reader->id, bytes), error, STRAKE_ERR_USAGE,
                 "%s: its header counts more records than its %lld bytes can hold; the file is "
                 "damaged",
                 path, (long long)bytes);
    *out = reader;
    reader = NULL;
cleanup:
    strake_netcdf_unlock();
    strake_netcdf_end(&reader);
    return status;
}

int strake_netcdf_variables(const strake_netcdf_reader *reader)
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

bool strake_netcdf_describe(strake_netcdf_reader *reader, int variable, strake_netcdf_info *out)
{
    char name[NC_MAX_NAME + 1] = "";
    nc_type type = NC_NAT;
    int dim[NC_MAX_VAR_DIMS] = {0};
    memset(out, 0, sizeof *out);
    strake_netcdf_lock();
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
    strake_netcdf_unlock();
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

strake_status strake_netcdf_read(strake_netcdf_reader *reader, int variable, const int64_t *start,
                                 const int64_t *count, double *out, int64_t *missing,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t first[STRAKE_NETCDF_DIMS] = {0}, many[STRAKE_NETCDF_DIMS] = {0};
    int dims = 0;
    int64_t values = 1, holes = 0;
    nc_type type = NC_NAT;
    strake_netcdf_lock();
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
    strake_netcdf_unlock();
    return status;
}

void strake_netcdf_end(strake_netcdf_reader **reader)
{
    if (*reader == NULL) {
        return;
    }
    strake_netcdf_lock();
    if ((*reader)->id >= 0) {
        (void)nc_close((*reader)->id);
    }
    strake_netcdf_unlock();
    free((*reader)->path);
    free(*reader);
    *reader = NULL;
}
