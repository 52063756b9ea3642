#include "case/faces.h"

int strake_faces_cells(strake_boundary boundary, int64_t n, int64_t face, int64_t cell[2])
{
    cell[0] = face - 1;
    cell[1] = face;
    if (face > 0 && face < n) {
        return 2;
    }
    switch (boundary) {
    case STRAKE_PERIODIC:
        cell[0] = n - 1;
        cell[1] = 0;
        return 2;
    case STRAKE_OPEN:
        cell[0] = face == 0 ? 0 : n - 1;
        return 1;
    case STRAKE_NO_FLUX:
    case STRAKE_POLAR:
        break;
    }
    return 0;
}

static double mean(double before, double after)
{
    return 0.5 * (before + after);
}

void strake_faces_between(int64_t n, const double *restrict after, double *restrict line)
{
    for (int64_t j = 0; j < n; j++) {
        line[j] = mean(line[j], after[j]);
    }
}

void strake_faces_along(strake_boundary boundary, int64_t n, double *line)
{
    const double first = line[0], last = line[n - 1];
    for (int64_t j = n - 1; j > 0; j--) {
        line[j] = mean(line[j - 1], line[j]);
    }
    for (int64_t face = 0; face <= n; face += n) {
        int64_t cell[2];
        const int cells = strake_faces_cells(boundary, n, face, cell);
        if (face == 0 || boundary != STRAKE_PERIODIC) {
            line[face] = cells == 2   ? mean(last, first)
                         : cells == 0 ? 0.0
                                      : (face == 0 ? first : last);
        }
    }
}
