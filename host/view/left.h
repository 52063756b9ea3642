/**
 * @file left.h
 * A picture of what a run left: on the ground that its case describes (relief.h), where the fields that make the
 * footprint are among its outputs without the cells that have nothing of them, and with the patches in which
 * something happens.
 */
#ifndef STRAKE_LEFT_H
#define STRAKE_LEFT_H

#include "view/plot.h"
#include "view/recording.h"
#include "view/scene.h"

/** Zero-initialise; free with strake_left_free(). */
typedef struct strake_left {
    strake_case *which; /**< of the run; NULL: nothing is known of it */
    int ground;         /**< its field; -1: none */
    strake_relief relief;
    strake_patches patches;
} strake_left;

/** Whether a scan's PATH=VALUES varies a field. */
bool strake_left_varies(const char *over, const char *field);

/**
 * Finds the case of a run and whether it has ground under this field.
 * @param[in] folder  of the run's outputs @param[in] about  what the run says of itself, JSON
 * @param[in] is_flat  no ground is wanted
 * @return why the case cannot be read again; the picture is then a plain one
 */
strake_status strake_left_open(strake_left *left, const char *folder, const char *about,
                               const char *field, bool is_flat, strake_error *error);

/**
 * The picture of a frame in two dimensions. @param[in] recording  of all fields @param[in] side  of the patches
 * [cells]; 0: none @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY; STRAKE_ERR_USAGE: the outputs are not of this case
 */
strake_status strake_left_read(strake_left *left, const strake_recording *recording,
                               const strake_frame *frame, strake_array *array,
                               const strake_scene *scene, const strake_view *view, int64_t side,
                               strake_picture *out, strake_error *error);

static inline void strake_left_free(strake_left *left)
{
    strake_relief_free(&left->relief);
    strake_patches_free(&left->patches);
    strake_case_close(&left->which);
}

#endif
