#include "opencl/cl_impl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "opencl/cl_turns.h"

/* RTLD_NODELETE: OpenCL drivers start threads and register exit handlers in mapped code. */
static void *open_library(const char *name, char *why, size_t why_size)
{
    struct stat info;
    /* The system's loader would wait for somebody to write into a pipe. */
    if (strchr(name, '/') != NULL && stat(name, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)snprintf(why, why_size, "%s: %s", name, strake_file_kind(info.st_mode));
        return NULL;
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *reason = dlerror();
        (void)snprintf(why, why_size, "%s", reason != NULL ? reason : name);
    }
    return library;
}

/* The first entry point that the library lacks, or NULL if all were found. */
static const char *resolve(strake_cl *cl)
{
    const char *missing = NULL;
    void *address;
#define X(name)                                                                                    \
    address = dlsym(cl->library, #name);                                                           \
    memcpy(&cl->name, &address, sizeof address);                                                   \
    if (address == NULL && missing == NULL) {                                                      \
        missing = #name;                                                                           \
    }
    STRAKE_CL_FUNCTIONS(X)
#undef X
    return missing;
}

const char *strake_cl_loader_named(void)
{
    const char *const named = getenv("STRAKE_OPENCL_LIBRARY");
    return named != NULL && named[0] != '\0' ? named : NULL;
}

void strake_cl_loader_path(const strake_cl *cl, char path[PATH_MAX])
{
    Dl_info info = {0};
    void *address = NULL;
    const char *name = strake_cl_loader_named();
    if (cl != NULL) {
        memcpy(&address, &cl->clGetPlatformIDs, sizeof address);
        name = dladdr(address, &info) != 0 ? info.dli_fname : NULL;
    }
    (void)snprintf(path, PATH_MAX, "%s", name != NULL ? name : "libOpenCL.so.1");
}

strake_status strake_cl_loader_open(strake_cl **out, char *why, size_t why_size,
                                    strake_error *error)
{
    static const char *const standard[] = {"libOpenCL.so.1", "libOpenCL.so"};
    const char *const named = strake_cl_loader_named();
    const bool is_named = named != NULL;
    char reason[160] = "";
    strake_status status = STRAKE_OK;
    const char *missing = NULL;
    strake_cl *cl = calloc(1, sizeof *cl);

    *out = NULL;
    STRAKE_CHECK(cl != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for the table of OpenCL functions (%zu bytes)", sizeof *cl);
    if (is_named) {
        cl->library = open_library(named, reason, sizeof reason);
    } else {
        for (size_t i = 0; i < sizeof standard / sizeof standard[0] && cl->library == NULL; ++i) {
            cl->library = open_library(standard[i], reason, sizeof reason);
        }
    }
    if (cl->library == NULL && is_named) {
        (void)snprintf(
            why, why_size,
            "STRAKE_OPENCL_LIBRARY names no usable OpenCL loader: %s; correct or unset it", reason);
        goto cleanup;
    }
    if (cl->library == NULL) {
        (void)snprintf(why, why_size,
                       "no OpenCL loader (%s); install one (Debian: ocl-icd-libopencl1) and the "
                       "driver of your device",
                       reason);
        goto cleanup;
    }
    missing = resolve(cl);
    if (missing != NULL) {
        (void)snprintf(why, why_size,
                       "%s has no %s; an OpenCL 1.2 loader is needed (Debian: ocl-icd-libopencl1)",
                       is_named ? named : "the OpenCL loader", missing);
        goto cleanup;
    }
    strake_cl_turns_take(cl);
    *out = cl;
    cl = NULL;

cleanup:
    strake_cl_loader_close(cl);
    return status;
}

void strake_cl_loader_close(strake_cl *cl)
{
    if (cl == NULL) {
        return;
    }
    if (cl->library != NULL) {
        (void)dlclose(cl->library);
    }
    free(cl);
}
