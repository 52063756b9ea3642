/* The environment in which a loader is first asked for platforms, without bad drivers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "io/text.h"
#include "opencl/cl_drivers.h"

static const char *const names[STRAKE_CL_GUEST_VARIABLES] = {
    "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "POCL_CACHE_DIR"};
enum { VENDORS, VENDOR_PATH, FILENAMES, POCL };

static bool set(strake_cl_guest *guest, int which, const char *value)
{
    const char *const before = getenv(names[which]);
    guest->kept[which] = before != NULL ? strdup(before) : NULL;
    if (before != NULL && guest->kept[which] == NULL) {
        return false;
    }
    guest->is_set[which] = true;
    return value != NULL ? setenv(names[which], value, 1) == 0 : unsetenv(names[which]) == 0;
}

static const char *icd_path(const strake_cl_guest *guest, int k, char *path, size_t room)
{
    (void)snprintf(path, room, "%s/%03d.icd", guest->folder, k);
    return path;
}

/* Writes the .icd files of those that stay into a folder of our own. */
static bool write_folder(const strake_cl_drivers *drivers, strake_cl_guest *guest)
{
    const char *const where = getenv("TMPDIR");
    char path[sizeof guest->folder + 16];
    const int length = snprintf(guest->folder, sizeof guest->folder, "%s/strake-drivers-XXXXXX",
                                where != NULL && where[0] == '/' ? where : "/tmp");
    bool good = length < (int)sizeof guest->folder && mkdtemp(guest->folder) != NULL;
    if (!good) {
        (void)snprintf(guest->folder, sizeof guest->folder, "/tmp/strake-drivers-XXXXXX");
        good = mkdtemp(guest->folder) != NULL;
    }
    if (!good) {
        guest->folder[0] = '\0';
        return false;
    }
    for (int k = 0; k < drivers->count && good; k++) {
        const strake_cl_driver *const one = &drivers->driver[k];
        if (one->verdict != STRAKE_CL_BAD && strcmp(one->icd, names[FILENAMES]) != 0) {
            good = strake_file_put(icd_path(guest, k, path, sizeof path), STRAKE_FILE_HASTY,
                                   one->library, strlen(one->library), NULL) == STRAKE_OK;
        }
    }
    guest->files = drivers->count;
    return good;
}

/* OCL_ICD_FILENAMES without bad drivers. */
static bool set_names(const strake_cl_drivers *drivers, strake_cl_guest *guest)
{
    strake_text text = {0};
    if (getenv(names[FILENAMES]) == NULL) {
        return true;
    }
    for (int k = 0; k < drivers->count; k++) {
        const strake_cl_driver *const one = &drivers->driver[k];
        if (one->verdict != STRAKE_CL_BAD && strcmp(one->icd, names[FILENAMES]) == 0) {
            strake_text_print(&text, "%s%s", text.length > 0 ? ":" : "", one->library);
        }
    }
    const bool good = !text.failed && set(guest, FILENAMES, text.data);
    strake_text_free(&text);
    return good;
}

bool strake_cl_drivers_enter(const strake_cl_drivers *drivers, strake_cl_guest *guest)
{
    memset(guest, 0, sizeof *guest);
    bool good = drivers->pocl_cache[0] == '\0' || set(guest, POCL, drivers->pocl_cache);
    if (good && strake_cl_drivers_with(drivers, STRAKE_CL_BAD) > 0) {
        good = write_folder(drivers, guest) && set(guest, VENDORS, guest->folder) &&
               set(guest, VENDOR_PATH, guest->folder) && set_names(drivers, guest);
    }
    return good;
}

void strake_cl_drivers_leave(strake_cl_guest *guest)
{
    char path[sizeof guest->folder + 16];
    for (int k = 0; k < STRAKE_CL_GUEST_VARIABLES; k++) {
        if (guest->is_set[k] && guest->kept[k] != NULL) {
            (void)setenv(names[k], guest->kept[k], 1);
        } else if (guest->is_set[k]) {
            (void)unsetenv(names[k]);
        }
        free(guest->kept[k]);
    }
    for (int k = 0; k < guest->files; k++) {
        (void)unlink(icd_path(guest, k, path, sizeof path));
    }
    if (guest->folder[0] != '\0') {
        (void)rmdir(guest->folder);
    }
    memset(guest, 0, sizeof *guest);
}
