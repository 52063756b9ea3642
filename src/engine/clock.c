#include "engine/clock.h"

bool strake_clock_is_over(const strake_clock *clock)
{
    return strake_clock_has_ended(*clock) != 0;
}

void strake_clock_tell(const strake_clock *clock, double told[STRAKE_CLOCK_TELLS])
{
    told[0] = clock->dt;
    told[1] = strake_clock_reaches(*clock);
}

void strake_clock_advance(strake_clock *clock, double bound)
{
    *clock = strake_clock_tick(*clock, bound);
}
