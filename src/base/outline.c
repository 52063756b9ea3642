#include "base/outline.h"

#include <stdlib.h>
#include <string.h>

enum { EAST, NORTH, WEST, SOUTH };

/* The part of a grid that has cells, with a border of one empty cell around it. */
typedef struct box {
    int64_t row, col;   /* of the grid, of its first cell inside the border */
    int64_t rows, cols; /* with the border */
    /* [rows, cols]: cells with a side in common have the same, from 1 on; 0: not in */
    int32_t *label;
    unsigned char *seen; /* northern sides that a ring has passed */
} box;

static int32_t label_at(const box *b, int64_t i, int64_t j)
{
    return b->label[i * b->cols + j];
}

/* The least label that one stands for; shortens the way to it. */
static int32_t find(int32_t *parent, int32_t label)
{
    while (parent[label] != label) {
        parent[label] = parent[parent[label]];
        label = parent[label];
    }
    return label;
}

static void find_box(const unsigned char *mask, int64_t rows, int64_t cols, box *out,
                     int64_t *cells)
{
    int64_t top = rows, bottom = -1, left = cols, right = -1;
    *cells = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            if (mask[i * cols + j] != 0) {
                top = i < top ? i : top;
                bottom = i;
                left = j < left ? j : left;
                right = j > right ? j : right;
                ++*cells;
            }
        }
    }
    *out = (box){.row = top, .col = left, .rows = bottom - top + 3, .cols = right - left + 3};
}

/* Numbers the parts from 1 on, in the order of their first cells. @return how many; -1 without memory */
static int64_t label_parts(const unsigned char *mask, int64_t cols, int64_t cells, box *b)
{
    int32_t count = 0;
    int64_t parts = 0;
    int32_t *const parent = malloc(((size_t)cells + 1) * sizeof *parent);
    if (parent == NULL) {
        return -1;
    }
    parent[0] = 0;
    for (int64_t i = 1; i < b->rows - 1; i++) {
        for (int64_t j = 1; j < b->cols - 1; j++) {
            int32_t *const own = &b->label[i * b->cols + j];
            if (mask[(b->row + i - 1) * cols + b->col + j - 1] == 0) {
                continue;
            }
            const int32_t up = own[-b->cols], left = own[-1];
            if (up == 0 && left == 0) {
                count++;
                parent[count] = count;
                *own = count;
                continue;
            }
            *own = up == 0 ? left : up;
            if (up != 0 && left != 0) {
                const int32_t a = find(parent, up), c = find(parent, left);
                parent[a > c ? a : c] = a > c ? c : a;
            }
        }
    }
    /* A label stands for a smaller one, whose final number is known when it is its turn. */
    for (int32_t k = 1; k <= count; k++) {
        parent[k] = parent[k] == k ? (int32_t)++parts : parent[parent[k]];
    }
    for (int64_t k = 0; k < b->rows * b->cols; k++) {
        b->label[k] = parent[b->label[k]];
    }
    free(parent);
    return parts;
}

static bool add_corner(strake_outline *out, int64_t row, int64_t col)
{
    if (out->corners == out->corner_room) {
        const int64_t room = 2 * out->corner_room + 64;
        int32_t(*const more)[2] = realloc(out->corner, (size_t)room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        out->corner = more;
        out->corner_room = room;
    }
    out->corner[out->corners][0] = (int32_t)row;
    out->corner[out->corners++][1] = (int32_t)col;
    return true;
}

static bool add_ring(strake_outline *out, const strake_ring *ring)
{
    if (out->rings == out->ring_room) {
        const int64_t room = 2 * out->ring_room + 16;
        strake_ring *const more = realloc(out->ring, (size_t)room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        out->ring = more;
        out->ring_room = room;
    }
    out->ring[out->rings++] = *ring;
    return true;
}

/* Where a ring goes on at corner [i, j], which it has reached in a direction with its part at its left. */
static int turn(const box *b, int64_t i, int64_t j, int direction, int32_t part)
{
    /* Rows and columns to the cells ahead of a corner, at the left and at the right. */
    static const int ahead[4][2][2] = {[EAST] = {{-1, 0}, {0, 0}},
                                       [NORTH] = {{-1, -1}, {-1, 0}},
                                       [WEST] = {{0, -1}, {-1, -1}},
                                       [SOUTH] = {{0, 0}, {0, -1}}};
    const int32_t left = label_at(b, i + ahead[direction][0][0], j + ahead[direction][0][1]);
    const int32_t right = label_at(b, i + ahead[direction][1][0], j + ahead[direction][1][1]);
    /*
     * Two cells that touch at this corner only: those of one part are joined elsewhere, so that what is between them is
     * a hole of its own; others stay apart.
     */
    if (left == 0) {
        return right == part ? (direction + 3) % 4 : (direction + 1) % 4;
    }
    return right == 0 ? direction : (direction + 3) % 4;
}

/* The ring that passes the northern side of cell [row, col], westwards. */
static bool trace(const box *b, int64_t row, int64_t col, strake_outline *out)
{
    static const int step[4][2] = {
        [EAST] = {0, 1}, [NORTH] = {-1, 0}, [WEST] = {0, -1}, [SOUTH] = {1, 0}};
    const int32_t part = label_at(b, row, col);
    strake_ring ring = {.first = out->corners, .part = part - 1};
    int64_t i = row, j = col + 1, area = 0;
    int direction = WEST;
    do {
        if (direction == WEST) {
            b->seen[i * b->cols + j - 1] = 1;
        }
        i += step[direction][0];
        j += step[direction][1];
        /* Twice the area to the south of the sides: what goes west is in, what goes east is out. */
        area += direction == WEST ? -i : direction == EAST ? i : 0;
        const int next = turn(b, i, j, direction, part);
        if (next != direction && !add_corner(out, b->row + i - 1, b->col + j - 1)) {
            return false;
        }
        direction = next;
    } while (i != row || j != col + 1 || direction != WEST);
    ring.count = out->corners - ring.first;
    ring.is_hole = area < 0;
    return add_ring(out, &ring);
}

/* By part; the outer ring of a part is found before its holes. */
static int by_part(const void *a, const void *b)
{
    const strake_ring *const x = a, *const y = b;
    return x->part != y->part    ? (x->part < y->part ? -1 : 1)
           : x->first < y->first ? -1
           : x->first > y->first ? 1
                                 : 0;
}

strake_status strake_outline_trace(const unsigned char *mask, int64_t rows, int64_t cols,
                                   strake_outline *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    box b = {0};
    *out = (strake_outline){0};
    find_box(mask, rows, cols, &b, &out->cells);
    if (out->cells == 0) {
        return STRAKE_OK;
    }
    const size_t room = (size_t)(b.rows * b.cols);
    bool is_good = out->cells < INT32_MAX;
    b.label = calloc(room, sizeof *b.label);
    b.seen = calloc(room, 1);
    is_good = is_good && b.label != NULL && b.seen != NULL;
    out->parts = is_good ? label_parts(mask, cols, out->cells, &b) : -1;
    is_good = out->parts >= 0;
    for (int64_t i = 1; is_good && i < b.rows - 1; i++) {
        for (int64_t j = 1; is_good && j < b.cols - 1; j++) {
            const bool begins = label_at(&b, i, j) != 0 && label_at(&b, i - 1, j) == 0 &&
                                b.seen[i * b.cols + j] == 0;
            is_good = !begins || trace(&b, i, j, out);
        }
    }
    if (is_good) {
        qsort(out->ring, (size_t)out->rings, sizeof *out->ring, by_part);
    } else {
        status = strake_fail(error, STRAKE_ERR_MEMORY, "no memory for the outline of %lld cells",
                             (long long)out->cells);
        strake_outline_free(out);
    }
    free(b.label);
    free(b.seen);
    return status;
}

void strake_outline_free(strake_outline *outline)
{
    free(outline->ring);
    free(outline->corner);
    *outline = (strake_outline){0};
}
