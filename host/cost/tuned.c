/* Reading and writing all results: the cache folder and the embedded ones. */
#include "cost/tuned.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "case/settings.h"
#include "cpu/pipeline.h"
#include "files/cache.h"
#include "cpu/machine.h"
#include "cost/record.h"

struct strake_tuned_set {
    int records;
    strake_tuned_record **record; /* the cache's by file name, then the shipped ones */
    void (*notice)(void *user, const char *line);
    void *user;
};

/* Which record serves a processor, and which of its classes a grid. */

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

/* How thorough results are: what searches tried, and what ended them. */

const char *strake_tuned_end_word(strake_tuned_end end)
{
    static const char *const word[] = {
#define X(name, word) word,
        STRAKE_TUNED_ENDS(X)
#undef X
    };
    return word[end];
}

const char *strake_tuned_effort(const strake_tuned_record *record)
{
    bool is_full = true;
    for (int c = 0; c < record->classes; c++) {
        is_full = is_full && record->class[c].end == STRAKE_TUNED_END_COMPLETE;
    }
    return record->is_brief   ? "brief"
           : record->todo > 0 ? "partial"
           : is_full          ? "full"
                              : "cut_short";
}

bool strake_tuned_is_due(const strake_tuned_class *class)
{
    return class->disturbed > 0 && class->disturbed < STRAKE_TUNED_MOST_DISTURBED;
}

static const char *text_of_search(const strake_tuned_class *class, char *buffer, size_t size)
{
    static const char *const why[] = {"", ", until nothing more was promising",
                                      ", as many as the search space allows",
                                      ", until the budget ended", ", until it was interrupted"};
    const bool all = class->end == STRAKE_TUNED_END_COMPLETE && class->tried >= class->possible;
    if (class->end == STRAKE_TUNED_END_COMPLETE && class->possible == 0.0) {
        (void)snprintf(buffer, size, "the constraints leave nothing to try");
        return buffer;
    }
    if (class->end == STRAKE_TUNED_END_UNKNOWN) {
        (void)snprintf(buffer, size, "%d configuration%s measured", class->evaluated,
                       class->evaluated == 1 ? "" : "s");
        return buffer;
    }
    (void)strake_number_print(buffer, size,
                              all && class->possible == 1.0 ? "the one configuration tried"
                              : all                         ? "all %d configurations tried"
                                    : "%d of at most %.0f configurations tried",
                              class->tried, class->possible);
    if (class->failed > 0) {
        const size_t used = strlen(buffer);
        (void)snprintf(buffer + used, size - used, " (%d failed)", class->failed);
    }
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, size - used, "%s", all ? "" : why[class->end]);
    return buffer;
}

const char *strake_tuned_search_text(const strake_tuned_class *class, char *buffer, size_t size)
{
    (void)text_of_search(class, buffer, size);
    const size_t used = strlen(buffer);
    if (class->disturbed > 0) {
        (void)strake_number_print(
            buffer + used, size - used,
            "; DISTURBED: half of the samples took %.0f %% longer than the shortest or "
            "more, gains are uncertain (%s)",
            100.0 * class->excess,
            strake_tuned_is_due(class) ? "`strake tune` measures it again"
                                       : "in every tuning so far");
    }
    return buffer;
}

static const char *text_of_searches(const strake_tuned_record *record, char *buffer, size_t size)
{
    int least = 0, most = 0, cut = 0, unknown = 0;
    char range[48];
    for (int c = 0; c < record->classes; c++) {
        const strake_tuned_class *const class = &record->class[c];
        const bool told = class->end != STRAKE_TUNED_END_UNKNOWN;
        const int tried = told ? class->tried : class->evaluated;
        least = c == 0 || tried < least ? tried : least;
        most = tried > most ? tried : most;
        cut += told && class->end != STRAKE_TUNED_END_COMPLETE;
        unknown += !told;
    }
    if (least < most) {
        (void)snprintf(range, sizeof range, "%d to %d", least, most);
    } else {
        (void)snprintf(range, sizeof range, "%d", most);
    }
    if (unknown == record->classes) {
        (void)snprintf(buffer, size, "%s configuration%s measured%s", range, most == 1 ? "" : "s",
                       record->classes > 1 ? " for each" : "");
    } else if (cut + unknown > 0) {
        (void)snprintf(buffer, size, "%d of %d searches cut short, %s configuration%s tried%s",
                       cut + unknown, record->classes, range, most == 1 ? "" : "s",
                       record->classes > 1 ? " for each" : "");
    } else {
        (void)snprintf(buffer, size, "searched to the end, %s configuration%s tried%s", range,
                       most == 1 ? "" : "s", record->classes > 1 ? " for each" : "");
    }
    return buffer;
}

const char *strake_tuned_searches_text(const strake_tuned_record *record, char *buffer, size_t size)
{
    int disturbed = 0, due = 0;
    (void)text_of_searches(record, buffer, size);
    const size_t used = strlen(buffer);
    for (int c = 0; c < record->classes; c++) {
        disturbed += record->class[c].disturbed > 0;
        due += strake_tuned_is_due(&record->class[c]);
    }
    if (disturbed > 0) {
        (void)snprintf(buffer + used, size - used, "; %d DISTURBED%s", disturbed,
                       due > 0 ? " (`strake tune` measures again)" : "");
    }
    return buffer;
}

enum { MOST_BYTES = 1 << 20 }; /* of one file: more is none of ours */

static strake_tuned_record *add_record(strake_tuned_set *set)
{
    strake_tuned_record **const grown =
        realloc((void *)set->record, ((size_t)set->records + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    set->record = grown;
    strake_tuned_record *const record = malloc(sizeof *record);
    if (record != NULL) {
        set->record[set->records++] = record;
    }
    return record;
}

static void drop_last(strake_tuned_set *set)
{
    free(set->record[--set->records]);
}

static void tell(const strake_tuned_set *set, const char *text)
{
    if (set->notice != NULL) {
        set->notice(set->user, text);
    }
}

static strake_status load_file(strake_tuned_set *set, const char *folder, const char *name,
                               strake_error *error)
{
    char line[sizeof(strake_error) + 300];
    size_t length = 0;
    const char *why = NULL;
    strake_error reason;
    strake_tuned_record *const record = add_record(set);
    char *text = NULL;
    char *const path = strake_path_join(folder, name);
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(record != NULL && path != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for tuned settings");
    if (!strake_cache_read(folder, name, MOST_BYTES, &text, &length, &why)) {
        if (errno != EPERM) { /* strake_cache_check() has reported it */
            (void)snprintf(line, sizeof line, "tuned settings %s are ignored: %s", path, why);
            tell(set, line);
        }
        drop_last(set);
        goto cleanup;
    }
    if (strake_tuned_parse(path, text, length, record, &reason) != STRAKE_OK) {
        (void)snprintf(line, sizeof line,
                       "tuned settings are ignored: %s (delete the file, or `strake tune --force`)",
                       reason.text);
        tell(set, line);
        drop_last(set);
    } else if (record->key.generator != STRAKE_TUNED_GENERATOR) {
        (void)snprintf(line, sizeof line,
                       "tuned settings %s are ignored: they were measured with other kernels "
                       "(generator %d, now %d); `strake tune` measures again",
                       path, record->key.generator, (int)STRAKE_TUNED_GENERATOR);
        tell(set, line);
        drop_last(set);
    }
cleanup:
    free(path);
    free(text);
    return status;
}

static bool is_ours(const char *name)
{
    const size_t length = strlen(name);
    return strncmp(name, "tuned-", 6) == 0 && length > 11 &&
           strcmp(name + length - 5, ".yaml") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int only_ours(const struct dirent *entry)
{
    return is_ours(entry->d_name);
}

static strake_status load_folder(strake_tuned_set *set, const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, only_ours, by_name);
    for (int k = 0; k < count; k++) {
        if (status == STRAKE_OK) {
            status = load_file(set, folder, entry[k]->d_name, error);
        }
        free(entry[k]);
    }
    free((void *)entry);
    return status;
}

static strake_status load_shipped(strake_tuned_set *set, strake_error *error)
{
    for (const strake_embedded *text = strake_tuned_texts; text->name != NULL; text++) {
        strake_error reason;
        strake_tuned_record *const record = add_record(set);
        if (record == NULL) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
        }
        /* Results of another generator are stale until that device is measured again. */
        if (strake_tuned_parse(text->name, (const char *)text->bytes, text->length, record,
                               &reason) != STRAKE_OK ||
            record->key.generator != STRAKE_TUNED_GENERATOR) {
            drop_last(set);
        } else {
            record->is_shipped = true;
        }
    }
    return STRAKE_OK;
}

strake_status strake_tuned_load(const char *folder, void (*notice)(void *user, const char *line),
                                void *user, strake_tuned_set **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const path = strake_cache_folder_or(folder);
    char *const usual = folder != NULL ? strake_cache_folder() : NULL; /* has the programs */
    strake_tuned_set *set = calloc(1, sizeof *set);
    STRAKE_CHECK(set != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
    set->notice = notice;
    set->user = user;
    if (path != NULL) {
        strake_cache_tell(path, notice, user);
        strake_cache_tell(usual, notice, user);
        STRAKE_TRY(load_folder(set, path, error));
    }
    STRAKE_TRY(load_shipped(set, error));
    *out = set;
    set = NULL;
cleanup:
    free(path);
    free(usual);
    strake_tuned_free(&set);
    return status;
}

void strake_tuned_free(strake_tuned_set **set)
{
    if (set == NULL || *set == NULL) {
        return;
    }
    for (int k = 0; k < (*set)->records; k++) {
        free((*set)->record[k]);
    }
    free((void *)(*set)->record);
    free(*set);
    *set = NULL;
}

/* What the file of the same key has, then what is new, so that the order tells the age. */
static void merge_older(const char *folder, const char *name, strake_tuned_record *record)
{
    size_t length = 0;
    const char *why = NULL;
    strake_error ignored;
    strake_tuned_record *const older = calloc(1, sizeof *older);
    char *text = NULL;
    if (older != NULL && strake_cache_read(folder, name, MOST_BYTES, &text, &length, &why) &&
        strake_tuned_parse(name, text, length, older, &ignored) == STRAKE_OK &&
        strake_tuned_same(&older->key, &record->key)) {
        /* A thorough tuning replaces a brief one. */
        older->classes = older->is_brief && !record->is_brief ? 0 : older->classes;
        for (int c = 0; c < record->classes; c++) {
            *strake_tuned_class_for(older, record->class[c].n) = record->class[c];
        }
        older->is_brief = record->is_brief && older->is_brief;
        older->streaming = record->streaming.streams > 0 ? record->streaming : older->streaming;
        older->todo = record->todo;
        memcpy(older->date, record->date, sizeof older->date);
        *record = *older;
    }
    free(text);
    free(older);
}

strake_status strake_tuned_store(const char *folder, const strake_tuned_record *record, bool merge,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    char name[64];
    char *path = NULL;
    strake_tuned_record *merged = malloc(sizeof *merged);
    STRAKE_CHECK(merged != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
    *merged = *record;
    STRAKE_TRY(strake_cache_create(folder, error));
    path = strake_path_join(folder, strake_tuned_file_name(&record->key, name, sizeof name));
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
    if (merge) {
        merge_older(folder, name, merged);
    }
    strake_tuned_print(merged, &text);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    free(path);
    free(merged);
    return status;
}
