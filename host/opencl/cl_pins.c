#include "opencl/cl_pins.h"

static const strake_cl_pin *find(const strake_cl_pins *pins, const char *memory)
{
    for (int k = 0; k < pins->count; k++) {
        const strake_cl_pin *pin = &pins->pin[k];
        if (memory >= pin->memory && memory < pin->memory + pin->bytes) {
            return pin;
        }
    }
    return NULL;
}

void strake_cl_pins_add(strake_cl_pins *pins, void *memory, size_t bytes)
{
    /* Buffers have a largest size; whole pages. */
    const size_t most =
        (size_t)pins->device->max_allocation / STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    if (!pins->allowed || find(pins, memory) != NULL) {
        return;
    }
    for (size_t at = 0; at < bytes && pins->count < STRAKE_CL_MOST_PINS;) {
        const size_t piece = most > 0 && bytes - at > most ? most : bytes - at;
        strake_cl_pin *pin = &pins->pin[pins->count++];
        cl_int code = CL_SUCCESS;
        pin->memory = (const char *)memory + at;
        pin->bytes = piece;
        pin->buffer =
            pins->cl->clCreateBuffer(pins->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, piece,
                                     (char *)memory + at, &code);
        pin->buffer = code == CL_SUCCESS ? pin->buffer : NULL;
        at += piece;
    }
}

void strake_cl_pins_release(strake_cl_pins *pins)
{
    for (int k = 0; k < pins->count; k++) {
        if (pins->pin[k].buffer != NULL) {
            (void)pins->cl->clReleaseMemObject(pins->pin[k].buffer);
        }
    }
    pins->count = 0;
}

bool strake_cl_pins_complete(const strake_cl_pins *pins)
{
    for (int k = 0; k < pins->count; k++) {
        if (pins->pin[k].buffer == NULL) {
            return false;
        }
    }
    return pins->count > 0;
}

/* Bytes from an address on that were pinned together, or belong to no pin; at most @p bytes. */
static size_t together(const strake_cl_pins *pins, const char *memory, size_t bytes)
{
    const strake_cl_pin *pin = find(pins, memory);
    const size_t left = pin != NULL ? pin->bytes - (size_t)(memory - pin->memory) : bytes;
    return left < bytes ? left : bytes;
}

/* Records a transfer; without @p done its event is nobody's. */
static void record(const strake_cl_pins *pins, strake_cl_command_kind kind, size_t bytes,
                   const cl_event *done, cl_event event)
{
    strake_cl_record_add(pins->record, kind, "", (double)bytes, done != NULL ? *done : event);
    if (event != NULL) {
        (void)pins->cl->clReleaseEvent(event);
    }
}

strake_status strake_cl_pins_write(const strake_cl_pins *pins, cl_command_queue queue, cl_mem to,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *memory = from;
    for (size_t at = 0; at < bytes;) {
        const size_t piece = together(pins, memory + at, bytes - at);
        cl_event *const last = at + piece == bytes ? done : NULL;
        cl_event event = NULL;
        cl_event *const own = pins->record != NULL ? &event : NULL;
        STRAKE_CL("clEnqueueWriteBuffer",
                  pins->cl->clEnqueueWriteBuffer(queue, to, CL_FALSE, offset + at, piece,
                                                 memory + at, 0, NULL, last != NULL ? last : own),
                  error, pins->device);
        record(pins, STRAKE_CL_UP, piece, last, event);
        at += piece;
    }
cleanup:
    return status;
}

strake_status strake_cl_pins_read(const strake_cl_pins *pins, cl_command_queue queue, cl_mem from,
                                  size_t offset, size_t bytes, void *to, cl_event *done,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *memory = to;
    for (size_t at = 0; at < bytes;) {
        const size_t piece = together(pins, memory + at, bytes - at);
        cl_event *const last = at + piece == bytes ? done : NULL;
        cl_event event = NULL;
        cl_event *const own = pins->record != NULL ? &event : NULL;
        STRAKE_CL("clEnqueueReadBuffer",
                  pins->cl->clEnqueueReadBuffer(queue, from, CL_FALSE, offset + at, piece,
                                                memory + at, 0, NULL, last != NULL ? last : own),
                  error, pins->device);
        record(pins, STRAKE_CL_DOWN, piece, last, event);
        at += piece;
    }
cleanup:
    return status;
}
