/*
 * wall.h: copies of states, and states whose sign changes beyond a wall, as that of a velocity through the wall does. See real.h.
 */

/* A state in the domain (side is 1) or beyond a wall (-1), where its ghosts are mirrored values. */
STRAKE_POINT_FUNCTION real wall_reflect(real x, real side)
{
    return x * side;
}

/* The same value, as the next state: where stages read the value itself. */
STRAKE_POINT_FUNCTION real state_copy(real x)
{
    return x;
}
