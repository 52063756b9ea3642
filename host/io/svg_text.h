/** @file svg_text.h Texts in SVG pages. */
#ifndef STRAKE_SVG_TEXT_H
#define STRAKE_SVG_TEXT_H

#include "io/text.h"

/** The beginning of a page, white, with the style of its classes and letters of so many points; it ends with "</svg>\n". */
void strake_svg_begin(strake_text *svg, double width, double height, int letters,
                      const char *style);

/** Appends a text so that it may stand between tags and in attributes; what is not printable ASCII becomes ?. */
void strake_svg_escape(strake_text *svg, const char *text);

/** Appends a text element of a class of the page's style. */
void strake_svg_text(strake_text *svg, double x, double y, const char *class, const char *text);

#endif
