#include "autotune/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "case/read.h"
#include "files/cache.h"
#include "files/json.h"

enum { MOST_BYTES = 64 << 20 };

static const double year_9999 = 253402300799.0;

/* Digits of numbers that are printed and never computed with. */
enum { ROUGH = 6 };

static void print_list(strake_json *json, const char *key, int count, const double *number)
{
    strake_json_array(json, key, STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        strake_json_rounded(json, NULL, number[k], 9);
    }
    strake_json_end(json);
}

static void print_settings(strake_json *json, int settings, const strake_tuned_setting *setting)
{
    for (int s = 0; s < settings; s++) {
        strake_json_string(json, setting[s].path, setting[s].value);
    }
}

/* One line of JSON, which is YAML too. */
static void print_entry(strake_text *text, const strake_journal_entry *entry)
{
    const strake_measurement *const m = &entry->result;
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_integers(json, "grid", STRAKE_AXES, entry->n);
    strake_json_object(json, "settings", STRAKE_JSON_LINE);
    print_settings(json, entry->settings, entry->setting);
    strake_json_end(json);
    strake_json_string(json, "outcome", strake_outcome_word(m->outcome));
    strake_json_rounded(json, "build", m->build, ROUGH);
    strake_json_rounded(json, "check", m->check, ROUGH);
    strake_json_rounded(json, "when", entry->when, 13); /* milliseconds */
    print_list(json, "seconds", m->samples, m->seconds);
    strake_json_object(json, "kernels", STRAKE_JSON_LINE);
    for (int k = 0; k < m->kernels; k++) {
        strake_json_rounded(json, m->kernel[k].name, m->kernel[k].seconds, ROUGH);
    }
    strake_json_end(json);
    print_list(json, "rates", 3, (const double[]){m->up, m->down, m->cells});
    strake_json_hash(json, "effect", m->effect);
    strake_json_string(json, "message", m->message);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}

static bool read_numbers(const strake_node *list, int most, double *out, int *count)
{
    *count = 0;
    for (const strake_node *at = list != NULL ? list->child : NULL; at != NULL; at = at->next) {
        if (*count == most || at->kind != STRAKE_NODE_SCALAR ||
            !strake_text_real(at->text, &out[(*count)++])) {
            return false;
        }
    }
    return list != NULL && list->kind == STRAKE_NODE_LIST;
}

static bool read_number(const strake_node *map, const char *key, double *out)
{
    const strake_node *const node = strake_node_get(map, key);
    return node != NULL && node->kind == STRAKE_NODE_SCALAR && strake_text_real(node->text, out);
}

/* Rates and kernels' times of a measurement; false for a damaged line. */
static bool read_details(const strake_node *root, strake_measurement *m)
{
    double rate[3] = {0.0};
    int rates = 0;
    const strake_node *const kernels = strake_node_get(root, "kernels");
    if (!read_numbers(strake_node_get(root, "rates"), 3, rate, &rates) || rates != 3) {
        return false;
    }
    m->up = rate[0];
    m->down = rate[1];
    m->cells = rate[2];
    for (const strake_node *at = kernels != NULL ? kernels->child : NULL; at != NULL;
         at = at->next) {
        if (m->kernels == STRAKE_WORKER_KERNELS || at->key == NULL || at->text == NULL ||
            !strake_text_real(at->text, &m->kernel[m->kernels].seconds)) {
            return false;
        }
        (void)snprintf(m->kernel[m->kernels].name, sizeof m->kernel[0].name, "%s", at->key);
        m->kernels++;
    }
    return true;
}

/* Whether a measurement can be one: with times, all of them positive, if it was good. */
static bool is_plausible(const strake_measurement *m)
{
    bool positive = m->samples > 0 || m->outcome != STRAKE_OUTCOME_GOOD;
    for (int k = 0; k < m->samples; k++) {
        positive = positive && m->seconds[k] > 0.0;
    }
    return positive;
}

static bool read_tree(const strake_node *root, strake_journal_entry *entry)
{
    double n[STRAKE_AXES] = {0.0};
    int axes = 0;
    strake_measurement *const m = &entry->result;
    const strake_node *const settings = strake_node_get(root, "settings");
    const strake_node *const outcome = strake_node_get(root, "outcome");
    const strake_node *const message = strake_node_get(root, "message");
    const strake_node *const effect = strake_node_get(root, "effect");
    if (!read_numbers(strake_node_get(root, "grid"), STRAKE_AXES, n, &axes) ||
        axes != STRAKE_AXES || settings == NULL || outcome == NULL || outcome->text == NULL ||
        !strake_outcome_of(outcome->text, &m->outcome) || !read_number(root, "build", &m->build) ||
        !read_number(root, "check", &m->check) || !read_number(root, "when", &entry->when) ||
        !(entry->when >= 0.0 && entry->when <= year_9999) ||
        !read_numbers(strake_node_get(root, "seconds"), STRAKE_WORKER_SAMPLES, m->seconds,
                      &m->samples) ||
        !read_details(root, m) || !is_plausible(m)) {
        return false;
    }
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        if (!(n[axis] >= 1.0 && n[axis] <= INT32_MAX)) {
            return false;
        }
        entry->n[axis] = (int64_t)n[axis];
    }
    m->effect = effect != NULL && effect->text != NULL ? strtoull(effect->text, NULL, 16) : 0;
    entry->settings = strake_space_read_settings(settings, entry->setting);
    (void)snprintf(m->message, sizeof m->message, "%s",
                   message != NULL && message->text != NULL ? message->text : "");
    return entry->settings == settings->children;
}

static bool keep(strake_journal *journal, const strake_journal_entry *entry)
{
    strake_journal_entry *const grown =
        realloc(journal->entry, ((size_t)journal->entries + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    journal->entry = grown;
    journal->entry[journal->entries++] = *entry;
    return true;
}

static void drop(strake_journal *journal, const int64_t n[STRAKE_AXES])
{
    int kept = 0;
    for (int k = 0; k < journal->entries; k++) {
        if (memcmp(journal->entry[k].n, n, sizeof journal->entry[k].n) != 0) {
            journal->entry[kept++] = journal->entry[k];
        }
    }
    journal->entries = kept;
}

/* A line that forgets what those before it say of a grid. @return false for another one */
static bool read_forget(strake_journal *journal, const strake_node *root)
{
    double grid[STRAKE_AXES] = {0.0};
    int axes = 0;
    if (!read_numbers(strake_node_get(root, "forget"), STRAKE_AXES, grid, &axes) ||
        axes != STRAKE_AXES) {
        return false;
    }
    const int64_t n[STRAKE_AXES] = {(int64_t)grid[0], (int64_t)grid[1], (int64_t)grid[2]};
    drop(journal, n);
    return true;
}

/* What a line says; lines that say nothing are left out. @return false when out of memory. */
static bool read_line(strake_journal *journal, const char *line, size_t length)
{
    strake_node *root = NULL;
    bool good = true;
    strake_journal_entry *const entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        return false;
    }
    if (strake_tree_parse("journal", line, length, &root, NULL) == STRAKE_OK &&
        !read_forget(journal, root) && read_tree(root, entry)) {
        good = keep(journal, entry);
    }
    strake_tree_free(&root);
    free(entry);
    return good;
}

/* The bytes of a journal, if there is one. One that others can have written goes. */
static void read_all(const char *path, char **text, size_t *length)
{
    const char *why = NULL;
    char *const folder = strake_path_folder(path);
    if (folder != NULL &&
        !strake_cache_read(folder, strake_path_last(path), MOST_BYTES, text, length, &why) &&
        (errno == EPERM || errno == ELOOP)) {
        (void)unlink(path);
    }
    free(folder);
}

/* Reads complete lines behind the right first one. @return their bytes, 0 where it is not ours. */
static size_t read_lines(strake_journal *journal, const char *text, size_t length,
                         const char *identity, bool *memory)
{
    const size_t head = strlen(identity);
    size_t at = head + 1;
    if (length <= head || memcmp(text, identity, head) != 0 || text[head] != '\n') {
        return 0;
    }
    while (at < length && *memory) {
        const char *const end = memchr(text + at, '\n', length - at);
        if (end == NULL) {
            break;
        }
        *memory = read_line(journal, text + at, (size_t)(end - text) - at);
        at = (size_t)(end - text) + 1;
    }
    return at;
}

static strake_status append(const strake_journal *journal, const char *data, size_t length,
                            strake_error *error)
{
    if (!strake_file_write_all(journal->file, data, length)) {
        return strake_fail(error, STRAKE_ERR_IO, "%s: cannot be written: %s", journal->path,
                           strake_file_reason(errno));
    }
    return STRAKE_OK;
}

strake_status strake_journal_open(strake_journal *journal, const char *path, const char *identity,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t length = 0, good = 0;
    bool memory = true;
    char *text = NULL;
    read_all(path, &text, &length);
    *journal = (strake_journal){.path = strdup(path)};
    if (text != NULL) {
        good = read_lines(journal, text, length, identity, &memory);
    }
    STRAKE_CHECK(memory && journal->path != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a journal");
    journal->resumed = journal->entries;
    journal->file =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
    STRAKE_CHECK(journal->file >= 0, error, STRAKE_ERR_IO, "%s: cannot be written: %s", path,
                 strake_file_reason(errno));
    journal->is_open = true;
    STRAKE_CHECK(ftruncate(journal->file, (off_t)good) == 0, error, STRAKE_ERR_IO,
                 "%s: cannot be written: %s", path, strake_file_reason(errno));
    if (good == 0) {
        STRAKE_TRY(append(journal, identity, strlen(identity), error));
        STRAKE_TRY(append(journal, "\n", 1, error));
    }
cleanup:
    free(text);
    if (status != STRAKE_OK) {
        strake_journal_close(journal, false);
    }
    return status;
}

strake_status strake_journal_add(strake_journal *journal, const strake_journal_entry *entry,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text line = {0};
    STRAKE_CHECK(keep(journal, entry), error, STRAKE_ERR_MEMORY, "out of memory for a journal");
    print_entry(&line, entry);
    STRAKE_CHECK(!line.failed, error, STRAKE_ERR_MEMORY, "out of memory for a journal");
    STRAKE_TRY(append(journal, line.data, line.length, error));
cleanup:
    strake_text_free(&line);
    return status;
}

strake_status strake_journal_forget(strake_journal *journal, const int64_t n[STRAKE_AXES],
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text line = {0};
    strake_json json = strake_json_on(&line);
    const int before = journal->entries;
    drop(journal, n);
    strake_json_object(&json, NULL, STRAKE_JSON_LINE);
    strake_json_integers(&json, "forget", STRAKE_AXES, n);
    strake_json_end(&json);
    strake_text_append(&line, "\n", 1);
    STRAKE_CHECK(!line.failed, error, STRAKE_ERR_MEMORY, "out of memory for a journal");
    status = journal->entries < before ? append(journal, line.data, line.length, error) : STRAKE_OK;
cleanup:
    strake_text_free(&line);
    return status;
}

const strake_measurement *strake_journal_find(const strake_journal *journal,
                                              const int64_t n[STRAKE_AXES], int settings,
                                              const strake_tuned_setting *setting)
{
    for (int k = 0; k < journal->entries; k++) {
        const strake_journal_entry *const entry = &journal->entry[k];
        bool same = entry->settings == settings && memcmp(entry->n, n, sizeof entry->n) == 0;
        for (int s = 0; s < settings && same; s++) {
            same = strcmp(entry->setting[s].path, setting[s].path) == 0 &&
                   strcmp(entry->setting[s].value, setting[s].value) == 0;
        }
        if (same) {
            return &entry->result;
        }
    }
    return NULL;
}

void strake_journal_close(strake_journal *journal, bool remove)
{
    if (journal->is_open) {
        (void)close(journal->file);
    }
    if (remove && journal->path != NULL) {
        (void)unlink(journal->path);
    }
    free(journal->path);
    free(journal->entry);
    *journal = (strake_journal){0};
}

/* {"name", "value", "unit"} */
static void print_quantity(strake_json *json, const char *name, double value, int digits,
                           const char *unit)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "name", name);
    strake_json_rounded(json, "value", value, digits);
    strake_json_string(json, "unit", unit);
    strake_json_end(json);
}

static void print_word(strake_json *json, const char *name, const char *value)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_string(json, "name", name);
    strake_json_string(json, "value", value);
    strake_json_string(json, "unit", "");
    strake_json_end(json);
}

static void print_t4_measurements(strake_json *json, const strake_measurement *m)
{
    strake_json_array(json, "measurements", STRAKE_JSON_LINE);
    if (m->samples > 0) {
        print_quantity(json, "seconds_per_step", strake_measurement_median(m), 9, "s");
        print_quantity(json, "spread", strake_measurement_spread(m), ROUGH, "");
    }
    for (int k = 0; k < m->kernels; k++) {
        print_quantity(json, m->kernel[k].name, m->kernel[k].seconds, ROUGH, "s");
    }
    print_word(json, "outcome", strake_outcome_word(m->outcome));
    print_word(json, "message", m->message);
    strake_json_end(json);
}

static void print_t4_entry(strake_json *json, const strake_journal_entry *entry)
{
    static const char *const invalidity[] = {
#define X(name, word, t4) t4,
        STRAKE_OUTCOMES(X)
#undef X
    };
    const strake_measurement *const m = &entry->result;
    const bool correct = m->outcome == STRAKE_OUTCOME_GOOD || m->outcome == STRAKE_OUTCOME_SLOW;
    char when[32];
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "timestamp", strake_clock_utc((int64_t)entry->when, when));
    strake_json_object(json, "configuration", STRAKE_JSON_LINE);
    strake_json_integers(json, "grid", STRAKE_AXES, entry->n);
    print_settings(json, entry->settings, entry->setting);
    strake_json_end(json);
    strake_json_array(json, "objectives", STRAKE_JSON_LINE);
    strake_json_string(json, NULL, "seconds_per_step");
    strake_json_end(json);
    strake_json_object(json, "times", STRAKE_JSON_LINE);
    strake_json_rounded(json, "compilation_time", m->build, ROUGH);
    print_list(json, "runtimes", m->samples, m->seconds);
    strake_json_integer(json, "framework", 0);
    strake_json_integer(json, "search_algorithm", 0);
    strake_json_rounded(json, "validation", m->check, ROUGH);
    strake_json_end(json);
    strake_json_string(json, "invalidity", invalidity[m->outcome]);
    strake_json_integer(json, "correctness", correct);
    print_t4_measurements(json, m);
    strake_json_end(json);
}

void strake_journal_print_t4(const strake_journal *journal, strake_text *text)
{
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "schema_version", "1.0.0");
    strake_json_array(json, "results", STRAKE_JSON_LINES);
    for (int k = 0; k < journal->entries; k++) {
        print_t4_entry(json, &journal->entry[k]);
    }
    strake_json_end(json);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}
