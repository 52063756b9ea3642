/**
 * @file inject.h
 * The test switch $STRAKE_INJECT: devices of a run fail, hang, get lost or become slow at a step, the CPU
 * stripe becomes slow, or a rank dies. A comma-separated list of
 *
 *     KIND:[RANK:]ocl:N[#K]@STEP[/output][*FACTOR]
 *     slow:[RANK:]cpu@STEP*FACTOR
 *     die:RANK:move@STEP
 *
 * KIND is fail, lost, hang or slow (cl_fault.h); RANK the rank whose it is, all of them by default; #K the
 * K-th part of WHERE with this device, the first by default. It happens when the sweep begins that does
 * STEP, or with /output when the states are read back after that step or later; FACTOR, 2 to 1000, goes
 * with slow. A rank dies while slabs move between ranks, once STEP steps are done.
 */
#ifndef STRAKE_INJECT_H
#define STRAKE_INJECT_H

#include "team/team.h"

/** Reads the variable, once WHERE is resolved. @return STRAKE_ERR_USAGE if it is malformed or names no part */
strake_status strake_inject_read(strake_team *team, strake_error *error);

/** Breaks the device of a part if that is due in steps up to @p step. @param[in] output  states are read */
strake_status strake_inject(strake_team *team, int part, int64_t step, bool output,
                            strake_error *error);

/** After @p seconds of work of a role of the CPU stripe in steps up to @p step: makes them longer. */
void strake_inject_delay(const strake_team *team, strake_role *role, int64_t step, double seconds);

/** Ends this process where that is due. */
void strake_inject_death(const strake_team *team);

/** Slows a stripe that was made anew as its predecessor was. */
strake_status strake_inject_again(strake_team *team, int part, strake_error *error);

#endif
