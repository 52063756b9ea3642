/** @file tuning.h Tuning one processor as the program does it: with progress, by this very program. */
#ifndef STRAKE_TUNING_H
#define STRAKE_TUNING_H

#include "autotune/tune.h"
#include "main/say.h"
#include "main/progress.h"
#include "solver/solver.h"

typedef struct strake_tuning_request {
    const char *where; /**< "cpu", "ocl:0" */
    const strake_cl *cl;
    const strake_cl_device *device; /**< NULL: the CPU */
    const char *space;              /**< text, or NULL: the program's own */
    const char *space_name;         /**< its file, for messages */
    const char *problem;            /**< may be NULL where @c space is given */
    const char *const *sets;        /**< NULL-terminated, or NULL */
    const strake_case *like;        /**< for this case alone, or NULL */
    const char *cache;              /**< NULL: default */
    double budget;                  /**< seconds */
    bool force, quiet;
} strake_tuning_request;

/** Tunes with a worker process of this program. @param[out] result  strake_tune_end() in any case */
strake_status strake_tuning_run(const strake_tuning_request *request, strake_tune_result *result,
                                strake_error *error);

#endif
