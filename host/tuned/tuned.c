/* Reading and writing all results: the cache folder and the embedded ones. */
#include "tuned/tuned.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/cache.h"
#include "tuned/tuned_impl.h"

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
        if (errno != EPERM) { /* strake_cache_check() told it */
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
        /* Those of another generator wait for somebody to measure that device again. */
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
