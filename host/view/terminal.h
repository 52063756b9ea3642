/** @file terminal.h Pictures in a terminal: two points per character where it has colours. */
#ifndef STRAKE_TERMINAL_H
#define STRAKE_TERMINAL_H

#include <stdio.h>

#include "view/picture.h"

typedef enum strake_terminal_colours {
    STRAKE_TERMINAL_PLAIN, /**< no colours: characters of growing weight */
    STRAKE_TERMINAL_256,   /**< the colour cube of xterm */
    STRAKE_TERMINAL_24_BIT
} strake_terminal_colours;

typedef struct strake_terminal {
    int rows, cols; /**< characters */
    strake_terminal_colours colours;
} strake_terminal;

/** What a stream is: its size (80 x 24 where unknown), its colours by COLORTERM, TERM and NO_COLOR. */
strake_terminal strake_terminal_find(FILE *stream);

/** Largest picture that fits, with @p lines left for text, and the height of its points over their width. */
void strake_terminal_room(const strake_terminal *terminal, int lines, int *rows, int *cols,
                          double *stretch);

/** Prints a picture, colours from @p low to @p high. */
void strake_terminal_print(FILE *stream, const strake_terminal *terminal,
                           const strake_picture *picture, const strake_map *map, double low,
                           double high);

/**
 * Prints one line of it without its end, from row @p row of the picture on. @param[in] dashes  the line is marked by
 * dashes in it
 */
void strake_terminal_line(FILE *stream, const strake_terminal *terminal,
                          const strake_picture *picture, const strake_map *map, double low,
                          double high, int row, bool dashes);

/** Prints the scale of colours, @p low and @p high at its ends, in one line. */
void strake_terminal_scale(FILE *stream, const strake_terminal *terminal, const strake_map *map,
                           double low, double high);

#endif
