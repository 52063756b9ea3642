#include "engine/clock.h"

bool strake_clock_is_over(const strake_clock *clock)
{
    return clock->time >= clock->stop || clock->time >= clock->until;
}

void strake_clock_advance(strake_clock *clock, double bound)
{
    clock->time = clock->is_at_stop ? clock->stop : clock->time + clock->dt;
    const double left = clock->stop - clock->time;
    const double most = bound < clock->dt_max ? bound : clock->dt_max;
    clock->is_at_stop = left <= most;
    clock->dt = clock->is_at_stop ? left : most;
    if (clock->precision == STRAKE_SINGLE) {
        clock->dt = (double)(float)clock->dt;
    }
    clock->is_known = true;
}
