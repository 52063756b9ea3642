#include "model/postal.h"

#include <math.h>

double strake_path_seconds(const strake_path *path, double bytes)
{
    if (path->regimes == 0) {
        return (double)NAN;
    }
    int r = 0;
    while (r + 1 < path->regimes && bytes >= path->regime[r + 1].from) {
        r++;
    }
    return path->regime[r].alpha.value + path->regime[r].beta.value * bytes;
}

double strake_path_rate(const strake_path *path)
{
    return path->regimes == 0 ? (double)NAN : 1.0 / path->regime[path->regimes - 1].beta.value;
}

double strake_max_rate_seconds(const strake_path *path, const strake_max_rate *rate, double bytes,
                               int active)
{
    const double alone = strake_path_seconds(path, bytes);
    if (active < 2 || !(rate->one > 0.0) || !(rate->all > 0.0)) {
        return alone;
    }
    const double together = fmin(rate->all, active * rate->one);
    return alone + fmax(0.0, active * bytes / together - bytes / rate->one);
}

double strake_overlap_factor(double first, double second, double both)
{
    const double shorter = fmin(first, second);
    const double hidden = (first + second - both) / shorter;
    return shorter > 0.0 ? fmin(1.0, fmax(0.0, hidden)) : 0.0;
}
