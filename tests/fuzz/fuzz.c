#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/recording.h"

/* In memory where that is possible: a file is written for each of thousands of inputs a second. */
static char folder[] = "/dev/shm/strake-fuzz.XXXXXX";
static char path[sizeof folder + 300];

static void clean(void)
{
    DIR *const list = opendir(folder);
    for (const struct dirent *entry = NULL; list != NULL && (entry = readdir(list)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    (void)rmdir(folder);
}

const char *strake_fuzz_folder(void)
{
    static int made;
    if (!made && access("/dev/shm", W_OK) != 0) {
        (void)strcpy(folder, "/tmp/strake-fuzz.XXXXXX");
    }
    if (!made && mkdtemp(folder) != NULL) {
        made = atexit(clean) == 0;
    }
    if (!made) {
        perror(folder);
        abort();
    }
    return folder;
}

const char *strake_fuzz_file(const char *name, const uint8_t *data, size_t bytes)
{
    (void)snprintf(path, sizeof path, "%s/%s", strake_fuzz_folder(), name);
    FILE *const file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        abort();
    }
    return path;
}

void strake_fuzz_view(const char *view)
{
    enum { MOST_FRAMES = 20, MOST_VALUES = 2000 };
    static double value[MOST_VALUES];
    strake_recording recording = {.checkpoint = {.descriptor = -1}};
    strake_error error;
    if (strake_recording_open(view, NULL, -1, &recording, &error) != STRAKE_OK) {
        return;
    }
    for (int k = 0; k < recording.frames && k < MOST_FRAMES; k++) {
        strake_array array = {0};
        if (strake_recording_array(&recording, k, &array, &error) == STRAKE_OK) {
            const int64_t count = array.count < MOST_VALUES ? array.count : MOST_VALUES;
            (void)strake_array_read(&array, 0, count, value, &error);
        }
        strake_array_close(&array);
    }
    strake_recording_close(&recording);
}
