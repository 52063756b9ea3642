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

bool strake_cl_pins_add(strake_cl_pins *pins, void *memory, size_t bytes)
{
    /* Buffers have a largest size; whole pages. */
    const size_t most =
        (size_t)pins->device->max_allocation / STRAKE_CL_PIN_PAGE * STRAKE_CL_PIN_PAGE;
    const strake_cl_pin *const before = find(pins, memory);
    bool all = false;
    if (!pins->allowed || before != NULL) {
        return before != NULL && before->buffer != NULL;
    }
    all = pins->count < STRAKE_CL_MOST_PINS;
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
        all = all && pin->buffer != NULL && (at == bytes || pins->count < STRAKE_CL_MOST_PINS);
    }
    return all;
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

/* Bytes from an address on that were pinned together, or belong to no pin; at most @p bytes. */
static size_t together(const strake_cl_pins *pins, const char *memory, size_t bytes)
{
    const strake_cl_pin *pin = find(pins, memory);
    const size_t left = pin != NULL ? pin->bytes - (size_t)(memory - pin->memory) : bytes;
    return left < bytes ? left : bytes;
}

/* From or to host memory, whichever is given; pin by pin. */
static strake_status transfer(const strake_cl_pins *pins, cl_command_queue queue, cl_mem buffer,
                              size_t offset, size_t bytes, const char *from, char *to,
                              cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = pins->cl;
    const bool up = from != NULL;
    for (size_t at = 0; at < bytes;) {
        const size_t piece = together(pins, (up ? from : to) + at, bytes - at);
        cl_event own = NULL;
        cl_event *const event = at + piece == bytes && done != NULL ? done
                                : pins->record != NULL              ? &own
                                                                    : NULL;
        const cl_int code = up ? cl->clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset + at,
                                                          piece, from + at, 0, NULL, event)
                               : cl->clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset + at,
                                                         piece, to + at, 0, NULL, event);
        STRAKE_CL(up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer", code, error, pins->device);
        strake_cl_record_add(pins->record, up ? STRAKE_CL_UP : STRAKE_CL_DOWN, "", (double)piece,
                             event != NULL ? *event : NULL);
        strake_cl_release_event(cl, &own);
        at += piece;
    }
cleanup:
    return status;
}

strake_status strake_cl_pins_write(const strake_cl_pins *pins, cl_command_queue queue, cl_mem to,
                                   size_t offset, size_t bytes, const void *from, cl_event *done,
                                   strake_error *error)
{
    return transfer(pins, queue, to, offset, bytes, from, NULL, done, error);
}

strake_status strake_cl_pins_read(const strake_cl_pins *pins, cl_command_queue queue, cl_mem from,
                                  size_t offset, size_t bytes, void *to, cl_event *done,
                                  strake_error *error)
{
    return transfer(pins, queue, from, offset, bytes, NULL, to, done, error);
}

strake_status strake_cl_pins_pieces(const strake_cl_pins *pins, cl_command_queue queue,
                                    cl_mem buffer, const strake_cl_pieces *p, const void *from,
                                    void *to, cl_event *done, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_cl *cl = pins->cl;
    const bool up = from != NULL;
    const size_t there[3] = {p->offset, 0, 0}, here[3] = {0, 0, 0};
    const size_t region[3] = {p->bytes, (size_t)p->count, 1};
    cl_event own = NULL;
    cl_event *const event = done != NULL ? done : pins->record != NULL ? &own : NULL;
    const cl_int code =
        up ? cl->clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, there, here, region, p->apart, 0,
                                          p->bytes, 0, from, 0, NULL, event)
           : cl->clEnqueueReadBufferRect(queue, buffer, CL_FALSE, there, here, region, p->apart, 0,
                                         p->bytes, 0, to, 0, NULL, event);
    STRAKE_CL(up ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect", code, error,
              pins->device);
    strake_cl_record_add(pins->record, up ? STRAKE_CL_UP : STRAKE_CL_DOWN, "",
                         (double)p->bytes * p->count, event != NULL ? *event : NULL);
cleanup:
    strake_cl_release_event(cl, &own);
    return status;
}
