/**
 * @file cl_device.h
 * OpenCL without a link-time dependency: the loader is opened at run time, so that a machine
 * without one runs everything that needs only the CPU.
 */
#ifndef STRAKE_CL_DEVICE_H
#define STRAKE_CL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include <CL/cl.h>

#include "base/embedded.h"
#include "base/error.h"
#include "engine/point.h"
#include "opencl/cl_drivers.h"

/** Every OpenCL entry point used, resolved by dlsym: X(name). Call as `cl->clFinish(queue)`. */
/* clang-format off */
#define STRAKE_CL_FUNCTIONS(X)                                                                     \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo)                  \
    X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue)        \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram)                    \
    X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel)             \
    X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo) X(clCreateBuffer)             \
    X(clCreateSubBuffer) X(clReleaseMemObject) X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject)    \
    X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) X(clEnqueueCopyBuffer)                          \
    X(clEnqueueWriteBufferRect) X(clEnqueueReadBufferRect)                                         \
    X(clEnqueueNDRangeKernel) X(clFlush) X(clFinish) X(clWaitForEvents) X(clGetEventInfo)          \
    X(clGetEventProfilingInfo) X(clRetainEvent) X(clReleaseEvent)                                  \
    X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clCreateUserEvent)            \
    X(clSetEventCallback)
/* clang-format on */

struct strake_cl_watch;

typedef struct strake_cl {
    void *library;
    struct strake_cl_watch *watch; /**< receives what is compiled, or NULL; borrowed */
#define X(name) __typeof__(&name) name;
    STRAKE_CL_FUNCTIONS(X)
#undef X
} strake_cl;

/** Releases an event, if it is one, and forgets it. */
static inline void strake_cl_release_event(const strake_cl *cl, cl_event *event)
{
    if (*event != NULL) {
        (void)cl->clReleaseEvent(*event);
        *event = NULL;
    }
}

/**
 * One OpenCL device as listed by `strake devices` (its index N is the position in the list: "ocl:N", and
 * "gpu:N" where it is a GPU or accelerator).
 */
typedef struct strake_cl_device {
    int number; /**< N */
    cl_platform_id platform;
    cl_device_id device;
    char platform_name[128], platform_version[128];
    char name[256], vendor[128], version[128], driver[128];
    cl_device_type type;
    unsigned compute_units;
    size_t max_work_group;   /**< work-items per group */
    uint64_t global_memory;  /**< bytes */
    uint64_t max_allocation; /**< bytes of one buffer */
    uint64_t local_memory;   /**< bytes per group */
    bool has_double;         /**< fp64 with the mandatory features */
    bool has_correct_single; /**< correctly rounded fp32 divide and sqrt (build option supported) */
    bool unified_memory;
    /** For every precision: 1 passed the arithmetic self-test, 0 failed it, -1 not run or not possible. */
    int bit_exact[STRAKE_PRECISIONS];
} strake_cl_device;

/** Whether a device is a GPU or accelerator: it does not compute on the cores of the CPU stripe. */
static inline bool strake_cl_device_is_gpu(const strake_cl_device *device)
{
    return (device->type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR)) != 0;
}

/** What PoCL calls its platform. */
#define STRAKE_CL_POCL "Portable Computing Language"

/** Whether a device is one of PoCL's. */
static inline bool strake_cl_device_is_pocl(const strake_cl_device *device)
{
    return strcmp(device->platform_name, STRAKE_CL_POCL) == 0;
}

/**
 * Whether it is worth asking for one array of so many bytes. Some GPUs give more than they tell: NVIDIA's tell a
 * quarter of their memory, the least that OpenCL allows. One that does not refuses, and its stripe streams.
 */
static inline bool strake_cl_device_may_hold(const strake_cl_device *device, double bytes)
{
    return bytes <= (double)device->max_allocation || strake_cl_device_is_gpu(device);
}

typedef struct strake_cl_list {
    strake_cl *cl; /**< NULL where there is no loader */
    /** Why count is 0: no loader, no platform, no device. Else empty, or which device was left out and why. */
    char why_none[1024];
    strake_cl_drivers drivers; /**< of the loader, and which of them were left out */
    int count;
    strake_cl_device *device;
} strake_cl_list;

void strake_cl_list_free(strake_cl_list *list);

/** The same; @p anew tries every driver, whatever is known of it (cl_drivers.h). */
strake_status strake_cl_list_open_as(strake_cl_list *list, bool anew, strake_error *error);

/**
 * Tells of drivers that were left out, once in a process; @p all: of those that cannot be loaded, too, and always.
 * @param[in] notice  may be NULL
 */
void strake_cl_list_tell(const strake_cl_list *list, bool all,
                         void (*notice)(void *user, const char *line), void *user);

/** Puts devices into the order of a list, and numbers them. */
void strake_cl_list_sort(strake_cl_device *device, int count);

/**
 * Puts functions into the table of a loader, after which a launch on a PoCL before 6.0 (cl_turns.c) that may make an entry waits until
 * every queue of such devices is idle, and others wait until it is done. Other devices are not touched.
 */
void strake_cl_turns_take(strake_cl *cl);

/** What $STRAKE_OPENCL_LIBRARY names; NULL: nothing. */
const char *strake_cl_loader_named(void);

/** The file of an open loader; for NULL what $STRAKE_OPENCL_LIBRARY names. */
void strake_cl_loader_path(const strake_cl *cl, char path[PATH_MAX]);

/** GPUs and accelerators: the first of the list. */
int strake_cl_list_gpus(const strake_cl_list *list);

/**
 * Finds the device that an entry of WHERE names, "ocl:N" or "gpu:N".
 * @param[out] index  -1 where the word begins like neither
 * @return STRAKE_ERR_USAGE where there is no such device, with what there is
 */
strake_status strake_cl_list_find(const strake_cl_list *list, const char *word, int *index,
                                  strake_error *error);

/** Fails: @p word of WHERE needs a GPU or accelerator, and there is none. @return STRAKE_ERR_USAGE */
strake_status strake_cl_list_no_gpu(const strake_cl_list *list, const char *word,
                                    strake_error *error);

/**
 * Runs the arithmetic self-test of one device in one precision and records the result in
 * device->bit_exact: + - * / on random and special values (denormals, signed zeros, overflow), a
 * contraction probe and selections, compared with the host bit by bit. Takes well under a second.
 * @return STRAKE_ERR_DEVICE only if the device cannot run at all.
 */
strake_status strake_cl_selftest(const strake_cl *cl, strake_cl_device *device,
                                 strake_precision precision, strake_error *error);

/** Name of an OpenCL error code, for example "CL_OUT_OF_RESOURCES". */
const char *strake_cl_error_name(cl_int code);

enum { STRAKE_CL_BYTES_TEXT = 32 };

/** Bytes, or kB, MB or GB as users give them, one decimal, rounded up. Returns @p text. */
const char *strake_cl_bytes_text(double bytes, char text[STRAKE_CL_BYTES_TEXT]);

/** Fails a function with the API name, the code's name and the device; jumps to `cleanup:`. */
#define STRAKE_CL(call_name, code, error, device)                                                  \
    do {                                                                                           \
        const cl_int strake_cl_code = (code);                                                      \
        if (strake_cl_code != CL_SUCCESS) {                                                        \
            status = strake_fail((error), STRAKE_ERR_DEVICE, "%s: %s failed with %s (%d)",         \
                                 (device)->name, (call_name),                                      \
                                 strake_cl_error_name(strake_cl_code), (int)strake_cl_code);       \
            goto cleanup;                                                                          \
        }                                                                                          \
    } while (0)

/**
 * Builds a program, from the binary cache if it holds one. The cache lies in
 * $STRAKE_CACHE_DIR, else $XDG_CACHE_HOME/strake, else ~/.cache/strake; a cache that cannot be
 * written is no error. Key: full source, options, platform and its version, device, driver, Strake's
 * version. Entries carry a checksum and are replaced atomically; a bad one is rebuilt from source.
 * Device quirks (build options, limits) are applied here and nowhere else.
 * @param[in] source     program text, complete (headers pasted in, with #line markers)
 * @param[in] precision  adds -DSTRAKE_REAL_SINGLE and, for single, the correctly-rounded option if supported
 * @param[in] extra      further build options, or NULL
 * @return STRAKE_ERR_DEVICE with options and the head of the build log.
 */
strake_status strake_cl_program_build(const strake_cl *cl, const strake_cl_device *device,
                                      cl_context context, const char *source,
                                      strake_precision precision, const char *extra,
                                      cl_program *out, strake_error *error);

enum { STRAKE_CL_WATCHED = 64 };

/**
 * Receives the programs that are being compiled, which takes some drivers seconds. One list of devices has it;
 * strake_cl.watch leads to it.
 */
typedef struct strake_cl_watch {
    /**
     * Before a program is compiled: its number, from 1 on, of those that are known to be needed, each counted
     * once; afterwards with number 0. One call at a time, from any thread.
     */
    void (*tell)(void *user, const char *device, int number, int of);
    void *user;
    pthread_mutex_t lock;
    int asked, expected;              /**< different programs */
    uint64_t seen[STRAKE_CL_WATCHED]; /**< their names */
} strake_cl_watch;

/** @param[in] tell  may be NULL */
void strake_cl_watch_begin(strake_cl_watch *watch,
                           void (*tell)(void *user, const char *device, int number, int of),
                           void *user);

/** Programs built with the functions of @p list are told of from now on, if it has any. */
void strake_cl_watch_list(strake_cl_watch *watch, strake_cl_list *list);

/** So many more programs will be asked for; fewer where negative. */
void strake_cl_watch_expect(strake_cl_watch *watch, int programs);

/**
 * Writes the text of a program to FOLDER/NAME_PRECISION_HASH.cl.
 * @param[in] folder  what run.dump_kernels says; NULL: $STRAKE_DUMP_KERNELS, and without that nothing is written
 * @return STRAKE_ERR_IO where there is no such folder
 */
strake_status strake_cl_program_dump(const char *folder, const char *name,
                                     strake_precision precision, const char *text,
                                     strake_error *error);

/**
 * Work-items that a group of a kernel may have: NVIDIA's drivers (580) say 256 of every kernel, also of those that are
 * compiled for more, and run these.
 * @param[in] said      what the driver says of it
 * @param[in] compiled  what it was compiled for; 0: any
 */
size_t strake_cl_group_limit(const strake_cl_device *device, size_t said, size_t compiled);

/**
 * Build options of generated programs: where the compiler has them, that it tells the registers it
 * used, and a limit on those of a work-item.
 * @param[in] registers  0: the compiler's choice
 * @return @p buffer, or NULL where there is none
 */
const char *strake_cl_register_options(const strake_cl_device *device, int registers, char *buffer,
                                       size_t size);

/** Registers (32 bits) that all work-items of a compute unit share; 0 where the device does not tell. */
int64_t strake_cl_unit_registers(const strake_cl *cl, const strake_cl_device *device);

/**
 * Registers per work-item of a kernel; 0 where the compiler does not tell: NVIDIA's does, when it did
 * compile the program, which the driver or Strake may have had in a cache.
 */
int strake_cl_registers(const strake_cl *cl, const strake_cl_device *device, cl_program program,
                        const char *kernel);

/** Generated table of every cl/ *.h and *.cl file. */
extern const strake_embedded strake_cl_texts[];

/** Text of an embedded kernel file, for example "mpdata_point.h"; STRAKE_CL_DIR overrides. NULL if unknown. */
const char *strake_cl_source(const char *name);

/**
 * Opens the loader and lists the devices of every platform: GPUs, accelerators, then devices on the
 * processors and others; within a kind by the name and version of the platform, then as its driver counts
 * them. The order in which a loader finds drivers, which changes when one is installed anew, does not matter.
 * A missing loader or driver is not an error but an empty list with a reason. Drivers that end or stop the process which
 * loads them are left out (cl_drivers.h). Free with strake_cl_list_free().
 */
static inline strake_status strake_cl_list_open(strake_cl_list *list, strake_error *error)
{
    return strake_cl_list_open_as(list, false, error);
}

#endif
