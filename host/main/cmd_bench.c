/* `strake bench`: cases side by side on all placements. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bench/roofs.h"
#include "main/bench_parts.h"
#include "main/compiling.h"
#include "main/interrupt.h"
#include "main/command.h"
#include "main/say.h"
#include "main/progress.h"
#include "main/report_file.h"
#include "main/summary.h"
#include "opencl/cl_watch.h"

enum { REPEATS = 5, NOTICES = 64 };

typedef struct session {
    const strake_arguments *arguments;
    strake_bench_job *job;
    int jobs, job_now;
    strake_bench *bench;
    int measured; /* benchmarks */
    strake_cl_list list;
    strake_cl_watch watch; /* of programs for roofs */
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

static strake_status measure(session *s, bool *stopped, strake_error *error)
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
    bench->which = job->which;
    bench->title = job->title;
    bench->steps = job->which->steps;
    bench->period = job->period;
    bench->repeats = a->repeats > 0 ? (int)a->repeats : REPEATS;
    s->job_now = s->measured++;
    STRAKE_TRY(strake_bench_places(a, &s->list, notice, s, bench, error));
    STRAKE_TRY(strake_bench_measure(bench, &options, stopped, error));
    if (*stopped) {
        goto cleanup;
    }
    strake_roofs_apply(&s->roofs, bench);
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

static strake_status write_files(session *s, strake_error *error)
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

static void print_explanation(FILE *stream)
{
    (void)fprintf(
        stream,
        "over: speed-up of the medians. %% of sum: a mixture against its parts, each alone.\n"
        "serial part: Karp-Flatt fraction of equal workers. %% of roof: traffic of the stage\n"
        "table against the memory bandwidth measured here (steps fused in cache may pass 100).\n");
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
    STRAKE_TRY(strake_bench_jobs_open(arguments, &s->job, &s->jobs, error));
    s->bench = calloc((size_t)s->jobs, sizeof *s->bench);
    STRAKE_CHECK(s->bench != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_cl_list_open(&s->list, error));
    strake_cl_list_tell(&s->list, false, strake_notice, NULL);
    strake_cl_watch_begin(&s->watch, strake_compiling, NULL);
    strake_cl_watch_list(&s->watch, &s->list);
    s->roofs = (strake_roofs){.list = &s->list, .notice = notice, .user = s};
    strake_progress_begin(&s->progress, arguments->quiet, 0, 1, 0.0);
    strake_interrupt_install();
    while (s->measured < s->jobs && !stopped) {
        STRAKE_TRY(measure(s, &stopped, error));
    }
    if (strake_interrupt_end() || stopped) {
        strake_say("interrupted in benchmark %d of %d; nothing was written", s->measured, s->jobs);
        code = strake_interrupt_code(strake_interrupt_number());
        goto cleanup;
    }
    if (s->jobs > 1) {
        strake_bench_print_overview(s->bench, s->measured, s->stream);
    }
    print_explanation(s->stream);
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
        strake_bench_jobs_close(&s->job, s->jobs);
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
        "time.steps.\n",
    .examples = "  strake bench\n"
                "  strake bench cone.yaml --on serial --on cpu@1 --on cpu --steps 50\n"
                "  strake bench --sizes 4096 --on cpu --on ocl:0 --on cpu,ocl:0 --plot bench.svg\n"
                "  strake bench --sizes 1024,2048,3072,4096 --steps 500 --report bench.jsonl\n",
    .run = command};
