#include "view/drawing.h"

#include <stdlib.h>

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_CAIRO_MODULE
#define STRAKE_CAIRO_MODULE 0
#endif

/* Whether this Strake was built with cairo. */
static bool cairo_built(void)
{
    return STRAKE_CAIRO_MODULE;
}

strake_status strake_cairo_load(const char *who, const strake_cairo **out, strake_error *error)
{
    static const strake_module_kind kind = {
        .what = "cairo",
        .file = "libstrake-cairo.so",
        .symbol = STRAKE_CAIRO_SYMBOL,
        .size = sizeof(strake_cairo),
        .remedy =
            "install the cairo that it was built with (Debian: libcairo2), or build Strake anew"};
    const void *module = NULL;
    const strake_status status =
        strake_module_need(&kind, cairo_built(), who, "libcairo2-dev", &module, error);
    *out = module;
    return status;
}

void strake_drawing_add(strake_drawing *drawing, strake_mark mark)
{
    if (drawing->marks == drawing->room && !drawing->failed) {
        const int room = 2 * drawing->room + 64;
        strake_mark *const more = realloc(drawing->mark, (size_t)room * sizeof *more);
        drawing->failed = more == NULL;
        drawing->mark = more != NULL ? more : drawing->mark;
        drawing->room = more != NULL ? room : drawing->room;
    }
    if (!drawing->failed) {
        drawing->mark[drawing->marks++] = mark;
    }
}

void strake_drawing_free(strake_drawing *drawing)
{
    free(drawing->pixel);
    free(drawing->mark);
    *drawing = (strake_drawing){0};
}
