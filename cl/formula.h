/*
 * formula.h: the operations of formulas that cases give (src/case/formula.h), one point function each. See real.h.
 */

STRAKE_POINT_FUNCTION real formula_add(real a, real b)
{
    return a + b;
}

STRAKE_POINT_FUNCTION real formula_subtract(real a, real b)
{
    return a - b;
}

STRAKE_POINT_FUNCTION real formula_multiply(real a, real b)
{
    return a * b;
}

STRAKE_RATIO_FUNCTION formula_divide(real a, real b)
{
    return STRAKE_RATIO(a, b);
}

STRAKE_POINT_FUNCTION real formula_negate(real a)
{
    return -a;
}

STRAKE_POINT_FUNCTION real formula_min(real a, real b)
{
    return STRAKE_MIN(a, b);
}

STRAKE_POINT_FUNCTION real formula_max(real a, real b)
{
    return STRAKE_MAX(a, b);
}

STRAKE_POINT_FUNCTION real formula_abs(real a)
{
    return STRAKE_ABS(a);
}

STRAKE_POINT_FUNCTION real formula_sqrt(real a)
{
    return STRAKE_SQRT(a);
}

STRAKE_POINT_FUNCTION real formula_exp(real a)
{
    return STRAKE_EXP(a);
}

STRAKE_POINT_FUNCTION real formula_log(real a)
{
    return STRAKE_LOG(a);
}

STRAKE_POINT_FUNCTION real formula_sin(real a)
{
    return STRAKE_SIN(a);
}

STRAKE_POINT_FUNCTION real formula_cos(real a)
{
    return STRAKE_COS(a);
}
