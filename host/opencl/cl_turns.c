/*
 * Launches on PoCL before 6.0, which are its releases on Debian 12, Ubuntu 22.04 and 24.04.
 *
 * Such a PoCL keeps what it compiled in a list: one entry for a kernel, a size of groups and the widest launch up to
 * now. A launch takes the first entry that is wide enough, and gives back the first one that is when it ends. Where a
 * wider launch made a new entry between the two, that is another entry, and the process ends by an assertion,
 * "found->ref_count > 0". Two queues of one device, and two contexts, do this at times.
 */
#include "opencl/cl_device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum {
    /* PoCL forgets what was not used for long when it has 128 entries. */
    KERNELS = 96,
    /* Seconds for which a queue may compute; one that hangs is not waited for again. */
    PATIENCE = 10
};

typedef struct turn_queue {
    cl_command_queue queue;
    bool hangs;
    struct turn_queue *next;
} turn_queue;

/* The widest launch of a kernel in groups of one size. */
typedef struct turn_width {
    cl_kernel kernel;
    size_t local[3], width;
} turn_width;

/* Of the process, as the list of PoCL is. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static strake_cl real;
static turn_queue *queues;
static atomic_int queue_count;
static turn_width known[KERNELS];
static int known_count;

static bool takes_turns(cl_device_id device)
{
    char name[128] = "", version[128] = "";
    const char *number = NULL;
    cl_platform_id platform = NULL;
    if (real.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) !=
            CL_SUCCESS ||
        real.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
        real.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL) !=
            CL_SUCCESS ||
        strcmp(name, STRAKE_CL_POCL) != 0) {
        return false;
    }
    /* "OpenCL 3.0 PoCL 3.1-debian  Linux, ..." */
    number = strstr(version, "PoCL ");
    number = number != NULL ? number : strstr(version, "pocl ");
    return number == NULL || strtol(number + 5, NULL, 10) < 6;
}

static turn_queue *find_queue(cl_command_queue queue)
{
    turn_queue *q = queues;
    while (q != NULL && q->queue != queue) {
        q = q->next;
    }
    return q;
}

static bool same_size(const size_t a[3], const size_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static turn_width *find_width(cl_kernel kernel, const size_t local[3])
{
    turn_width *w = known;
    while (w < known + known_count && (w->kernel != kernel || !same_size(w->local, local))) {
        ++w;
    }
    return w < known + known_count ? w : NULL;
}

static void forget_kernel(cl_kernel kernel)
{
    for (int k = known_count - 1; k >= 0; k--) {
        if (known[k].kernel == kernel) {
            known[k] = known[--known_count];
        }
    }
}

static void learn_width(cl_kernel kernel, const size_t local[3], size_t width)
{
    turn_width *w = find_width(kernel, local);
    if (w == NULL) {
        known_count = known_count < KERNELS ? known_count : 0;
        w = &known[known_count++];
    }
    *w = (turn_width){kernel, {local[0], local[1], local[2]}, width};
}

/* Not clFinish(): a thread that waits for a device that hangs must be able to leave it. */
static void wait_for_queue(turn_queue *q)
{
    const double begin = strake_clock_seconds();
    cl_event mark = NULL;
    cl_int state = CL_QUEUED;
    if (q->hangs || real.clEnqueueMarkerWithWaitList(q->queue, 0, NULL, &mark) != CL_SUCCESS) {
        return;
    }
    (void)real.clFlush(q->queue);
    while (real.clGetEventInfo(mark, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                               NULL) == CL_SUCCESS &&
           state > CL_COMPLETE && !q->hangs) {
        q->hangs = strake_clock_seconds() - begin > PATIENCE;
        strake_clock_sleep(1e-4);
    }
    (void)real.clReleaseEvent(mark);
}

static CL_API_ENTRY cl_command_queue CL_API_CALL create_queue(cl_context context,
                                                              cl_device_id device,
                                                              cl_command_queue_properties kind,
                                                              cl_int *code)
{
    const cl_command_queue queue = real.clCreateCommandQueue(context, device, kind, code);
    turn_queue *const q = queue != NULL && takes_turns(device) ? malloc(sizeof(turn_queue)) : NULL;
    if (q != NULL) {
        (void)pthread_rwlock_wrlock(&lock);
        *q = (turn_queue){.queue = queue, .next = queues};
        queues = q;
        atomic_fetch_add(&queue_count, 1);
        (void)pthread_rwlock_unlock(&lock);
    }
    return queue;
}

static CL_API_ENTRY cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    (void)pthread_rwlock_wrlock(&lock);
    for (turn_queue **q = &queues; *q != NULL; q = &(*q)->next) {
        if ((*q)->queue == queue) {
            turn_queue *const gone = *q;
            *q = gone->next;
            free(gone);
            atomic_fetch_sub(&queue_count, 1);
            break;
        }
    }
    (void)pthread_rwlock_unlock(&lock);
    return real.clReleaseCommandQueue(queue);
}

/* A kernel may be where one that was released has been. */
static CL_API_ENTRY cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name,
                                                        cl_int *code)
{
    const cl_kernel kernel = real.clCreateKernel(program, name, code);
    if (atomic_load(&queue_count) > 0) {
        (void)pthread_rwlock_wrlock(&lock);
        forget_kernel(kernel);
        (void)pthread_rwlock_unlock(&lock);
    }
    return kernel;
}

static CL_API_ENTRY cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel,
                                              cl_uint dimensions, const size_t *offset,
                                              const size_t *global, const size_t *local,
                                              cl_uint count, const cl_event *events, cl_event *out)
{
    size_t size[3] = {0, 0, 0}, width = 0;
    const turn_width *w = NULL;
    turn_queue *q = NULL;
    cl_int code = CL_SUCCESS;

    if (atomic_load(&queue_count) == 0) {
        return real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count,
                                           events, out);
    }
    for (cl_uint k = 0; k < dimensions && k < 3; k++) {
        size[k] = local != NULL ? local[k] : 0;
        width = global[k] > width ? global[k] : width;
    }
    (void)pthread_rwlock_rdlock(&lock);
    q = find_queue(queue);
    w = find_width(kernel, size);
    if (q == NULL || (local != NULL && w != NULL && width <= w->width)) {
        code = real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count,
                                           events, out);
        (void)pthread_rwlock_unlock(&lock);
        return code;
    }
    (void)pthread_rwlock_unlock(&lock);
    (void)pthread_rwlock_wrlock(&lock);
    for (turn_queue *other = queues; other != NULL; other = other->next) {
        wait_for_queue(other);
    }
    code = real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count,
                                       events, out);
    if (code == CL_SUCCESS) {
        wait_for_queue(q);
        learn_width(kernel, size, width);
    }
    (void)pthread_rwlock_unlock(&lock);
    return code;
}

void strake_cl_turns_take(strake_cl *cl)
{
    real = *cl;
    cl->clCreateCommandQueue = create_queue;
    cl->clReleaseCommandQueue = release_queue;
    cl->clCreateKernel = create_kernel;
    cl->clEnqueueNDRangeKernel = launch;
}
