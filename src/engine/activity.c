#include "engine/activity.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 64, /* of the cache */
    APART = 5 /* patches: what lies closer is computed with them, since a call costs as much */
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
    marks->patch = take(r, a->slabs * a->patches, 1);
    marks->in = take(r, a->slabs, sizeof *marks->in);
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

bool strake_activity_open(strake_activity *a, const strake_graph *graph, const strake_layout *l,
                          int spread)
{
    int64_t halo[STRAKE_AXES] = {0};
    room measure = {NULL, 0};
    for (int v = 0; v < graph->values; v++) {
        const strake_value *value = &graph->value[v];
        for (int axis = 0; axis < STRAKE_AXES && value->stage < 0; axis++) {
            halo[axis] = value->lo[axis] > halo[axis] ? value->lo[axis] : halo[axis];
            halo[axis] = value->hi[axis] > halo[axis] ? value->hi[axis] : halo[axis];
        }
    }
    const int64_t changes = a->changes; /* who listed spans sees that this is another one */
    strake_activity_close(a);
    a->changes = changes;
    a->slabs = l->n[0];
    a->columns = l->n[2];
    a->grain = LINE_BYTES / l->element_size;
    a->patches = (a->columns + a->grain - 1) / a->grain;
    a->halo = halo[0];
    a->reach[0] = (STRAKE_ACTIVITY_LOOK + 1) * (spread > 0 ? spread : halo[0]);
    a->reach[1] = (STRAKE_ACTIVITY_LOOK + 1) * (spread > 0 ? spread : halo[2]);
    a->edge = (a->reach[1] + a->grain - 1) % a->grain + 1;
    a->reach[1] = (a->reach[1] + a->grain - 1) / a->grain;
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

void strake_activity_reset(strake_activity *a)
{
    for (int k = 0; k < STRAKE_ACTIVITY_MAPS; k++) {
        memset(a->look[k].patch, 7, (size_t)(a->slabs * a->patches));
        for (int64_t slab = 0; slab < a->slabs; slab++) {
            a->look[k].in[slab] = (strake_range){0, a->patches};
        }
    }
    a->changes++;
}

bool strake_activity_is_look(int64_t sweep)
{
    return sweep % STRAKE_ACTIVITY_LOOK == STRAKE_ACTIVITY_LOOK - 1;
}

/* The cells of a patch, @p count from element @p at on, of which a value is above 0: bits. */
static unsigned find_active(int arrays, const void *const *array, int64_t at, int64_t count,
                            bool is_double)
{
    unsigned active = 0;
    for (int k = 0; k < arrays; k++) {
        if (is_double) {
            const double *const x = (const double *)array[k] + at;
            for (int64_t j = 0; j < count; j++) {
                active |= x[j] > 0.0 ? 1U << j : 0U;
            }
        } else {
            const float *const x = (const float *)array[k] + at;
            for (int64_t j = 0; j < count; j++) {
                active |= x[j] > 0.0F ? 1U << j : 0U;
            }
        }
    }
    return active;
}

/* Marks patches of some columns of a slab, which begin with one. @return active cells */
static int64_t mark(const strake_activity *a, strake_marks *marks, int64_t slab,
                    strake_range columns, const strake_layout *l, int arrays,
                    const void *const *array)
{
    const bool is_double = l->element_size == (int)sizeof(double);
    const unsigned edge = (1U << a->edge) - 1U;
    uint8_t *const patch = marks->patch + slab * a->patches;
    int64_t all = 0;
    for (int64_t j = columns.first; j < columns.end; j += a->grain) {
        const int64_t count = columns.end - j < a->grain ? columns.end - j : a->grain;
        const unsigned active =
            find_active(arrays, array, strake_layout_at(l, slab, 0, j), count, is_double);
        const unsigned low = (active & edge) != 0 ? 2U : 0U;
        const unsigned high = (active & (edge << (a->grain - a->edge))) != 0 ? 4U : 0U;
        patch[j / a->grain] = (uint8_t)((active != 0 ? 1U : 0U) | low | high);
        all += __builtin_popcount(active);
    }
    return all;
}

void strake_activity_take_inputs(strake_activity *a, const strake_layout *l, int arrays,
                                 const void *const *array)
{
    const strake_range all = {0, a->columns};
    for (int64_t slab = 0; slab < a->slabs; slab++) {
        const bool is_any = arrays > 0 && mark(a, &a->inputs, slab, all, l, arrays, array) > 0;
        a->inputs.in[slab] = (strake_range){0, is_any ? a->patches : 0};
    }
    a->changes++;
}

void strake_activity_look(strake_activity *a, const strake_spans *spans, int64_t sweep,
                          strake_range slabs, const strake_layout *l, int arrays,
                          const void *const *array)
{
    strake_marks *const marks = &a->look[(sweep / STRAKE_ACTIVITY_LOOK + 1) % STRAKE_ACTIVITY_MAPS];
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        int count = 0;
        const strake_range *const span = strake_spans_of(spans, false, slab, &count);
        strake_range in = {0, 0};
        int64_t active = 0;
        if (count > 0) {
            in = (strake_range){span[0].first / a->grain,
                                (span[count - 1].end + a->grain - 1) / a->grain};
            memset(marks->patch + slab * a->patches + in.first, 0, (size_t)(in.end - in.first));
        }
        for (int k = 0; k < count; k++) {
            active += mark(a, marks, slab, span[k], l, arrays, array);
            a->computed[slab] += (double)((span[k].end - span[k].first) * STRAKE_ACTIVITY_LOOK);
        }
        marks->in[slab] = active > 0 ? in : (strake_range){0, 0};
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

static void add_row(uint8_t *restrict to, const uint8_t *restrict row, strake_range in)
{
    for (int64_t k = in.first; k < in.end; k++) {
        to[k] |= row[k];
    }
}

/*
 * Patches of a slab that are within reach of a mark. @param[in] near  room for a slab
 * @return where they are: beyond these @p on is not written
 */
static strake_range find_patches(const strake_activity *a, const strake_marks *const *marks,
                                 int64_t slab, uint8_t *near, uint8_t *on)
{
    const int64_t first = slab > a->reach[0] ? slab - a->reach[0] : 0;
    const int64_t end = slab + a->reach[0] + 1 < a->slabs ? slab + a->reach[0] + 1 : a->slabs;
    strake_range in = {0, 0}, out = {0, 0};
    for (int64_t q = first; q < end; q++) {
        for (int m = 0; m < 3; m++) {
            in = join(in, marks[m]->in[q]);
        }
    }
    if (in.first >= in.end) {
        return out;
    }
    out.first = in.first > a->reach[1] ? in.first - a->reach[1] : 0;
    out.end = in.end + a->reach[1] < a->patches ? in.end + a->reach[1] : a->patches;
    memset(near + in.first, 0, (size_t)(in.end - in.first));
    memset(on + out.first, 0, (size_t)(out.end - out.first));
    for (int64_t q = first; q < end; q++) {
        for (int m = 0; m < 3; m++) {
            add_row(near, marks[m]->patch + q * a->patches, marks[m]->in[q]);
        }
    }
    for (int64_t k = in.first; k < in.end; k++) {
        on[k] |= near[k] & 1;
        for (int64_t d = 1; d <= a->reach[1] && near[k] != 0; d++) {
            const bool is_last = d == a->reach[1];
            if (k >= d && (!is_last || (near[k] & 2) != 0)) {
                on[k - d] = 1;
            }
            if (k + d < a->patches && (!is_last || (near[k] & 4) != 0)) {
                on[k + d] = 1;
            }
        }
    }
    return out;
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

/* Ranges of columns of the patches that are on, those with short gaps joined. @return their number */
static int list_slab(const strake_activity *a, const uint8_t *on, strake_range in,
                     strake_range *span)
{
    int count = 0;
    for (int64_t k = in.first; k < in.end; k++) {
        if (on[k] == 0) {
            continue;
        }
        const int64_t first = k;
        while (k < in.end && on[k] != 0) {
            k++;
        }
        const int64_t end = k * a->grain < a->columns ? k * a->grain : a->columns;
        if (count > 0 && first * a->grain - span[count - 1].end < APART * a->grain) {
            span[count - 1].end = end;
        } else {
            span[count++] = (strake_range){first * a->grain, end};
        }
    }
    return count;
}

void strake_activity_work(const strake_activity *a, int64_t sweep, double *work)
{
    const strake_marks *marks[3];
    int64_t last = -1, ahead = 0;
    uint8_t *const scratch = malloc((size_t)(2 * a->patches));
    find_marks(a, sweep, marks);
    for (int64_t slab = 0; slab < a->slabs; slab++) {
        int64_t patches = scratch == NULL ? a->patches : 0;
        if (scratch != NULL && is_near(a, marks, slab, &last, &ahead)) {
            uint8_t *const on = scratch + a->patches;
            const strake_range in = find_patches(a, marks, slab, scratch, on);
            for (int64_t k = in.first; k < in.end; k++) {
                patches += on[k];
            }
        }
        work[slab] = (double)(patches * a->grain);
    }
    free(scratch);
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
    s->on = take(r, a->slabs * a->patches, 1);
    s->in = take(r, a->slabs, sizeof *s->in);
    s->scratch = take(r, a->patches, 1);
}

/* Much of the memory is never touched: where nothing is listed. */
static bool open_spans(strake_spans *s, const strake_activity *a)
{
    room measure = {NULL, 0};
    strake_spans_close(s);
    s->most = a->patches / (APART + 1) + 1;
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

/* What is written of a slab, and its patches with the gaps that were joined. */
static void list_written(strake_spans *s, const strake_marks *const *marks, int64_t slab,
                         bool near_mark)
{
    const strake_activity *const a = s->activity;
    const int64_t at = slab + a->halo;
    uint8_t *const on = s->on + slab * a->patches;
    s->count[0][at] = 0;
    if (!near_mark) {
        return;
    }
    s->in[slab] = find_patches(a, marks, slab, s->scratch, on);
    strake_range *const span = &s->span[0][at * s->most];
    const int count = list_slab(a, on, s->in[slab], span);
    s->count[0][at] = (int32_t)count;
    for (int k = 0; k < count; k++) {
        const int64_t first = span[k].first / a->grain;
        const int64_t end = (span[k].end + a->grain - 1) / a->grain;
        memset(on + first, 1, (size_t)(end - first));
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
        in = s->count[0][q + a->halo] > 0 ? join(in, s->in[q]) : in;
    }
    memset(s->scratch + in.first, 0, (size_t)(in.end - in.first));
    for (int64_t q = first; q < end; q++) {
        if (s->count[0][q + a->halo] > 0) {
            add_row(s->scratch, s->on + q * a->patches, s->in[q]);
        }
    }
    s->count[1][at] = (int32_t)list_slab(a, s->scratch, in, &s->span[1][at * s->most]);
}

bool strake_spans_list(strake_spans *s, const strake_activity *a, int64_t sweep, strake_range slabs)
{
    const strake_marks *marks[3];
    const int64_t look = sweep / STRAKE_ACTIVITY_LOOK;
    const int64_t first = slabs.first > 2 * a->halo ? slabs.first - 2 * a->halo : 0;
    const int64_t end = slabs.end + 2 * a->halo < a->slabs ? slabs.end + 2 * a->halo : a->slabs;
    int64_t last = -1, ahead = 0;
    if (s->activity == a && s->look == look && s->changes == a->changes &&
        s->slabs.first == slabs.first && s->slabs.end == slabs.end) {
        return true;
    }
    if (s->activity != a && !open_spans(s, a)) {
        return false;
    }
    find_marks(a, sweep, marks);
    for (int64_t slab = first; slab < end; slab++) {
        list_written(s, marks, slab, is_near(a, marks, slab, &last, &ahead));
    }
    for (int64_t slab = slabs.first - a->halo; slab < slabs.end + a->halo; slab++) {
        list_needed(s, slab);
    }
    s->slabs = slabs;
    s->look = look;
    s->changes = a->changes;
    return true;
}
