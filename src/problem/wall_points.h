/** @file wall_points.h X(name, operands, adds, muls, divs, selects) */
#define WALL_POINTS(X) X(wall_reflect, 2, 0, 1, 0, 0)
