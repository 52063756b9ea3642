/* Fused loops as C text (loop_writer.h). */
#include "cpu/loop_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/case.h"
#include "case/source.h"
#include "engine/loops.h"

enum { MOST_LOOPS = 4096, MOST_ITERATIONS = 4, MOST_MASKED = 8 };

typedef struct known_loop {
    char *body;
    int problem; /* index of the first that has it */
    int inputs, outputs;
    unsigned long long constant; /* bit per input */
} known_loop;

struct strake_loop_writer {
    known_loop known[MOST_LOOPS];
    int count;
    int current; /* the problem whose loops are listed */
    strake_status status;
    strake_error error;
    /* Room, which is too large for a stack. */
    strake_graph graph;
    strake_loop loop[STRAKE_MAX_VALUES];
    char text[STRAKE_LOOP_TEXT];
    strake_problem shared;
    strake_field field[STRAKE_MAX_FIELDS];
};

strake_loop_writer *strake_loop_writer_open(void)
{
    return calloc(1, sizeof(strake_loop_writer));
}

void strake_loop_writer_close(strake_loop_writer **writer)
{
    for (int k = 0; *writer != NULL && k < (*writer)->count; k++) {
        free((*writer)->known[k].body);
    }
    free(*writer);
    *writer = NULL;
}

static void fail(strake_loop_writer *w, strake_status status, const char *text)
{
    if (w->status == STRAKE_OK) {
        w->status = strake_fail(&w->error, status, "%s", text);
    }
}

static void remember(strake_loop_writer *w, const strake_loop *loop)
{
    if (strake_loop_body(&w->graph, loop, w->text, sizeof w->text) < 0 || w->count == MOST_LOOPS) {
        fail(w, STRAKE_ERR_USAGE, "a fused loop or the number of loops is too large");
        return;
    }
    for (int k = 0; k < w->count; k++) {
        if (strcmp(w->known[k].body, w->text) == 0) {
            return;
        }
    }
    known_loop *const entry = &w->known[w->count];
    entry->body = strdup(w->text);
    if (entry->body == NULL) {
        fail(w, STRAKE_ERR_MEMORY, "out of memory for fused loops");
        return;
    }
    w->count++;
    entry->problem = w->current;
    entry->inputs = loop->inputs;
    entry->outputs = loop->outputs;
    for (int k = 0; k < loop->inputs; k++) {
        if (w->graph.value[loop->input[k].value].is_constant) {
            entry->constant |= 1ULL << k;
        }
    }
}

/* Whether a field is an input that is no velocity. */
static bool is_plain_input(const strake_field *field)
{
    return !field->is_state && !field->is_velocity && field->derive == NULL &&
           field->each == NULL && !field->is_derived;
}

static int inputs_of(const strake_problem *problem)
{
    int inputs = 0;
    for (int f = 0; f < problem->fields; f++) {
        inputs += is_plain_input(&problem->field[f]) ? 1 : 0;
    }
    return inputs;
}

static void add_graph(strake_loop_writer *w, strake_case *which, bool traces)
{
    const strake_problem *problem = which->problem;
    strake_error error;
    const double number[STRAKE_MAX_FIELDS] = {0.5, 0.25, 0.125, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (int f = 0; f < problem->fields; f++) {
        which->output_field[f] = traces && !problem->field[f].is_optional;
    }
    /* Velocities are constant together or not at all. */
    const int inputs = inputs_of(problem);
    const unsigned masks = 1U << (inputs + 1);
    for (unsigned mask = 0; mask < masks && w->status == STRAKE_OK; mask++) {
        if (inputs > MOST_MASKED && (mask & (mask - 1)) != 0 && mask != masks - 1) {
            continue; /* of so many inputs one is constant, or all are; others run stage by stage */
        }
        bool constant[STRAKE_MAX_FIELDS] = {false};
        int bit = 0;
        for (int f = 0; f < problem->fields; f++) {
            const strake_field *field = &problem->field[f];
            const int at = field->is_velocity ? 0 : is_plain_input(field) ? ++bit : -1;
            constant[f] = at >= 0 && (mask >> at & 1U) != 0;
        }
        w->graph.is_finished = false;
        const strake_status status = problem->build(which, constant, number, &w->graph, &error);
        if (status != STRAKE_OK || !w->graph.is_finished) {
            fail(w, status != STRAKE_OK ? status : STRAKE_ERR_USAGE,
                 status != STRAKE_OK ? error.text
                                     : "its build() has not ended with strake_graph_finish()");
            return;
        }
        const int loops = strake_loops_plan(&w->graph, w->graph.set > 0 ? STRAKE_LOOP_SETS : 1,
                                            STRAKE_MAX_VALUES, w->loop);
        for (int g = 0; g < loops; g++) {
            remember(w, &w->loop[g]);
        }
    }
}

/* A list below 1; one of a later key is above those of earlier ones, as ends of ramps are. */
static void give_list(strake_case *which, int key, int length)
{
    which->given[key] = length > 0 && length >= (int)which->problem->key[key].minimum;
    for (int i = 0; i < length; i++) {
        which->list[key][i] = 0.01 * (key + i + 1);
    }
}

/* Whether no more than one option is another one than by default. */
static bool is_near_default(const strake_case *which)
{
    int others = 0;
    for (int k = 0; k < which->problem->keys; k++) {
        const strake_key *key = &which->problem->key[k];
        const bool is_choice = key->type == STRAKE_KEY_CHOICE || key->type == STRAKE_KEY_BOOLEAN ||
                               key->type == STRAKE_KEY_INTEGER;
        others += is_choice && fabs(which->value[k] - key->fallback) > 0.0 ? 1 : 0;
    }
    return others <= 1;
}

/* Loops that several fields on one flow share: two of each field of which there is one for every name. */
static void add_shared(strake_loop_writer *w, strake_case *which)
{
    const strake_problem *const usual = which->problem;
    strake_problem *const problem = &w->shared;
    *problem = *usual;
    problem->field = w->field;
    problem->fields = 0;
    for (int f = 0; f < usual->fields; f++) {
        for (int k = 0; k < (usual->field[f].each != NULL ? STRAKE_LOOP_SETS : 1); k++) {
            w->field[problem->fields++] = usual->field[f];
        }
    }
    which->problem = problem;
    if (problem->fields > usual->fields) {
        add_graph(w, which, false);
    }
    which->problem = usual;
}

/* With walls across each axis, and all of them, where states change their sign beyond a wall. */
static void add_walls(strake_loop_writer *w, const strake_case *usual)
{
    const strake_problem *const problem = usual->problem;
    for (unsigned walls = 1; walls < 1U << problem->dims; walls++) {
        strake_case which = *usual;
        strake_error error;
        for (int d = 0; d < problem->dims; d++) {
            which.boundary[strake_axis_of(problem->dims, d)] =
                (walls >> d & 1U) != 0 ? STRAKE_NO_FLUX : STRAKE_PERIODIC;
        }
        if (strake_names_add_sides(&which, &error) != STRAKE_OK) {
            fail(w, STRAKE_ERR_MEMORY, error.text);
            return;
        }
        if (which.named != NULL) {
            add_graph(w, &which, false);
        }
        free(which.named);
    }
}

/*
 * All values of all keys, and lists of all lengths; integers (numbers of iterations) up to a few: further
 * ones repeat the loops. Of these what the problem calls usual; for several fields what is near the default.
 */
static void add_variants(strake_loop_writer *w, strake_case *which, int key)
{
    const strake_problem *problem = which->problem;
    strake_error error;
    if (key == problem->keys) {
        const bool is_legal = problem->check == NULL || problem->check(which, &error) == STRAKE_OK;
        if (is_legal && (problem->is_usual == NULL || problem->is_usual(which))) {
            add_graph(w, which, false);
            add_graph(w, which, true);
            add_walls(w, which);
            if (is_near_default(which)) {
                add_shared(w, which);
            }
        }
        return;
    }
    const strake_key *k = &problem->key[key];
    if (k->type == STRAKE_KEY_REAL || k->type == STRAKE_KEY_NAMES || k->type == STRAKE_KEY_EACH ||
        k->type == STRAKE_KEY_FORMULAS) {
        which->value[key] = k->type == STRAKE_KEY_FORMULAS ? 0.0 : k->fallback;
        add_variants(w, which, key + 1);
        return;
    }
    int last = k->type == STRAKE_KEY_BOOLEAN ? 1 : 0;
    for (const char *at = k->choices; k->type == STRAKE_KEY_CHOICE && at != NULL;) {
        at = strchr(at, '|');
        if (at != NULL) {
            at++;
            last++;
        }
    }
    int first = 0;
    if (k->type == STRAKE_KEY_INTEGER) {
        first = (int)k->minimum;
        last = k->maximum < MOST_ITERATIONS ? (int)k->maximum : MOST_ITERATIONS;
    } else if (k->type == STRAKE_KEY_REALS) {
        last = (int)k->maximum;
    }
    for (int v = first; v <= last && w->status == STRAKE_OK; v++) {
        which->value[key] = v;
        if (k->type == STRAKE_KEY_REALS) {
            give_list(which, key, v);
        }
        add_variants(w, which, key + 1);
    }
}

static unsigned long long name_of(const char *body)
{
    return (unsigned long long)strake_fnv1a(STRAKE_FNV_SEED, body, strlen(body));
}

static void write_function(FILE *out, const known_loop *loop)
{
    (void)fprintf(out,
                  "\n#define LOOP STRAKE_ROW_NAME(loop_%016llx, STRAKE_ROWS_PRECISION, "
                  "STRAKE_ROWS_ISA)\n"
                  "void LOOP(void *const *out, const void *const *in, int64_t n);\n"
                  "void LOOP(void *const *out, const void *const *in, int64_t n)\n{\n",
                  name_of(loop->body));
    for (int i = 0; i < loop->inputs; i++) {
        if ((loop->constant >> i & 1U) != 0) {
            (void)fprintf(out, "    const real c%d = *(const real *)in[%d];\n", i, i);
        } else {
            (void)fprintf(out, "    const real *restrict const a%d = in[%d];\n", i, i);
        }
    }
    for (int o = 0; o < loop->outputs; o++) {
        (void)fprintf(out, "    real *restrict const y%d = out[%d];\n", o, o);
    }
    (void)fprintf(out,
                  "    STRAKE_ROW_SIMD(STRAKE_ROWS_ISA) for (int64_t j = 0; j < n; j++)\n    {\n"
                  "        %s\n    }\n}\n#undef LOOP\n",
                  loop->body);
}

strake_status strake_loop_writer_add(strake_loop_writer *w, const strake_problem *problem,
                                     int number, strake_error *error)
{
    strake_case which = {.problem = problem, .precision = STRAKE_DOUBLE};
    which.file = (char[]){"fused loops"};
    w->current = number;
    if (!problem->has_particles) {
        add_variants(w, &which, 0);
    }
    return w->status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, w->status, "%s: %s", problem->name, w->error.text);
}

void strake_loop_writer_rows(const strake_loop_writer *w, int problem, FILE *out)
{
    for (int k = 0; k < w->count; k++) {
        if (w->known[k].problem == problem) {
            write_function(out, &w->known[k]);
        }
    }
}

void strake_loop_writer_table(const strake_loop_writer *w, FILE *out)
{
    for (int k = 0; k < w->count; k++) {
        (void)fprintf(
            out, "STRAKE_LOOP_DECLARE(loop_%016llx, f64) STRAKE_LOOP_DECLARE(loop_%016llx, f32)\n",
            name_of(w->known[k].body), name_of(w->known[k].body));
    }
    (void)fprintf(out, "\nconst strake_loop_code strake_loop_codes[] = {\n");
    for (int k = 0; k < w->count; k++) {
        (void)fprintf(out,
                      "    {UINT64_C(0x%016llx),\n     {STRAKE_LOOP_LIST(loop_%016llx, f64), "
                      "STRAKE_LOOP_LIST(loop_%016llx, f32)}},\n",
                      name_of(w->known[k].body), name_of(w->known[k].body),
                      name_of(w->known[k].body));
    }
    (void)fprintf(out, "    {0}};\nconst int strake_loop_code_count = %d;\n", w->count);
}
