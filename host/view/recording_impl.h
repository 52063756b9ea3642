/** @file recording_impl.h Inside of strake_recording_open(); only for host/view/recording*.c. */
#ifndef STRAKE_RECORDING_IMPL_H
#define STRAKE_RECORDING_IMPL_H

#include "io/text.h"
#include "view/recording.h"

/** Which frames are wanted, and what there was, for the message where none of them is. */
typedef struct strake_wanted {
    const char *field;
    int64_t step;
    int seen;
    int64_t first, last; /**< steps */
    strake_text fields;
} strake_wanted;

/** Adds a frame, where it is wanted; @p path and the frame's field are copied. */
strake_status strake_recording_add(strake_recording *out, strake_wanted *want, const char *path,
                                   strake_frame frame, strake_error *error);

/** Frames of a NetCDF file, which stays open: every array of a variable along time. */
strake_status strake_recording_read_netcdf(strake_recording *out, strake_wanted *want,
                                           const char *path, strake_error *error);

#endif
