/* OpenCL on this machine: names of errors, the loader, the devices that it lists, and their names in WHERE. */
#include "opencl/cl_device.h"

#include <CL/cl_ext.h>
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "case/settings.h"
#include "cpu/topology.h"
#include "files/text.h"
#include "opencl/cl_drivers.h"

static const struct {
    cl_int code;
    const char *name;
} error_names[] = {
#define NAME(code) code, #code
    {NAME(CL_SUCCESS)},
    {NAME(CL_DEVICE_NOT_FOUND)},
    {NAME(CL_DEVICE_NOT_AVAILABLE)},
    {NAME(CL_COMPILER_NOT_AVAILABLE)},
    {NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)},
    {NAME(CL_OUT_OF_RESOURCES)},
    {NAME(CL_OUT_OF_HOST_MEMORY)},
    {NAME(CL_PROFILING_INFO_NOT_AVAILABLE)},
    {NAME(CL_MEM_COPY_OVERLAP)},
    {NAME(CL_IMAGE_FORMAT_MISMATCH)},
    {NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)},
    {NAME(CL_BUILD_PROGRAM_FAILURE)},
    {NAME(CL_MAP_FAILURE)},
    {NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)},
    {NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)},
    {NAME(CL_COMPILE_PROGRAM_FAILURE)},
    {NAME(CL_LINKER_NOT_AVAILABLE)},
    {NAME(CL_LINK_PROGRAM_FAILURE)},
    {NAME(CL_DEVICE_PARTITION_FAILED)},
    {NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)},
    {NAME(CL_INVALID_VALUE)},
    {NAME(CL_INVALID_DEVICE_TYPE)},
    {NAME(CL_INVALID_PLATFORM)},
    {NAME(CL_INVALID_DEVICE)},
    {NAME(CL_INVALID_CONTEXT)},
    {NAME(CL_INVALID_QUEUE_PROPERTIES)},
    {NAME(CL_INVALID_COMMAND_QUEUE)},
    {NAME(CL_INVALID_HOST_PTR)},
    {NAME(CL_INVALID_MEM_OBJECT)},
    {NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)},
    {NAME(CL_INVALID_IMAGE_SIZE)},
    {NAME(CL_INVALID_SAMPLER)},
    {NAME(CL_INVALID_BINARY)},
    {NAME(CL_INVALID_BUILD_OPTIONS)},
    {NAME(CL_INVALID_PROGRAM)},
    {NAME(CL_INVALID_PROGRAM_EXECUTABLE)},
    {NAME(CL_INVALID_KERNEL_NAME)},
    {NAME(CL_INVALID_KERNEL_DEFINITION)},
    {NAME(CL_INVALID_KERNEL)},
    {NAME(CL_INVALID_ARG_INDEX)},
    {NAME(CL_INVALID_ARG_VALUE)},
    {NAME(CL_INVALID_ARG_SIZE)},
    {NAME(CL_INVALID_KERNEL_ARGS)},
    {NAME(CL_INVALID_WORK_DIMENSION)},
    {NAME(CL_INVALID_WORK_GROUP_SIZE)},
    {NAME(CL_INVALID_WORK_ITEM_SIZE)},
    {NAME(CL_INVALID_GLOBAL_OFFSET)},
    {NAME(CL_INVALID_EVENT_WAIT_LIST)},
    {NAME(CL_INVALID_EVENT)},
    {NAME(CL_INVALID_OPERATION)},
    {NAME(CL_INVALID_GL_OBJECT)},
    {NAME(CL_INVALID_BUFFER_SIZE)},
    {NAME(CL_INVALID_MIP_LEVEL)},
    {NAME(CL_INVALID_GLOBAL_WORK_SIZE)},
    {NAME(CL_INVALID_PROPERTY)},
    {NAME(CL_INVALID_IMAGE_DESCRIPTOR)},
    {NAME(CL_INVALID_COMPILER_OPTIONS)},
    {NAME(CL_INVALID_LINKER_OPTIONS)},
    {NAME(CL_INVALID_DEVICE_PARTITION_COUNT)},
    {NAME(CL_PLATFORM_NOT_FOUND_KHR)},
#undef NAME
    /* Not in the headers of OpenCL 1.2; the last one is NVIDIA's, in no header. */
    {-69, "CL_INVALID_PIPE_SIZE"},
    {-70, "CL_INVALID_DEVICE_QUEUE"},
    {-71, "CL_INVALID_SPEC_ID"},
    {-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED"},
    {-9999, "illegal read or write to a buffer"}};

const char *strake_cl_error_name(cl_int code)
{
    for (size_t k = 0; k < sizeof error_names / sizeof *error_names; k++) {
        if (error_names[k].code == code) {
            return error_names[k].name;
        }
    }
    return "unknown OpenCL error";
}

const char *strake_cl_bytes_text(double bytes, char text[STRAKE_CL_BYTES_TEXT])
{
    static const char *const unit[] = {"kB", "MB", "GB"};
    int k = 0;
    if (bytes < 1e3) {
        (void)strake_number_print(text, STRAKE_CL_BYTES_TEXT, "%.0f byte%s", bytes,
                                  bytes == 1.0 ? "" : "s");
        return text;
    }
    for (bytes /= 1e3; bytes >= 999.95 && k < 2; k++) {
        bytes /= 1e3;
    }
    (void)strake_number_print(text, STRAKE_CL_BYTES_TEXT, "%.1f %s", ceil(10.0 * bytes) / 10.0,
                              unit[k]);
    return text;
}

int strake_cl_list_gpus(const strake_cl_list *list)
{
    int gpus = 0;
    while (gpus < list->count && strake_cl_device_is_gpu(&list->device[gpus])) {
        gpus++;
    }
    return gpus;
}

/* "ocl:0 (NAME, CPU), ocl:1 (...)", as far as there is room. */
static const char *list_devices(const strake_cl_list *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < list->count; d++) {
        const int more = snprintf(text + used, size - used, "%socl:%d (%.80s)", d > 0 ? ", " : "",
                                  d, list->device[d].name);
        if (more < 0 || used + (size_t)more >= size) {
            (void)snprintf(text + used, size - used, "%s", size - used > 5 ? ", ..." : "");
            break;
        }
        used += (size_t)more;
    }
    return text;
}

strake_status strake_cl_list_no_gpu(const strake_cl_list *list, const char *word,
                                    strake_error *error)
{
    char text[400];
    if (list->count == 0) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "--on: `%s`: there is no GPU or accelerator, nor any other OpenCL device: "
            "%s; cpu is the processors without OpenCL",
            word, list->why_none);
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "--on: `%s`: there is no GPU or accelerator; there are cpu and, on the "
                       "processors too, %s",
                       word, list_devices(list, text, sizeof text));
}

strake_status strake_cl_list_find(const strake_cl_list *list, const char *word, int *index,
                                  strake_error *error)
{
    bool is_gpu = false;
    const int gpus = strake_cl_list_gpus(list);
    *index = -1;
    if (!strake_where_is_device(word)) {
        return STRAKE_OK;
    }
    const int number = strake_where_device(word, &is_gpu);
    if (number < 0) {
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "--on: `%s`: expected the number of a device as in %.4s0 (see `strake devices`)", word,
            word);
    }
    if (is_gpu && gpus == 0) {
        return strake_cl_list_no_gpu(list, word, error);
    }
    if (list->count == 0) {
        return strake_fail(error, STRAKE_ERR_USAGE, "--on: `%s`: there is no OpenCL device: %s",
                           word, list->why_none);
    }
    if (number >= (is_gpu ? gpus : list->count)) {
        const int last = (is_gpu ? gpus : list->count) - 1;
        char range[40] = "";
        if (last > 0) {
            (void)snprintf(range, sizeof range, " to %.4s%d", word, last);
        }
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "--on: `%s`: there %s only %.4s0%s (see `strake devices`)", word,
                           last > 0 ? "are" : "is", word, range);
    }
    *index = number;
    return STRAKE_OK;
}

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

/* Frees the entry points; the library stays mapped, since drivers do not survive unloading. */
static void close_loader(strake_cl *cl)
{
    if (cl == NULL) {
        return;
    }
    if (cl->library != NULL) {
        (void)dlclose(cl->library);
    }
    free(cl);
}

/*
 * Opens the OpenCL loader: $STRAKE_OPENCL_LIBRARY if set, else libOpenCL.so.1, else libOpenCL.so.
 * @param[out] out  the entry points, or NULL where there is no usable loader: @p why then says why
 * @return STRAKE_ERR_MEMORY only; a missing loader is STRAKE_OK.
 */
static strake_status open_loader(strake_cl **out, char *why, size_t why_size, strake_error *error)
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
    close_loader(cl);
    return status;
}

/* The variables that are set while a loader is first asked for platforms. */
enum { VENDORS, VENDOR_PATH, FILENAMES, POCL, VARIABLES };
static const char *const names[VARIABLES] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH",
                                             "OCL_ICD_FILENAMES", "POCL_CACHE_DIR"};

/* The environment while a loader is first asked for platforms. */
typedef struct environment {
    char folder[256];       /* temporary folder of .icd files, "" for none */
    int files;              /* that may be in it */
    char *kept[VARIABLES];  /* the values of before */
    bool is_set[VARIABLES]; /* whether a variable was changed */
} environment;

static bool set(environment *guest, int which, const char *value)
{
    const char *const before = getenv(names[which]);
    guest->kept[which] = before != NULL ? strdup(before) : NULL;
    if (before != NULL && guest->kept[which] == NULL) {
        return false;
    }
    guest->is_set[which] = true;
    return value != NULL ? setenv(names[which], value, 1) == 0 : unsetenv(names[which]) == 0;
}

static const char *icd_path(const environment *guest, int k, char *path, size_t room)
{
    (void)snprintf(path, room, "%s/%03d.icd", guest->folder, k);
    return path;
}

/* Writes the .icd files of those that stay into a folder of our own. */
static bool write_folder(const strake_cl_drivers *drivers, environment *guest)
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
static bool set_names(const strake_cl_drivers *drivers, environment *guest)
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

/* How many drivers have a verdict. */
static int cl_drivers_with(const strake_cl_drivers *drivers, strake_cl_verdict verdict)
{
    int found = 0;
    for (int k = 0; k < drivers->count; k++) {
        found += drivers->driver[k].verdict == verdict;
    }
    return found;
}

/* Leaves bad drivers out. @return false: that is not possible, since no temporary folder can be written */
static bool enter(const strake_cl_drivers *drivers, environment *guest)
{
    memset(guest, 0, sizeof *guest);
    bool good = drivers->pocl_cache[0] == '\0' || set(guest, POCL, drivers->pocl_cache);
    if (good && cl_drivers_with(drivers, STRAKE_CL_BAD) > 0) {
        good = write_folder(drivers, guest) && set(guest, VENDORS, guest->folder) &&
               set(guest, VENDOR_PATH, guest->folder) && set_names(drivers, guest);
    }
    return good;
}

static void leave(environment *guest)
{
    char path[sizeof guest->folder + 16];
    for (int k = 0; k < VARIABLES; k++) {
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

/* A text of a platform, or of a device where @p id is one. */
static void read_text(const strake_cl *cl, cl_platform_id platform, cl_device_id id, cl_uint what,
                      char *out, size_t room)
{
    char text[2048] = "";
    const cl_int code = id != NULL
                            ? cl->clGetDeviceInfo(id, what, sizeof text - 1, text, NULL)
                            : cl->clGetPlatformInfo(platform, what, sizeof text - 1, text, NULL);
    copy_name(out, room, code == CL_SUCCESS ? text : "unknown");
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
    read_text(cl, platform, NULL, CL_PLATFORM_NAME, out->platform_name, sizeof out->platform_name);
    read_text(cl, platform, NULL, CL_PLATFORM_VERSION, out->platform_version,
              sizeof out->platform_version);
    read_text(cl, platform, id, CL_DEVICE_NAME, out->name, sizeof out->name);
    read_text(cl, platform, id, CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
    read_text(cl, platform, id, CL_DEVICE_VERSION, out->version, sizeof out->version);
    read_text(cl, platform, id, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
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
    const bool bad = cl_drivers_with(&list->drivers, STRAKE_CL_BAD) > 0;
    if (is_short_of_memory(RLIM_INFINITY, list->why_none, sizeof list->why_none)) {
        return;
    }
    if (bad || (platforms == 0 && cl_drivers_with(&list->drivers, STRAKE_CL_REFUSED) > 0)) {
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
    read_text(list->cl, first, NULL, CL_PLATFORM_NAME, name, sizeof name);
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

/* Puts devices into the order of a list, and numbers them. */
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
    if ((is_named || cl_drivers_with(&list->drivers, STRAKE_CL_BAD) > 0) &&
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
    environment guest = {0};
    char loader[PATH_MAX];
    const char *const named = strake_cl_loader_named();

    memset(list, 0, sizeof *list);
    if (named == NULL) {
        STRAKE_TRY(open_loader(&list->cl, list->why_none, sizeof list->why_none, error));
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
    if (!is_safe(list, enter(&list->drivers, &guest), named != NULL, loader)) {
        goto cleanup;
    }
    if (named != NULL) {
        STRAKE_TRY(open_loader(&list->cl, list->why_none, sizeof list->why_none, error));
    }
    if (list->cl != NULL) {
        STRAKE_TRY(ask(list, error));
    } else {
        (void)is_short_of_memory(RLIM_INFINITY, list->why_none, sizeof list->why_none);
    }

cleanup:
    leave(&guest);
    if (status != STRAKE_OK) {
        strake_cl_list_free(list);
    }
    return status;
}

void strake_cl_list_tell(const strake_cl_list *list, bool all,
                         void (*notice)(void *user, const char *line), void *user)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;
    char text[1024], line[1200];
    if (notice == NULL || list->drivers.count == 0 ||
        (!all && (cl_drivers_with(&list->drivers, STRAKE_CL_BAD) == 0 ||
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
    close_loader(list->cl);
    memset(list, 0, sizeof *list);
}
