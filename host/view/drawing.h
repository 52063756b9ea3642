/**
 * @file drawing.h
 * A drawing as a list of simple things, and its picture as a PNG file; lengths are in points of the picture, from its
 * upper left corner. cairo is known to the module alone (cairo_*.c).
 */
#ifndef STRAKE_DRAWING_H
#define STRAKE_DRAWING_H

#include "files/module.h"

enum { STRAKE_MARK_TEXT = 120 };

typedef enum strake_mark_kind {
    STRAKE_MARK_LINE,      /**< from x, y to x2, y2; size: its width */
    STRAKE_MARK_RECTANGLE, /**< filled */
    STRAKE_MARK_LETTERS /**< at x, y: the base line of the text, which may stand upright; size: of the letters */
} strake_mark_kind;

/** Where x is of a text. */
typedef enum strake_anchor {
    STRAKE_ANCHOR_START,
    STRAKE_ANCHOR_MIDDLE,
    STRAKE_ANCHOR_END
} strake_anchor;

typedef struct strake_mark {
    strake_mark_kind kind;
    double x, y, x2, y2, size;
    uint32_t colour; /**< 0xAARRGGBB */
    strake_anchor anchor;
    bool is_upright, is_bold;
    bool is_behind; /**< the image */
    char text[STRAKE_MARK_TEXT];
} strake_mark;

/** Zero-initialise; free with strake_drawing_free(). Running out of memory sets @c failed and sticks. */
typedef struct strake_drawing {
    int width, height;
    uint32_t *pixel; /**< image: rows x cols, 0xAARRGGBB, not premultiplied; owned */
    int rows, cols;
    double x, y, image_width, image_height; /**< where it goes */
    int marks, room;
    strake_mark *mark;
    bool failed;
} strake_drawing;

/** Adds a mark. */
void strake_drawing_add(strake_drawing *drawing, strake_mark mark);

void strake_drawing_free(strake_drawing *drawing);

/** What the module offers. */
typedef struct strake_cairo {
    strake_module_head head;
    /** @param[in] write  gets the bytes of the PNG file @return what it fails with, STRAKE_ERR_MEMORY */
    strake_status (*png)(const strake_drawing *drawing,
                         strake_status (*write)(void *user, const void *data, size_t bytes,
                                                strake_error *error),
                         void *user, strake_error *error);
} strake_cairo;

#define STRAKE_CAIRO_SYMBOL "strake_cairo_module"

/** The module. @param[in] who  needs it, for the message @return STRAKE_ERR_USAGE where it is not there */
strake_status strake_cairo_load(const char *who, const strake_cairo **out, strake_error *error);

#endif
