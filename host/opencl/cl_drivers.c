#include "opencl/cl_drivers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/cache.h"
#include "io/folder.h"
#include "io/text.h"
#include "module/module.h"
#include "opencl/cl_answers.h"

static const char *variable(const char *name)
{
    const char *const value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static strake_status add(strake_cl_drivers *all, const char *icd, bool has_icd, const char *library,
                         strake_error *error)
{
    strake_cl_driver *const grown =
        realloc(all->driver, ((size_t)all->count + 1) * sizeof *all->driver);
    if (grown != NULL) {
        all->driver = grown;
        strake_cl_driver *const one = &grown[all->count];
        memset(one, 0, sizeof *one);
        one->icd = strdup(icd);
        one->library = strdup(library);
        one->has_icd = has_icd;
        all->count++;
        if (one->icd != NULL && one->library != NULL) {
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a list of OpenCL drivers");
}

/* One .icd file: its first line is the driver's library. What cannot be read, loaders leave out without a word. */
static strake_status add_icd(strake_cl_drivers *all, const char *path, strake_error *error)
{
    char *text = NULL;
    size_t length = 0;
    strake_error why;
    const bool is_read =
        strake_file_read(path, 1 << 16, "OpenCL driver", &text, &length, &why) == STRAKE_OK;
    if (is_read) {
        text[strcspn(text, "\r\n")] = '\0';
    }
    const bool is_named = is_read && text[0] != '\0';
    const strake_status status = add(all, path, true, is_named ? text : "no library", error);
    if (status == STRAKE_OK && !is_named) {
        strake_cl_driver *const one = &all->driver[all->count - 1];
        one->verdict = STRAKE_CL_REFUSED;
        (void)snprintf(one->said, sizeof one->said, "%.500s",
                       is_read ? "the .icd file names none" : why.text);
    }
    free(text);
    return status;
}

static int is_icd(const struct dirent *entry)
{
    return ends_in(entry->d_name, ".icd");
}

static strake_status add_folder(strake_cl_drivers *all, const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct dirent **entry = NULL;
    const int count = scandir(folder, &entry, is_icd, alphasort);
    for (int k = 0; k < count; k++) {
        char *const path = status == STRAKE_OK ? strake_path_join(folder, entry[k]->d_name) : NULL;
        if (path != NULL) {
            status = add_icd(all, path, error);
        }
        free(path);
        free(entry[k]);
    }
    free(entry);
    return status;
}

/* OCL_ICD_VENDORS: a folder, or for ocl-icd one .icd file (also of the usual folder) or one library. */
static strake_status add_vendors(strake_cl_drivers *all, const char *value, strake_error *error)
{
    struct stat info;
    char usual[4096];
    if (stat(value, &info) == 0 && S_ISDIR(info.st_mode)) {
        return add_folder(all, value, error);
    }
    if (!ends_in(value, ".icd")) {
        return add(all, "OCL_ICD_VENDORS", false, value, error);
    }
    (void)snprintf(usual, sizeof usual, "/etc/OpenCL/vendors/%s", value);
    return add_icd(all, strchr(value, '/') == NULL && stat(value, &info) != 0 ? usual : value,
                   error);
}

/* A loader of PREFIX/lib may have a folder of its own, as conda's has. */
static strake_status add_usual(strake_cl_drivers *all, const char *loader, strake_error *error)
{
    static const char usual[] = "/etc/OpenCL/vendors";
    strake_status status = add_folder(all, usual, error);
    char *const folder = status == STRAKE_OK ? strake_path_folder(loader) : NULL;
    char *const other = folder != NULL ? strake_path_join(folder, "../etc/OpenCL/vendors") : NULL;
    char *const real = other != NULL ? realpath(other, NULL) : NULL;
    if (real != NULL && strcmp(real, usual) != 0) {
        status = add_folder(all, real, error);
    }
    free(real);
    free(other);
    free(folder);
    return status;
}

static strake_status add_names(strake_cl_drivers *all, const char *value, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const names = strdup(value);
    char *rest = names;
    for (char *name = NULL; status == STRAKE_OK && (name = strsep(&rest, ":")) != NULL;) {
        status = name[0] != '\0' ? add(all, "OCL_ICD_FILENAMES", false, name, error) : STRAKE_OK;
    }
    free(names);
    return status;
}

static strake_status collect(strake_cl_drivers *all, const char *loader, strake_error *error)
{
    const char *const vendors = variable("OCL_ICD_VENDORS");
    const char *const folder = variable("OPENCL_VENDOR_PATH");
    const char *const names = variable("OCL_ICD_FILENAMES");
    const strake_status status = names != NULL ? add_names(all, names, error) : STRAKE_OK;
    return status != STRAKE_OK ? status
           : vendors != NULL   ? add_vendors(all, vendors, error)
           : folder != NULL    ? add_folder(all, folder, error)
                               : add_usual(all, loader, error);
}

/* What the system's loader would wait for, without an end: a pipe that nothing is written to. */
static bool is_odd(const char *library, char *said, size_t room)
{
    struct stat info;
    if (strchr(library, '/') == NULL || stat(library, &info) != 0 || S_ISREG(info.st_mode)) {
        return false;
    }
    (void)snprintf(said, room, "cannot be loaded: %s", strake_file_kind(info.st_mode));
    return true;
}

static bool find_helper(char path[PATH_MAX])
{
    return strake_module_program("strake-driver", path);
}

static strake_status try_all(strake_cl_drivers *all, bool anew, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char helper[PATH_MAX];
    int unknown = 0;
    const size_t room = all->count > 0 ? (size_t)all->count : 1;
    strake_cl_trial *const trial = calloc(room, sizeof *trial);
    uint64_t *const key = calloc(room, sizeof *key);
    int *const which = calloc(room, sizeof *which);
    STRAKE_CHECK(trial != NULL && key != NULL && which != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for trials of OpenCL drivers");
    all->has_helper = find_helper(helper);
    for (int k = 0; k < all->count && all->has_helper; k++) {
        strake_cl_driver *const one = &all->driver[k];
        if (one->verdict == STRAKE_CL_UNTRIED &&
            is_odd(one->library, one->said, sizeof one->said)) {
            one->verdict = STRAKE_CL_BAD;
        }
        if (one->verdict != STRAKE_CL_UNTRIED) {
            continue;
        }
        trial[unknown].library = one->library;
        trial[unknown].pocl_cache = all->pocl_cache;
        /* What PoCL does where it cannot write is no answer for where it can. */
        key[unknown] = strake_cl_answers_key(one->library, all->pocl_fails ? "without cache" : "");
        if (!anew && strake_cl_answers_find(key[unknown], &trial[unknown])) {
            one->verdict = trial[unknown].verdict;
            memcpy(one->said, trial[unknown].said, sizeof one->said);
        } else {
            which[unknown++] = k;
        }
    }
    if (unknown > 0) {
        strake_cl_trial_run(helper, trial, unknown);
        strake_cl_answers_keep(key, trial, unknown);
    }
    for (int k = 0; k < unknown; k++) {
        strake_cl_driver *const one = &all->driver[which[k]];
        one->verdict = trial[k].verdict;
        one->seconds = trial[k].seconds;
        memcpy(one->said, trial[k].said, sizeof one->said);
    }

cleanup:
    free(trial);
    free(key);
    free(which);
    return status;
}

bool strake_cl_drivers_library(const strake_cl_drivers *drivers, const char *library, char *said,
                               size_t room)
{
    char helper[PATH_MAX];
    strake_text besides = {0};
    strake_cl_trial trial = {.library = library, .pocl_cache = drivers->pocl_cache};
    if (!find_helper(helper) || is_odd(library, said, room)) {
        return true; /* the loader of loaders refuses what is odd */
    }
    strake_text_print(&besides, "as a loader");
    for (int k = 0; k < drivers->count; k++) {
        strake_text_print(&besides, " %d %s", (int)drivers->driver[k].verdict,
                          drivers->driver[k].library);
    }
    const uint64_t key = strake_cl_answers_key(library, besides.data != NULL ? besides.data : "");
    strake_text_free(&besides);
    if (!strake_cl_answers_find(key, &trial)) {
        strake_cl_trial_run(helper, &trial, 1);
        strake_cl_answers_keep(&key, &trial, 1);
    }
    (void)snprintf(said, room, "%s", trial.said);
    return trial.verdict != STRAKE_CL_BAD;
}

/* PoCL keeps its programs in a folder of its own, and has no device where it cannot write there. */
static void find_pocl_cache(strake_cl_drivers *all)
{
    char usual[4096], own[64];
    const char *const xdg = variable("XDG_CACHE_HOME");
    const char *const home = variable("HOME");
    char *const cache = strake_cache_folder();
    char *const below = cache != NULL ? strake_path_join(cache, "pocl") : NULL;
    (void)snprintf(usual, sizeof usual, "%s%s",
                   xdg != NULL    ? xdg
                   : home != NULL ? home
                                  : "/tmp",
                   xdg != NULL    ? "/pocl/kcache"
                   : home != NULL ? "/.cache/pocl/kcache"
                                  : "/pocl/kcache");
    (void)snprintf(own, sizeof own, "/tmp/strake-pocl-%lu", (unsigned long)geteuid());
    if (variable("POCL_CACHE_DIR") != NULL) {
        (void)snprintf(usual, sizeof usual, "%s", variable("POCL_CACHE_DIR"));
    }
    if (strake_folder_check(usual, NULL) == STRAKE_OK || variable("POCL_CACHE_DIR") != NULL) {
        all->pocl_fails = strake_folder_check(usual, NULL) != STRAKE_OK;
    } else if (below != NULL && strake_cache_create(below, NULL) == STRAKE_OK) {
        (void)snprintf(all->pocl_cache, sizeof all->pocl_cache, "%s", below);
    } else if (strake_cache_create(own, NULL) == STRAKE_OK) {
        (void)snprintf(all->pocl_cache, sizeof all->pocl_cache, "%s", own);
    } else {
        all->pocl_fails = true;
    }
    free(below);
    free(cache);
}

strake_status strake_cl_drivers_find(const char *loader, bool anew, strake_cl_drivers *drivers,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    memset(drivers, 0, sizeof *drivers);
    STRAKE_TRY(collect(drivers, loader, error));
    find_pocl_cache(drivers);
    STRAKE_TRY(try_all(drivers, anew, error));
cleanup:
    return status;
}

void strake_cl_drivers_free(strake_cl_drivers *drivers)
{
    for (int k = 0; k < drivers->count; k++) {
        free(drivers->driver[k].icd);
        free(drivers->driver[k].library);
    }
    free(drivers->driver);
    memset(drivers, 0, sizeof *drivers);
}

int strake_cl_drivers_with(const strake_cl_drivers *drivers, strake_cl_verdict verdict)
{
    int found = 0;
    for (int k = 0; k < drivers->count; k++) {
        found += drivers->driver[k].verdict == verdict;
    }
    return found;
}

const char *strake_cl_driver_text(const strake_cl_driver *driver, char *text, size_t room)
{
    const char *const what =
        driver->verdict == STRAKE_CL_BAD ? "is left out: it " : "cannot be loaded: ";
    (void)snprintf(text, room, "the OpenCL driver %s (%s) %s%s", driver->library, driver->icd, what,
                   driver->said);
    /* An .icd file may hold anything, also what a terminal would take for a command. */
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at;
    }
    return text;
}
