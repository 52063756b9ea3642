/** @file remote_impl.h What strake_get_slabs() and strake_set_slabs() do on rank 0; only for host/solver/. */
#ifndef STRAKE_REMOTE_IMPL_H
#define STRAKE_REMOTE_IMPL_H

#include "solver/fields.h"
#include "solver/solver_impl.h"

/** Adds a field's values, slab by slab, to an FNV-1a hash. */
strake_status strake_fields_hash(strake_solver *solver, int field, uint64_t *hash,
                                 strake_error *error);

#endif
