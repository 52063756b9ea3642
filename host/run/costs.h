/** @file costs.h What stored models of data movement say about the placed team. */
#ifndef STRAKE_COSTS_H
#define STRAKE_COSTS_H

#include "run/team.h"

/** Loads the stored models of the parts' devices, unless run.tuned is false. @param[in] cache  folder, NULL: default */
strake_status strake_costs_load(strake_team *team, const char *cache, strake_error *error);
void strake_costs_free(strake_team *team);

/** The model of a part's device, or NULL. */
const strake_device_model *strake_costs_model(const strake_team *team, const strake_part *part);

/**
 * Steps per sweep, 1 to team->sweep, with which the exchanges of the devices and what is computed
 * twice for them take least, by the models; 0 where a device has none. Needs the parts' ranges.
 */
int strake_costs_steps(const strake_team *team);

/** What an exchange of a part's stripe costs before sweeps of team->at_once steps. */
strake_cl_costs strake_costs_of(const strake_team *team, const strake_part *part);

/** Fills in what was exchanged, what the model says about it, and what was measured. */
void strake_costs_describe(const strake_team *team, const strake_part *part,
                           strake_part_report *out);

#endif
