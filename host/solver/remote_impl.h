/** @file remote_impl.h What strake_get_slabs() and strake_set_slabs() do on rank 0; only for host/solver/. */
#ifndef STRAKE_REMOTE_IMPL_H
#define STRAKE_REMOTE_IMPL_H

#include "solver/remote.h"
#include "solver/solver_impl.h"

/** Slabs [first, end) of a field from all ranks, dense. */
strake_status strake_remote_get(strake_solver *solver, int field, int64_t first, int64_t end,
                                void *data, strake_error *error);

/** Slabs [first, end) of a state to the ranks that own them. */
strake_status strake_remote_put(strake_solver *solver, int field, int64_t first, int64_t end,
                                const void *data, strake_error *error);

/** Adds a field's values, slab by slab, to an FNV-1a hash. */
strake_status strake_fields_hash(strake_solver *solver, int field, uint64_t *hash,
                                 strake_error *error);

#endif
