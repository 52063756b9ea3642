/** @file format_png.h PNG files of drawings, with texts in them: what one was drawn with can be had back. */
#ifndef STRAKE_VIEW_FORMAT_PNG_H
#define STRAKE_VIEW_FORMAT_PNG_H

#include "view/plot.h"

/** Ends of the colours of a picture: "LOW HIGH". */
#define STRAKE_PNG_RANGE "Strake range"

/**
 * Writes a picture atomically, with its title, time and range as texts. @param[in] how  of strake_file_begin()
 * @param[in] source  the program @return STRAKE_ERR_IO, STRAKE_ERR_MEMORY
 */
strake_status strake_png_write(const char *path, unsigned how, const strake_cairo *module,
                               const strake_drawing *drawing, const char *source,
                               const strake_scene *scene, const strake_plot *plot,
                               strake_error *error);

#endif
