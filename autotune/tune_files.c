/* What a tuning keeps in its folder: locks, files of the worker process, journal, results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"
#include "base/file.h"
#include "base/hash.h"
#include "io/cache.h"
#include "io/json.h"

static strake_status take_lock(const char *folder, const char *name, strake_lock *lock,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    char owner[STRAKE_LOCK_OWNER];
    status = strake_lock_take(lock, folder, name, owner, error);
    STRAKE_CHECK(status != STRAKE_ERR_STATE, error, STRAKE_ERR_STATE,
                 "another tuning is at work: %s (%s/%s is locked); wait for its results, since two "
                 "at once would disturb each other's measurements",
                 owner, folder, name);
    STRAKE_TRY(status);
    STRAKE_CHECK(lock->is_held, error, STRAKE_ERR_IO,
                 "%s/%s cannot be locked, because its file system has no locks; name another "
                 "folder for results with --cache DIR",
                 folder, name);
cleanup:
    return status;
}

strake_status strake_tuning_lock(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const usual = strake_cache_folder();
    STRAKE_TRY(take_lock(t->folder, "tune.lock", &t->lock, error));
    /* Tunings with other folders disturb just as much; where there is no usual one, nobody can tell. */
    if (usual != NULL && strake_cache_create(usual, NULL) == STRAKE_OK) {
        status = take_lock(usual, "tune-any.lock", &t->lock_any, error);
        status = status == STRAKE_ERR_IO ? STRAKE_OK : status;
    }
cleanup:
    free(usual);
    return status;
}

void strake_tuning_unlock(strake_tuning *t)
{
    strake_lock_release(&t->lock_any);
    strake_lock_release(&t->lock);
}

strake_status strake_tuning_name_files(strake_tuning *t, strake_error *error)
{
    t->case_file = strake_path_join(t->folder, "tune-case.yaml");
    t->reference = strake_path_join(t->folder, "tune-reference.bin");
    t->log = strake_path_join(t->folder, "tune-worker.log");
    if (t->case_file == NULL || t->reference == NULL || t->log == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    }
    t->worker = (strake_worker){.command = t->options->worker,
                                .environment = t->options->environment,
                                .log = t->log,
                                .stop = t->options->stop,
                                .user = t->options->user};
    return STRAKE_OK;
}

void strake_tuning_remove_files(const strake_tuning *t)
{
    const char *const path[] = {t->case_file, t->reference, t->log};
    for (size_t k = 0; k < sizeof path / sizeof path[0] && t->lock.is_held; k++) {
        if (path[k] != NULL) {
            (void)unlink(path[k]);
        }
    }
}

strake_status strake_tuning_open_journal(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    const int64_t same[STRAKE_AXES] = {64, 64, 64};
    strake_text text = {0}, identity = {0};
    strake_json json = strake_json_on(&identity);
    char *path = NULL;
    uint64_t hash = STRAKE_FNV_SEED;
    STRAKE_TRY(strake_tune_case(t->space, same, t->options->like, t->options->sets, &text, error));
    hash = strake_fnv1a(hash, text.data, text.length);
    (void)strake_tuned_file_name(&t->key, name, sizeof name);
    strake_json_object(&json, NULL, STRAKE_JSON_LINE);
    strake_json_integer(&json, "strake_journal", 2);
    strake_json_string(&json, "for", name);
    strake_json_hash(&json, "case", hash);
    strake_json_integer(&json, "steps", t->space->steps);
    strake_json_end(&json);
    (void)snprintf(name + strlen(name) - strlen("yaml"), sizeof "yaml", "log");
    path = strake_path_join(t->folder, name);
    STRAKE_CHECK(path != NULL && !identity.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for tuning");
    if (t->options->force) {
        (void)unlink(path);
    }
    STRAKE_TRY(strake_journal_open(&t->journal, path, identity.data, error));
    t->result->resumed = t->journal.resumed;
cleanup:
    strake_text_free(&text);
    strake_text_free(&identity);
    free(path);
    return status;
}

static strake_status store_t4(const strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    strake_text json = {0};
    char *path = NULL;
    (void)strake_tuned_file_name(&t->key, name, sizeof name);
    (void)snprintf(name + strlen(name) - strlen("yaml"), sizeof "t4.json", "t4.json");
    path = strake_path_join(t->folder, name);
    strake_journal_print_t4(&t->journal, &json);
    STRAKE_CHECK(path != NULL && !json.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for tuning");
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, json.data, json.length, error));
cleanup:
    strake_text_free(&json);
    free(path);
    return status;
}

static void set_date(strake_tuned_record *record)
{
    char now[32];
    (void)snprintf(record->date, sizeof record->date, "%.10s",
                   strake_clock_utc(strake_clock_date(), now));
}

strake_status strake_tuning_store(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    set_date(&t->result->record);
    t->stored_todo = t->result->record.todo;
    STRAKE_TRY(strake_tuned_store(t->folder, &t->result->record, true, error));
    STRAKE_TRY(store_t4(t, error));
cleanup:
    return status;
}
