/** @file tune_case.h The case that is run while tuning, as text. */
#ifndef STRAKE_AUTOTUNE_TUNE_CASE_H
#define STRAKE_AUTOTUNE_TUNE_CASE_H

#include "autotune/space.h"

/**
 * The case of a space on a grid of n cells. @param[in] like  take precision, scheme and what is
 * constant from this case, or NULL  @param[in] sets  NULL-terminated PATH=VALUE, or NULL
 * @param[out] text  YAML; free with strake_text_free()
 */
strake_status strake_tune_case(const strake_space *space, const int64_t n[STRAKE_AXES],
                               const strake_case *like, const char *const *sets, strake_text *text,
                               strake_error *error);

/** Refuses changes that a tuning must not make. @return STRAKE_ERR_USAGE */
strake_status strake_tune_check_sets(const char *const *sets, strake_error *error);

/**
 * The grid that a brief tuning measures: the case's shape with at most about 1024 x 1024 cells on a
 * GPU, 512 x 512 elsewhere, so that seconds suffice.
 */
void strake_tune_brief_grid(const strake_case *like, bool is_gpu, int64_t n[STRAKE_AXES]);

enum { STRAKE_GRID_TEXT = 72 };

/** "96 x 80". Returns @p text. */
const char *strake_grid_text(int dims, const int64_t n[STRAKE_AXES], char text[STRAKE_GRID_TEXT]);

#endif
