/**
 * @file recording.h
 * What a run left behind, as a list of frames: an output folder (its index.csv), one .npy file or grid of a map, the
 * fields of a checkpoint, or the variables of a NetCDF file, which may be anybody's.
 */
#ifndef STRAKE_RECORDING_H
#define STRAKE_RECORDING_H

#include "output/array.h"

/** One field at one step. */
typedef struct strake_frame {
    char *field;
    char *path; /**< of the .npy file or grid; NULL for a field of a checkpoint or NetCDF file */
    int number; /**< of the field in the checkpoint, or of the variable in the NetCDF file */
    int64_t record; /**< of a NetCDF file; -1: the variable has none */
    int64_t step;   /**< -1 where the file does not tell */
    double time;    /**< [s]; NaN where the file does not tell */
} strake_frame;

/** Zero-initialise; free with strake_recording_close(). */
typedef struct strake_recording {
    char *path; /**< as given */
    strake_path_kind kind;
    strake_checkpoint checkpoint;
    const strake_netcdf *module; /**< NULL: no NetCDF file */
    strake_netcdf_reader *reader;
    strake_frame *frame; /**< in the order of the index: by step */
    int frames;
} strake_recording;

/**
 * Lists the frames at @p path.
 * @param[in] field  only those of this field; NULL: all
 * @param[in] step   only those of this step; -1: all
 * @return STRAKE_ERR_USAGE where nothing is left (the message lists what there is), or the path is no
 *         output of a run; STRAKE_ERR_IO; STRAKE_ERR_MEMORY.
 */
strake_status strake_recording_open(const char *path, const char *field, int64_t step,
                                    strake_recording *out, strake_error *error);

/** Opens the array of a frame; close it with strake_array_close(). */
strake_status strake_recording_array(const strake_recording *recording, int frame,
                                     strake_array *out, strake_error *error);

void strake_recording_close(strake_recording *recording);

#endif
