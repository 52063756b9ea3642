/* `strake model`: what moving data costs here, fitted, stored, drawn, and what that means for a case. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "main/case_options.h"
#include "main/compiling.h"
#include "main/interrupt.h"
#include "main/model_advice.h"
#include "main/model_table.h"
#include "main/places.h"
#include "main/command.h"
#include "main/say.h"
#include "main/progress.h"
#include "main/report_file.h"
#include "model/say.h"
#include "opencl/cl_watch.h"

static const double default_budget = 40.0; /* seconds */

typedef struct session {
    const strake_arguments *arguments;
    strake_cl_list list;
    strake_cl_watch watch;
    strake_model_machine machine;
    strake_ranks *ranks; /* NULL: this process is alone */
    strake_message_model *messages;
    bool host;
    strake_progress progress;
    strake_report_file report, plot;
    FILE *stream; /* of the tables */
} session;

/* One that is listed again is measured as a pair with itself, too. */
static void add_device(session *s, int index)
{
    strake_model_machine *m = &s->machine;
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].index == index) {
            if (m->pairs < STRAKE_MODEL_PAIRS) {
                m->pair[m->pairs++] = (strake_pair_model){.from = index, .to = index};
            }
            return;
        }
    }
    if (m->devices < STRAKE_MODEL_DEVICES) {
        m->device[m->devices++].index = index;
    }
}

static strake_status find_devices(session *s, strake_error *error)
{
    strake_places found;
    const strake_status status = strake_places_find(s->arguments->on, &s->list,
                                                    "has no transfers to measure", &found, error);
    if (status != STRAKE_OK) {
        return status;
    }
    s->host = found.cpu;
    for (int d = 0; d < found.devices; d++) {
        add_device(s, found.device[d]);
    }
    if (found.devices == 0 && !found.named) {
        if (s->list.count == 0) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "--on %s: there is no OpenCL device: %s; --on cpu measures the host",
                               s->arguments->on != NULL ? s->arguments->on : "auto",
                               s->list.why_none);
        }
        strake_say_note("no GPU here: `hybrid` measures the memory of the host alone; auto "
                        "measures every OpenCL device");
    }
    /* Those whose stripes lie side by side. */
    for (int a = 0; a + 1 < s->machine.devices && s->machine.pairs < STRAKE_MODEL_PAIRS; a++) {
        s->machine.pair[s->machine.pairs++] = (strake_pair_model){
            .from = s->machine.device[a].index, .to = s->machine.device[a + 1].index};
    }
    return STRAKE_OK;
}

static void show_progress(void *user, double share, const char *facts)
{
    session *s = user;
    strake_progress_show(&s->progress, share, facts);
}

static void print_tables(const session *s)
{
    char id[32];
    const strake_model_machine *m = &s->machine;
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].status == STRAKE_OK) {
            (void)snprintf(id, sizeof id, "ocl:%d", m->device[d].index);
            strake_model_table_head(s->stream, id, m->device[d].model.name);
            for (int k = 0; k < STRAKE_PATHS; k++) {
                strake_model_table_path(s->stream, strake_path_name[k],
                                        &m->device[d].model.path[k]);
            }
            (void)fprintf(s->stream, "\n");
        }
    }
    for (int p = 0; p < m->pairs; p++) {
        (void)snprintf(id, sizeof id, "ocl:%d to ocl:%d", m->pair[p].from, m->pair[p].to);
        strake_model_table_head(s->stream, id, "");
        strake_model_table_path(s->stream, "through host", &m->pair[p].through_host);
        strake_model_table_path(s->stream, "in one context", &m->pair[p].in_context);
        (void)fprintf(s->stream, "\n");
    }
    strake_model_table_ranks(s->stream, s->messages);
}

/* An array of the lines of a text. */
static void print_lines(const char *key, const strake_text *said, strake_json *json)
{
    const char *line = said->data;
    strake_json_array(json, key, STRAKE_JSON_LINES);
    while (line != NULL && *line != '\0') {
        char sentence[1024];
        const char *end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
        (void)snprintf(sentence, sizeof sentence, "%.*s", (int)length, line);
        strake_json_string(json, NULL, sentence);
        line = end != NULL ? end + 1 : NULL;
    }
    strake_json_end(json);
}

static void print_pair(const strake_pair_model *p, strake_json *json)
{
    strake_json_object(json, NULL, STRAKE_JSON_LINE);
    strake_json_format(json, "from", "ocl:%d", p->from);
    strake_json_format(json, "to", "ocl:%d", p->to);
    strake_model_print_path("through_host", &p->through_host, &p->host_measured, json);
    if (p->in_context.regimes > 0) {
        strake_model_print_path("in_context", &p->in_context, &p->context_measured, json);
    } else {
        strake_json_null(json, "in_context");
    }
    strake_json_string(json, "why_not", p->why_not);
    strake_json_number(json, "uploads_together", p->together);
    strake_json_end(json);
}

static void print_json(const session *s, const strake_text *verdict, const strake_text *said,
                       const strake_text *advice, strake_text *text)
{
    const strake_model_machine *m = &s->machine;
    strake_json writer = strake_json_on(text), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_object(json, "host_memory", STRAKE_JSON_LINE);
    strake_json_integer(json, "threads", m->threads);
    strake_json_number(json, "bandwidth", m->host_bandwidth);
    strake_json_end(json);
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    for (int d = 0; d < m->devices; d++) {
        if (m->device[d].status == STRAKE_OK) {
            strake_json_object(json, NULL, STRAKE_JSON_LINES);
            strake_json_format(json, "id", "ocl:%d", m->device[d].index);
            strake_model_print(&m->device[d].model, m->device[d].measured, json);
            strake_json_end(json);
        }
    }
    strake_json_end(json);
    strake_json_array(json, "pairs", STRAKE_JSON_LINES);
    for (int p = 0; p < m->pairs; p++) {
        print_pair(&m->pair[p], json);
    }
    strake_json_end(json);
    strake_model_json_ranks(s->messages, json);
    print_lines("verdict", verdict, json);
    print_lines("statements", said, json);
    if (advice->length > 0) {
        strake_json_raw(json, "advice", advice->data);
    }
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
}

static strake_status write_files(session *s, const strake_text *verdict, const strake_text *said,
                                 const strake_text *advice, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text json = {0}, svg = {0};
    if (s->report.path != NULL) {
        print_json(s, verdict, said, advice, &json);
    }
    STRAKE_TRY(strake_report_end(&s->report, &json, error));
    if (s->plot.path != NULL) {
        strake_model_print_svg(&s->machine, &svg);
    }
    STRAKE_TRY(strake_report_end(&s->plot, &svg, error));
cleanup:
    strake_text_free(&json);
    strake_text_free(&svg);
    return status;
}

/* Devices that were measured; a cache that cannot be written is worth a note, not a failure. */
static int store(const session *s)
{
    int failed = 0;
    for (int d = 0; d < s->machine.devices; d++) {
        strake_error error;
        const strake_model_device *device = &s->machine.device[d];
        if (device->status != STRAKE_OK) {
            strake_say("ocl:%d was not measured: %s", device->index, device->why);
            failed++;
        } else if (strake_model_store(s->arguments->cache, &s->list.device[device->index],
                                      &device->model, &error) != STRAKE_OK) {
            strake_say_warning("%s", error.text);
        }
    }
    if (s->messages->model.path.regimes > 0) {
        strake_error error;
        if (strake_rank_model_store(s->arguments->cache, &s->messages->setup, &s->messages->model,
                                    &error) != STRAKE_OK) {
            strake_say_warning("%s", error.text);
        }
    }
    return failed;
}

static strake_status measure(session *s, bool *stopped, strake_error *error)
{
    const strake_arguments *const a = s->arguments;
    const strake_model_options options = {.budget = a->budget > 0.0 ? a->budget : default_budget,
                                          .host = s->host,
                                          .threads = omp_get_max_threads(),
                                          .progress = show_progress,
                                          .stop = strake_interrupted_by,
                                          .user = s};
    strake_progress_begin(&s->progress, a->quiet, 0, 1, 0.0);
    const strake_status status =
        strake_model_measure(&s->list, &options, &s->machine, stopped, error);
    strake_progress_clear(&s->progress);
    return status;
}

/* What can be found wrong before the long work, and the devices of this process: of rank 0 only. */
static strake_status measure_devices(session *s, strake_case **which, bool *stopped,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    if (arguments->operands > 0) {
        STRAKE_TRY(strake_case_from(arguments, which, error));
    }
    STRAKE_TRY(strake_report_begin(&s->report, arguments->report, error));
    STRAKE_TRY(strake_report_begin(&s->plot, arguments->plot, error));
    STRAKE_TRY(strake_cl_list_open(&s->list, error));
    strake_cl_list_tell(&s->list, false, strake_notice, NULL);
    strake_cl_watch_begin(&s->watch, strake_compiling, NULL);
    strake_cl_watch_list(&s->watch, &s->list);
    STRAKE_TRY(find_devices(s, error));
    strake_interrupt_install();
    STRAKE_TRY(measure(s, stopped, error));
cleanup:
    return status;
}

/* The device that this rank's messages come from: they are dealt out to the ranks of a machine. -1: none */
static int find_own(session *s)
{
    strake_error ignored;
    strake_places found = {.devices = 0};
    const int self = strake_ranks_local_self(s->ranks);
    const bool first = strake_ranks_self(s->ranks) == 0;
    if ((!first && strake_cl_list_open(&s->list, &ignored) != STRAKE_OK) ||
        strake_places_find(s->arguments->on, &s->list, "has no transfers to measure", &found,
                           &ignored) != STRAKE_OK) {
        return -1;
    }
    return found.devices > 0 ? found.device[self % found.devices] : -1;
}

/* On rank 0 what devices cost, then on all what messages cost. */
static strake_status measure_all(session *s, strake_case **which, bool *stopped,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value = 0.0;
    const double budget = s->arguments->budget > 0.0 ? s->arguments->budget : default_budget;
    /* The others wait while rank 0 measures. */
    strake_ranks_set_patience(s->ranks, 300.0 + 3.0 * budget);
    if (strake_ranks_self(s->ranks) == 0) {
        status = measure_devices(s, which, stopped, error);
    }
    STRAKE_TRY(strake_ranks_agree(s->ranks, status, error));
    value = *stopped ? 1.0 : 0.0;
    STRAKE_TRY(strake_ranks_most(s->ranks, &value, 1, error));
    *stopped = value > 0.0;
    if (s->ranks != NULL && !*stopped) {
        double devices = s->machine.devices; /* others look for theirs only where rank 0 has some */
        STRAKE_TRY(strake_ranks_most(s->ranks, &devices, 1, error));
        const int device = devices > 0.0 ? find_own(s) : -1;
        STRAKE_TRY(strake_messages_measure(s->ranks, &s->list, device, budget, s->messages, error));
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_case *which = NULL;
    strake_text verdict = {0}, said = {0}, advice = {0};
    strake_json json = strake_json_on(&advice);
    bool stopped = false;
    int code = STRAKE_EXIT_DONE;
    session *const s = calloc(1, sizeof *s);
    STRAKE_CHECK(s != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    s->arguments = arguments;
    s->messages = calloc(1, sizeof *s->messages);
    STRAKE_CHECK(s->messages != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    s->stream = strake_table_stream(arguments->report);
    STRAKE_TRY(strake_ranks_open(&s->ranks, error));
    STRAKE_TRY(measure_all(s, &which, &stopped, error));
    stopped = strake_interrupt_end() || stopped;
    if (strake_ranks_self(s->ranks) > 0) {
        code = stopped ? strake_interrupt_code(strake_interrupt_number()) : STRAKE_EXIT_DONE;
        goto cleanup;
    }
    if (stopped) {
        strake_say("interrupted; nothing was written");
        code = strake_interrupt_code(strake_interrupt_number());
        goto cleanup;
    }
    strake_model_verdict(&s->machine, &verdict);
    strake_model_say(&s->machine, &said);
    STRAKE_CHECK(!said.failed && !verdict.failed && said.length > 0, error, STRAKE_ERR_MEMORY,
                 "out of memory");
    if (verdict.length > 0) {
        (void)fprintf(s->stream, "%s\n", verdict.data);
    }
    print_tables(s);
    (void)fputs(said.data, s->stream);
    if (which != NULL) {
        STRAKE_TRY(strake_model_advise_case(which, &s->machine, s->stream, &json, error));
    }
    code = store(s) > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
    STRAKE_TRY(write_files(s, &verdict, &said, &advice, error));
cleanup:
    if (status != STRAKE_OK) {
        const bool tells = s == NULL || strake_ranks_may_tell(s->ranks);
        code = tells ? strake_say_error(error) : strake_error_code(error);
    }
    strake_text_free(&verdict);
    strake_text_free(&said);
    strake_text_free(&advice);
    strake_case_close(&which);
    if (s != NULL) {
        strake_cl_list_free(&s->list);
        strake_report_drop(&s->report);
        strake_report_drop(&s->plot);
        strake_ranks_close(&s->ranks);
        free(s->messages);
        free(s);
    }
    return code;
}

static const strake_option options[] = {
    STRAKE_TEXT(
        "--on", on, "WHERE",
        "what to measure: a list of gpu:N, ocl:N and cpu (the\nmemory of the host), or gpu, "
        "hybrid, auto (default:\nauto, every OpenCL device and the host)"),
    STRAKE_NUMBER("--budget", REAL, budget, "SECONDS", 1, 1e5,
                  "time for everything, about (default: 40)"),
    STRAKE_SET("change a key of the case, for example\ngrid.cols=8192; repeatable"),
    STRAKE_TEXT("--report", report, "FILE.json",
                "write measurements, models and advice as JSON;\n- is standard output"),
    STRAKE_TEXT("--plot", plot, "FILE.svg", "draw what was measured and what the models say"),
    STRAKE_TEXT("--cache", cache, "DIR", "folder of the models (default: the user's cache)"),
    STRAKE_FLAG("--quiet", quiet, "no progress and notes"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_model = {
    .name = "model",
    .operands = "[CASE.yaml]",
    .operands_most = 1,
    .text = "Measures what moving data costs, fits models and keeps them",
    .option = options,
    .details =
        "Every path between host and devices (pageable, pinned and mapped memory, copies on a\n"
        "device, from each device to the next through the host and in one context) is\n"
        "measured from 64 bytes to 64 MiB and fitted as start-up plus bytes over a rate, for\n"
        "each range of sizes that the data show. Then: several queues and threads at once,\n"
        "many messages, kernels beside copies, launches, waits and memory bandwidth. A device\n"
        "listed twice is also measured as a pair with itself. Under mpirun rank 0 does all this,\n"
        "and what messages cost is measured too: there and back; what all ranks exchange with "
        "their\n"
        "neighbours at once, in a line, a ring and one way; 1, 2, ... pairs at once; one volume\n"
        "in 1 to 16 messages; between machines both ways whole and in pieces; an all-reduce; and\n"
        "from device to device. MPI's protocols (short,\n"
        "eager, rendezvous) show as ranges of sizes. The columns +- are half of the interval of\n"
        "95 %, `off by` the median and the largest difference of model and measurement; - is\n"
        "what the measurements do not tell. Three lines say first what transfers reach, what an\n"
        "exchange takes and how far the models are to be trusted.\n"
        "\n"
        "The models are kept beside the compiled kernels, for the device, its driver and this\n"
        "version; `strake run` uses them to decide whether transfers run beside kernels and how\n"
        "many steps go from one exchange to the next, and says so in its report. Those of "
        "messages\n"
        "are kept for this set-up of ranks, machines and MPI; runs of the same one decide by them\n"
        "how ranks exchange (run.exchange) and how often (run.steps_per_sweep). With CASE.yaml\n"
        "the command says what the models mean for that case; of particles, what pairs and\n"
        "particles move and compute, and beside the rate that memory allows the one of some\n"
        "steps.\n",
    .examples = "  strake model\n"
                "  strake model cone.yaml --on ocl:0 --budget 10\n"
                "  mpirun -np 2 strake model --on cpu\n"
                "  strake model --on ocl:0,ocl:1 --report model.json --plot model.svg\n",
    .run = command,
    .joins_ranks = true};
