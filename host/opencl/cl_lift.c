#include "opencl/cl_lift.h"

static const strake_cl *api(const strake_cl_lift *l)
{
    return l->window->kernels->cl;
}

static const strake_cl_device *device_of(const strake_cl_lift *l)
{
    return l->window->kernels->device;
}

void strake_cl_lift_open(strake_cl_lift *l, strake_cl_window *window, bool pins, uint64_t memory,
                         const strake_cl_waiter *waiter)
{
    uint64_t largest = 0;
    const uint64_t used = strake_cl_window_bytes(window->kernels, &window->layout, &largest);
    l->window = window;
    l->room = memory > used ? memory - used : 0;
    l->waiter = *waiter;
    l->pins = (strake_cl_pins){.cl = window->kernels->cl,
                               .device = window->kernels->device,
                               .context = window->kernels->context,
                               .allowed = pins};
}

void strake_cl_lift_release(strake_cl_lift *l)
{
    if (l->window == NULL) {
        return;
    }
    if (l->queue != NULL) {
        (void)api(l)->clFinish(l->queue);
        (void)api(l)->clReleaseCommandQueue(l->queue);
    }
    strake_cl_release_event(api(l), &l->read);
    strake_cl_release_event(api(l), &l->arrived);
    strake_cl_pins_release(&l->pins);
    for (int v = 0; v < STRAKE_MAX_VALUES; v++) {
        strake_cl_release_buffer(l->window->kernels, &l->spare[v]);
    }
    l->window = NULL;
}

static bool is_new(const strake_cl_lift *l, void *const *array, int v)
{
    return strake_cl_window_needs(l->window, v) && array[v] != NULL;
}

/* Whether an input has a second array. It is no error where there is no memory: the input is written where it is. */
static bool has_spare(strake_cl_lift *l, int v)
{
    strake_error ignored;
    const uint64_t bytes = strake_cl_window_array_bytes(l->window);
    l->refused = l->refused || (l->spare[v] == NULL && l->held + bytes > l->room);
    if (l->spare[v] != NULL || l->refused) {
        return l->spare[v] != NULL;
    }
    /* Some drivers find out that there is no memory when the array is filled. */
    if (strake_cl_window_new_array(l->window, &l->spare[v], &ignored) != STRAKE_OK ||
        strake_cl_wait_queue(api(l), device_of(l), &l->waiter, l->window->queue, &ignored) !=
            STRAKE_OK) {
        strake_cl_release_buffer(l->window->kernels, &l->spare[v]);
        l->refused = true;
        return false;
    }
    l->held += bytes;
    return true;
}

static bool has_queue(strake_cl_lift *l)
{
    const strake_cl_kernels *const k = l->window->kernels;
    cl_int code = CL_SUCCESS;
    if (l->queue == NULL) {
        const cl_command_queue_properties timers =
            k->record != NULL ? CL_QUEUE_PROFILING_ENABLE : 0;
        l->queue = k->cl->clCreateCommandQueue(k->context, k->device->device, timers, &code);
    }
    return code == CL_SUCCESS && l->queue != NULL;
}

/* Before the uploads of some inputs. @param[out] beside  they go through the own queue into the second arrays */
static strake_status begin(strake_cl_lift *l, void *const *array, bool *beside, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool again = !l->window->is_member, any = false;
    *beside = false;
    for (int v = 0; v < l->window->kernels->graph->values; v++) {
        if (is_new(l, array, v)) {
            again = again && l->came[v];
            l->came[v] = any = true;
        }
    }
    for (int v = 0; v < l->window->kernels->graph->values && any && again; v++) {
        again = !is_new(l, array, v) || has_spare(l, v);
    }
    if (!any || !again || !has_queue(l)) {
        return STRAKE_OK;
    }
    STRAKE_TRY(l->read == NULL
                   ? strake_cl_mark(api(l), device_of(l), l->window->queue, &l->read, error)
                   : STRAKE_OK);
    STRAKE_TRY(strake_cl_come_after(api(l), device_of(l), l->queue, l->read, error));
    strake_cl_release_event(api(l), &l->read);
    l->pins.record = l->window->kernels->record;
    *beside = true;
cleanup:
    return status;
}

/* After them: steps that are enqueued from now on wait for them, and read them. */
static strake_status end(strake_cl_lift *l, void *const *array, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = l->window;
    l->pins.record = NULL;
    strake_cl_release_event(api(l), &l->arrived);
    STRAKE_TRY(strake_cl_mark(api(l), device_of(l), l->queue, &l->arrived, error));
    /* Those that read what becomes the second arrays. */
    STRAKE_TRY(strake_cl_mark(api(l), device_of(l), w->queue, &l->read, error));
    STRAKE_TRY(strake_cl_come_after(api(l), device_of(l), w->queue, l->arrived, error));
    for (int v = 0; v < w->kernels->graph->values; v++) {
        if (is_new(l, array, v)) {
            const cl_mem before = w->array[w->slot[v]];
            w->array[w->slot[v]] = l->spare[v];
            l->spare[v] = before;
        }
    }
cleanup:
    return status;
}

/* Pins the slabs of an input that the window has: its first upload need not be fast, those beside steps are. */
static void pin_input(strake_cl_lift *l, const strake_layout *host, strake_range slabs, void *array)
{
    const int64_t first = slabs.first > -host->lo[0] ? slabs.first : -(int64_t)host->lo[0];
    const int64_t last = host->n[0] + host->hi[0];
    const size_t from = strake_layout_offset(host, first);
    const size_t page = from / STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    strake_cl_pins_add(&l->pins, (char *)array + page,
                       strake_layout_offset(host, slabs.end < last ? slabs.end : last) - page);
}

strake_status strake_cl_lift_upload(strake_cl_lift *l, const strake_layout *host, int64_t base,
                                    void *const *array, bool *beside, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_window *const w = l->window;
    const strake_range slabs = {base - w->layout.lo[0], base + w->layout.n[0] + w->layout.hi[0]};
    STRAKE_TRY(begin(l, array, beside, error));
    for (int v = 0; v < w->kernels->graph->values; v++) {
        if (!is_new(l, array, v)) {
            continue;
        }
        if (*beside) {
            pin_input(l, host, slabs, array[v]);
        }
        STRAKE_TRY(strake_cl_window_upload(w, &l->pins, *beside ? l->queue : w->queue,
                                           *beside ? l->spare[v] : w->array[w->slot[v]], host,
                                           array[v], base, slabs,
                                           host->boundary[0] == STRAKE_PERIODIC, error));
    }
    STRAKE_TRY(*beside ? end(l, array, error) : STRAKE_OK);
cleanup:
    return status;
}

strake_status strake_cl_lift_wait(strake_cl_lift *l, strake_error *error)
{
    return strake_cl_wait(api(l), device_of(l), &l->waiter, &l->arrived, error);
}
