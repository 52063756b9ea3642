/** @file run_opencl.h Particles on one OpenCL device, behind the table of run.h. */
#ifndef STRAKE_PARTICLES_RUN_OPENCL_H
#define STRAKE_PARTICLES_RUN_OPENCL_H

#include "opencl/cl_device.h"
#include "particles/run.h"

/**
 * As strake_sph_open(), on a device. All of the particles lie there: strake_sph_bytes() tells how much it is.
 * @param[in] cl, device  borrowed until strake_sph_close()
 * @param[in] group       work-items of a group, 32, 64, ...; 0: the default
 * @return STRAKE_ERR_DEVICE for one that has no doubles, or too little memory
 */
strake_status strake_sph_open_device(const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                                     const bool is_round[STRAKE_PARTICLE_AXES],
                                     strake_precision precision, const strake_cl *cl,
                                     const strake_cl_device *device, int group, int64_t count,
                                     const strake_sph_particle *particle, strake_sph_run **out,
                                     strake_error *error);

#endif
