#include "opencl/cl_impl.h"

#include "base/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Files read from $STRAKE_CL_DIR. They are handed out as plain pointers, so each is read once and
 * kept until the process ends; the list is the only state of the library and empty without the
 * variable, which is meant for developing kernels without a new build.
 */
typedef struct override {
    struct override *next;
    char *path;
    char *text;
} override;

static pthread_mutex_t override_lock = PTHREAD_MUTEX_INITIALIZER;
static override *override_list = NULL;

/* The text of a file, to be freed; NULL if it cannot be read. */
static char *read_text(const char *path)
{
    static const int64_t most_bytes = 1 << 24;
    char *text = NULL;
    size_t length = 0;
    (void)strake_file_read(path, most_bytes, "OpenCL source", &text, &length, NULL);
    return text;
}

/* The text of an override, from the list or, the first time, from the file. */
static const char *find_override(const char *path)
{
    override *found = NULL;
    (void)pthread_mutex_lock(&override_lock);
    for (found = override_list; found != NULL; found = found->next) {
        if (strcmp(found->path, path) == 0) {
            break;
        }
    }
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        char *const own_path = strdup(path);
        char *const text = read_text(path);
        if (found != NULL && own_path != NULL && text != NULL) {
            *found = (override){.next = override_list, .path = own_path, .text = text};
            override_list = found;
        } else {
            free(found);
            free(own_path);
            free(text);
            found = NULL;
        }
    }
    (void)pthread_mutex_unlock(&override_lock);
    return found != NULL ? found->text : NULL;
}

const char *strake_cl_source(const char *name)
{
    const char *const directory = getenv("STRAKE_CL_DIR");
    if (directory != NULL && directory[0] != '\0') {
        char *const path = strake_path_join(directory, name);
        const char *text = NULL;
        if (path != NULL) {
            text = find_override(path);
            free(path);
        }
        if (text != NULL) {
            return text;
        }
    }
    for (const strake_cl_text *entry = strake_cl_texts; entry->name != NULL; ++entry) {
        if (strcmp(entry->name, name) == 0) {
            return (const char *)entry->bytes;
        }
    }
    return NULL;
}
