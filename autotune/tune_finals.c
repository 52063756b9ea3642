/* The last word on a grid: the fastest in turn with the defaults, and who wins. */
#include <math.h>
#include <string.h>

#include "autotune/tune_impl.h"

/* The defaults stay unless the winner is this much faster. */
static const double least_gain = 1.01;

enum { LEAST_ROUNDS = 2 };

static void add_samples(strake_contender *c, const strake_measurement *more)
{
    for (int k = 0; k < more->samples && c->result.samples < STRAKE_WORKER_SAMPLES; k++) {
        c->result.seconds[c->result.samples++] = more->seconds[k];
    }
}

strake_status strake_tuning_finals(strake_tuning *t, double deadline, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_contender *player[STRAKE_TUNE_FINALISTS + 1] = {&t->fallback};
    bool begun[STRAKE_TUNE_FINALISTS + 1] = {false};
    int players = 1;
    t->doing = "finalists";
    for (int f = 0; f < t->finalists; f++) {
        const double need = LEAST_ROUNDS * (players + 1) * t->cost;
        if (strake_measurement_alike(&t->finalist[f].result, &t->fallback.result)) {
            t->finalist[f].result.outcome = STRAKE_OUTCOME_SLOW; /* it is the defaults themselves */
        } else if (players == 1 || need < strake_tuning_left(t, deadline)) {
            player[players++] = &t->finalist[f];
        } else {
            t->finalist[f].result.outcome = STRAKE_OUTCOME_SLOW; /* no time to confirm it */
        }
    }

    for (int round = 0; round < STRAKE_TUNE_ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && strake_tuning_left(t, deadline) < players * t->cost) {
            break;
        }
        for (int p = 0; p < players; p++) {
            strake_measurement m;
            STRAKE_TRY(strake_tuning_measure_now(t, player[p]->settings, player[p]->setting,
                                                 INFINITY, &m, error));
            if (m.outcome == STRAKE_OUTCOME_STOPPED) {
                return STRAKE_OK;
            }
            if (m.outcome == STRAKE_OUTCOME_GOOD) {
                /* The search's own samples favour those that were lucky. */
                player[p]->result.samples = begun[p] ? player[p]->result.samples : 0;
                begun[p] = true;
                add_samples(player[p], &m);
            } else {
                player[p]->result.outcome = m.outcome; /* it failed once: out */
            }
            strake_tuning_tell(t);
        }
    }
cleanup:
    return status;
}

/*
 * Whether a contender is faster than the defaults beyond doubt: in the median by a margin, in the least
 * disturbed sample, and in most of the samples taken next to each other.
 */
static bool beats(const strake_contender *c, const strake_contender *fallback)
{
    const strake_measurement *const a = &c->result, *const b = &fallback->result;
    const int pairs = a->samples < b->samples ? a->samples : b->samples;
    double least_a = INFINITY, least_b = INFINITY;
    int wins = 0;
    for (int k = 0; k < pairs; k++) {
        wins += a->seconds[k] < b->seconds[k];
        least_a = a->seconds[k] < least_a ? a->seconds[k] : least_a;
        least_b = b->seconds[k] < least_b ? b->seconds[k] : least_b;
    }
    return a->outcome == STRAKE_OUTCOME_GOOD && !strake_measurement_alike(a, b) && pairs > 0 &&
           least_a < least_b && wins * 10 >= pairs * 7 &&
           strake_measurement_median(a) * least_gain < strake_measurement_median(b);
}

/* Contenders without samples lose. */
void strake_tuning_result(const strake_tuning *t, strake_tuned_class *class)
{
    const strake_contender *winner = &t->fallback;
    const double fallback = strake_measurement_median(&t->fallback.result);
    double least = INFINITY;
    for (int f = 0; f < t->finalists; f++) {
        const strake_contender *const c = &t->finalist[f];
        const double median = strake_measurement_median(&c->result);
        if (beats(c, &t->fallback) && median < least) {
            winner = c;
            least = median;
        }
    }
    memcpy(class->n, t->n, sizeof class->n);
    class->settings = winner->settings;
    memcpy(class->setting, winner->setting, sizeof class->setting);
    class->seconds = strake_measurement_median(&winner->result);
    class->spread = strake_measurement_spread(&winner->result);
    class->fallback = fallback;
    class->excess = fmax(strake_measurement_excess(&winner->result),
                         strake_measurement_excess(&t->fallback.result));
    class->disturbed = class->excess > STRAKE_TUNED_MOST_EXCESS;
}
