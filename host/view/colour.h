/** @file colour.h Colour maps of pictures: a number between 0 and 1 to a colour. */
#ifndef STRAKE_COLOUR_H
#define STRAKE_COLOUR_H

#include <stdint.h>

typedef struct strake_colour {
    uint8_t red, green, blue;
} strake_colour;

/** Nodes of a map, equally spaced from 0 to 1; colours between them are interpolated in sRGB. */
enum { STRAKE_MAP_NODES = 33 };

typedef struct strake_map {
    const char *name;
    uint32_t node[STRAKE_MAP_NODES]; /**< 0xRRGGBB */
} strake_map;

/**
 * The maps, the first is the default; one without a name ends the list. viridis and inferno
 * (perceptually uniform; S. van der Walt and N. Smith, 2015, public domain) for values of one kind,
 * coolwarm (K. Moreland, Diverging Color Maps for Scientific Visualization, 2009) for values around a
 * middle, gray (linear in sRGB) for paper.
 */
extern const strake_map strake_maps[];

/** A map by its name, or NULL. */
const strake_map *strake_map_find(const char *name);

/** The names of all maps, "viridis, inferno, ...", for messages; static. */
const char *strake_map_names(void);

/** The colour of @p at, 0 to 1 (beyond: that of the end). NaN has none of a map's colours: it is white. */
strake_colour strake_map_colour(const strake_map *map, double at);

#endif
