/* Variables of a NetCDF file as frames. */
#include <math.h>
#include <string.h>

#include "netcdf/input.h"
#include "view/recording_impl.h"

/* The numbers of a variable of this name along the records, NaN where there is none. */
typedef struct series {
    int variable; /* -1: there is none */
    strake_netcdf_info info;
} series;

static series find_series(const strake_recording *r, const char *name)
{
    series out = {.variable = -1};
    strake_netcdf_info info;
    for (int k = 0; k < r->module->variables(r->reader); k++) {
        if (r->module->describe(r->reader, k, &info) && strcmp(info.name, name) == 0 &&
            info.dims == 1) {
            out = (series){k, info};
        }
    }
    return out;
}

static double number_of(const strake_recording *r, const series *s, int64_t record)
{
    double value = NAN;
    if (s->variable < 0 || record < 0 || record >= s->info.shape[0] ||
        strake_netcdf_elements(r->module, r->reader, s->variable, &s->info, -1, record, 1, &value,
                               NULL, NULL) != STRAKE_OK) {
        return NAN;
    }
    return value;
}

static strake_status add_frames(strake_recording *out, strake_wanted *want, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const series time = find_series(out, "time"), step = find_series(out, "step");
    const bool is_seconds = strncmp(time.info.unit, "seconds", strlen("seconds")) == 0;
    /* Record by record, as outputs follow each other. */
    const int64_t records = time.variable >= 0 ? time.info.shape[0] : 0;
    for (int64_t record = -1; record < records; record++) {
        for (int k = 0; k < out->module->variables(out->reader); k++) {
            strake_netcdf_info info;
            if (!out->module->describe(out->reader, k, &info) || info.dims < 2) {
                continue;
            }
            const bool varies = strcmp(info.dim[0], "time") == 0;
            const double steps = number_of(out, &step, record);
            if (varies != (record >= 0) || info.dims - (varies ? 1 : 0) > 3) {
                continue;
            }
            const strake_frame frame = {.field = info.name,
                                        .number = k,
                                        .record = record,
                                        .step = fabs(steps) < 9e15 ? (int64_t)steps : record,
                                        .time = is_seconds ? number_of(out, &time, record)
                                                           : (double)NAN};
            STRAKE_TRY(strake_recording_add(out, want, NULL, frame, error));
        }
    }
cleanup:
    return status;
}

strake_status strake_recording_read_netcdf(strake_recording *out, strake_wanted *want,
                                           const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_netcdf_load(path, &out->module, error));
    STRAKE_TRY(out->module->open(path, &out->reader, error));
    STRAKE_TRY(add_frames(out, want, error));
    STRAKE_CHECK(want->seen > 0, error, STRAKE_ERR_USAGE,
                 "%s has no variables of one to three dimensions beside time", path);
cleanup:
    return status;
}
