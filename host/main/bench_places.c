/* Where `strake bench` measures when it is not told: everything that this machine offers, once. */
#include <stdlib.h>
#include <string.h>

#include "cpu/threads.h"
#include "cpu/topology.h"
#include "main/bench_parts.h"

typedef struct places {
    strake_bench *bench;
    strake_cl_list *list;
    void (*notice)(void *user, const char *line);
    void *user;
    int threads;      /* of the CPU stripe alone */
    bool chosen;      /* by the user: then a mixture has as many */
    int gpus, others; /* usable devices */
} places;

static void count_threads(const strake_arguments *arguments, places *p)
{
    strake_topology topology;
    const int asked =
        arguments->threads > 0 ? (int)arguments->threads : p->bench->which->run.threads;
    const int by_environment = strake_threads_asked();
    strake_topology_read(&topology);
    p->chosen = asked > 0 || by_environment > 0;
    p->threads = asked > 0            ? asked
                 : by_environment > 0 ? by_environment
                                      : strake_topology_threads(&topology);
}

/* Whether a device gives the bits of the CPU; otherwise says why it is left out. */
static bool is_usable(const places *p, int index)
{
    char line[1024];
    strake_error error = {STRAKE_OK, ""};
    strake_cl_device *const device = &p->list->device[index];
    const strake_precision precision = p->bench->which->precision;
    const bool possible = precision == STRAKE_SINGLE || device->has_double;
    if (possible && device->bit_exact[precision] < 0) {
        (void)strake_cl_selftest(p->list->cl, device, precision, &error);
    }
    if (possible && device->bit_exact[precision] == 1) {
        return true;
    }
    (void)snprintf(line, sizeof line, "ocl:%d (%.200s) is left out: it %s %.600s", index,
                   device->name,
                   !possible               ? "has no double precision"
                   : error.text[0] != '\0' ? "failed:"
                                           : "failed the arithmetic self-test; --on names it",
                   error.text);
    p->notice(p->user, line);
    return false;
}

static strake_status add_devices(places *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char where[32];
    for (int d = 0; d < p->list->count; d++) {
        if (is_usable(p, d)) {
            const bool gpu = strake_cl_device_is_gpu(&p->list->device[d]);
            p->gpus += gpu;
            p->others += !gpu;
            (void)snprintf(where, sizeof where, "ocl:%d", d);
            STRAKE_TRY(strake_bench_add(p->bench, where, error));
        }
    }
cleanup:
    return status;
}

/* The words that mean something new here, and what the mixture's CPU part does alone. */
static strake_status add_mixtures(places *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char where[32];
    const int driving = p->threads - p->gpus; /* each GPU takes a core for its driver */
    if (p->gpus == 0) {
        if (p->others > 0) {
            (void)snprintf(where, sizeof where, "cpu,%s",
                           p->bench->item[p->bench->items - 1].where);
            p->notice(
                p->user,
                "no GPU here: gpu is not possible, hybrid and auto would repeat cpu; they are left "
                "out for a forced mixture");
            STRAKE_TRY(strake_bench_add(p->bench, where, error));
        } else {
            p->notice(p->user, "no OpenCL device here: gpu is not possible, hybrid and auto would "
                               "repeat cpu; they are left out");
        }
        goto cleanup;
    }
    if (p->gpus > 1) {
        STRAKE_TRY(strake_bench_add(p->bench, "gpu", error));
    }
    if (!p->chosen && driving > 1) {
        (void)snprintf(where, sizeof where, "cpu@%d", driving);
        STRAKE_TRY(strake_bench_add(p->bench, where, error));
    }
    STRAKE_TRY(strake_bench_add(p->bench, "hybrid", error));
    STRAKE_TRY(strake_bench_add(p->bench, "auto", error));
cleanup:
    return status;
}

strake_status strake_bench_places(const strake_arguments *arguments, strake_cl_list *list,
                                  void (*notice)(void *user, const char *line), void *user,
                                  strake_bench *bench, strake_error *error)
{
    strake_status status = STRAKE_OK;
    places p = {.bench = bench, .list = list, .notice = notice, .user = user};
    for (int k = 0; k < arguments->place_count; k++) {
        STRAKE_TRY(strake_bench_add(bench, arguments->places[k], error));
    }
    if (arguments->place_count > 0) {
        goto cleanup;
    }
    count_threads(arguments, &p);
    STRAKE_TRY(strake_bench_add(bench, "serial", error));
    if (p.threads > 1) {
        STRAKE_TRY(strake_bench_add(bench, "cpu@1", error));
    }
    STRAKE_TRY(strake_bench_add(bench, "cpu", error));
    STRAKE_TRY(add_devices(&p, error));
    STRAKE_TRY(add_mixtures(&p, error));
cleanup:
    return status;
}
