/*
 * strake-driver LIBRARY SECONDS: loads one OpenCL driver, and asks it for platforms and devices. Strake starts it, so that
 * a driver that ends or hangs the process which loads it does so here (cl_drivers.h). Not for users.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "opencl/cl_drivers.h"

typedef cl_int (*platforms_function)(cl_uint, cl_platform_id *, cl_uint *);
typedef cl_int (*devices_function)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *,
                                   cl_uint *);
typedef void *(*extension_function)(const char *);

/* The head of what a platform's first pointer leads to, as cl_khr_icd has it. */
typedef struct dispatch {
    platforms_function platforms;
    void (*info)(void);
    devices_function devices;
} dispatch;

/* A line begins anew whatever the driver wrote before it. */
static void tell(const char *word, const char *text)
{
    char line[8192];
    const int length = snprintf(line, sizeof line, "\n" STRAKE_CL_TRIAL_MARK "%s%s\n", word, text);
    const size_t bytes = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    if (length < 0 || write(STDOUT_FILENO, line, bytes) != (ssize_t)bytes) {
        _exit(3);
    }
}

static void *find(void *library, const char *name)
{
    void *const found = dlsym(library, name);
    void *const address = found != NULL ? NULL : dlsym(library, "clGetExtensionFunctionAddress");
    extension_function extension = NULL;
    if (address == NULL) {
        return found;
    }
    memcpy(&extension, &address, sizeof extension);
    return extension(name);
}

/* Loaders know drivers by the first function; what is named in STRAKE_OPENCL_LIBRARY may have the second alone. */
static platforms_function find_platforms(void *library)
{
    platforms_function platforms = NULL;
    void *address = find(library, "clIcdGetPlatformIDsKHR");
    if (address == NULL) {
        address = dlsym(library, "clGetPlatformIDs");
    }
    memcpy(&platforms, &address, sizeof platforms);
    return platforms;
}

static devices_function find_devices(void *library, cl_platform_id platform)
{
    devices_function devices = NULL;
    void *const own = dlsym(library, "clGetDeviceIDs");
    const dispatch *table = NULL;
    if (own != NULL) {
        memcpy(&devices, &own, sizeof devices);
        return devices;
    }
    memcpy(&table, (const void *)platform, sizeof table);
    return table != NULL ? table->devices : NULL;
}

int main(int argc, char **argv)
{
    cl_platform_id platform[64];
    cl_uint platforms = 0;
    struct link_map *map = NULL;
    if (argc != 3) {
        (void)fprintf(stderr, "strake-driver: it is started by Strake; try `strake doctor`\n");
        return 2;
    }
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)alarm((unsigned)strtoul(argv[2], NULL, 10) + 2); /* where its parent has ended */
    tell(STRAKE_CL_TRIAL_BEGIN, "");
    void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *const why = dlerror();
        tell(STRAKE_CL_TRIAL_REFUSED, why != NULL ? why : "dlopen() does not say why");
        _exit(0);
    }
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
        tell(STRAKE_CL_TRIAL_FILE, map->l_name);
    }
    const platforms_function list = find_platforms(library);
    if (list == NULL) {
        tell(STRAKE_CL_TRIAL_REFUSED, "it is no OpenCL driver: it has no clIcdGetPlatformIDsKHR");
        _exit(0);
    }
    if (list(64, platform, &platforms) == CL_SUCCESS) {
        for (cl_uint p = 0; p < platforms && p < 64; p++) {
            cl_uint count = 0;
            const devices_function devices = find_devices(library, platform[p]);
            if (devices != NULL) {
                (void)devices(platform[p], CL_DEVICE_TYPE_ALL, 0, NULL, &count);
            }
        }
    }
    tell(STRAKE_CL_TRIAL_GOOD, "");
    _exit(0);
}
