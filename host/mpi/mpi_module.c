/* What libstrake-mpi.so exports. */
#include "mpi/mpi_wait.h"

const strake_module strake_mpi_module = {.head = {.version = STRAKE_VERSION,
                                                  .size = sizeof(strake_module),
                                                  .error_size = sizeof(strake_error)},
#define X(name) .name = strake_##name,
                                         STRAKE_MODULE_CALLS(X)
#undef X
};
