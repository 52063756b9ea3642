/** @file vents_impl.h What the readers of vents share, inside src/case/. */
#ifndef STRAKE_CASE_VENTS_IMPL_H
#define STRAKE_CASE_VENTS_IMPL_H

#include "case/vents_read.h"

/** A vent more, without cells. @return its number, or -1 without memory */
int strake_vents_add(strake_vents *vents);

/** A cell more. @return false without memory */
bool strake_vents_add_cell(strake_vents *vents, int vent, int64_t row, int64_t col);

/** SCIARA's {grid: FILE, emission: FILE}. @return as strake_vents_read() */
strake_status strake_vents_read_sciara(const strake_node *node, const strake_vents_place *place,
                                       strake_vents *vents, strake_error *error);

/** The file that a node names, as seen from the folder of the case; free() it. */
strake_status strake_vents_path(const strake_node *node, const strake_vents_place *place,
                                char **path, strake_error *error);

#endif
