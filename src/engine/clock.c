#include "engine/clock.h"

bool strake_clock_is_over(const strake_clock *clock)
{
    return strake_clock_has_ended(*clock) != 0;
}

void strake_clock_advance(strake_clock *clock, double bound)
{
    *clock = strake_clock_tick(*clock, bound);
}
