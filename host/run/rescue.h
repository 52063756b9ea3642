/**
 * @file rescue.h
 * Going on when a device fails in mid-run, or while the run is set up.
 *
 * States live on the devices and in host arrays of which only borders are current, so a run of several
 * parts keeps a copy of all states in host memory. It is renewed whenever a hundred times as long has
 * been spent on steps as the last renewal took, so that it costs about 1 % and a failure loses no more
 * steps than that. When a device fails, its part is dropped (empty from then on), the copy becomes the current
 * state, the others share the slabs and repeat the steps since: results do not depend on the split, so
 * the bytes are those of a run without the failure.
 *
 * The driver of a device that failed is asked for nothing any more, not even to release what it holds,
 * since that can block for ever; host arrays that it may still write to are left to it and replaced.
 */
#ifndef STRAKE_RESCUE_H
#define STRAKE_RESCUE_H

#include "run/pace.h"

/**
 * Renews the copy where that is due; the team must be at rest. Does nothing where no other part could
 * take over.
 * @return STRAKE_ERR_DEVICE if a device cannot be read; the copy stays what it was
 */
strake_status strake_keep(strake_pace *pace, strake_error *error);

/** How many of @p steps steps to do before the copy is renewed. */
int64_t strake_keep_piece(const strake_pace *pace, int64_t steps);

/** The states were set from outside: the copy holds none. */
void strake_keep_forget(strake_pace *pace);

/**
 * The same where inputs were given and the states are as they were: a new copy is made when that takes little beside the
 * steps since, so that who gives a flow for every step does not pay for one each time.
 */
void strake_keep_outdate(strake_pace *pace);

/**
 * Drops the parts that failed, places the others and sets the states and the step count back to the
 * copy's.
 * @param[in] cause  what failed: returned where nothing can be done about it
 */
strake_status strake_rescue(strake_pace *pace, const strake_error *cause, strake_error *error);

/**
 * While stripes are made and tried, before the first step: drops the parts that failed, with a notice.
 * The others are to be placed anew; nothing else is lost.
 * @param[in] cause  what failed: returned where nothing can be done about it
 */
strake_status strake_rescue_setup(strake_pace *pace, const strake_error *cause,
                                  strake_error *error);

/** Weights of the parts that are left: a dropped one gets none, all get equal ones where none has any. */
void strake_rescue_weights(const strake_pace *pace, double *weight);

#endif
