/** @file run_opencl.h Particles on one OpenCL device, behind the table of run.h. */
#ifndef STRAKE_PARTICLES_RUN_OPENCL_H
#define STRAKE_PARTICLES_RUN_OPENCL_H

#include "case/settings.h"
#include "opencl/cl_kernels.h"
#include "particles/run.h"

/**
 * As strake_sph_open(), on a device. All of the particles lie there: strake_sph_bytes() tells how much it is.
 * @param[in] cl, device  borrowed until strake_sph_close()
 * @param[in] settings    those of particles: sizes of groups, lists, how early is loaded, registers; NULL: defaults
 * @return STRAKE_ERR_DEVICE for one that has no doubles, or too little memory, STRAKE_ERR_USAGE for groups that are none
 */
strake_status strake_sph_open_device(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                                     const bool is_round[STRAKE_PARTICLE_AXES],
                                     strake_precision precision, const strake_cl *cl,
                                     const strake_cl_device *device,
                                     const strake_settings *settings, int64_t count,
                                     const strake_sph_particle *particle, strake_sph_run **out,
                                     strake_error *error);

/**
 * Bytes of a device's memory that a run takes, by the tables by which it makes its arrays.
 * @param[in] is_shared  others compute, too
 * @param[in] room       for particles, ghosts among them
 * @param[in] near       entries of lists, in whole rows
 * @return INFINITY for settings with which there is no run
 */
double strake_sph_device_needs(const strake_sph *sph, const strake_cells *cells,
                               strake_precision precision, const strake_cl_device *device,
                               const strake_settings *settings, bool is_shared, int64_t room,
                               double near);

/**
 * Particles for which so many bytes of a device's memory are enough, ghosts among them, in about the order that they begin
 * with: with what arrays grow by at once.
 * @param[in] pairs  neighbours of a particle; 0: not known, lists lie as close as in a lattice
 */
double strake_sph_device_room(const strake_sph *sph, const strake_cells *cells,
                              strake_precision precision, const strake_cl_device *device,
                              const strake_settings *settings, double pairs, double bytes);

/** Whether another part is on the same device: else it may pin memory that others have, too. */
void strake_sph_device_is_shared(strake_sph_run *run, bool is_shared);

/** How it waits. @param[in] limit  seconds for a step after which it counts as hung; 0: for ever */
void strake_sph_device_watch(strake_sph_run *run, double limit);

/** Records its commands until the next call with NULL, as strake_part_ops.record. */
strake_status strake_sph_device_record(strake_sph_run *run, strake_cl_record *record,
                                       strake_error *error);

/** Its kernels, and settings in effect. */
void strake_sph_device_describe(const strake_sph_run *run, strake_cl_description *out);

/**
 * Times kernels over some steps, after which the run is as it was: seconds of each in a step, those of a new order in
 * proportion. @param[out] count  0 where the device has no timers
 */
strake_status strake_sph_device_time(strake_sph_run *run, strake_cl_time *out, int *count,
                                     strake_error *error);

#endif
