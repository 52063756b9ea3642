/* Stored models of what moving data costs, under the name that the program itself gives them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "cost/model.h"

static const strake_cl_device device = {
    .name = "fuzz", .platform_name = "fuzz", .platform_version = "1", .driver = "1"};

/* The name of the file for the device, from a model that is stored once. */
static const char *find_name(void)
{
    static char name[300];
    strake_error error;
    strake_device_model *const nothing = name[0] == '\0' ? calloc(1, sizeof *nothing) : NULL;
    if (nothing != NULL &&
        strake_model_store(strake_fuzz_folder(), &device, nothing, &error) == STRAKE_OK) {
        DIR *const list = opendir(strake_fuzz_folder());
        for (const struct dirent *entry = NULL; list != NULL && (entry = readdir(list)) != NULL;) {
            if (strncmp(entry->d_name, "model-", 6) == 0) {
                (void)snprintf(name, sizeof name, "%s", entry->d_name);
            }
        }
        if (list != NULL) {
            (void)closedir(list);
        }
    }
    free(nothing);
    if (name[0] == '\0') {
        abort();
    }
    return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    strake_device_model *const model = calloc(1, sizeof *model);
    if (model != NULL) {
        (void)strake_fuzz_file(find_name(), data, bytes);
        if (strake_model_load(strake_fuzz_folder(), &device, model)) {
            (void)strake_model_seconds(model, (strake_path_kind)0, 1000.0, 0);
        }
    }
    free(model);
    return 0;
}
