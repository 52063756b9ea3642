#include "case/schedule.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

bool strake_schedule_add(strake_schedule *schedule, double time, double rate)
{
    strake_schedule *const s = schedule;
    if (s->pieces > 0 ? s->rate[s->pieces - 1] == rate : rate == 0.0) {
        return true;
    }
    if (s->pieces == s->room) {
        const int64_t room = 2 * s->room + 16;
        double *const times = realloc(s->time, (size_t)room * sizeof *times);
        s->time = times != NULL ? times : s->time;
        double *const rates = realloc(s->rate, (size_t)room * sizeof *rates);
        s->rate = rates != NULL ? rates : s->rate;
        if (times == NULL || rates == NULL) {
            return false;
        }
        s->room = room;
    }
    s->time[s->pieces] = time;
    s->rate[s->pieces++] = rate;
    return true;
}

bool strake_schedule_points(strake_schedule *schedule, int64_t points, const double *time,
                            const double *rate, bool is_linear)
{
    bool is_good = true;
    for (int64_t k = 0; k < points && is_good; k++) {
        if (!is_linear || k == points - 1 || rate[k] == rate[k + 1]) {
            is_good = strake_schedule_add(schedule, time[k], rate[k]);
            continue;
        }
        const double width = time[k + 1] - time[k], change = rate[k + 1] - rate[k];
        for (int m = 0; m < STRAKE_SCHEDULE_STEPS && is_good; m++) {
            const double begin = (double)m / STRAKE_SCHEDULE_STEPS;
            const double middle = ((double)m + 0.5) / STRAKE_SCHEDULE_STEPS;
            is_good =
                strake_schedule_add(schedule, time[k] + begin * width, rate[k] + middle * change);
        }
    }
    return is_good;
}

const char *strake_schedule_wrong(int64_t points, const double *time, const double *rate,
                                  char *buffer, size_t size)
{
    for (int64_t k = 0; k < points; k++) {
        if (!(rate[k] >= 0.0 && isfinite(rate[k]))) {
            (void)strake_number_print(buffer, size,
                                      "the rate of point %lld is %.10g, expected a number >= 0 "
                                      "[m3/s]",
                                      (long long)k + 1, rate[k]);
            return buffer;
        }
        if (!isfinite(time[k]) || (k > 0 && !(time[k] > time[k - 1]))) {
            (void)strake_number_print(buffer, size,
                                      "the time of point %lld is %.10g, expected a number that "
                                      "is larger than the one before it [s]",
                                      (long long)k + 1, time[k]);
            return buffer;
        }
    }
    return NULL;
}

/* The piece at a time; -1: before the first one. */
static int64_t find(const strake_schedule *schedule, double time)
{
    int64_t low = -1, high = schedule->pieces;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (schedule->time[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double strake_schedule_rate(const strake_schedule *schedule, double time)
{
    const int64_t k = find(schedule, time);
    return k >= 0 ? schedule->rate[k] : 0.0;
}

double strake_schedule_next(const strake_schedule *schedule, double time)
{
    const int64_t k = find(schedule, time) + 1;
    return k < schedule->pieces ? schedule->time[k] : INFINITY;
}

double strake_schedule_volume(const strake_schedule *schedule, double from, double to)
{
    double volume = 0.0;
    for (double at = from; at < to;) {
        const double next = fmin(strake_schedule_next(schedule, at), to);
        const double rate = strake_schedule_rate(schedule, at);
        volume += rate > 0.0 ? rate * (next - at) : 0.0; /* 0 times an infinite time is 0 */
        at = next;
    }
    return volume;
}

void strake_schedule_free(strake_schedule *schedule)
{
    free(schedule->time);
    free(schedule->rate);
    *schedule = (strake_schedule){0};
}
