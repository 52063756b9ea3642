/** @file parts_impl.h What passes and steps of a device beside others have in common. */
#ifndef STRAKE_PARTICLES_PARTS_IMPL_H
#define STRAKE_PARTICLES_PARTS_IMPL_H

#include "particles/crew.h"
#include "particles/device.h"

/** Where what an event brings lies. @param[out] each  bytes of a particle */
cl_mem strake_sph_find_brought(const strake_sph_device *own, strake_sph_event what, size_t *each);

/** Of some steps, and filters, transfers are timed, with nothing beside them. */
bool strake_sph_is_timed(const strake_sph_run *run, strake_sph_event what);

/** Waits for the kernels of a queue so far, and begins to time what follows. */
strake_status strake_sph_start_timing(strake_sph_device *own, cl_command_queue queue, double *start,
                                      strake_error *error);

/** What others found of the forces on the run's ghosts, or of their densities, beside what is computed now. @param[in] queue  which has them from then on */
strake_status strake_sph_take_slices(strake_sph_device *own, strake_sph_event what,
                                     cl_command_queue queue, strake_error *error);

#endif
