/*
 * An OpenCL library in front of the real one (STRAKE_OPENCL_LIBRARY names it) whose devices are GPUs of another name with
 * one unit, so that there are two queues and more of each, and which runs their commands one by one in any order that events
 * and queues allow: at random by $STRAKE_TEST_ORDER; those that somebody waits for as late as possible where that is one
 * more than a multiple of three, and as early as possible where it is two more. What is not ordered comes to other bytes.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { MOST_ARGUMENTS = 160, MOST_BYTES = 512, MOST_QUEUES = 256, MOST_KERNELS = 4096 };
enum { BY_CHANCE, LATE, EARLY };

typedef struct queue queue;

typedef struct event {
    int holders, is_done;
    queue *in;
} event;

typedef struct argument {
    size_t bytes; /* 0: none */
    int is_local;
    unsigned char value[MOST_BYTES];
} argument;

typedef struct kernel_arguments {
    cl_kernel kernel;
    int count;
    argument all[MOST_ARGUMENTS];
} kernel_arguments;

typedef struct command {
    enum { LAUNCH, READ, WRITE, COPY, NOTHING } kind;
    struct command *next;
    event *done, **after;
    cl_uint waits;
    kernel_arguments *arguments; /* of a launch */
    cl_uint dims;
    size_t global[3], local[3];
    int has_local;
    cl_mem from, to;
    size_t offset, other, bytes;
    void *memory;
} command;

struct queue {
    cl_command_queue real;
    cl_context context;
    command *first, *last;
};

static pthread_mutex_t lock;
static queue *queues[MOST_QUEUES];
static kernel_arguments *kernels[MOST_KERNELS];
static int queue_count, kernel_count, way;
static unsigned state;

__attribute__((constructor)) static void begin(void)
{
    pthread_mutexattr_t kind;
    const char *const text = getenv("STRAKE_TEST_ORDER");
    const int seed = text != NULL ? atoi(text) : 0;
    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&lock, &kind);
    state = (unsigned)seed * 2654435761u + 1;
    way = seed % 3;
}

static unsigned chance(unsigned of)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % of;
}

static void check(const char *what, cl_int code)
{
    if (code != CL_SUCCESS) {
        (void)fprintf(stderr, "queues_opencl: %s: %d\n", what, code);
        abort();
    }
}

static void let_go(event *e)
{
    if (--e->holders == 0) {
        free(e);
    }
}

static event *unmet(const command *c)
{
    for (cl_uint k = 0; k < c->waits; k++) {
        if (!c->after[k]->is_done) {
            return c->after[k];
        }
    }
    return NULL;
}

static cl_int launch(const queue *q, const command *c)
{
    const kernel_arguments *const a = c->arguments;
    for (int k = 0; k < a->count; k++) {
        if (a->all[k].bytes > 0) {
            check("clSetKernelArg",
                  REAL(clSetKernelArg)(a->kernel, (cl_uint)k, a->all[k].bytes,
                                       a->all[k].is_local ? NULL : a->all[k].value));
        }
    }
    return REAL(clEnqueueNDRangeKernel)(q->real, a->kernel, c->dims, NULL, c->global,
                                        c->has_local ? c->local : NULL, 0, NULL, NULL);
}

static void run_first(queue *q)
{
    command *const c = q->first;
    cl_int code = CL_SUCCESS;
    switch (c->kind) {
    case LAUNCH:
        code = launch(q, c);
        break;
    case READ:
        code = REAL(clEnqueueReadBuffer)(q->real, c->from, CL_TRUE, c->offset, c->bytes, c->memory,
                                         0, NULL, NULL);
        break;
    case WRITE:
        code = REAL(clEnqueueWriteBuffer)(q->real, c->to, CL_TRUE, c->offset, c->bytes, c->memory,
                                          0, NULL, NULL);
        break;
    case COPY:
        code = REAL(clEnqueueCopyBuffer)(q->real, c->from, c->to, c->offset, c->other, c->bytes, 0,
                                         NULL, NULL);
        break;
    case NOTHING:
        break;
    }
    check("a command", code);
    check("clFinish", REAL(clFinish)(q->real));
    c->done->is_done = 1;
    let_go(c->done);
    for (cl_uint k = 0; k < c->waits; k++) {
        let_go(c->after[k]);
    }
    q->first = c->next;
    q->last = q->first != NULL ? q->last : NULL;
    free(c->after);
    free(c->arguments);
    free(c);
}

/* One command on the way to an event. */
static void run_towards(const event *e)
{
    while (!e->is_done) {
        const event *const before = unmet(e->in->first);
        if (before == NULL) {
            run_first(e->in);
            return;
        }
        e = before;
    }
}

/* One of those of a context that may run. @return whether there was one */
static int run_any(cl_context context)
{
    queue *ready[MOST_QUEUES];
    unsigned count = 0;
    for (int k = 0; k < queue_count; k++) {
        if (queues[k]->context == context && queues[k]->first != NULL &&
            unmet(queues[k]->first) == NULL) {
            ready[count++] = queues[k];
        }
    }
    if (count > 0) {
        run_first(ready[chance(count)]);
    }
    return count > 0;
}

static void run_for(const event *e)
{
    if (way == LATE || (way == BY_CHANCE && chance(2) == 0)) {
        run_towards(e);
    } else {
        (void)run_any(e->in->context);
    }
}

static void drain(queue *q)
{
    while (q->last != NULL) {
        event *const last = q->last->done;
        last->holders++;
        while (!last->is_done) {
            run_for(last);
        }
        let_go(last);
    }
}

/* By who has the lock. */
static void put(queue *q, command of, cl_uint waits, const cl_event *after, cl_event *out)
{
    command *const c = malloc(sizeof *c);
    *c = of;
    c->waits = waits;
    c->after = calloc(waits + 1, sizeof(event *));
    c->done = calloc(1, sizeof *c->done);
    *c->done = (event){.holders = 1, .in = q};
    for (cl_uint k = 0; k < waits; k++) {
        c->after[k] = (event *)after[k];
        c->after[k]->holders++;
    }
    if (q->last != NULL) {
        q->last->next = c;
    } else {
        q->first = c;
    }
    q->last = c;
    if (out != NULL) {
        c->done->holders++;
        *out = (cl_event)c->done;
    }
    while (way == EARLY && run_any(q->context) && chance(2) == 0) {
    }
}

static cl_int add(cl_command_queue in, command of, cl_bool waits_here, cl_uint waits,
                  const cl_event *after, cl_event *out)
{
    queue *const q = (queue *)in;
    (void)pthread_mutex_lock(&lock);
    put(q, of, waits, after, out);
    if (waits_here) {
        drain(q);
    }
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *code)
{
    queue *const q = calloc(1, sizeof *q);
    (void)properties;
    q->real = REAL(clCreateCommandQueue)(context, device, 0, code);
    q->context = context;
    (void)pthread_mutex_lock(&lock);
    check("too many queues", queue_count < MOST_QUEUES ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
    queues[queue_count++] = q;
    (void)pthread_mutex_unlock(&lock);
    return (cl_command_queue)q;
}

cl_int clReleaseCommandQueue(cl_command_queue in)
{
    queue *const q = (queue *)in;
    (void)pthread_mutex_lock(&lock);
    drain(q);
    for (int k = 0; k < queue_count; k++) {
        if (queues[k] == q) {
            queues[k] = queues[--queue_count];
        }
    }
    const cl_int code = REAL(clReleaseCommandQueue)(q->real);
    (void)pthread_mutex_unlock(&lock);
    free(q);
    return code;
}

static kernel_arguments *find(cl_kernel kernel)
{
    for (int k = 0; k < kernel_count; k++) {
        if (kernels[k]->kernel == kernel) {
            return kernels[k];
        }
    }
    check("too many kernels", kernel_count < MOST_KERNELS ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
    kernels[kernel_count] = calloc(1, sizeof *kernels[0]);
    kernels[kernel_count]->kernel = kernel;
    return kernels[kernel_count++];
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    if (index >= MOST_ARGUMENTS || (value != NULL && bytes > MOST_BYTES)) {
        return CL_INVALID_ARG_INDEX;
    }
    (void)pthread_mutex_lock(&lock);
    kernel_arguments *const a = find(kernel);
    a->all[index].bytes = bytes;
    a->all[index].is_local = value == NULL;
    if (value != NULL) {
        memcpy(a->all[index].value, value, bytes);
    }
    a->count = (int)index < a->count ? a->count : (int)index + 1;
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue in, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *wait, cl_event *out)
{
    command c = {.kind = LAUNCH, .dims = dims, .has_local = local != NULL};
    (void)offset;
    memcpy(c.global, global, dims * sizeof *global);
    memcpy(c.local, local != NULL ? local : global, dims * sizeof *global);
    (void)pthread_mutex_lock(&lock);
    c.arguments = malloc(sizeof *c.arguments);
    *c.arguments = *find(kernel);
    put((queue *)in, c, waits, wait, out);
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue in, cl_mem from, cl_bool waits_here, size_t offset,
                           size_t bytes, void *to, cl_uint waits, const cl_event *wait,
                           cl_event *out)
{
    const command c = {.kind = READ, .from = from, .offset = offset, .bytes = bytes, .memory = to};
    return add(in, c, waits_here, waits, wait, out);
}

cl_int clEnqueueWriteBuffer(cl_command_queue in, cl_mem to, cl_bool waits_here, size_t offset,
                            size_t bytes, const void *from, cl_uint waits, const cl_event *wait,
                            cl_event *out)
{
    const command c = {
        .kind = WRITE, .to = to, .offset = offset, .bytes = bytes, .memory = (void *)from};
    return add(in, c, waits_here, waits, wait, out);
}

cl_int clEnqueueCopyBuffer(cl_command_queue in, cl_mem from, cl_mem to, size_t offset, size_t other,
                           size_t bytes, cl_uint waits, const cl_event *wait, cl_event *out)
{
    const command c = {
        .kind = COPY, .from = from, .to = to, .offset = offset, .other = other, .bytes = bytes};
    return add(in, c, CL_FALSE, waits, wait, out);
}

#define MARKS(name)                                                                                \
    cl_int name(cl_command_queue in, cl_uint waits, const cl_event *wait, cl_event *out)           \
    {                                                                                              \
        return add(in, (command){.kind = NOTHING}, CL_FALSE, waits, wait, out);                    \
    }
MARKS(clEnqueueMarkerWithWaitList)
MARKS(clEnqueueBarrierWithWaitList)

/* Seldom: when all before is done. */
void *clEnqueueMapBuffer(cl_command_queue in, cl_mem buffer, cl_bool waits_here, cl_map_flags flags,
                         size_t offset, size_t bytes, cl_uint waits, const cl_event *wait,
                         cl_event *out, cl_int *code)
{
    (void)add(in, (command){.kind = NOTHING}, CL_TRUE, waits, wait, out);
    (void)waits_here;
    return REAL(clEnqueueMapBuffer)(((queue *)in)->real, buffer, CL_TRUE, flags, offset, bytes, 0,
                                    NULL, NULL, code);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue in, cl_mem buffer, void *memory, cl_uint waits,
                               const cl_event *wait, cl_event *out)
{
    const cl_command_queue real = ((queue *)in)->real;
    (void)add(in, (command){.kind = NOTHING}, CL_TRUE, waits, wait, out);
    const cl_int code = REAL(clEnqueueUnmapMemObject)(real, buffer, memory, 0, NULL, NULL);
    return code == CL_SUCCESS ? REAL(clFinish)(real) : code;
}

#define MOVES_RECT(name, pointer)                                                                  \
    cl_int name(cl_command_queue in, cl_mem buffer, cl_bool waits_here, const size_t *origin,      \
                const size_t *host, const size_t *region, size_t row, size_t slice,                \
                size_t host_row, size_t host_slice, pointer memory, cl_uint waits,                 \
                const cl_event *wait, cl_event *out)                                               \
    {                                                                                              \
        (void)add(in, (command){.kind = NOTHING}, CL_TRUE, waits, wait, out);                      \
        (void)waits_here;                                                                          \
        return REAL(name)(((queue *)in)->real, buffer, CL_TRUE, origin, host, region, row, slice,  \
                          host_row, host_slice, memory, 0, NULL, NULL);                            \
    }
MOVES_RECT(clEnqueueReadBufferRect, void *)
MOVES_RECT(clEnqueueWriteBufferRect, const void *)

cl_int clFinish(cl_command_queue in)
{
    (void)pthread_mutex_lock(&lock);
    drain((queue *)in);
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

/* Who asks whether something is done lets something be done. */
cl_int clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *value, size_t *needed)
{
    event *const e = (event *)of;
    (void)size, (void)needed;
    if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) {
        return CL_INVALID_VALUE;
    }
    (void)pthread_mutex_lock(&lock);
    if (!e->is_done) {
        run_for(e);
    }
    *(cl_int *)value = e->is_done ? CL_COMPLETE : CL_QUEUED;
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *all)
{
    (void)pthread_mutex_lock(&lock);
    for (cl_uint k = 0; k < count; k++) {
        while (!((event *)all[k])->is_done) {
            run_for((event *)all[k]);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event of)
{
    (void)pthread_mutex_lock(&lock);
    ((event *)of)->holders++;
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event of)
{
    (void)pthread_mutex_lock(&lock);
    let_go((event *)of);
    (void)pthread_mutex_unlock(&lock);
    return CL_SUCCESS;
}

cl_int clSetEventCallback(cl_event of, cl_int type,
                          void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *user)
{
    (void)of, (void)type, (void)call, (void)user;
    return CL_INVALID_OPERATION;
}

cl_int clGetEventProfilingInfo(cl_event of, cl_profiling_info what, size_t size, void *value,
                               size_t *needed)
{
    (void)of, (void)what, (void)size, (void)value, (void)needed;
    return CL_PROFILING_INFO_NOT_AVAILABLE;
}

/* Nothing waits to be flushed, and commands that were enqueued keep what they use: it stays until the process ends. */
#define DOES_NOTHING(name, type)                                                                   \
    cl_int name(type of)                                                                           \
    {                                                                                              \
        (void)of;                                                                                  \
        return CL_SUCCESS;                                                                         \
    }
DOES_NOTHING(clFlush, cl_command_queue)
DOES_NOTHING(clReleaseKernel, cl_kernel)
DOES_NOTHING(clReleaseMemObject, cl_mem)

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                       size_t *needed)
{
    const cl_int code = REAL(clGetDeviceInfo)(device, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && value != NULL && code == CL_SUCCESS) {
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    }
    if (what == CL_DEVICE_MAX_COMPUTE_UNITS && value != NULL && code == CL_SUCCESS) {
        *(cl_uint *)value = 1;
    }
    return code;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most,
                      cl_device_id *device, cl_uint *count)
{
    (void)type;
    return REAL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, most, device, count);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                         size_t *needed)
{
    const cl_int code = REAL(clGetPlatformInfo)(platform, what, size, value, needed);
    if (what == CL_PLATFORM_NAME && value != NULL && code == CL_SUCCESS) {
        ((char *)value)[0] = 'Q';
    }
    return code;
}
