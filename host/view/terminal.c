#include "view/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"

/* From light to heavy; paper and most screens are light on dark or the reverse, so the ends differ most. */
static const char weights[] = " .:-=+*#%@";

strake_terminal strake_terminal_find(FILE *stream)
{
    strake_terminal out = {.rows = 24, .cols = 80, .colours = STRAKE_TERMINAL_PLAIN};
    struct winsize size = {0};
    const int descriptor = fileno(stream);
    const char *const term = getenv("TERM"), *const colours = getenv("COLORTERM");
    const char *const none = getenv("NO_COLOR");
    if (descriptor < 0 || !isatty(descriptor)) {
        return out;
    }
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        out.rows = size.ws_row;
        out.cols = size.ws_col;
    }
    if ((none != NULL && *none != '\0') || term == NULL || strcmp(term, "dumb") == 0) {
        return out;
    }
    const bool full =
        colours != NULL && (strcmp(colours, "truecolor") == 0 || strcmp(colours, "24bit") == 0);
    out.colours = full                               ? STRAKE_TERMINAL_24_BIT
                  : strstr(term, "256color") != NULL ? STRAKE_TERMINAL_256
                                                     : STRAKE_TERMINAL_PLAIN;
    return out;
}

void strake_terminal_room(const strake_terminal *terminal, int lines, int *rows, int *cols,
                          double *stretch)
{
    const bool plain = terminal->colours == STRAKE_TERMINAL_PLAIN;
    const int left = terminal->rows - lines > 1 ? terminal->rows - lines : 1;
    *rows = plain ? left : 2 * left;
    *cols = terminal->cols > 1 ? terminal->cols : 1;
    *stretch = plain ? 2.0 : 1.0;
}

/* The nearest colour of xterm's cube of 6 x 6 x 6. */
static int cube(strake_colour colour)
{
    const int level[3] = {colour.red, colour.green, colour.blue};
    int index = 16, weight = 36;
    for (int k = 0; k < 3; k++) {
        /* Levels of the cube: 0, 95, 135, 175, 215, 255. */
        const int step = level[k] < 48 ? 0 : level[k] < 115 ? 1 : (level[k] - 35) / 40;
        index += weight * step;
        weight /= 6;
    }
    return index;
}

static void set_colour(FILE *stream, strake_terminal_colours colours, bool is_back,
                       strake_colour colour)
{
    const int what = is_back ? 48 : 38;
    if (colours == STRAKE_TERMINAL_24_BIT) {
        (void)fprintf(stream, "\033[%d;2;%d;%d;%dm", what, colour.red, colour.green, colour.blue);
    } else {
        (void)fprintf(stream, "\033[%d;5;%dm", what, cube(colour));
    }
}

static char weight_of(double place)
{
    const int last = (int)sizeof weights - 2;
    const int at = isnan(place) ? 0
                                : (int)((place < 0.0   ? 0.0
                                         : place > 1.0 ? 1.0
                                                       : place) *
                                            last +
                                        0.5);
    return isnan(place) ? '?' : weights[at];
}

/* The character of a point, where things without a value are seen or not. */
static char mark_of(const strake_picture *picture, int k, double place)
{
    if (!isnan(place) || picture->solid == NULL) {
        return weight_of(place);
    }
    return picture->solid[k] != 0 ? '#' : ' ';
}

static strake_colour colour_of(const strake_picture *picture, int k, const strake_map *map,
                               double place)
{
    static const strake_colour solid = {144, 144, 144};
    const bool is_solid = isnan(place) && picture->solid != NULL && picture->solid[k] != 0;
    return is_solid ? solid : strake_map_colour(map, place);
}

void strake_terminal_line(FILE *stream, const strake_terminal *terminal,
                          const strake_picture *picture, const strake_map *map, double low,
                          double high, int row, bool dashes)
{
    enum { BETWEEN = 4 /* columns from dash to dash */ };
    static const strake_colour white = {255, 255, 255};
    const strake_terminal_colours colours = terminal->colours;
    const bool plain = colours == STRAKE_TERMINAL_PLAIN;
    const double *const upper = picture->value + (size_t)row * (size_t)picture->cols;
    const double *const lower = upper + picture->cols;
    for (int c = 0; c < picture->cols; c++) {
        const double place = strake_picture_place(upper[c], low, high);
        const bool is_dash = dashes && c % BETWEEN == 0;
        if (plain) {
            (void)fputc(is_dash ? '-' : mark_of(picture, row * picture->cols + c, place), stream);
            continue;
        }
        set_colour(stream, colours, is_dash,
                   colour_of(picture, row * picture->cols + c, map, place));
        if (is_dash) {
            set_colour(stream, colours, false, white);
        } else if (row + 1 < picture->rows) {
            const double under = strake_picture_place(lower[c], low, high);
            set_colour(stream, colours, true,
                       colour_of(picture, (row + 1) * picture->cols + c, map, under));
        }
        (void)fputs(is_dash ? "-" : "\xe2\x96\x80", stream); /* upper half block */
    }
    (void)fputs(plain ? "" : "\033[0m", stream);
}

void strake_terminal_print(FILE *stream, const strake_terminal *terminal,
                           const strake_picture *picture, const strake_map *map, double low,
                           double high)
{
    const int step = terminal->colours == STRAKE_TERMINAL_PLAIN ? 1 : 2;
    for (int r = 0; r < picture->rows; r += step) {
        strake_terminal_line(stream, terminal, picture, map, low, high, r, false);
        (void)fputc('\n', stream);
    }
}

void strake_terminal_scale(FILE *stream, const strake_terminal *terminal, const strake_map *map,
                           double low, double high)
{
    enum { WIDTH = 20 };
    (void)strake_number_write(stream, "%.6g ", low);
    for (int k = 0; k < WIDTH; k++) {
        const double place = (double)k / (WIDTH - 1);
        if (terminal->colours == STRAKE_TERMINAL_PLAIN) {
            (void)fputc(weight_of(place), stream);
        } else {
            set_colour(stream, terminal->colours, true, strake_map_colour(map, place));
            (void)fputc(' ', stream);
        }
    }
    (void)strake_number_write(stream, "%s %.6g\n",
                              terminal->colours == STRAKE_TERMINAL_PLAIN ? "" : "\033[0m", high);
}
