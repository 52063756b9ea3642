/* States whose sign changes beyond a wall: the stages that multiply them with the side of the wall. */
#include "strake_problem.h"

#include "cl/wall.h"

#define WALL_POINTS(X) X(wall_reflect, 2, 0, 1, 0, 0) X(state_copy, 1, 0, 0, 0, 0)
STRAKE_POINTS(WALL_POINTS)

#ifdef STRAKE_HOST
#include "case/case.h"

int strake_wall_state(const strake_case *which, strake_graph *graph, int field)
{
    const strake_problem *const problem = which->problem;
    int value = strake_graph_input(graph, problem->field[field].name, false);
    for (int axis = 0; axis < STRAKE_AXES; ++axis) {
        if (!problem->field[field].is_odd[axis] || which->boundary[axis] != STRAKE_NO_FLUX) {
            continue;
        }
        char text[STRAKE_NAME_LENGTH];
        int side = strake_graph_find(graph, strake_side_name(problem, axis, text));
        side = side >= 0 ? side : strake_graph_input(graph, text, true);
        (void)snprintf(text, sizeof text, "%.*s_odd", STRAKE_NAME_LENGTH - 5,
                       problem->field[field].name);
        value = strake_graph_reflect(graph, text, &strake_point_wall_reflect, value, side);
    }
    return value;
}
#endif
