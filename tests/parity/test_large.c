/*
 * Arrays with more elements than 32 bits count, on a device whose buffers are host memory that is only
 * there where it is touched: the last slabs are filled, stepped and compared with those of a small array.
 * `make check` takes a third of the kernels (strake_trial_takes). Needs PoCL, whose kernels take the address of
 * such memory as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "case/case.h"
#include "opencl/cl_window.h"
#include "tests/support/fields.h"
#include "tests/support/trial.h"

enum {
    MOST = 64,
    DECLARED = 1 << 20, /* bytes that PoCL is told of a large buffer */
    SMALL = 48,         /* slabs */
    DEPTH = 24,         /* slabs before the last one that hold data */
    STEPPED = 8,        /* of which the first step computes so many */
    COMPARED = 4
};
static const uint64_t far = (uint64_t)1 << 32; /* elements */

/* --- an OpenCL whose large buffers are sparse ------------------------------------------------------- */

static const strake_cl *real_cl;
static struct {
    cl_mem buffer;
    char *memory;
    size_t bytes;
} region[MOST];

static char *memory_of(cl_mem buffer)
{
    for (int k = 0; k < MOST; k++) {
        if (region[k].buffer == buffer && buffer != NULL) {
            return region[k].memory;
        }
    }
    return NULL;
}

static cl_mem CL_API_CALL sparse_create(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *code)
{
    int k = 0;
    if (size <= DECLARED || host != NULL) {
        return real_cl->clCreateBuffer(context, flags, size, host, code);
    }
    while (k < MOST && region[k].buffer != NULL) {
        k++;
    }
    assert_true(k < MOST);
    region[k].bytes = size;
    region[k].memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(region[k].memory != MAP_FAILED);
    region[k].buffer = real_cl->clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, DECLARED,
                                               region[k].memory, code);
    return region[k].buffer;
}

static cl_int CL_API_CALL sparse_release(cl_mem buffer)
{
    const cl_int code = real_cl->clReleaseMemObject(buffer);
    for (int k = 0; k < MOST; k++) {
        if (region[k].buffer == buffer) {
            (void)munmap(region[k].memory, region[k].bytes);
            region[k].buffer = NULL;
        }
    }
    return code;
}

static cl_int CL_API_CALL sparse_write(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                       size_t offset, size_t size, const void *from, cl_uint count,
                                       const cl_event *list, cl_event *event)
{
    char *const memory = memory_of(buffer);
    if (memory == NULL) {
        return real_cl->clEnqueueWriteBuffer(queue, buffer, blocks, offset, size, from, count, list,
                                             event);
    }
    (void)real_cl->clFinish(queue);
    memcpy(memory + offset, from, size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL sparse_read(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                      size_t offset, size_t size, void *to, cl_uint count,
                                      const cl_event *list, cl_event *event)
{
    const char *const memory = memory_of(buffer);
    if (memory == NULL) {
        return real_cl->clEnqueueReadBuffer(queue, buffer, blocks, offset, size, to, count, list,
                                            event);
    }
    (void)real_cl->clFinish(queue);
    memcpy(to, memory + offset, size);
    return CL_SUCCESS;
}

/* Of a fill of everything only the last two rows of work-items run: the memory is zero anyway. */
static cl_int CL_API_CALL sparse_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                        const size_t *offset, const size_t *global,
                                        const size_t *local, cl_uint count, const cl_event *list,
                                        cl_event *event)
{
    size_t last[2] = {0, 0}, two[2] = {global[0], 2};
    if (dims == 2 && global[1] > 1024) {
        last[1] = global[1] - 2;
        return real_cl->clEnqueueNDRangeKernel(queue, kernel, dims, last, two, local, count, list,
                                               event);
    }
    return real_cl->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, count, list,
                                           event);
}

typedef struct bench {
    strake_cl_list list;
    strake_cl cl;
    strake_cl_device device;
} bench;

static int begin(void **state)
{
    bench *const b = calloc(1, sizeof *b);
    strake_error error;
    *state = b;
    /* Nothing here is about speed, and compiling would take most of the time. */
    if (b == NULL || setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1) != 0 ||
        strake_cl_list_open(&b->list, &error) != STRAKE_OK) {
        return -1;
    }
    return 0;
}

static int end(void **state)
{
    bench *const b = *state;
    strake_cl_list_free(&b->list);
    free(b);
    return 0;
}

static bench *need_device(void **state)
{
    bench *const b = *state;
    void *const room = mmap(NULL, 16 * far, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int k = 0;
    while (k < b->list.count &&
           strcmp(b->list.device[k].platform_name, "Portable Computing Language") != 0) {
        k++;
    }
    if (k == b->list.count || !b->list.device[k].has_double || room == MAP_FAILED) {
        print_message("# skip: %s\n", room == MAP_FAILED ? "no address space" : "no PoCL");
        skip();
    }
    (void)munmap(room, 16 * far);
    real_cl = b->list.cl;
    b->cl = *real_cl;
    b->cl.clCreateBuffer = sparse_create;
    b->cl.clReleaseMemObject = sparse_release;
    b->cl.clEnqueueWriteBuffer = sparse_write;
    b->cl.clEnqueueReadBuffer = sparse_read;
    b->cl.clEnqueueNDRangeKernel = sparse_launch;
    b->device = b->list.device[k];
    b->device.max_allocation = UINT64_MAX;
    return b;
}

static void succeed(strake_status status, const strake_error *error)
{
    if (status != STRAKE_OK) {
        fail_msg("%s", error->text);
    }
}

/* --- fills ------------------------------------------------------------------------------------------ */

typedef struct canvas {
    cl_context context;
    cl_command_queue queue;
    strake_cl_filler filler;
    cl_mem buffer;
    unsigned char *memory;
} canvas;

static void open_canvas(bench *b, canvas *c, size_t bytes)
{
    strake_error error;
    cl_int code = CL_SUCCESS;
    memset(c, 0, sizeof *c);
    c->context = b->cl.clCreateContext(NULL, 1, &b->device.device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    c->queue = b->cl.clCreateCommandQueue(c->context, b->device.device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    succeed(strake_cl_filler_build(&c->filler, &b->cl, &b->device, c->context, &error), &error);
    c->buffer = b->cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    c->memory = (unsigned char *)memory_of(c->buffer);
}

static void close_canvas(bench *b, canvas *c)
{
    (void)b->cl.clReleaseMemObject(c->buffer);
    strake_cl_filler_release(&c->filler);
    (void)b->cl.clReleaseCommandQueue(c->queue);
    (void)b->cl.clReleaseContext(c->context);
}

static const unsigned char pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* Fills, and looks at every byte from @p from to 64 bytes behind. */
static void check_fill(bench *b, canvas *c, size_t size, size_t offset, size_t bytes, size_t from)
{
    strake_error error;
    const size_t before = from >= 64 ? from - 64 : 0;
    memset(c->memory + before, 0, offset + bytes + 64 - before);
    succeed(strake_cl_fill(&c->filler, c->queue, c->buffer, pattern, size, offset, bytes, &error),
            &error);
    assert_int_equal(b->cl.clFinish(c->queue), CL_SUCCESS);
    for (size_t at = before; at < offset + bytes + 64; at++) {
        const bool inside = at >= offset && at < offset + bytes;
        if (c->memory[at] != (inside ? pattern[(at - offset) % size] : 0)) {
            fail_msg("byte %zu after a fill of %zu bytes at %zu, pattern of %zu", at, bytes, offset,
                     size);
        }
    }
}

static void every_byte_is_filled_and_no_other(void **state)
{
    bench *const b = need_device(state);
    static const size_t bytes[] = {0, 8, 16, 24, 40, 4096, 4104, 3145728 + 8};
    const size_t offset[] = {0, 8, 24, 2 * far - 8, 4 * far + 16, 8 * far + 40, 8 * far - 4096};
    canvas c;
    open_canvas(b, &c, 9 * far);
    for (size_t k = 0; k < sizeof bytes / sizeof bytes[0]; k++) {
        for (size_t o = 0; o < sizeof offset / sizeof offset[0]; o++) {
            for (size_t size = 4; size <= 8; size += 4) {
                check_fill(b, &c, size, offset[o] + 8 - size, bytes[k] + 8 - size, offset[o]);
                check_fill(b, &c, size, offset[o], bytes[k], offset[o]);
            }
        }
    }
    close_canvas(b, &c);
}

static void a_fill_of_everything_reaches_the_end(void **state)
{
    bench *const b = need_device(state);
    canvas c;
    open_canvas(b, &c, 9 * far);
    /* A row of work-items fills 1 MiB: two rows end it. */
    check_fill(b, &c, 8, 0, 9 * far - 4096, 9 * far - 4096 - 1048576);
    check_fill(b, &c, 8, 40, 8 * far + 80, 8 * far + 120 - 1048576);
    close_canvas(b, &c);
}

static void guards_of_large_arrays_stand_at_their_ends(void **state)
{
    bench *const b = need_device(state);
    canvas c;
    strake_error error;
    bool intact = true;
    const size_t bytes = 8 * far + 4096, guard = 1024;
    open_canvas(b, &c, 9 * far);
    succeed(strake_cl_guard_fill(&c.filler, c.queue, c.buffer, bytes, guard, &error), &error);
    succeed(
        strake_cl_guard_check(&b->cl, &b->device, c.queue, c.buffer, bytes, guard, &intact, &error),
        &error);
    assert_true(intact);
    assert_int_equal(c.memory[bytes - guard - 1], 0);
    assert_int_equal(c.memory[bytes], 0);
    assert_int_equal(c.memory[guard], 0);
    c.memory[bytes - 1] ^= 1;
    succeed(
        strake_cl_guard_check(&b->cl, &b->device, c.queue, c.buffer, bytes, guard, &intact, &error),
        &error);
    assert_false(intact);
    close_canvas(b, &c);
}

/* --- kernels ---------------------------------------------------------------------------------------- */

typedef struct subject {
    const char *problem, *precision;
    int64_t n1, n2;
    int fusion, vector;
    bool gpu;
} subject;

typedef struct stripe {
    strake_case *which;
    strake_graph graph;
    strake_cl_kernels kernels;
    strake_cl_window window;
    cl_command_queue queue;
} stripe;

static void open_stripe(bench *b, const subject *s, int64_t slabs, stripe *out)
{
    const bool flat = s->n1 == 1;
    const bool constant[STRAKE_MAX_FIELDS] = {false};
    const double number[STRAKE_MAX_FIELDS] = {0.0};
    const int64_t n[STRAKE_AXES] = {slabs, s->n1, s->n2};
    const strake_boundary boundary[STRAKE_AXES] = {STRAKE_OPEN, STRAKE_PERIODIC, STRAKE_PERIODIC};
    const strake_settings settings = {.fusion = s->fusion, .vector = s->vector, .group_width = 64};
    strake_error error;
    cl_int code = CL_SUCCESS;
    char text[256];
    memset(out, 0, sizeof *out);
    (void)snprintf(text, sizeof text,
                   "problem: %s\nprecision: %s\ngrid: {rows: 8, cols: 8%s}\ntime: {steps: 1%s}\n",
                   s->problem, s->precision, flat ? "" : ", planes: 8",
                   s->problem[0] == 'c' ? ", dt: 0.01" : "");
    succeed(strake_case_parse("test", text, NULL, true, &out->which, &error), &error);
    const strake_problem *problem = out->which->problem;
    succeed(problem->build(out->which, constant, number, &out->graph, &error), &error);
    const strake_layout layout = strake_layout_make_deep(&out->graph, 1, n, boundary);
    assert_int_equal((uint64_t)layout.elements > far, slabs != SMALL);
    b->device.type = s->gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
    succeed(strake_cl_kernels_build(&out->kernels, &b->cl, &b->device, &out->graph, problem,
                                    &layout, &settings, &error),
            &error);
    assert_int_equal(out->kernels.options.run.fusion, s->fusion);
    out->queue = b->cl.clCreateCommandQueue(out->kernels.context, b->device.device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    succeed(
        strake_cl_window_create(&out->window, &out->kernels, &layout, false, out->queue, &error),
        &error);
}

static void close_stripe(bench *b, stripe *s)
{
    strake_cl_window_release(&s->window);
    (void)b->cl.clReleaseCommandQueue(s->queue);
    strake_cl_kernels_release(&s->kernels);
    strake_case_close(&s->which);
}

/* Random values over the last slabs of an array and the ghosts behind them. */
static void write_slabs(bench *b, const stripe *s, cl_mem array, uint64_t seed)
{
    const strake_layout *l = &s->window.layout;
    const size_t slabs = (size_t)DEPTH + (size_t)l->hi[0];
    const size_t count = slabs * (size_t)l->slab;
    const bool single = l->element_size == (int)sizeof(float);
    char *const data = malloc(count * (size_t)l->element_size);
    assert_non_null(data);
    for (size_t k = 0; k < count; k++) {
        const double x = 0.25 + 0.5 * strake_random(&seed);
        const float narrow = (float)x;
        memcpy(data + k * (size_t)l->element_size, single ? (const void *)&narrow : &x,
               (size_t)l->element_size);
    }
    assert_int_equal(
        b->cl.clEnqueueWriteBuffer(s->queue, array, CL_TRUE,
                                   strake_cl_window_offset(&s->window, l->n[0] - DEPTH),
                                   count * (size_t)l->element_size, data, 0, NULL, NULL),
        CL_SUCCESS);
    free(data);
}

/* Two steps of the last slabs. @return these slabs and the ghosts behind them, to be freed */
static char *step_last(bench *b, stripe *s, size_t *bytes)
{
    strake_error error;
    strake_cl_window *const w = &s->window;
    const int64_t n0 = w->layout.n[0];
    const int hi = w->layout.hi[0];
    int64_t to[16], from[16];
    strake_cl_pairs pairs = {.count = 0};
    assert_true(hi < 16);
    for (int k = 0; k < hi; k++) {
        to[k] = n0 + k;
        from[k] = n0 - 1;
    }
    succeed(strake_cl_window_pairs(w, hi, to, from, &pairs, &error), &error);
    for (int v = 0; v < s->graph.values; v++) {
        if (strake_cl_window_needs(w, v)) {
            write_slabs(b, s, w->array[w->slot[v]], 7U + (uint64_t)v);
        }
    }
    for (int k = 0; k < w->states; k++) {
        write_slabs(b, s, w->state[k].buffer[0], 77U + (uint64_t)k);
        succeed(strake_cl_window_fill(w, w->state[k].buffer[0], n0 - DEPTH, n0, &pairs, &error),
                &error);
    }
    succeed(strake_cl_window_static(w, n0 - DEPTH + 4, n0, &error), &error);
    succeed(strake_cl_window_step(w, n0 - STEPPED, n0, &pairs, &error), &error);
    strake_cl_window_swap(w);
    succeed(strake_cl_window_step(w, n0 - COMPARED, n0, &pairs, &error), &error);
    strake_cl_window_swap(w);
    *bytes = ((size_t)COMPARED + (size_t)hi) * strake_cl_window_slab_bytes(w);
    char *const result = malloc(*bytes);
    assert_non_null(result);
    assert_int_equal(b->cl.clEnqueueReadBuffer(s->queue, w->state[0].buffer[w->parity], CL_TRUE,
                                               strake_cl_window_offset(w, n0 - COMPARED), *bytes,
                                               result, 0, NULL, NULL),
                     CL_SUCCESS);
    strake_cl_release_buffer(&s->kernels, &pairs.list);
    return result;
}

/* A value that is not finite is found in the last slab, and there is none before. */
static void check_search(bench *b, stripe *s)
{
    strake_error error;
    strake_cl_window *const w = &s->window;
    const strake_layout *l = &w->layout;
    const double wide = -1.0 / 0.0;
    const float narrow = -1.0F / 0.0F;
    const bool single = l->element_size == (int)sizeof narrow;
    for (int expected = 0; expected < 2; expected++) {
        if (expected == 1) {
            const int64_t at =
                w->origin + (l->n[0] - 1) * l->slab + (l->n[1] - 1) * l->pitch + l->n[2] - 1;
            assert_int_equal(
                b->cl.clEnqueueWriteBuffer(s->queue, w->state[0].buffer[w->parity], CL_TRUE,
                                           (size_t)(at * l->element_size), (size_t)l->element_size,
                                           single ? (const void *)&narrow : &wide, 0, NULL, NULL),
                CL_SUCCESS);
        }
        succeed(strake_cl_window_look(w, l->n[0] - COMPARED, l->n[0], NULL, &error), &error);
        assert_int_equal(b->cl.clFinish(s->queue), CL_SUCCESS);
        assert_int_equal(w->non_finite, expected);
    }
}

static void last_slabs_are_those_of_a_small_array(void **state)
{
    bench *const b = need_device(state);
    static const subject subjects[] = {
        {"mpdata2d", "double", 1, 70001, STRAKE_CL_FUSION_PLAIN, 1, false},
        {"mpdata2d", "double", 1, 497, STRAKE_CL_FUSION_STREAM, 1, true},
        {"mpdata2d", "single", 1, 9001, STRAKE_CL_FUSION_STREAM, 2, false},
        {"mpdata2d", "double", 1, 497, STRAKE_CL_FUSION_TILE, 1, true},
        {"mpdata2d", "single", 1, 497, STRAKE_CL_FUSION_TILE, 1, false},
        {"cahn_hilliard2d", "double", 1, 9001, STRAKE_CL_FUSION_NONE, 1, false},
        {"cahn_hilliard3d", "single", 50, 60, STRAKE_CL_FUSION_PLAIN, 1, false},
        {"cahn_hilliard3d", "double", 50, 60, STRAKE_CL_FUSION_STREAM, 1, true},
    };
    static stripe s;
    for (size_t k = 0; k < sizeof subjects / sizeof subjects[0]; k++) {
        char *result[2];
        size_t bytes[2];
        int64_t slabs = SMALL;
        if (!strake_trial_takes((int)k, 3)) {
            continue;
        }
        for (int large = 0; large < 2; large++) {
            strake_error error;
            bool intact = true;
            open_stripe(b, &subjects[k], slabs, &s);
            result[large] = step_last(b, &s, &bytes[large]);
            check_search(b, &s);
            succeed(strake_cl_window_check(&s.window, &intact, &error), &error);
            assert_true(intact);
            slabs = (int64_t)(far + far / 16) / s.window.layout.slab;
            close_stripe(b, &s);
        }
        assert_int_equal(bytes[0], bytes[1]);
        if (memcmp(result[0], result[1], bytes[0]) != 0) {
            fail_msg("subject %zu: %s, fusion %d", k, subjects[k].problem, subjects[k].fusion);
        }
        free(result[0]);
        free(result[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_filled_and_no_other),
        cmocka_unit_test(a_fill_of_everything_reaches_the_end),
        cmocka_unit_test(guards_of_large_arrays_stand_at_their_ends),
        cmocka_unit_test(last_slabs_are_those_of_a_small_array),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
