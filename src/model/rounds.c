#include "model/rounds.h"

#include <math.h>

const char *const strake_round_name[STRAKE_ROUNDS] = {"line", "ring", "one_way"};
const char *const strake_wait_name[STRAKE_WAITS] = {"awake", "crowded"};

/* Twice, and what measuring may be off. */
static const double most_of_twice = 2.2;

/* What a pair alone takes for the largest messages of several pairs. */
static strake_path path_of_large(const strake_rank_model *m)
{
    strake_path path = {.regimes = 1};
    path.regime[0].alpha.value = m->latency[0];
    path.regime[0].beta.value = fmax(0.0, m->large[0] - m->latency[0]) / STRAKE_ROUND_LARGE;
    return path;
}

void strake_rank_model_fit(strake_rank_model *m)
{
    strake_fit_point point[STRAKE_ROUND_MESSAGES];
    double least = m->messages[0];
    if (m->pairs > 0) {
        const strake_path path = path_of_large(m);
        m->rate = strake_fit_max_rate(&path, STRAKE_ROUND_LARGE, m->large, m->pairs);
    }
    for (int k = 0; k < STRAKE_ROUND_MESSAGES; k++) {
        least = fmin(least, m->messages[k]);
        point[k] = (strake_fit_point){.bytes = (double)((1 << k) - 1), .seconds = m->messages[k]};
    }
    m->further = least > 0.0 ? strake_fit_line(point, STRAKE_ROUND_MESSAGES).slope : (double)NAN;
}

bool strake_round_jumps(double smaller, double larger)
{
    return larger > most_of_twice * smaller;
}

static double between(const strake_round_sizes *s, const strake_path *path, double bytes)
{
    int k = 0;
    while (k < s->count && bytes > s->bytes[k]) {
        k++;
    }
    if (s->count == 0) {
        return strake_path_seconds(path, bytes);
    }
    if (k == s->count) {
        return s->seconds[k - 1] + (bytes - s->bytes[k - 1]) / strake_path_rate(path);
    }
    if (k == 0) {
        return s->seconds[0];
    }
    const double share = (bytes - s->bytes[k - 1]) / (s->bytes[k] - s->bytes[k - 1]);
    return s->seconds[k - 1] + share * (s->seconds[k] - s->seconds[k - 1]);
}

double strake_round_seconds(const strake_rank_model *m, const strake_round_case *c)
{
    const int wait = c->is_crowded ? STRAKE_WAIT_CROWDED : STRAKE_WAIT_AWAKE;
    double seconds = between(&m->sizes[c->round][wait], &m->round[c->round][wait], c->bytes);
    if (c->meets && isfinite(m->meet[wait])) {
        seconds += m->meet[wait];
    }
    if (c->has_device && m->whole.regimes > 0) {
        seconds += fmax(0.0, strake_path_seconds(&m->whole, c->bytes) -
                                 strake_path_seconds(&m->path, c->bytes));
    }
    return seconds;
}

double strake_round_work(const strake_rank_model *m, const strake_round_case *c)
{
    const double work = strake_path_seconds(&m->work[c->round], c->bytes);
    return c->is_crowded && isfinite(work) ? work : 0.0;
}

double strake_round_step_seconds(const strake_round_step *s)
{
    const double hidden = s->hides * s->compute * s->steps;
    return s->compute + (s->work + fmax(0.0, s->exchange - s->work - hidden)) / s->steps;
}

int strake_round_best(const strake_round_option *option, int options, int steps,
                      double least_change)
{
    int best = -1;
    for (int k = 0; k < options; k++) {
        const bool counts = steps == 0 || option[k].steps == steps;
        if (counts && (best < 0 || option[best].step > least_change * option[k].step)) {
            best = k;
        }
    }
    return best;
}

static double middle_of(const double *value, int count)
{
    return 0.5 * (value[(count - 1) / 2] + value[count / 2]);
}

/* Half the width of a notch: how far a median may be off. */
static double notch(const double *value, int count)
{
    const double range = value[count - 1 - count / 4] - value[count / 4];
    return 1.57 * range / sqrt((double)count);
}

bool strake_round_is_faster(const double *a, int as, const double *b, int bs)
{
    return as > 0 && bs > 0 &&
           middle_of(b, bs) - middle_of(a, as) > hypot(notch(a, as), notch(b, bs));
}
