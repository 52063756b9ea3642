/**
 * @file cl_ghosts.h
 * Ghosts of others' slabs in a window that advance themselves (engine/graph.h): kernels of the stages that
 * takes, on the arrays of the window.
 */
#ifndef STRAKE_CL_GHOSTS_H
#define STRAKE_CL_GHOSTS_H

#include "opencl/cl_window.h"

typedef struct strake_cl_ghosts strake_cl_ghosts;

/**
 * @param[in]  window   with its kernels, borrowed until destroy
 * @param[in]  problem  of the graph that these were made for
 * @param[out] out      NULL where the graph keeps no states
 * @return STRAKE_ERR_DEVICE, STRAKE_ERR_MEMORY
 */
strake_status strake_cl_ghosts_create(const strake_cl_window *window, const strake_problem *problem,
                                      strake_cl_ghosts **out, strake_error *error);
void strake_cl_ghosts_destroy(strake_cl_ghosts **ghosts);

/** Once static inputs are there. */
strake_status strake_cl_ghosts_prepare(strake_cl_ghosts *ghosts, strake_error *error);

/** Enqueues advancing the current states of slabs [first, end), as the window's next step does its own. */
strake_status strake_cl_ghosts_step(strake_cl_ghosts *ghosts, int64_t first, int64_t end,
                                    strake_error *error);

#endif
