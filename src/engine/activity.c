#include "engine/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/element.h"

#define BITS4(k) UINT64_C(1) << (k), UINT64_C(2) << (k), UINT64_C(4) << (k), UINT64_C(8) << (k)
#define BITS16(k) BITS4(k), BITS4((k) + 4), BITS4((k) + 8), BITS4((k) + 12)
static const uint64_t bit_of[64] = {BITS16(0), BITS16(16), BITS16(32), BITS16(48)};

/*
 * Which of @p count elements, 64 at most, from @p first on are above 0: bits, the first the lowest. Of what is not a number
 * nothing is promised.
 *
 * The pattern of a number above 0 has no sign, and its negative has one: compilers make vectors of that, not of
 * comparisons that choose shifted bits.
 */
static uint64_t positive_elements(const void *array, int size, int64_t first, int64_t count)
{
    uint64_t found = 0, pattern = 0;
    uint32_t half = 0;
    for (int64_t k = 0; k < count && size == 8; k++) {
        memcpy(&pattern, (const double *)array + first + k, sizeof pattern);
        found |= bit_of[k] & (0 - (((0 - pattern) & ~pattern) >> 63));
    }
    for (int64_t k = 0; k < count && size != 8; k++) {
        memcpy(&half, (const float *)array + first + k, sizeof half);
        found |= bit_of[k] & (0 - (uint64_t)(((0 - half) & ~half) >> 31));
    }
    return found;
}

enum {
    LINE_BYTES = 64, /* of the cache */
    WORD = 64,       /* bits */
    /* Columns: what lies closer is computed with them, since a call costs as much. A loop goes a line of the cache
       beyond each end of a range. */
    APART = 32
};

/* Memory handed out bit by bit; NULL only measures. */
typedef struct room {
    char *memory;
    size_t used;
} room;

static void *take(room *r, int64_t count, size_t size)
{
    char *const at = r->memory == NULL ? NULL : r->memory + r->used;
    r->used += ((size_t)count * size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return at;
}

static void take_marks(room *r, const strake_activity *a, strake_marks *marks)
{
    marks->bits = take(r, a->slabs * a->words, sizeof *marks->bits);
    marks->in = take(r, a->slabs, sizeof *marks->in);
    marks->since = take(r, a->slabs, sizeof *marks->since);
}

static void lay_out(strake_activity *a, room *r)
{
    for (int k = 0; k < STRAKE_ACTIVITY_MAPS; k++) {
        take_marks(r, a, &a->look[k]);
    }
    take_marks(r, a, &a->inputs);
    a->active = take(r, a->slabs, sizeof *a->active);
    a->updates = take(r, a->slabs, sizeof *a->updates);
    a->computed = take(r, a->slabs, sizeof *a->computed);
}

/* The furthest that a step reads along each axis. */
static void find_halo(const strake_graph *graph, int64_t halo[STRAKE_AXES])
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        halo[axis] = 0;
    }
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        for (int axis = 0; axis < STRAKE_AXES && value->stage < 0; axis++) {
            halo[axis] = value->lo[axis] > halo[axis] ? value->lo[axis] : halo[axis];
            halo[axis] = value->hi[axis] > halo[axis] ? value->hi[axis] : halo[axis];
        }
    }
}

void strake_activity_reach(const strake_graph *graph, int spread, int sweeps, int64_t reach[2])
{
    int64_t halo[STRAKE_AXES];
    find_halo(graph, halo);
    reach[0] = (sweeps + 1) * (spread > 0 ? spread : halo[0]);
    reach[1] = (sweeps + 1) * (spread > 0 ? spread : halo[2]);
}

bool strake_activity_open(strake_activity *a, const strake_graph *graph, const strake_layout *l,
                          int spread)
{
    int64_t halo[STRAKE_AXES];
    room measure = {NULL, 0};
    find_halo(graph, halo);
    const int64_t changes = a->changes; /* who listed spans sees that this is another one */
    strake_activity_close(a);
    a->changes = changes;
    a->slabs = l->n[0];
    a->columns = l->n[2];
    a->grain = LINE_BYTES / l->element_size;
    a->words = (a->columns + WORD - 1) / WORD;
    a->halo = halo[0];
    strake_activity_reach(graph, spread, STRAKE_ACTIVITY_LOOK, a->reach);
    lay_out(a, &measure);
    a->memory = calloc(1, measure.used);
    if (a->memory == NULL) {
        return false;
    }
    room r = {a->memory, 0};
    lay_out(a, &r);
    strake_activity_reset(a);
    return true;
}

void strake_activity_close(strake_activity *a)
{
    free(a->memory);
    *a = (strake_activity){0};
}

void strake_activity_foretell(strake_activity *a, int spread, int arrays)
{
    a->foretelling = arrays;
    for (int axis = 0; axis < 2 && arrays > 0; axis++) {
        a->reach[axis] -= spread;
    }
}

void strake_activity_reset(strake_activity *a)
{
    strake_activity_wake(a, (strake_range){0, a->slabs});
}

void strake_activity_wake(strake_activity *a, strake_range slabs)
{
    for (int k = 0; k < STRAKE_ACTIVITY_MAPS && slabs.first < slabs.end; k++) {
        memset(a->look[k].bits + slabs.first * a->words, 0xff,
               (size_t)((slabs.end - slabs.first) * a->words) * sizeof(uint64_t));
        for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
            a->look[k].in[slab] = (strake_range){0, a->words};
        }
    }
    a->changes++;
}

bool strake_activity_is_look(int64_t sweep)
{
    return sweep % STRAKE_ACTIVITY_LOOK == STRAKE_ACTIVITY_LOOK - 1;
}

/* The cells, @p count from element @p at on, of which a value is above 0: bits. */
static uint64_t find_active(int arrays, const void *const *array, int64_t at, int64_t count,
                            int size)
{
    uint64_t active = 0;
    for (int k = 0; k < arrays; k++) {
        active |= positive_elements(array[k], size, at, count);
    }
    return active;
}

/* Marks cells of some columns of a slab. @param[out] any  whether; @return those that are active already */
static int64_t mark(const strake_activity *a, strake_marks *marks, int64_t slab,
                    strake_range columns, const strake_layout *l, int arrays, int foretelling,
                    const void *const *array, bool *any)
{
    uint64_t *const bits = marks->bits + slab * a->words;
    const int now = arrays - foretelling;
    int64_t sum = 0, next = 0;
    for (int64_t j = columns.first; j < columns.end; j = next) {
        next = (j / WORD + 1) * WORD;
        next = next < columns.end ? next : columns.end;
        const int64_t at = strake_layout_at(l, slab, 0, j);
        const uint64_t active = find_active(now, array, at, next - j, l->element_size);
        const uint64_t marked =
            active | find_active(foretelling, array + now, at, next - j, l->element_size);
        bits[j / WORD] |= marked << (j % WORD);
        *any = *any || marked != 0;
        sum += __builtin_popcountll(active);
    }
    return sum;
}

void strake_activity_take_inputs(strake_activity *a, const strake_layout *l, int arrays,
                                 const void *const *array)
{
    const strake_range all = {0, a->columns};
    memset(a->inputs.bits, 0, (size_t)(a->slabs * a->words) * sizeof(uint64_t));
    for (int64_t slab = 0; slab < a->slabs; slab++) {
        bool any = false;
        if (arrays > 0) {
            (void)mark(a, &a->inputs, slab, all, l, arrays, 0, array, &any);
        }
        a->inputs.in[slab] = (strake_range){0, any ? a->words : 0};
    }
    a->changes++;
}

/* Whether a slab has the same marks in two maps. */
static bool is_same(const strake_activity *a, const strake_marks *x, const strake_marks *y,
                    int64_t slab)
{
    const strake_range in = x->in[slab];
    const int64_t at = slab * a->words + in.first;
    return y->in[slab].first == in.first && y->in[slab].end == in.end &&
           memcmp(x->bits + at, y->bits + at, (size_t)(in.end - in.first) * sizeof *x->bits) == 0;
}

void strake_activity_look(strake_activity *a, const strake_spans *spans, int64_t sweep,
                          strake_range slabs, const strake_layout *l, int arrays,
                          const void *const *array)
{
    const int64_t look = sweep / STRAKE_ACTIVITY_LOOK;
    const strake_marks *const before = &a->look[look % STRAKE_ACTIVITY_MAPS];
    strake_marks *const marks = &a->look[(look + 1) % STRAKE_ACTIVITY_MAPS];
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        int count = 0;
        const strake_range *const span = strake_spans_of(spans, false, slab, &count);
        strake_range in = {0, 0};
        int64_t active = 0;
        bool any = false;
        if (count > 0) {
            in = (strake_range){span[0].first / WORD, (span[count - 1].end + WORD - 1) / WORD};
            memset(marks->bits + slab * a->words + in.first, 0,
                   (size_t)(in.end - in.first) * sizeof(uint64_t));
        }
        for (int k = 0; k < count; k++) {
            active += mark(a, marks, slab, span[k], l, arrays, a->foretelling, array, &any);
            a->computed[slab] += (double)((span[k].end - span[k].first) * STRAKE_ACTIVITY_LOOK);
        }
        marks->in[slab] = any ? in : (strake_range){0, 0};
        marks->since[slab] = is_same(a, marks, before, slab) ? before->since[slab] : look + 1;
        a->active[slab] = active;
        a->updates[slab] += (double)(active * STRAKE_ACTIVITY_LOOK);
    }
}

/* The marks that count in a sweep: of two looks, and of the inputs. */
static void find_marks(const strake_activity *a, int64_t sweep, const strake_marks *out[3])
{
    const int64_t look = sweep / STRAKE_ACTIVITY_LOOK;
    out[0] = &a->look[look % STRAKE_ACTIVITY_MAPS];
    out[1] = &a->look[(look + STRAKE_ACTIVITY_MAPS - 1) % STRAKE_ACTIVITY_MAPS];
    out[2] = &a->inputs;
}

static bool is_marked(const strake_marks *const *marks, int64_t slab)
{
    return marks[0]->in[slab].end > 0 || marks[1]->in[slab].end > 0 || marks[2]->in[slab].end > 0;
}

static strake_range join(strake_range a, strake_range b)
{
    if (a.first >= a.end || b.first >= b.end) {
        return a.first < a.end ? a : b;
    }
    return (strake_range){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

/* Adds what is within so many columns of a bit. @param[in] in  words */
static void widen(uint64_t *bits, strake_range in, int64_t reach)
{
    int64_t shift = 0;
    for (int64_t done = 0; done < reach; done += shift) {
        uint64_t before = 0;
        shift = 2 * done + 1 < reach - done ? 2 * done + 1 : reach - done;
        shift = shift < WORD ? shift : WORD - 1;
        for (int64_t k = in.first; k < in.end; k++) {
            const uint64_t own = bits[k];
            const uint64_t after = k + 1 < in.end ? bits[k + 1] : 0;
            bits[k] = own | own << shift | before >> (WORD - shift) | own >> shift |
                      after << (WORD - shift);
            before = own;
        }
    }
}

/* Bits of the columns of a slab that are within reach of a mark. @return their words: others are not written */
static strake_range find_columns(const strake_activity *a, const strake_marks *const *marks,
                                 int64_t slab, uint64_t *on)
{
    const int64_t first = slab > a->reach[0] ? slab - a->reach[0] : 0;
    const int64_t end = slab + a->reach[0] + 1 < a->slabs ? slab + a->reach[0] + 1 : a->slabs;
    const int64_t beyond = (a->reach[1] + WORD - 1) / WORD;
    strake_range in = {0, 0};
    for (int64_t q = first; q < end; q++) {
        for (int m = 0; m < 3; m++) {
            in = join(in, marks[m]->in[q]);
        }
    }
    if (in.first >= in.end) {
        return in;
    }
    in.first = in.first > beyond ? in.first - beyond : 0;
    in.end = in.end + beyond < a->words ? in.end + beyond : a->words;
    memset(on + in.first, 0, (size_t)(in.end - in.first) * sizeof *on);
    for (int64_t q = first; q < end; q++) {
        for (int m = 0; m < 3; m++) {
            const uint64_t *const bits = marks[m]->bits + q * a->words;
            for (int64_t k = marks[m]->in[q].first; k < marks[m]->in[q].end; k++) {
                on[k] |= bits[k];
            }
        }
    }
    widen(on, in, a->reach[1]);
    return in;
}

/*
 * Goes through the slabs that are within reach of a mark. @param[in,out] last  -1 at first: the last marked slab
 * that is known, @param[in,out] ahead  the first slab that is not
 */
static bool is_near(const strake_activity *a, const strake_marks *const *marks, int64_t slab,
                    int64_t *last, int64_t *ahead)
{
    const int64_t first = slab > a->reach[0] ? slab - a->reach[0] : 0;
    *ahead = *ahead > first ? *ahead : first;
    for (; *ahead < a->slabs && *ahead <= slab + a->reach[0]; (*ahead)++) {
        *last = is_marked(marks, *ahead) ? *ahead : *last;
    }
    return *last >= first;
}

/* The first column from @p from on, before @p end, whose bit is on, or off; else @p end. */
static int64_t find_bit(const uint64_t *bits, int64_t from, int64_t end, bool on)
{
    while (from < end) {
        const uint64_t word = (on ? bits[from / WORD] : ~bits[from / WORD]) >> (from % WORD);
        if (word != 0) {
            from += __builtin_ctzll(word);
            return from < end ? from : end;
        }
        from = (from / WORD + 1) * WORD;
    }
    return end;
}

/* Ranges of columns, of multiples of @p grain, that have all bits; short gaps are joined. @return their number */
static int list_slab(const strake_activity *a, const uint64_t *bits, strake_range in, int64_t grain,
                     strake_range *span)
{
    const int64_t end = in.end * WORD < a->columns ? in.end * WORD : a->columns;
    int count = 0;
    int64_t next = 0;
    for (int64_t k = find_bit(bits, in.first * WORD, end, true); k < end;
         k = find_bit(bits, next, end, true)) {
        next = find_bit(bits, k, end, false);
        if (count == 0 || k - span[count - 1].end >= APART) {
            span[count++].first = k;
        }
        const int64_t patches = (next - span[count - 1].first + grain - 1) / grain;
        const int64_t whole = span[count - 1].first + patches * grain;
        span[count - 1].end = whole < a->columns ? whole : a->columns;
        next = span[count - 1].end;
    }
    return count;
}

void strake_activity_work(const strake_activity *a, int64_t sweep, strake_range slabs, double *work)
{
    const strake_marks *marks[3];
    int64_t last = -1, ahead = 0;
    uint64_t *const on = malloc((size_t)a->words * sizeof *on);
    find_marks(a, sweep, marks);
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        int64_t columns = on == NULL ? a->columns : 0;
        if (on != NULL && is_near(a, marks, slab, &last, &ahead)) {
            const strake_range in = find_columns(a, marks, slab, on);
            for (int64_t k = in.first; k < in.end; k++) {
                columns += __builtin_popcountll(on[k]);
            }
        }
        work[slab] = (double)((columns + a->grain - 1) / a->grain * a->grain);
    }
    free(on);
}

void strake_spans_close(strake_spans *s)
{
    free(s->memory);
    *s = (strake_spans){0};
}

static void lay_out_spans(strake_spans *s, const strake_activity *a, room *r)
{
    const int64_t slabs = a->slabs + 2 * a->halo;
    for (int wide = 0; wide < 2; wide++) {
        s->count[wide] = take(r, slabs, sizeof *s->count[wide]);
        s->span[wide] = take(r, slabs * s->most, sizeof *s->span[wide]);
    }
    s->scratch = take(r, a->words, sizeof *s->scratch);
}

/* Much of the memory is never touched: where nothing is listed. */
static bool open_spans(strake_spans *s, const strake_activity *a)
{
    room measure = {NULL, 0};
    strake_spans_close(s);
    s->most = a->columns / (a->grain + APART) + 1;
    lay_out_spans(s, a, &measure);
    s->memory = calloc(1, measure.used);
    if (s->memory == NULL) {
        return false;
    }
    room r = {s->memory, 0};
    lay_out_spans(s, a, &r);
    s->activity = a;
    return true;
}

/* What is written of a slab. */
static void list_written(strake_spans *s, const strake_marks *const *marks, int64_t slab,
                         bool near_mark)
{
    const strake_activity *const a = s->activity;
    const int64_t at = slab + a->halo;
    s->count[0][at] = 0;
    if (near_mark) {
        const strake_range in = find_columns(a, marks, slab, s->scratch);
        s->count[0][at] =
            (int32_t)list_slab(a, s->scratch, in, a->grain, &s->span[0][at * s->most]);
    }
}

static void add_range(uint64_t *bits, strake_range columns)
{
    for (int64_t j = columns.first; j < columns.end; j = (j / WORD + 1) * WORD) {
        const int64_t left = columns.end - j / WORD * WORD;
        const uint64_t below = left < WORD ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
        bits[j / WORD] |= below & (UINT64_MAX << (j % WORD));
    }
}

/* What is needed of a slab. */
static void list_needed(strake_spans *s, int64_t slab)
{
    const strake_activity *const a = s->activity;
    const int64_t at = slab + a->halo;
    const int64_t first = slab > a->halo ? slab - a->halo : 0;
    const int64_t end = slab + a->halo + 1 < a->slabs ? slab + a->halo + 1 : a->slabs;
    strake_range in = {0, 0};
    for (int64_t q = first; q < end; q++) {
        const int count = s->count[0][q + a->halo];
        const strake_range *const span = &s->span[0][(q + a->halo) * s->most];
        const strake_range its = {count > 0 ? span[0].first / WORD : 0,
                                  count > 0 ? (span[count - 1].end + WORD - 1) / WORD : 0};
        in = join(in, its);
    }
    memset(s->scratch + in.first, 0, (size_t)(in.end - in.first) * sizeof *s->scratch);
    for (int64_t q = first; q < end; q++) {
        for (int k = 0; k < s->count[0][q + a->halo]; k++) {
            add_range(s->scratch, s->span[0][(q + a->halo) * s->most + k]);
        }
    }
    s->count[1][at] = (int32_t)list_slab(a, s->scratch, in, 1, &s->span[1][at * s->most]);
}

/* Whether the marks that count for some slabs are those that counted when these were listed. */
static bool is_listed(const strake_spans *s, const strake_activity *a, int64_t look,
                      strake_range slabs)
{
    const int64_t around = 2 * a->halo + a->reach[0];
    const int64_t first = slabs.first > around ? slabs.first - around : 0;
    const int64_t end = slabs.end + around < a->slabs ? slabs.end + around : a->slabs;
    const int64_t *const since = a->look[look % STRAKE_ACTIVITY_MAPS].since;
    if (s->activity != a || s->changes != a->changes || s->slabs.first != slabs.first ||
        s->slabs.end != slabs.end) {
        return false;
    }
    int64_t last = INT64_MIN;
    for (int64_t slab = first; slab < end && s->look != look; slab++) {
        last = since[slab] > last ? since[slab] : last;
    }
    return last < s->look; /* those of the look before it, too */
}

bool strake_spans_list(strake_spans *s, const strake_activity *a, int64_t sweep, strake_range slabs)
{
    const strake_marks *marks[3];
    const int64_t look = sweep / STRAKE_ACTIVITY_LOOK;
    int64_t last = -1, ahead = 0, written = INT64_MIN;
    if (is_listed(s, a, look, slabs)) {
        return true;
    }
    if (s->activity != a && !open_spans(s, a)) {
        return false;
    }
    find_marks(a, sweep, marks);
    /* What is needed of a slab follows once what is written around it is known. */
    for (int64_t slab = slabs.first - 2 * a->halo; slab < slabs.end + 2 * a->halo; slab++) {
        const int64_t before = slab - a->halo;
        if (slab >= 0 && slab < a->slabs) {
            list_written(s, marks, slab, is_near(a, marks, slab, &last, &ahead));
            written = s->count[0][slab + a->halo] > 0 ? slab : written;
        }
        if (before >= slabs.first - a->halo) {
            s->count[1][before + a->halo] = 0;
        }
        if (before >= slabs.first - a->halo && written >= before - a->halo) {
            list_needed(s, before);
        }
    }
    s->slabs = slabs;
    s->look = look;
    s->changes = a->changes;
    return true;
}
