/* Which record serves a processor, and which of its classes a grid. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/settings.h"
#include "cpu/pipeline.h"
#include "io/machine.h"
#include "tuned/tuned_impl.h"

enum {
    USUAL_BLOCKS = 8, /* of a stripe that streams */
    WIDER = 2,        /* times the columns of a grid: wider classes say nothing about it */
    LARGER = 4        /* times its cells, likewise: what fills a device may leave it half idle */
};

const char *strake_tuned_level_name(strake_tuned_level level)
{
    static const char *const name[] = {"exact",   "driver",  "shipped", "variant",
                                       "similar", "default", "off"};
    return name[level];
}

static void copy(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from);
}

/* NVIDIA tells the compute capability (cl_nv_device_attribute_query); AMD's names are architectures. */
static void find_architecture(const strake_cl *cl, const strake_cl_device *device, char *to,
                              size_t size)
{
    enum { CAPABILITY_MAJOR = 0x4000, CAPABILITY_MINOR = 0x4001 };
    cl_uint major = 0, minor = 0;
    if (strncmp(device->vendor, "NVIDIA", 6) == 0 &&
        cl->clGetDeviceInfo(device->device, CAPABILITY_MAJOR, sizeof major, &major, NULL) ==
            CL_SUCCESS &&
        cl->clGetDeviceInfo(device->device, CAPABILITY_MINOR, sizeof minor, &minor, NULL) ==
            CL_SUCCESS) {
        (void)snprintf(to, size, "sm_%u%u", major, minor);
    } else if (strncmp(device->name, "gfx", 3) == 0) {
        (void)snprintf(to, size, "%.*s", (int)strcspn(device->name, ":"), device->name);
    }
}

void strake_tuned_key_make(const strake_cl *cl, const strake_cl_device *device, const char *problem,
                           strake_precision precision, uint64_t table, strake_tuned_key *key)
{
    memset(key, 0, sizeof *key);
    key->is_cpu = device == NULL;
    if (device == NULL) {
        strake_machine machine;
        strake_machine_read(&machine);
        (void)snprintf(key->platform, sizeof key->platform, "OpenMP, %d cores", machine.cores);
        copy(key->device, sizeof key->device, machine.cpu);
        copy(key->vendor, sizeof key->vendor, machine.vendor);
        copy(key->driver, sizeof key->driver, strake_isa_name(strake_isa_best()));
    } else {
        copy(key->platform, sizeof key->platform, device->platform_name);
        copy(key->device, sizeof key->device, device->name);
        copy(key->vendor, sizeof key->vendor, device->vendor);
        copy(key->driver, sizeof key->driver, device->driver);
        find_architecture(cl, device, key->architecture, sizeof key->architecture);
    }
    key->generator = STRAKE_TUNED_GENERATOR;
    if (problem != NULL) {
        copy(key->problem, sizeof key->problem, problem);
        key->precision = precision;
        key->table = table;
    }
}

static bool same_device(const strake_tuned_key *a, const strake_tuned_key *b)
{
    return a->is_cpu == b->is_cpu && strcmp(a->device, b->device) == 0 &&
           strcmp(a->platform, b->platform) == 0;
}

const strake_tuned_record *strake_tuned_of_device(const strake_tuned_set *set,
                                                  const strake_tuned_key *key, int k)
{
    for (int r = 0; r < set->records; r++) {
        if (same_device(&set->record[r]->key, key) && k-- == 0) {
            return set->record[r];
        }
    }
    return NULL;
}

/* How badly a record fits, by levels; -1: not at all. */
static int misfit(const strake_tuned_record *record, const strake_tuned_key *key,
                  strake_tuned_level *level)
{
    const strake_tuned_key *const k = &record->key;
    if (k->is_cpu != key->is_cpu || strcmp(k->problem, key->problem) != 0 ||
        k->precision != key->precision) {
        return -1;
    }
    const bool same_table = k->table == key->table;
    const bool same_driver = strcmp(k->driver, key->driver) == 0;
    if (same_device(k, key)) {
        *level = !same_table          ? STRAKE_TUNED_VARIANT
                 : record->is_shipped ? STRAKE_TUNED_SHIPPED
                 : same_driver        ? STRAKE_TUNED_EXACT
                                      : STRAKE_TUNED_DRIVER;
        return 8 * (int)*level + 4 * record->is_shipped + 2 * !same_driver + record->is_brief;
    }
    /* The CPU's defaults follow its own caches: another model's numbers would not be better. */
    if (key->is_cpu || strcmp(k->vendor, key->vendor) != 0) {
        return -1;
    }
    *level = STRAKE_TUNED_SIMILAR;
    const bool same_kind =
        key->architecture[0] != '\0' && strcmp(k->architecture, key->architecture) == 0;
    return 8 * (int)*level + 4 * !same_kind + 2 * !same_table + record->is_shipped;
}

static void add_difference(char *text, size_t size, const char *what, const char *there,
                           const char *here)
{
    const size_t used = strlen(text);
    if (strcmp(there, here) != 0 && used < size) {
        (void)snprintf(text + used, size - used, "%s%s %.60s, here %.60s", used > 0 ? "; " : "",
                       what, there, here);
    }
}

static void describe(const strake_tuned_key *there, const strake_tuned_key *here, char *text,
                     size_t size)
{
    text[0] = '\0';
    add_difference(text, size, "device", there->device, here->device);
    add_difference(text, size, "driver", there->driver, here->driver);
    if (there->table != here->table) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%sanother variant of the problem",
                       used > 0 ? "; " : "");
    }
}

void strake_tuned_find(const strake_tuned_set *set, const strake_tuned_key *key,
                       strake_tuned_use *use)
{
    int least = -1;
    *use = (strake_tuned_use){.level = STRAKE_TUNED_DEFAULT};
    for (int r = 0; r < set->records; r++) {
        strake_tuned_level level = STRAKE_TUNED_DEFAULT;
        const int fit = misfit(set->record[r], key, &level);
        if (fit >= 0 && (least < 0 || fit < least)) {
            least = fit;
            use->level = level;
            use->record = set->record[r];
        }
    }
    if (use->record != NULL) {
        describe(&use->record->key, key, use->differs, sizeof use->differs);
    }
}

static double cells_of(const int64_t n[STRAKE_AXES])
{
    return (double)n[0] * (double)n[1] * (double)n[2];
}

/* Of the classes with so many cells at most. */
static const strake_tuned_class *nearest_of(const strake_tuned_record *record,
                                            const int64_t n[STRAKE_AXES], double most_cells)
{
    const strake_tuned_class *nearest = NULL;
    double least = INFINITY;
    for (int c = 0; record != NULL && c < record->classes; c++) {
        double distance = 0.0;
        /* Groups that fill the columns of a wide grid may be half idle on a narrow one. */
        if (record->class[c].n[2] > WIDER * n[2] || cells_of(record->class[c].n) > most_cells) {
            continue;
        }
        for (int axis = 0; axis < STRAKE_AXES; axis++) {
            const double part =
                log2((double)(n[axis] > 0 ? n[axis] : 1)) - log2((double)record->class[c].n[axis]);
            distance += part * part;
        }
        if (distance < least) {
            least = distance;
            nearest = &record->class[c];
        }
    }
    return nearest;
}

const strake_tuned_class *strake_tuned_nearest(const strake_tuned_record *record,
                                               const int64_t n[STRAKE_AXES])
{
    return nearest_of(record, n, LARGER * cells_of(n));
}

static bool contradicts(const strake_tuned_class *class, const strake_settings *given)
{
    strake_settings tuned = {.fusion = 0}; /* the device's own choice */
    for (int s = 0; s < class->settings; s++) {
        if (strcmp(class->setting[s].path, "run.fusion") == 0) {
            (void)strake_setting_set(&tuned, class->setting[s].path, class->setting[s].value);
        }
    }
    return given->fusion != 0 && given->fusion != tuned.fusion;
}

const strake_tuned_class *strake_tuned_serving(const strake_tuned_use *use,
                                               const int64_t n[STRAKE_AXES],
                                               const strake_settings *given, const char **why)
{
    const strake_tuned_class *const class = strake_tuned_nearest(use->record, n);
    *why = "";
    if (use->record != NULL && class == NULL) {
        *why = "no grid of about so few cells or columns was tuned";
    } else if (class != NULL && contradicts(class, given)) {
        *why = "tuned for another run.fusion";
        return NULL;
    }
    return class;
}

bool strake_tuned_takes(const strake_settings *given, const char *path)
{
    const strake_setting *const setting = strake_setting_find(path);
    const bool is_groups = setting != NULL && setting->kind == STRAKE_SETTING_GROUPS;
    return setting != NULL && !strake_setting_is_given(given, setting) &&
           !(is_groups && (given->group_width > 0 || given->group_height > 0));
}

void strake_tuned_apply(const strake_tuned_use *use, const int64_t n[STRAKE_AXES],
                        strake_settings *settings)
{
    const char *why = NULL;
    const strake_settings given = *settings;
    const strake_tuned_class *const class = strake_tuned_serving(use, n, &given, &why);
    for (int s = 0; class != NULL && s < class->settings; s++) {
        if (strake_tuned_takes(&given, class->setting[s].path)) {
            (void)strake_setting_set(settings, class->setting[s].path, class->setting[s].value);
        }
    }
}

strake_cl_known strake_tuned_known(const strake_tuned_use *use, const int64_t n[STRAKE_AXES],
                                   bool pinned)
{
    const int64_t block[STRAKE_AXES] = {(n[0] + USUAL_BLOCKS - 1) / USUAL_BLOCKS, n[1], n[2]};
    /* A rate of larger grids is better than none. */
    const strake_tuned_class *const class = nearest_of(use->record, block, INFINITY);
    strake_cl_known known = {.streams = 0};
    if (class == NULL || use->record->streaming.streams == 0) {
        return known;
    }
    known.streams = use->record->streaming.streams;
    /* Rates belong to this device, this stage table, and pinned memory. */
    if (use->level <= STRAKE_TUNED_SHIPPED && pinned && class->seconds > 0.0) {
        known.rates.up = use->record->streaming.up;
        known.rates.down = use->record->streaming.down;
        known.rates.cells =
            (double)class->n[0] * (double)class->n[1] * (double)class->n[2] / class->seconds;
    }
    return known;
}

bool strake_tuned_line(const strake_tuned_use *use, const strake_settings *given,
                       const int64_t n[STRAKE_AXES], double *fixed, double *cell)
{
    enum { FACTOR = 4 };
    const double cells = cells_of(n);
    const strake_tuned_class *below = NULL;
    const strake_tuned_class *above = NULL;
    if (use->level > STRAKE_TUNED_VARIANT || use->record == NULL) {
        return false;
    }
    for (int c = 0; c < use->record->classes; c++) {
        const strake_tuned_class *const class = &use->record->class[c];
        const double own = cells_of(class->n);
        if (!(class->seconds > 0.0) || contradicts(class, given)) {
            continue;
        }
        if (own <= cells && (below == NULL || own > cells_of(below->n))) {
            below = class;
        }
        if (own > cells && (above == NULL || own < cells_of(above->n))) {
            above = class;
        }
    }
    if (below != NULL && above != NULL) {
        const double one = cells_of(below->n);
        *cell = (above->seconds - below->seconds) / (cells_of(above->n) - one);
        *fixed = below->seconds - *cell * one;
        if (*cell > 0.0 && *fixed >= 0.0) {
            return true;
        }
    }
    /* The nearer one in proportion. */
    const strake_tuned_class *const nearest =
        above == NULL || (below != NULL && cells * cells < cells_of(below->n) * cells_of(above->n))
            ? below
            : above;
    if (nearest == NULL || cells > FACTOR * cells_of(nearest->n) ||
        FACTOR * cells < cells_of(nearest->n)) {
        return false;
    }
    *cell = nearest->seconds / cells_of(nearest->n);
    *fixed = 0.0;
    return true;
}
