#include "opencl/cl_impl.h"

#include <CL/cl_ext.h>
#include <ctype.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cpu/topology.h"

/* Copies a name, cut to fit, without control characters and the blanks that drivers pad with. */
static void copy_name(char *out, size_t room, const char *text)
{
    size_t length = 0;
    while (isspace((unsigned char)*text)) {
        ++text;
    }
    for (; *text != '\0' && length + 1 < room; ++text) {
        out[length++] = iscntrl((unsigned char)*text) ? ' ' : *text;
    }
    while (length > 0 && out[length - 1] == ' ') {
        --length;
    }
    out[length] = '\0';
}

static void platform_text(const strake_cl *cl, cl_platform_id platform, cl_platform_info what,
                          char *out, size_t room)
{
    char text[2048] = "";
    if (cl->clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL) != CL_SUCCESS) {
        (void)snprintf(text, sizeof text, "unknown");
    }
    copy_name(out, room, text);
}

static void device_text(const strake_cl *cl, cl_device_id id, cl_device_info what, char *out,
                        size_t room)
{
    char text[2048] = "";
    if (cl->clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS) {
        (void)snprintf(text, sizeof text, "unknown");
    }
    copy_name(out, room, text);
}

/* A number of any type; 0 where the driver does not know the query. */
static void device_value(const strake_cl *cl, cl_device_id id, cl_device_info what, void *out,
                         size_t size)
{
    if (cl->clGetDeviceInfo(id, what, size, out, NULL) != CL_SUCCESS) {
        memset(out, 0, size);
    }
}

static void describe(const strake_cl *cl, cl_platform_id platform, cl_device_id id,
                     strake_cl_device *out)
{
    const cl_device_fp_config double_needs =
        CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM;
    cl_device_fp_config double_config = 0;
    cl_device_fp_config single_config = 0;
    cl_uint units = 0;
    cl_bool unified = CL_FALSE;
    cl_ulong bytes = 0;

    memset(out, 0, sizeof *out);
    out->platform = platform;
    out->device = id;
    platform_text(cl, platform, CL_PLATFORM_NAME, out->platform_name, sizeof out->platform_name);
    platform_text(cl, platform, CL_PLATFORM_VERSION, out->platform_version,
                  sizeof out->platform_version);
    device_text(cl, id, CL_DEVICE_NAME, out->name, sizeof out->name);
    device_text(cl, id, CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
    device_text(cl, id, CL_DEVICE_VERSION, out->version, sizeof out->version);
    device_text(cl, id, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
    device_value(cl, id, CL_DEVICE_TYPE, &out->type, sizeof out->type);
    device_value(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    out->compute_units = units;
    device_value(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &out->max_work_group,
                 sizeof out->max_work_group);
    device_value(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE, &bytes, sizeof bytes);
    out->global_memory = bytes;
    device_value(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &bytes, sizeof bytes);
    out->max_allocation = bytes;
    device_value(cl, id, CL_DEVICE_LOCAL_MEM_SIZE, &bytes, sizeof bytes);
    out->local_memory = bytes;
    device_value(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG, &double_config, sizeof double_config);
    out->has_double = (double_config & double_needs) == double_needs;
    device_value(cl, id, CL_DEVICE_SINGLE_FP_CONFIG, &single_config, sizeof single_config);
    out->has_correct_single = (single_config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    device_value(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    out->unified_memory = unified != CL_FALSE;
    for (int p = 0; p < STRAKE_PRECISIONS; ++p) {
        out->bit_exact[p] = -1;
    }
}

/* Whether Strake can compute on the device at all; if not, why. */
static bool is_usable(const strake_cl *cl, const strake_cl_device *device, char *why, size_t room)
{
    cl_bool available = CL_FALSE;
    cl_bool has_compiler = CL_FALSE;
    int major = 0;
    int minor = 0;

    device_value(cl, device->device, CL_DEVICE_AVAILABLE, &available, sizeof available);
    device_value(cl, device->device, CL_DEVICE_COMPILER_AVAILABLE, &has_compiler,
                 sizeof has_compiler);
    if (sscanf(device->version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) {
        (void)snprintf(why, room, "%.100s left out: it offers \"%.40s\", OpenCL 1.2 is needed",
                       device->name, device->version);
        return false;
    }
    if (available == CL_FALSE || has_compiler == CL_FALSE) {
        (void)snprintf(why, room, "%.100s left out: its driver says that %s", device->name,
                       available == CL_FALSE ? "the device is not available"
                                             : "it has no OpenCL compiler");
        return false;
    }
    return true;
}

static bool is_listed(const strake_cl_list *list, cl_platform_id platform, cl_device_id id)
{
    for (int i = 0; i < list->count; ++i) {
        if (list->device[i].platform == platform && list->device[i].device == id) {
            return true;
        }
    }
    return false;
}

/* Appends the usable devices of one platform; a platform without devices is normal. */
static strake_status add_platform(strake_cl_list *list, cl_platform_id platform,
                                  strake_error *error)
{
    const strake_cl *const cl = list->cl;
    strake_status status = STRAKE_OK;
    cl_uint count = 0;
    cl_device_id *id = NULL;
    strake_cl_device *grown = NULL;

    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count) != CL_SUCCESS ||
        count == 0) {
        goto cleanup;
    }
    id = calloc(count, sizeof(cl_device_id));
    STRAKE_CHECK(id != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %u OpenCL devices",
                 count);
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, id, NULL) != CL_SUCCESS) {
        goto cleanup;
    }
    grown = realloc(list->device, ((size_t)list->count + count) * sizeof *grown);
    STRAKE_CHECK(grown != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %u OpenCL devices",
                 count);
    list->device = grown;
    for (cl_uint i = 0; i < count; ++i) {
        strake_cl_device *const next = &list->device[list->count];
        if (id[i] == NULL || is_listed(list, platform, id[i])) {
            continue;
        }
        describe(cl, platform, id[i], next);
        if (is_usable(cl, next, list->why_none, sizeof list->why_none)) {
            ++list->count;
        }
    }

cleanup:
    free(id);
    return status;
}

/*
 * A driver whose compiler finds no more addresses ends the whole process: PoCL's does so up to 0.8 GiB, in many
 * ways.
 */
static const rlim_t least_addresses = (rlim_t)1 << 30;

/*
 * Whether no more than so many bytes of addresses are allowed, and then the reason for there being no device: it
 * is no driver that is missing.
 */
static bool is_short_of_memory(rlim_t most, char *why, size_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > most) {
        return false;
    }
    (void)snprintf(why, size,
                   "no OpenCL driver can be loaded with `ulimit -v %llu`; drivers take some GiB of "
                   "addresses, whatever they use of them: raise that limit",
                   (unsigned long long)limit.rlim_cur / 1024);
    return true;
}

/* The first driver with a verdict, which there is. */
static const strake_cl_driver *first_with(const strake_cl_list *list, strake_cl_verdict verdict)
{
    const strake_cl_driver *one = list->drivers.driver;
    while (one->verdict != verdict) {
        one++;
    }
    return one;
}

static void explain_empty(strake_cl_list *list, cl_uint platforms, cl_platform_id first)
{
    char name[64], text[sizeof list->why_none - 100];
    const bool bad = strake_cl_drivers_with(&list->drivers, STRAKE_CL_BAD) > 0;
    if (is_short_of_memory(RLIM_INFINITY, list->why_none, sizeof list->why_none)) {
        return;
    }
    if (bad || (platforms == 0 && strake_cl_drivers_with(&list->drivers, STRAKE_CL_REFUSED) > 0)) {
        (void)snprintf(
            list->why_none, sizeof list->why_none,
            "no OpenCL driver has a device that can be used: %s; see `strake doctor`",
            strake_cl_driver_text(first_with(list, bad ? STRAKE_CL_BAD : STRAKE_CL_REFUSED), text,
                                  sizeof text));
        return;
    }
    if (platforms == 0) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       "an OpenCL loader, but no driver: install the OpenCL driver of your device, "
                       "or pocl-opencl-icd for the CPU, and check /etc/OpenCL/vendors and "
                       "`clinfo -l`");
        return;
    }
    if (list->drivers.pocl_fails) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       "PoCL, the driver of the CPU, has no device where it cannot write its "
                       "cache: set POCL_CACHE_DIR to a folder that can be written");
        return;
    }
    platform_text(list->cl, first, CL_PLATFORM_NAME, name, sizeof name);
    (void)snprintf(
        list->why_none, sizeof list->why_none,
        "%u OpenCL platform%s (%s%s), but no device: check `clinfo -l`, the driver of the "
        "device and the permissions of /dev/dri and /dev/nvidia*",
        platforms, platforms == 1 ? "" : "s", name, platforms == 1 ? "" : ", ...");
}

/* GPUs, accelerators, processors, others. */
static int order_of(const strake_cl_device *device)
{
    return (device->type & CL_DEVICE_TYPE_GPU) != 0           ? 0
           : (device->type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? 1
           : (device->type & CL_DEVICE_TYPE_CPU) != 0         ? 2
                                                              : 3;
}

static int compare(const strake_cl_device *a, const strake_cl_device *b)
{
    const int kind = order_of(a) - order_of(b);
    const int name = strcmp(a->platform_name, b->platform_name);
    return kind != 0 ? kind : name != 0 ? name : strcmp(a->platform_version, b->platform_version);
}

void strake_cl_list_sort(strake_cl_device *device, int count)
{
    /* Equal ones stay as their driver has them. */
    for (int k = 1; k < count; ++k) {
        const strake_cl_device next = device[k];
        int at = k;
        for (; at > 0 && compare(&next, &device[at - 1]) < 0; --at) {
            device[at] = device[at - 1];
        }
        device[at] = next;
    }
    for (int k = 0; k < count; ++k) {
        device[k].number = k;
    }
}

/* Drivers have threads and connections that a child of fork() has not, and wait for them there for ever. */
static bool is_ours(void)
{
    static _Atomic int64_t process; /* that asked drivers first */
    const int64_t self = strake_threads_process();
    int64_t first = 0;
    return atomic_compare_exchange_strong(&process, &first, self) || first == self;
}

/* Lists the devices of all platforms of an open loader. */
static strake_status ask(strake_cl_list *list, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_platform_id *platform = NULL;
    cl_uint platforms = 0;
    const cl_int code = list->cl->clGetPlatformIDs(0, NULL, &platforms);
    if (code != CL_SUCCESS && code != CL_PLATFORM_NOT_FOUND_KHR) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       "the OpenCL loader cannot list platforms: %s (%d); check `clinfo -l`",
                       strake_cl_error_name(code), (int)code);
        goto cleanup;
    }
    if (code == CL_PLATFORM_NOT_FOUND_KHR || platforms == 0) {
        explain_empty(list, 0, NULL);
        goto cleanup;
    }
    platform = calloc(platforms, sizeof(cl_platform_id));
    STRAKE_CHECK(platform != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for %u OpenCL platforms", platforms);
    if (list->cl->clGetPlatformIDs(platforms, platform, NULL) != CL_SUCCESS) {
        explain_empty(list, 0, NULL);
        goto cleanup;
    }
    for (cl_uint p = 0; p < platforms; ++p) {
        STRAKE_TRY(add_platform(list, platform[p], error));
    }
    strake_cl_list_sort(list->device, list->count);
    if (list->count == 0 && list->why_none[0] == '\0') {
        explain_empty(list, platforms, platform[0]);
    }

cleanup:
    free(platform);
    return status;
}

/* Whether a loader can be asked for platforms in this environment; if not, why. */
static bool is_safe(strake_cl_list *list, bool entered, bool is_named, const char *loader)
{
    char said[512];
    if (!entered) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       "an OpenCL driver has to be left out, for which a temporary folder is "
                       "needed, and none can be written; set TMPDIR, or see `strake doctor`");
        return false;
    }
    if ((is_named || strake_cl_drivers_with(&list->drivers, STRAKE_CL_BAD) > 0) &&
        !strake_cl_drivers_library(&list->drivers, loader, said, sizeof said)) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       is_named ? "STRAKE_OPENCL_LIBRARY names %s, which %s; correct or unset it"
                                : "the OpenCL loader %s %s, although bad drivers are left out; see "
                                  "`strake doctor`",
                       loader, said);
        return false;
    }
    return true;
}

strake_status strake_cl_list_open_as(strake_cl_list *list, bool anew, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_guest guest = {0};
    char loader[PATH_MAX];
    const char *const named = strake_cl_loader_named();

    memset(list, 0, sizeof *list);
    if (named == NULL) {
        STRAKE_TRY(strake_cl_loader_open(&list->cl, list->why_none, sizeof list->why_none, error));
    }
    if (list->cl == NULL && named == NULL) {
        (void)is_short_of_memory(RLIM_INFINITY, list->why_none, sizeof list->why_none);
        goto cleanup;
    }
    STRAKE_TRY(strake_threads_need(STRAKE_STACK_OF_DRIVER, "an OpenCL driver", error));
    if (!is_ours()) {
        (void)snprintf(list->why_none, sizeof list->why_none,
                       "OpenCL was used before fork(), and its drivers work in that process alone");
        goto cleanup;
    }
    if (is_short_of_memory(least_addresses, list->why_none, sizeof list->why_none)) {
        goto cleanup;
    }
    strake_cl_loader_path(list->cl, loader);
    STRAKE_TRY(strake_cl_drivers_find(loader, anew, &list->drivers, error));
    if (!is_safe(list, strake_cl_drivers_enter(&list->drivers, &guest), named != NULL, loader)) {
        goto cleanup;
    }
    if (named != NULL) {
        STRAKE_TRY(strake_cl_loader_open(&list->cl, list->why_none, sizeof list->why_none, error));
    }
    if (list->cl != NULL) {
        STRAKE_TRY(ask(list, error));
    } else {
        (void)is_short_of_memory(RLIM_INFINITY, list->why_none, sizeof list->why_none);
    }

cleanup:
    strake_cl_drivers_leave(&guest);
    if (status != STRAKE_OK) {
        strake_cl_list_free(list);
    }
    return status;
}

strake_status strake_cl_list_open(strake_cl_list *list, strake_error *error)
{
    return strake_cl_list_open_as(list, false, error);
}

void strake_cl_list_tell(const strake_cl_list *list, bool all,
                         void (*notice)(void *user, const char *line), void *user)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    char text[1024], line[1200];
    if (notice == NULL || list->drivers.count == 0 ||
        (!all && (strake_cl_drivers_with(&list->drivers, STRAKE_CL_BAD) == 0 ||
                  atomic_flag_test_and_set(&is_told)))) {
        return;
    }
    for (int k = 0; k < list->drivers.count; k++) {
        const strake_cl_driver *const one = &list->drivers.driver[k];
        if (one->verdict == STRAKE_CL_BAD || (all && one->verdict == STRAKE_CL_REFUSED)) {
            (void)snprintf(line, sizeof line, "%s%s; see `strake doctor`",
                           one->verdict == STRAKE_CL_BAD ? STRAKE_NOTICE_WARNING : "",
                           strake_cl_driver_text(one, text, sizeof text));
            notice(user, line);
        }
    }
}

void strake_cl_list_free(strake_cl_list *list)
{
    free(list->device);
    strake_cl_drivers_free(&list->drivers);
    strake_cl_loader_close(list->cl);
    memset(list, 0, sizeof *list);
}
