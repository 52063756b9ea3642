#include "model/rounds.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/sort.h"

/* Slabs that a part does within a time beside others. */
static double within(const strake_team_part *p, double seconds)
{
    const double slabs = (seconds - p->fixed - p->exchange) / (p->slab * p->beside);
    return slabs > 0.0 ? slabs : 0.0;
}

static double alone(const strake_team_part *p, double slabs)
{
    return p->slab < (double)INFINITY ? p->fixed + p->slab * slabs : (double)INFINITY;
}

double strake_team_seconds(const strake_team_part *part, int parts, const bool *taken, double slabs,
                           double *share)
{
    int count = 0, last = 0;
    double low = 0.0;
    double high = (double)INFINITY;
    for (int p = 0; p < parts; p++) {
        share[p] = 0.0;
        if (taken[p]) {
            count++;
            last = p;
            /* One part beside idle others needs no more than this. */
            high = fmin(high,
                        part[p].fixed + part[p].exchange + part[p].slab * part[p].beside * slabs);
        }
    }
    if (!(high < (double)INFINITY)) {
        return (double)INFINITY;
    }
    if (count == 1) {
        share[last] = slabs;
        return alone(&part[last], slabs);
    }
    for (int k = 0; k < 100; k++) {
        const double middle = 0.5 * (low + high);
        double sum = 0.0;
        for (int p = 0; p < parts; p++) {
            sum += taken[p] ? within(&part[p], middle) : 0.0;
        }
        *(sum < slabs ? &low : &high) = middle;
    }
    for (int p = 0; p < parts; p++) {
        share[p] = taken[p] ? within(&part[p], high) : 0.0;
    }
    return high;
}

void strake_team_plan_make(const strake_team_part *part, int parts, double slabs, double least_gain,
                           strake_team_plan *out)
{
    memset(out, 0, sizeof *out);
    out->parts = parts;
    out->seconds = (double)INFINITY;
    for (int p = 0; p < parts; p++) {
        int at = p;
        out->alone[p] = alone(&part[p], slabs);
        for (; at > 0 && out->alone[p] < out->alone[out->order[at - 1]]; at--) {
            out->order[at] = out->order[at - 1];
        }
        out->order[at] = p;
    }
    for (int k = 0; k < parts; k++) {
        double share[STRAKE_TEAM_PARTS];
        const int p = out->order[k];
        out->taken[p] = true;
        out->with[p] = strake_team_seconds(part, parts, out->taken, slabs, share);
        out->taken[p] = out->seconds > least_gain * out->with[p] && share[p] >= 1.0;
        if (out->taken[p]) {
            out->seconds = out->with[p];
            memcpy(out->share, share, sizeof share);
        }
    }
}

enum { MOST_PACKED = 32768 };

bool strake_exchange_packs(int states, double bytes)
{
    return states > 1 && bytes <= (double)MOST_PACKED;
}

strake_exchange_size strake_exchange_size_of(const strake_exchange_case *c, int steps)
{
    const int64_t again = (steps - 1) * c->reach;
    const int64_t halo = c->halo[0] > c->halo[1] ? c->halo[0] : c->halo[1];
    const bool packs =
        strake_exchange_packs(c->states, (double)(halo + again) * c->states * c->slab_bytes);
    strake_exchange_size size = {.messages = packs ? c->sides : c->states * c->sides,
                                 .apart = c->states * c->sides};
    if (c->sides == 0) {
        return size;
    }
    /* One neighbour: on average half of what two would ask for. */
    const double up = (double)(c->halo[0] + c->halo[1] + 2 * again) * 0.5 * c->sides;
    size.bytes_up = up * c->states * c->slab_bytes;
    size.bytes_down = size.bytes_up; /* the neighbours' halos are as wide */
    return size;
}

double strake_overlap_seconds(const strake_overlap_case *c)
{
    return c->beside - c->factor * fmin(c->beside, c->interior) + c->extra;
}

bool strake_overlap_pays(const strake_overlap_case *c)
{
    return strake_overlap_seconds(c) < c->exchange;
}

int strake_choose_steps(const strake_exchange_case *c, const double *added, int most, double *best)
{
    int chosen = 1;
    double least = (double)INFINITY;
    for (int k = 1; k <= most && (k == 1 || (k - 1) * c->reach + c->halo[0] < c->slabs); k++) {
        const double again = 0.5 * (k - 1) * (double)c->reach * c->sides * c->slab_seconds;
        const double seconds = added[k - 1] / k + again;
        if (seconds < least) {
            least = seconds;
            chosen = k;
        }
    }
    if (best != NULL) {
        *best = least;
    }
    return chosen;
}

const char *const strake_round_name[STRAKE_ROUNDS] = {"line", "ring", "one_way"};

const char *const strake_wait_name[STRAKE_WAITS] = {"awake", "crowded"};

/* Of what the squares of two directions span, or they are the same one. */
static const double least_told = 1e-3;

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

static double median_of(const double *value, int count)
{
    double sorted[STRAKE_ROUND_SIZES];
    memcpy(sorted, value, (size_t)count * sizeof *sorted);
    return strake_median(sorted, count);
}

void strake_round_level(strake_round_sizes *sizes)
{
    double given[STRAKE_ROUND_SIZES], level[STRAKE_ROUND_SIZES];
    int first[STRAKE_ROUND_SIZES], levels = 0; /* of those that have one value */
    memcpy(given, sizes->seconds, sizeof given);
    for (int k = 0; k < sizes->count; k++) {
        first[levels] = k;
        level[levels++] = given[k];
        for (; levels > 1 && level[levels - 2] > level[levels - 1]; levels--) {
            const int from = first[levels - 2];
            level[levels - 2] = median_of(given + from, k + 1 - from);
        }
    }
    for (int k = sizes->count - 1; k >= 0; k--) {
        sizes->seconds[k] = level[levels - 1];
        levels -= first[levels - 1] == k ? 1 : 0;
    }
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
    return c->shares && isfinite(work) ? work : 0.0;
}

double strake_round_slabs_computed(const strake_round_slabs *s)
{
    return s->own + s->pieces * s->again;
}

double strake_round_slabs_hide(const strake_round_slabs *s)
{
    return s->is_apart ? (s->own - s->sent + s->again) / strake_round_slabs_computed(s) : 0.0;
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

void strake_round_learn(strake_round_option *option, int options)
{
    double pp = 0.0, ps = 0.0, ss = 0.0, p1 = 0.0, s1 = 0.0; /* sums of products */
    for (int k = 0; k < options; k++) {
        const strake_round_option *const o = &option[k];
        if (o->samples > 0 && isfinite(o->measured)) {
            const double p = o->step / o->measured, s = 1.0 / (o->steps * o->measured);
            pp += p * p, ps += p * s, ss += s * s, p1 += p, s1 += s;
        }
    }
    const double all = pp * ss - ps * ps;
    const bool is_told = all > least_told * pp * ss; /* not of one number of steps alone */
    double share = is_told ? (p1 * ss - s1 * ps) / all : 0.0;
    double more = is_told ? (s1 * pp - p1 * ps) / all : 0.0;
    if (!(share > 0.0) || !(more > 0.0)) {
        share = pp > 0.0 ? p1 / pp : 1.0;
        more = 0.0;
    }
    for (int k = 0; k < options; k++) {
        option[k].learnt = share * option[k].step + more / option[k].steps;
    }
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
