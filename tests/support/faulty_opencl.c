/*
 * An OpenCL library with planted faults in front of the real one, for the tests of the tuner
 * (STRAKE_OPENCL_LIBRARY names it). $STRAKE_TEST_FAULTS lists FAULT:WIDTHxHEIGHT, separated by spaces:
 * what happens to kernels launched in groups of that size,
 *     crash   the process dies of a bad access
 *     hang    the launch never returns, and the file $STRAKE_TEST_HANGS gets a byte more
 *     skip    the kernel does not run: results keep what was there
 *     beyond  the last bytes of the kernel's output buffer are overwritten
 * or slow:kernels: every launch takes 30 ms longer, slow:items: 100 ns for each of its items; build:__local: programs with local memory do not build, build:march: those with loops along rows,
 * name:made-up: devices are called so, type:gpu: devices say that they are GPUs. cut:drivers: like Khronos'
 * loader it cuts OCL_ICD_FILENAMES at its first colon when it is first asked for platforms, and offers as
 * many devices as that named files. $STRAKE_TEST_KINDS, "cpu gpu accelerator": what kind the first, second, third
 * device says it is. $STRAKE_TEST_BUILD_SECONDS: what clBuildProgram takes longer for a source. $STRAKE_TEST_FILL_BITS: fills
 * count patterns in so many bits, signed, as NVIDIA's do in 32: what begins or ends where that is negative
 * fails in the next clFinish(), what lies beyond all of them is written elsewhere. $STRAKE_TEST_MAX_ALLOC: what
 * devices tell of their largest buffer [bytes]; alloc:refused: they refuse larger ones. pin:twice: where two contexts have
 * buffers in the same host memory, reads of buffers fail. $STRAKE_TEST_SOURCE,
 * "OLD=>NEW": compilers get NEW for the first OLD of a source. Other calls go to the real library.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256 };

static void *real(const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        abort();
    }
    return found;
}

/* Clocks of tests can wait for the file. */
static void hang(void)
{
    const char *const name = getenv("STRAKE_TEST_HANGS");
    FILE *const file = name != NULL ? fopen(name, "a") : NULL;
    if (file != NULL) {
        (void)fputc('h', file);
        (void)fclose(file);
    }
    for (;;) {
        (void)pause();
    }
}

/* Whether a fault is planted for an argument ("crash", "32x4"). */
static int is_planted(const char *fault, const char *argument)
{
    char wanted[80];
    const char *const faults = getenv("STRAKE_TEST_FAULTS");
    const int length = snprintf(wanted, sizeof wanted, "%s:%s", fault, argument);
    for (const char *at = faults; at != NULL && (at = strstr(at, wanted)) != NULL; at++) {
        if (at[length] == '\0' || at[length] == ' ') {
            return 1;
        }
    }
    return 0;
}

/* The last buffer among a kernel's arguments: outputs come after inputs. */
static struct {
    cl_kernel kernel;
    cl_mem output;
} outputs[MOST];

static cl_mem buffers[MOST];
static int buffer_count;

/* Host memory that contexts use. */
static struct {
    const char *memory;
    size_t size;
    cl_mem buffer; /* NULL: none any more */
    cl_context context;
} pins[MOST];
static int pinned_twice;
static pthread_mutex_t pinning = PTHREAD_MUTEX_INITIALIZER;

static void note_pin(cl_context context, const char *memory, size_t size, cl_mem buffer)
{
    int room = 0;
    (void)pthread_mutex_lock(&pinning);
    for (int k = 0; k < MOST; k++) {
        const int meets = pins[k].buffer != NULL && memory < pins[k].memory + pins[k].size &&
                          pins[k].memory < memory + size;
        pinned_twice = pinned_twice || (meets && pins[k].context != context);
        room = pins[k].buffer == NULL ? k : room;
    }
    pins[room].memory = memory;
    pins[room].size = size;
    pins[room].buffer = buffer;
    pins[room].context = context;
    (void)pthread_mutex_unlock(&pinning);
}

cl_int clReleaseMemObject(cl_mem buffer)
{
    cl_int (*const next)(cl_mem) = (cl_int(*)(cl_mem))real("clReleaseMemObject");
    (void)pthread_mutex_lock(&pinning);
    for (int k = 0; k < MOST; k++) {
        pins[k].buffer = pins[k].buffer == buffer ? NULL : pins[k].buffer;
    }
    (void)pthread_mutex_unlock(&pinning);
    return next(buffer);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits, size_t offset,
                           size_t size, void *memory, cl_uint events, const cl_event *wait,
                           cl_event *event)
{
    cl_int (*const next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
                         const cl_event *, cl_event *) =
        (cl_int(*)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
                   const cl_event *, cl_event *))real("clEnqueueReadBuffer");
    return pinned_twice && is_planted("pin", "twice")
               ? CL_OUT_OF_RESOURCES
               : next(queue, buffer, waits, offset, size, memory, events, wait, event);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    cl_mem (*const next)(cl_context, cl_mem_flags, size_t, void *, cl_int *) =
        (cl_mem(*)(cl_context, cl_mem_flags, size_t, void *, cl_int *))real("clCreateBuffer");
    const char *const most = getenv("STRAKE_TEST_MAX_ALLOC");
    if (most != NULL && size > strtoul(most, NULL, 10) && is_planted("alloc", "refused")) {
        *code = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    const cl_mem buffer = next(context, flags, size, host, code);
    if ((flags & CL_MEM_USE_HOST_PTR) != 0 && buffer != NULL) {
        note_pin(context, host, size, buffer);
    } else if (flags & CL_MEM_READ_WRITE) { /* not a list of slabs */
        buffers[buffer_count++ % MOST] = buffer;
    }
    return buffer;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    cl_int (*const next)(cl_kernel, cl_uint, size_t, const void *) =
        (cl_int(*)(cl_kernel, cl_uint, size_t, const void *))real("clSetKernelArg");
    cl_mem buffer = NULL;
    if (size == sizeof buffer && value != NULL) {
        memcpy(&buffer, value, sizeof buffer);
        for (int k = 0; k < MOST && buffer != NULL; k++) {
            if (buffers[k] == buffer) {
                int slot = 0;
                while (slot < MOST - 1 && outputs[slot].kernel != NULL &&
                       outputs[slot].kernel != kernel) {
                    slot++;
                }
                outputs[slot].kernel = kernel;
                outputs[slot].output = buffer;
                break;
            }
        }
    }
    return next(kernel, index, size, value);
}

/* The last eight bytes of the kernel's output. */
static void write_beyond(cl_command_queue queue, cl_kernel kernel)
{
    static const cl_ulong wrong = 42;
    for (int k = 0; k < MOST; k++) {
        size_t size = 0;
        if (outputs[k].kernel == kernel &&
            clGetMemObjectInfo(outputs[k].output, CL_MEM_SIZE, sizeof size, &size, NULL) ==
                CL_SUCCESS) {
            (void)clEnqueueFillBuffer(queue, outputs[k].output, &wrong, sizeof wrong,
                                      size - sizeof wrong, sizeof wrong, 0, NULL, NULL);
            return;
        }
    }
}

static int fill_failed;

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t width,
                           size_t offset, size_t size, cl_uint waits, const cl_event *wait,
                           cl_event *event)
{
    cl_int (*const next)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
                         const cl_event *, cl_event *) =
        (cl_int(*)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
                   const cl_event *, cl_event *))real("clEnqueueFillBuffer");
    const char *const bits = getenv("STRAKE_TEST_FILL_BITS");
    const size_t all = bits != NULL ? (size_t)1 << atoi(bits) : 0;
    if (all > 0 &&
        (offset / width % all >= all / 2 || (offset + size - 1) / width % all >= all / 2)) {
        fill_failed = 1;
        return CL_SUCCESS;
    }
    return next(queue, buffer, pattern, width, all > 0 ? offset / width % all * width : offset,
                size, waits, wait, event);
}

cl_int clFinish(cl_command_queue queue)
{
    cl_int (*const next)(cl_command_queue) = (cl_int(*)(cl_command_queue))real("clFinish");
    const cl_int code = next(queue);
    return fill_failed ? CL_INVALID_COMMAND_QUEUE : code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int (*const next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                         const size_t *, cl_uint, const cl_event *, cl_event *) =
        (cl_int(*)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *,
                   cl_event *))real("clEnqueueNDRangeKernel");
    char size[40] = "";
    cl_int code = CL_SUCCESS;
    if (local != NULL && dims >= 2) {
        (void)snprintf(size, sizeof size, "%zux%zu", local[0], local[1]);
    }
    if (is_planted("crash", size)) {
        *(volatile int *)8 = 0; /* NOLINT: that is the point */
    }
    if (is_planted("hang", size)) {
        hang();
    }
    if (is_planted("slow", "kernels")) {
        (void)usleep(30000);
    }
    if (is_planted("slow", "items")) {
        const size_t items = global[0] * (dims > 1 ? global[1] : 1) * (dims > 2 ? global[2] : 1);
        (void)usleep((useconds_t)(items / 10));
    }
    if (!is_planted("skip", size)) {
        code = next(queue, kernel, dims, offset, global, local, waits, wait, event);
    }
    if (is_planted("beyond", size)) {
        write_beyond(queue, kernel);
    }
    return code;
}

/* A source as $STRAKE_TEST_SOURCE changes it, to be freed; NULL where it does not. */
static char *changed(const char *text)
{
    const char *const rule = getenv("STRAKE_TEST_SOURCE");
    const char *const arrow = rule != NULL ? strstr(rule, "=>") : NULL;
    char *const old = arrow != NULL ? strndup(rule, (size_t)(arrow - rule)) : NULL;
    const char *const at = old != NULL ? strstr(text, old) : NULL;
    char *result = NULL;
    if (at != NULL &&
        asprintf(&result, "%.*s%s%s", (int)(at - text), text, arrow + 2, at + strlen(old)) < 0) {
        abort();
    }
    free(old);
    return result;
}

static cl_program refused[MOST];
static int refused_count;

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **text,
                                     const size_t *length, cl_int *code)
{
    cl_program (*const next)(cl_context, cl_uint, const char **, const size_t *, cl_int *) =
        (cl_program(*)(cl_context, cl_uint, const char **, const size_t *, cl_int *))real(
            "clCreateProgramWithSource");
    char *const other = changed(text[0]);
    const cl_program program =
        next(context, count, other != NULL ? (const char **)(void *)&other : text, length, code);
    free(other);
    for (int k = 0; k < MOST; k++) {
        refused[k] = refused[k] == program ? NULL : refused[k]; /* a handle used again */
    }
    if ((is_planted("build", "__local") && strstr(text[0], "__local") != NULL) ||
        (is_planted("build", "march") && strstr(text[0], "for (; i < end") != NULL)) {
        refused[refused_count++ % MOST] = program;
    }
    return program;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *device,
                      const char *options, void (*notify)(cl_program, void *), void *user)
{
    cl_int (*const next)(cl_program, cl_uint, const cl_device_id *, const char *,
                         void (*)(cl_program, void *), void *) =
        (cl_int(*)(cl_program, cl_uint, const cl_device_id *, const char *,
                   void (*)(cl_program, void *), void *))real("clBuildProgram");
    for (int k = 0; k < MOST; k++) {
        if (refused[k] != NULL && refused[k] == program) {
            return CL_BUILD_PROGRAM_FAILURE;
        }
    }
    const char *const delay = getenv("STRAKE_TEST_BUILD_SECONDS");
    size_t source = 0;
    if (delay != NULL &&
        clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &source) == CL_SUCCESS &&
        source > 1) {
        (void)usleep((useconds_t)(1e6 * strtod(delay, NULL)));
    }
    return next(program, count, device, options, notify, user);
}

/* Files in OCL_ICD_FILENAMES, which is cut at the first colon as Khronos' loader does it. */
static cl_uint cut_drivers(void)
{
    static cl_uint files;
    if (files == 0) {
        char *const names = getenv("OCL_ICD_FILENAMES");
        files = 1;
        for (const char *at = names; at != NULL && *at != '\0'; at++) {
            files += *at == ':';
        }
        if (names != NULL) {
            names[strcspn(names, ":")] = '\0';
        }
    }
    return files;
}

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *platform, cl_uint *count)
{
    cl_int (*const next)(cl_uint, cl_platform_id *, cl_uint *) =
        (cl_int(*)(cl_uint, cl_platform_id *, cl_uint *))real("clGetPlatformIDs");
    if (is_planted("cut", "drivers")) {
        (void)cut_drivers();
    }
    return next(most, platform, count);
}

static cl_device_id listed[MOST];

/* The kind of a device in $STRAKE_TEST_KINDS, 0 for none. */
static cl_device_type made_up_type(cl_device_id device)
{
    const char *kind = getenv("STRAKE_TEST_KINDS");
    for (int k = 0; k < MOST && kind != NULL && *kind != '\0'; k++) {
        if (listed[k] == device) {
            return *kind == 'g'   ? CL_DEVICE_TYPE_GPU
                   : *kind == 'a' ? CL_DEVICE_TYPE_ACCELERATOR
                                  : CL_DEVICE_TYPE_CPU;
        }
        kind += strcspn(kind, " ");
        kind += strspn(kind, " ");
    }
    return 0;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most,
                      cl_device_id *device, cl_uint *count)
{
    cl_int (*const next)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) =
        (cl_int(*)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))real(
            "clGetDeviceIDs");
    const cl_int code = next(platform, type, most, device, count);
    if (code == CL_SUCCESS && device != NULL) {
        memset(listed, 0, sizeof listed);
        memcpy(listed, device, (most < MOST ? most : MOST) * sizeof *device);
    }
    if (count != NULL && is_planted("cut", "drivers") && *count > cut_drivers()) {
        *count = cut_drivers();
    }
    return code;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info info, size_t size, void *value,
                       size_t *needed)
{
    cl_int (*const next)(cl_device_id, cl_device_info, size_t, void *, size_t *) =
        (cl_int(*)(cl_device_id, cl_device_info, size_t, void *, size_t *))real("clGetDeviceInfo");
    static const char name[] = "made-up";
    const cl_device_type type =
        is_planted("type", "gpu") ? CL_DEVICE_TYPE_GPU : made_up_type(device);
    const char *const most = getenv("STRAKE_TEST_MAX_ALLOC");
    const cl_ulong bytes = most != NULL ? strtoul(most, NULL, 10) : 0;
    if (info == CL_DEVICE_MAX_MEM_ALLOC_SIZE && bytes > 0 && value != NULL &&
        size >= sizeof bytes) {
        memcpy(value, &bytes, sizeof bytes);
        return CL_SUCCESS;
    }
    if (info == CL_DEVICE_TYPE && value != NULL && size >= sizeof type && type != 0) {
        memcpy(value, &type, sizeof type);
        return CL_SUCCESS;
    }
    if ((info == CL_DEVICE_NAME || info == CL_DEVICE_VENDOR) && is_planted("name", name)) {
        if (needed != NULL) {
            *needed = sizeof name;
        }
        if (value != NULL && size >= sizeof name) {
            memcpy(value, name, sizeof name);
        }
        return value != NULL && size < sizeof name ? CL_INVALID_VALUE : CL_SUCCESS;
    }
    return next(device, info, size, value, needed);
}
