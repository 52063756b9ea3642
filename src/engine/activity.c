#include "engine/activity.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = 64, /* of the cache */
    APART = 8 /* patches: what lies closer is computed with them, since a call costs as much */
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
    marks->any = take(r, a->slabs, 1);
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
        memset(a->look[k].patch, 1, (size_t)(a->slabs * a->patches));
        memset(a->look[k].any, 1, (size_t)a->slabs);
    }
    a->changes++;
}

bool strake_activity_is_look(int64_t sweep)
{
    return sweep % STRAKE_ACTIVITY_LOOK == STRAKE_ACTIVITY_LOOK - 1;
}

/* Cells of a line, @p count from element @p at on, of which a value is above 0. */
static int64_t count_active(int arrays, const void *const *array, int64_t at, int64_t count,
                            bool is_double)
{
    int64_t active = 0;
    if (arrays == 1 && is_double) {
        const double *const x = (const double *)array[0] + at;
        for (int64_t j = 0; j < count; j++) {
            active += x[j] > 0.0 ? 1 : 0;
        }
        return active;
    }
    for (int64_t j = at; j < at + count; j++) {
        bool is_active = false;
        for (int k = 0; k < arrays; k++) {
            is_active = is_active || (is_double ? ((const double *)array[k])[j] > 0.0
                                                : ((const float *)array[k])[j] > 0.0F);
        }
        active += is_active ? 1 : 0;
    }
    return active;
}

/* Marks patches of some columns of a slab. @return active cells */
static int64_t mark(const strake_activity *a, strake_marks *marks, int64_t slab,
                    strake_range columns, const strake_layout *l, int arrays,
                    const void *const *array)
{
    uint8_t *const patch = marks->patch + slab * a->patches;
    int64_t all = 0;
    for (int64_t j = columns.first; j < columns.end; j += a->grain) {
        const int64_t count = columns.end - j < a->grain ? columns.end - j : a->grain;
        const int64_t active = count_active(arrays, array, strake_layout_at(l, slab, 0, j), count,
                                            l->element_size == (int)sizeof(double));
        patch[j / a->grain] = active > 0 ? 1 : 0;
        all += active;
    }
    return all;
}

void strake_activity_take_inputs(strake_activity *a, const strake_layout *l, int arrays,
                                 const void *const *array)
{
    for (int64_t slab = 0; slab < a->slabs; slab++) {
        a->inputs.any[slab] = arrays > 0 && mark(a, &a->inputs, slab, (strake_range){0, a->columns},
                                                 l, arrays, array) > 0
                                  ? 1
                                  : 0;
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
        int64_t active = 0;
        if (count > 0) {
            memset(marks->patch + slab * a->patches, 0, (size_t)a->patches);
        }
        for (int k = 0; k < count; k++) {
            active += mark(a, marks, slab, span[k], l, arrays, array);
            a->computed[slab] += (double)((span[k].end - span[k].first) * STRAKE_ACTIVITY_LOOK);
        }
        marks->any[slab] = active > 0 ? 1 : 0;
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
    return marks[0]->any[slab] != 0 || marks[1]->any[slab] != 0 || marks[2]->any[slab] != 0;
}

/* Patches of a slab that are within reach of a mark. @param[in] near  room for a slab */
static void find_patches(const strake_activity *a, const strake_marks *const *marks, int64_t slab,
                         uint8_t *restrict near, uint8_t *restrict on)
{
    const int64_t first = slab > a->reach[0] ? slab - a->reach[0] : 0;
    const int64_t end = slab + a->reach[0] + 1 < a->slabs ? slab + a->reach[0] + 1 : a->slabs;
    memset(near, 0, (size_t)a->patches);
    for (int64_t q = first; q < end; q++) {
        for (int m = 0; m < 3; m++) {
            const uint8_t *const row = marks[m]->patch + q * a->patches;
            for (int64_t k = 0; k < a->patches && marks[m]->any[q] != 0; k++) {
                near[k] |= row[k];
            }
        }
    }
    memcpy(on, near, (size_t)a->patches);
    for (int64_t d = 1; d <= a->reach[1]; d++) {
        for (int64_t k = 0; k + d < a->patches; k++) {
            on[k] |= near[k + d];
            on[k + d] |= near[k];
        }
    }
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
static int list_slab(const strake_activity *a, const uint8_t *on, strake_range *span)
{
    int count = 0;
    for (int64_t k = 0; k < a->patches; k++) {
        if (on[k] == 0) {
            continue;
        }
        const int64_t first = k;
        while (k < a->patches && on[k] != 0) {
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
        int64_t patches = 0;
        if (scratch == NULL || is_near(a, marks, slab, &last, &ahead)) {
            patches = a->patches;
        }
        if (scratch != NULL && patches > 0) {
            patches = 0;
            find_patches(a, marks, slab, scratch, scratch + a->patches);
            for (int64_t k = 0; k < a->patches; k++) {
                patches += scratch[a->patches + k];
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
    s->scratch = take(r, 2 * a->patches, 1);
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
    find_patches(a, marks, slab, s->scratch, on);
    strake_range *const span = &s->span[0][at * s->most];
    const int count = list_slab(a, on, span);
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
    uint8_t *const all = s->scratch;
    int written = 0;
    for (int64_t q = first; q < end; q++) {
        if (s->count[0][q + a->halo] == 0) {
            continue;
        }
        const uint8_t *const on = s->on + q * a->patches;
        for (int64_t k = 0; k < a->patches; k++) {
            all[k] = written > 0 ? all[k] | on[k] : on[k];
        }
        written++;
    }
    s->count[1][at] = written > 0 ? (int32_t)list_slab(a, all, &s->span[1][at * s->most]) : 0;
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
