/* `strake bench`: cases side by side on all placements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "cpu/topology.h"
#include "opencl/cl_queue.h"
#include "output/report.h"
#include "program/bench.h"
#include "program/options.h"
#include "opencl/cl_device.h"
#include "program/bench_roofs.h"
#include "program/command.h"
#include "program/compiling.h"
#include "program/interrupt.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/scan_worker.h"

/** One benchmark of the command line: a case at one size. */
typedef struct strake_bench_job {
    strake_case *which;
    const char *path;  /**< of the case; NULL: the built-in one */
    strake_text text;  /**< of that */
    const char **sets; /**< what changes it: --set, its size, --steps */
    char added[STRAKE_AXES + 1][64];
    int64_t period; /**< strake_bench.period */
    char title[96];
} strake_bench_job;

/* What `strake bench` runs: case files or a built-in one, each at several sizes. */

/*
 * The rotating cone of data/cases/rotating-cone.yaml for any size: u1 and u2 vary in space, and in the
 * corners the outgoing Courant numbers add up to 0.92.
 */
static const char cone[] =
    "problem: mpdata2d\n"
    "grid: {rows: %lld, cols: %lld}\n"
    "time: {dt: 0.1, steps: 100}\n"
    "boundary: {rows: open, cols: open}\n"
    "scheme: {iterations: 2, nonoscillatory: true}\n"
    "fields:\n"
    "  psi: {cone: {center: [%.17g, %.17g], radius: %.17g, height: 4, base: 0}}\n"
    "  u1: {rotation: {omega: %.17g, center: [%.17g, %.17g]}}\n"
    "  u2: {rotation: {omega: %.17g, center: [%.17g, %.17g]}}\n";

/* Sizes without --sizes, of the built-in case. */
static const char default_sizes[] = "1024,2048";

typedef struct bench_cases_size {
    int64_t n[STRAKE_AXES]; /* as they are written; one number is for all axes of the case */
    int numbers;            /* 0: as the case says */
} bench_cases_size;

static void notice(void *user, const char *line);

/* One part of "1024,500x2000,64x64x128". @return the rest of the text, or NULL if it is wrong. */
static const char *read_size(const char *text, bench_cases_size *out)
{
    char *end = NULL;
    out->numbers = 0;
    do {
        text = end != NULL ? end + 1 : text;
        if (*text < '1' || *text > '9' || out->numbers == STRAKE_AXES) {
            return NULL;
        }
        out->n[out->numbers++] = strtoll(text, &end, 10);
    } while (*end == 'x');
    return *end == ',' ? end + 1 : *end == '\0' ? end : NULL;
}

/* @p out is freed by the caller. */
static strake_status read_sizes(const char *text, bench_cases_size **out, int *count,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *at = text;
    *count = 0;
    *out = calloc(strlen(text) + 1, sizeof **out);
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    do {
        at = read_size(at, &(*out)[*count]);
        STRAKE_CHECK(at != NULL, error, STRAKE_ERR_USAGE,
                     "option --sizes: '%s': expected a list of sizes, each N for N cells along "
                     "every axis, ROWSxCOLS or PLANESxROWSxCOLS, as in 1024,2048,500x4000",
                     text);
        *count += 1;
    } while (*at != '\0' || at[-1] == ',');
cleanup:
    return status;
}

/* The --set of the command line, then those of the size and of --steps; freed by the caller. */
static const char **all_sets(const strake_arguments *arguments, char added[STRAKE_AXES + 1][64],
                             const bench_cases_size *shape, int dims)
{
    static const char *const axis[STRAKE_AXES] = {"planes", "rows", "cols"};
    const int axes = shape->numbers == 1 ? dims : shape->numbers;
    int count = arguments->set_count, more = 0;
    const char **const sets = calloc((size_t)count + STRAKE_AXES + 2, sizeof *sets);
    if (sets == NULL) {
        return NULL;
    }
    for (int k = 0; k < count; k++) {
        sets[k] = arguments->sets[k];
    }
    for (int k = 0; k < axes; k++) {
        (void)snprintf(added[more], sizeof added[0], "grid.%s=%lld", axis[STRAKE_AXES - axes + k],
                       (long long)shape->n[shape->numbers == 1 ? 0 : k]);
        sets[count++] = added[more++];
    }
    if (arguments->steps >= 0) {
        (void)snprintf(added[more], sizeof added[0], "time.steps=%lld",
                       (long long)arguments->steps);
        sets[count++] = added[more++];
    }
    return sets;
}

static strake_status open_cone(const bench_cases_size *shape, strake_bench_job *job,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t n[2] = {shape->n[0], shape->n[shape->numbers > 1 ? 1 : 0]};
    const double rows = (double)n[0], cols = (double)n[1];
    const double omega = 9.216 / (0.5 * (rows + cols));
    const double radius = 0.15 * (rows < cols ? rows : cols);
    strake_text_print(&job->text, cone, (long long)n[0], (long long)n[1], 0.5 * rows, 0.75 * cols,
                      radius, omega, 0.5 * rows, 0.5 * cols, omega, 0.5 * rows, 0.5 * cols);
    STRAKE_CHECK(!job->text.failed, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_parse("the built-in case", job->text.data, job->sets, false, &job->which,
                                 error));
cleanup:
    return status;
}

/* Of the grid that a case has without --sizes. */
static strake_status count_axes(const strake_arguments *arguments, const char *path, int *dims,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const bench_cases_size own = {.numbers = 0};
    char added[STRAKE_AXES + 1][64];
    strake_case *which = NULL;
    const char **const sets = all_sets(arguments, added, &own, 0);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_open(path, sets, &which, error));
    *dims = which->problem->dims;
cleanup:
    strake_case_close(&which);
    free((void *)sets);
    return status;
}

/* Steps after which a case with series is begun anew: as many as it has itself. 0: it has none, and may go on. */
static strake_status find_period(const strake_arguments *arguments, const char *path,
                                 const bench_cases_size *shape, int dims, strake_bench_job *job,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_arguments own = *arguments;
    char added[STRAKE_AXES + 1][64];
    strake_case *whole = NULL;
    const char **sets = NULL;
    bool has_series = false;
    for (int f = 0; f < job->which->problem->fields; f++) {
        has_series =
            has_series || strake_source_next_level(job->which->source[f], 0.0) < (double)INFINITY;
    }
    job->period = has_series ? job->which->steps : 0;
    if (!has_series || arguments->steps < 0) {
        return STRAKE_OK;
    }
    own.steps = -1;
    sets = all_sets(&own, added, shape, dims);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_case_open(path, sets, &whole, error));
    job->period = whole->steps > 0 ? whole->steps : job->period;
cleanup:
    strake_case_close(&whole);
    free((void *)sets);
    return status;
}

static strake_status open_job(const strake_arguments *arguments, const char *path,
                              const bench_cases_size *shape, strake_bench_job *job,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    int dims = 2;
    job->path = path;
    if (path != NULL && shape->numbers > 0) {
        STRAKE_TRY(count_axes(arguments, path, &dims, error));
    }
    STRAKE_CHECK(shape->numbers <= dims, error, STRAKE_ERR_USAGE,
                 "option --sizes: '%lldx%lldx%lld': %s has rows and columns only; expected N or "
                 "ROWSxCOLS for it, as in 1024,2048,500x4000",
                 (long long)shape->n[0], (long long)shape->n[1], (long long)shape->n[2],
                 path != NULL ? path : "the built-in case");
    job->sets = all_sets(arguments, job->added, shape, dims);
    STRAKE_CHECK(job->sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (path == NULL) {
        (void)snprintf(job->title, sizeof job->title, "rotating cone");
        STRAKE_TRY(open_cone(shape, job, error));
    } else {
        (void)snprintf(job->title, sizeof job->title, "%.90s", strake_path_last(path));
        STRAKE_TRY(strake_case_open(path, job->sets, &job->which, error));
    }
    STRAKE_CHECK(job->which->steps > 0 && job->which->steps < (int64_t)1e15, error,
                 STRAKE_ERR_USAGE,
                 "%s: %lld steps: a benchmark needs between 1 and 1e15; give --steps N",
                 job->which->file, (long long)job->which->steps);
    if (path != NULL) {
        STRAKE_TRY(find_period(arguments, path, shape, dims, job, error));
    }
    if (job->which->problem->is_adaptive) {
        /* As many steps are measured as are asked for, whatever the case's end. */
        job->which->end = job->which->problem->has_particles ? (double)INFINITY : 1e15;
    }
    /* A split belongs to the case's own `run.on`; here the balancer decides. */
    free(job->which->run.split);
    job->which->run.split = NULL;
cleanup:
    return status;
}

/**
 * Opens every case of the operands, or the built-in one, at every size of --sizes, with --set and --steps
 * applied. Free with bench_jobs_close() in any case.
 * @return STRAKE_ERR_USAGE for a case, size or number of steps that is wrong, STRAKE_ERR_IO.
 */
/* Not inlined, as others that command() calls: their frames would be part of its own, under which drivers are loaded. */
__attribute__((noinline)) static strake_status bench_jobs_open(const strake_arguments *arguments,
                                                               strake_bench_job **out, int *count,
                                                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const bench_cases_size own = {.numbers = 0};
    bench_cases_size *shape = NULL;
    int shapes = 1;
    const bool built_in = arguments->operands == 0;
    const int cases = built_in ? 1 : arguments->operands;
    const char *const sizes =
        arguments->sizes == NULL && built_in ? default_sizes : arguments->sizes;
    *count = 0;
    if (sizes != NULL) {
        STRAKE_TRY(read_sizes(sizes, &shape, &shapes, error));
    }
    *out =
        calloc((size_t)cases * (size_t)shapes + 1, sizeof **out); /* never of bench_cases_size 0 */
    STRAKE_CHECK(*out != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    for (int k = 0; k < cases; k++) {
        for (int s = 0; s < shapes; s++) {
            STRAKE_TRY(open_job(arguments, built_in ? NULL : arguments->operand[k],
                                shape != NULL ? &shape[s] : &own, &(*out)[(*count)++], error));
        }
    }
cleanup:
    free(shape);
    return status;
}

static void bench_jobs_close(strake_bench_job **jobs, int count)
{
    for (int k = 0; k < count && *jobs != NULL; k++) {
        strake_case_close(&(*jobs)[k].which);
        strake_text_free(&(*jobs)[k].text);
        free((void *)(*jobs)[k].sets);
    }
    free(*jobs);
    *jobs = NULL;
}

/* Where `strake bench` measures when it is not told: everything that this machine offers, once. */

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

/** Adds the placements of --on, or everything that this machine offers, to a benchmark. */
static strake_status bench_places(const strake_arguments *arguments, strake_cl_list *list,
                                  void (*tell)(void *user, const char *line), void *user,
                                  strake_bench *bench, strake_error *error)
{
    strake_status status = STRAKE_OK;
    places p = {.bench = bench, .list = list, .notice = tell, .user = user};
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

/* Placements of batches that --on does not name, with blanks between them. */
typedef struct batch_places {
    strake_status status;
    char text[STRAKE_SCAN_TEXT];
} batch_places;

/* In a process of its own: the one that starts others, which make runs, opens no device. */
static void find_batch_places(const void *given, int to)
{
    strake_error error = {.text = ""};
    strake_cl_list list = {0};
    batch_places out = {.status = STRAKE_ERR_MEMORY};
    char all[512] = "cpu";
    places p = {.bench = calloc(1, sizeof *p.bench), .list = &list, .notice = strake_notice};
    if (p.bench != NULL) {
        p.bench->which = given;
        out.status = strake_cl_list_open(&list, &error);
        out.status = out.status == STRAKE_OK ? add_devices(&p, &error) : out.status;
    }
    (void)snprintf(out.text, sizeof out.text, "%s", out.status == STRAKE_OK ? "cpu" : error.text);
    for (int k = 0; out.status == STRAKE_OK && k < p.bench->items; k++) {
        const size_t used = strlen(out.text), length = strlen(all);
        (void)snprintf(out.text + used, sizeof out.text - used, " %s", p.bench->item[k].where);
        (void)snprintf(all + length, sizeof all - length, ",%s", p.bench->item[k].where);
    }
    if (out.status == STRAKE_OK && p.bench->items > 0) {
        const size_t used = strlen(out.text);
        (void)snprintf(out.text + used, sizeof out.text - used, "%s %s", p.gpus > 1 ? " gpu" : "",
                       p.gpus > 0 ? "hybrid" : all);
    }
    (void)strake_file_write_all(to, &out, sizeof out);
}

/* Index in the list of a placement "ocl:N", -1 for the processors of the host. */
static int device_of(const strake_part_report *part)
{
    return strncmp(part->id, "ocl:", 4) == 0 ? (int)strtol(part->id + 4, NULL, 10) : -1;
}

static void tell(const strake_roofs *roofs, const strake_error *cause)
{
    char line[sizeof cause->text + 32];
    if (roofs->notice != NULL) {
        (void)snprintf(line, sizeof line, "no roof: %s", cause->text);
        roofs->notice(roofs->user, line);
    }
}

static double look_up(strake_roofs *roofs, int device, int threads)
{
    strake_error error;
    double rate = (double)NAN;
    for (int k = 0; k < roofs->count; k++) {
        if (roofs->roof[k].device == device && roofs->roof[k].threads == threads) {
            return roofs->roof[k].bytes_per_second;
        }
    }
    const strake_status status =
        device < 0
            ? strake_roof_host(threads, &rate, &error)
            : strake_roof_device(roofs->list->cl, &roofs->list->device[device], &rate, &error);
    if (status != STRAKE_OK) {
        tell(roofs, &error);
    }
    if (roofs->count < STRAKE_ROOFS) {
        roofs->roof[roofs->count++] =
            (strake_roof){.device = device, .threads = threads, .bytes_per_second = rate};
    }
    return rate;
}

/**
 * Sets the roof of every item that was measured. The roof of a mixture is the sum of those of its
 * GPUs and of the host memory, which CPU stripe and OpenCL CPU devices share. What cannot be measured
 * is NaN, and a notice says why.
 */
static void roofs_apply(strake_roofs *roofs, strake_bench *bench)
{
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        double sum = 0.0, host = 0.0;
        item->roof = (double)NAN;
        for (int p = 0; p < item->parts && item->status == STRAKE_OK; p++) {
            const int device = device_of(&item->part[p]);
            const double own = look_up(roofs, device, device < 0 ? item->part[p].threads : 0);
            if (device >= 0 && strake_cl_device_is_gpu(&roofs->list->device[device])) {
                sum += own;
            } else {
                host = own > host || isnan(own) ? own : host;
            }
        }
        if (item->parts > 0 && sum + host > 0.0) {
            item->roof = sum + host;
        }
    }
}

enum { REPEATS = 5, NOTICES = 64 };

typedef struct session {
    const strake_arguments *arguments;
    strake_bench_job *job;
    int jobs, job_now;
    strake_bench *bench;
    int measured; /* benchmarks */
    strake_cl_list list;
    strake_bench_members members;  /* without counts: each placement makes one run */
    char places[STRAKE_SCAN_TEXT]; /* for them, that --on does not name; "": not known yet */
    strake_cl_watch watch;         /* of programs for roofs */
    strake_roofs roofs;
    strake_progress progress;
    uint64_t told[NOTICES]; /* hashes of notices already given */
    int notices;
    strake_report_file report, plot;
    FILE *stream; /* of the tables */
    bool bad;     /* something failed or differs */
} session;

/* A notice once: the same places are opened for every size. */
static void notice(void *user, const char *line)
{
    session *const s = user;
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, line, strlen(line));
    for (int k = 0; k < s->notices; k++) {
        if (s->told[k] == hash) {
            return;
        }
    }
    if (s->notices < NOTICES) {
        s->told[s->notices++] = hash;
    }
    strake_progress_clear(&s->progress);
    strake_notice(NULL, line);
}

static void show_progress(void *user, const strake_bench *bench, const strake_bench_item *item,
                          double done)
{
    session *const s = user;
    char facts[128], size[96];
    (void)snprintf(facts, sizeof facts, "%s, %.20s", strake_bench_size_text(bench, size),
                   item->where);
    strake_progress_show(&s->progress, (s->job_now + done) / s->jobs, facts);
}

static double smallest_gpu(const strake_cl_list *list)
{
    double least = 0.0;
    for (int d = 0; d < list->count; d++) {
        const double bytes = (double)list->device[d].global_memory;
        if (strake_cl_device_is_gpu(&list->device[d]) && (least <= 0.0 || bytes < least)) {
            least = bytes;
        }
    }
    return least;
}

/* What stands out: placements without a result, or with another one. */
static void complain(session *s, const strake_bench *bench)
{
    char text[96];
    const strake_bench_item *reference = NULL;
    (void)strake_bench_size_text(bench, text);
    for (int k = 0; k < bench->items; k++) {
        const strake_bench_item *const item = &bench->item[k];
        reference = reference == NULL && item->status == STRAKE_OK ? item : reference;
        if (item->status != STRAKE_OK) {
            strake_say("%s on %s: %s", text, item->where, item->why);
            s->bad = true;
        } else if (item->differs) {
            bool exact = true;
            for (int p = 0; p < item->parts; p++) {
                exact = exact && item->part[p].bit_exact;
            }
            strake_say("%s on %s: the result DIFFERS from that of %s (checksum %016llx, not "
                       "%016llx, after %lld steps)%s",
                       text, item->where, reference->where, (unsigned long long)item->warm_checksum,
                       (unsigned long long)reference->warm_checksum, (long long)bench->warm_up,
                       exact ? "; look at both with `strake run` and `strake compare`"
                             : "; a device in it failed the arithmetic self-test");
            s->bad = true;
        }
    }
}

static void begin_bench(const session *s, strake_bench *bench, const strake_bench_job *job)
{
    bench->which = job->which;
    bench->title = job->title;
    bench->cells = strake_case_cells(job->which);
    bench->steps = job->which->steps;
    bench->period = job->period;
    bench->repeats = s->arguments->repeats > 0 ? (int)s->arguments->repeats : REPEATS;
}

/* Adds the placements of --on, or the processors, each device, and all together. */
static strake_status add_batch_places(session *s, strake_bench *bench, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char text[sizeof s->places];
    if (s->arguments->place_count == 0 && s->places[0] == '\0') {
        batch_places found;
        STRAKE_TRY(strake_scan_apart(find_batch_places, bench->which, &found, sizeof found, error));
        STRAKE_CHECK(found.status == STRAKE_OK, error, found.status, "%s", found.text);
        (void)snprintf(s->places, sizeof s->places, "%s", found.text);
    }
    for (int k = 0; k < s->arguments->place_count; k++) {
        STRAKE_TRY(strake_bench_add(bench, s->arguments->places[k], error));
    }
    (void)snprintf(text, sizeof text, "%s", s->arguments->place_count == 0 ? s->places : "");
    for (char *rest = text, *next = strsep(&rest, " "); next != NULL && *next != '\0';
         next = strsep(&rest, " ")) {
        STRAKE_TRY(strake_bench_add(bench, next, error));
    }
cleanup:
    return status;
}

static void show_batches(void *user, const strake_bench *bench, const strake_bench_batch *batch,
                         double done)
{
    session *const s = user;
    char facts[160], size[96];
    (void)snprintf(facts, sizeof facts, "%s, %.20s, %d members",
                   strake_bench_size_text(bench, size), batch->where, batch->members);
    strake_progress_show(&s->progress, (s->job_now + done) / s->jobs, facts);
}

/* Runs side by side by their number, instead of one on each placement. */
__attribute__((noinline)) static strake_status measure_members(session *s, bool *stopped,
                                                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = &s->bench[s->measured];
    strake_bench_job *const job = &s->job[s->measured];
    strake_arguments arguments = *s->arguments;
    char size[96];
    const strake_bench_options options = {.progress_of_batch = show_batches, .user = s};
    arguments.operand = &job->path;
    arguments.built_in = job->text.data;
    arguments.sets = job->sets;
    arguments.set_count = 0;
    while (job->sets[arguments.set_count] != NULL) {
        arguments.set_count++;
    }
    arguments.steps = -1; /* it is one of these */
    s->job_now = s->measured++;
    begin_bench(s, bench, job);
    STRAKE_TRY(add_batch_places(s, bench, error));
    STRAKE_TRY(
        strake_bench_members_measure(bench, &s->members, &arguments, &options, stopped, error));
    if (*stopped) {
        goto cleanup;
    }
    strake_bench_derive_batches(bench);
    strake_progress_clear(&s->progress);
    strake_bench_print_batches(bench, s->stream);
    (void)fflush(s->stream);
    for (int k = 0; k < bench->batches; k++) {
        const strake_bench_batch *const batch = &bench->batch[k];
        s->bad = s->bad || batch->status != STRAKE_OK || batch->differs;
        if (batch->status != STRAKE_OK || batch->differs) {
            strake_say("%s on %s, members %d: %s", strake_bench_size_text(bench, size),
                       batch->where, batch->members,
                       batch->status != STRAKE_OK ? batch->why
                                                  : "the results DIFFER from those of others");
        }
    }
cleanup:
    strake_progress_clear(&s->progress);
    return status;
}

__attribute__((noinline)) static strake_status measure(session *s, bool *stopped,
                                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_bench *const bench = &s->bench[s->measured];
    const strake_bench_job *const job = &s->job[s->measured];
    const strake_arguments *const a = s->arguments;
    const strake_bench_options options = {.threads = (int)a->threads,
                                          .cache = a->cache,
                                          .timelines = a->report != NULL || a->plot != NULL,
                                          .device_memory = smallest_gpu(&s->list),
                                          .notice = notice,
                                          .compiling = strake_compiling,
                                          .progress = show_progress,
                                          .stop = strake_interrupted_by,
                                          .user = s};
    s->job_now = s->measured++;
    begin_bench(s, bench, job);
    STRAKE_TRY(bench_places(a, &s->list, notice, s, bench, error));
    STRAKE_TRY(strake_bench_measure(bench, &options, stopped, error));
    if (*stopped) {
        goto cleanup;
    }
    roofs_apply(&s->roofs, bench);
    strake_bench_derive(bench);
    (void)strake_bench_verify(bench);
    strake_progress_clear(&s->progress);
    strake_bench_print_table(bench, s->stream);
    (void)fflush(s->stream);
    complain(s, bench);
cleanup:
    strake_progress_clear(&s->progress);
    return status;
}

__attribute__((noinline)) static strake_status write_files(session *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text json = {0}, svg = {0};
    for (int b = 0; s->report.path != NULL && b < s->measured; b++) {
        strake_bench_print_json(&s->bench[b], &json);
    }
    STRAKE_TRY(strake_report_end(&s->report, &json, error));
    if (s->plot.path != NULL) {
        strake_bench_print_svg(s->bench, s->measured, &svg);
    }
    STRAKE_TRY(strake_report_end(&s->plot, &svg, error));
cleanup:
    strake_text_free(&json);
    strake_text_free(&svg);
    return status;
}

static void print_explanation(FILE *stream, bool is_of_members)
{
    (void)fprintf(
        stream, "%s",
        is_of_members
            ? "Rates are of all members together, in the time in which at least one of them "
              "steps;\n"
              "members a second of the whole time, with processes, drivers and set-up. over one:\n"
              "over one member. over fastest: a mixture over the fastest of its parts alone.\n"
            : "over: speed-up of the medians. % of sum: a mixture against its parts, each alone.\n"
              "serial part: Karp-Flatt fraction of equal workers. % of roof: traffic of the stage\n"
              "table against the memory bandwidth measured here (steps fused in cache may pass "
              "100).\n");
}

static strake_status open_devices(session *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_cl_list_open(&s->list, error));
    strake_cl_list_tell(&s->list, false, strake_notice, NULL);
    strake_cl_watch_begin(&s->watch, strake_compiling, NULL);
    strake_cl_watch_list(&s->watch, &s->list);
    s->roofs = (strake_roofs){.list = &s->list, .notice = notice, .user = s};
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    bool stopped = false;
    int code = STRAKE_EXIT_DONE;
    session *const s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    s->arguments = arguments;
    s->stream = strake_table_stream(arguments->report);
    STRAKE_TRY(strake_report_begin(&s->report, arguments->report, error));
    STRAKE_TRY(strake_report_begin(&s->plot, arguments->plot, error));
    if (arguments->counts != NULL) {
        STRAKE_TRY(strake_bench_members_read(arguments->counts, &s->members, error));
    }
    STRAKE_TRY(bench_jobs_open(arguments, &s->job, &s->jobs, error));
    s->bench = calloc((size_t)s->jobs, sizeof *s->bench);
    STRAKE_CHECK(s->bench != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (s->members.counts == 0) {
        STRAKE_TRY(open_devices(s, error));
    }
    strake_progress_begin(&s->progress, arguments->quiet, 0, 1, 0.0);
    strake_interrupt_install();
    while (s->measured < s->jobs && !stopped) {
        STRAKE_TRY(s->members.counts > 0 ? measure_members(s, &stopped, error)
                                         : measure(s, &stopped, error));
    }
    if (strake_interrupt_end() || stopped) {
        strake_say("interrupted in benchmark %d of %d; nothing was written", s->measured, s->jobs);
        code = strake_interrupt_code(strake_interrupt_number());
        goto cleanup;
    }
    if (s->jobs > 1) {
        (s->members.counts > 0 ? strake_bench_print_batches_by_size
                               : strake_bench_print_overview)(s->bench, s->measured, s->stream);
    }
    print_explanation(s->stream, s->members.counts > 0);
    STRAKE_TRY(write_files(s, error));
    code = s->bad ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
cleanup:
    if (status != STRAKE_OK) {
        code = strake_say_error(error);
    }
    if (s != NULL) {
        for (int b = 0; b < s->measured; b++) {
            strake_bench_free(&s->bench[b]);
        }
        free(s->bench);
        bench_jobs_close(&s->job, s->jobs);
        strake_report_drop(&s->report);
        strake_report_drop(&s->plot);
        strake_cl_list_free(&s->list);
        free(s);
    }
    return code;
}

static const strake_option options[] = {
    {"--on", STRAKE_OPTION_PLACE, "WHERE", 0, 0, 0,
     "measure here, as for `strake run`; repeatable. @N\nat the end: N threads of the CPU stripe"},
    STRAKE_TEXT("--sizes", sizes, "N,RxC,...",
                "grids of every case: N cells along every axis, RxC\nor, in 3D, PxRxC (shapes keep "
                "their places; the\nbuilt-in case scales)"),
    STRAKE_NUMBER("--steps", INTEGER, steps, "N", 1, 1e15,
                  "steps of a repeat, instead of the case's `time.steps`"),
    STRAKE_TEXT(
        "--members", counts, "N,N,...",
        "so many runs of the case side by side instead of one,\nas `strake scan` makes them: "
        "rates by their number"),
    STRAKE_NUMBER("--repeats", INTEGER, repeats, "N", 1, STRAKE_BENCH_REPEATS,
                  "timed repeats of each placement (default 5)"),
    STRAKE_OPTION_THREADS,
    STRAKE_SET("change a key of every case, for example\nprecision=single; repeatable"),
    STRAKE_TEXT("--report", report, "FILE",
                "write a line of JSON for each placement and size;\n- is standard output"),
    STRAKE_TEXT("--plot", plot, "FILE.svg",
                "draw the rates, and a step of each processor:\ncompute, transfer, waiting, idle; "
                "of particles also a\nstep with a new order"),
    STRAKE_OPTION_CACHE,
    STRAKE_FLAG("--quiet", quiet, "no progress and notes"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_bench = {
    .name = "bench",
    .operands = "[CASE.yaml ...]",
    .operands_most = 1000,
    .text = "Measures cases side by side on all placements",
    .option = options,
    .details =
        "Without a case it runs a rotating cone at 1024 x 1024 and 2048 x 2048 cells; without\n"
        "--on it measures serial, cpu with one and with all threads, every OpenCL device, gpu,\n"
        "hybrid and auto, as far as they differ on this machine. Placements take turns (A B C\n"
        "A B C ...) if they fit in memory together; every repeat begins with untimed steps.\n"
        "serial is slow: it does as many steps as take a second. All results are compared bit\n"
        "by bit; if one differs, or a placement fails, the exit status is 1. A case with\n"
        "series is begun anew where it ends, because they may end with it.\n"
        "\n"
        "The table shows the median rate with minimum and maximum, speed-ups over serial and\n"
        "cpu, a mixture in percent of the sum of its parts (each measured alone; on a machine\n"
        "with GPUs cpu@N is the CPU without the cores that drive them), the Karp-Flatt serial\n"
        "fraction e = (1/S - 1/p) / (1 - 1/p) of p equal workers, and the memory traffic of\n"
        "the stage table in percent of the bandwidth measured on the spot (host: triad with as\n"
        "many threads; device: four arrays read, one written). Of particles rates are\n"
        "millions of particles that make a step in a second (mips, million items per second)\n"
        "and pairs a second, whatever the end of the case; --steps is needed without\n"
        "time.steps.\n"
        "\n"
        "With --members each repeat makes so many equal runs side by side, on the cores, on each\n"
        "device, and on all together: processes, threads and batches are those of `strake scan`.\n"
        "The rate is that of all members together in the time in which at least one of them\n"
        "steps, so that it leaves out what comes before the first step: processes, drivers,\n"
        "kernels. Members that are set up while others step are a part of it: give as many\n"
        "--steps as runs have. \"a second\" counts members of the whole time. One member is "
        "always\n"
        "measured, which the others are compared with; a mixture is compared with the fastest\n"
        "of its parts that makes as many members alone.\n",
    .examples = "  strake bench\n"
                "  strake bench cone.yaml --on serial --on cpu@1 --on cpu --steps 50\n"
                "  strake bench --sizes 4096 --on cpu --on ocl:0 --on cpu,ocl:0 --plot bench.svg\n"
                "  strake bench --sizes 1024,2048,3072,4096 --steps 500 --report bench.jsonl\n"
                "  strake bench --members 16,256 --sizes 64,128 --steps 5000 --plot members.svg\n",
    .run = command};
