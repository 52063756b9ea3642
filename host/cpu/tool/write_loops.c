/*
 * Build-time tool: writes the fused loops of every variant of every problem as C.
 *   write_loops FOLDER
 * writes into FOLDER strake_loops_PROBLEM_rows.c for each problem, which is compiled once per instruction set and
 * precision, and strake_loops.c with the hashes and addresses of all loops. A loop that several problems have is in
 * the file of the first of them, so that a new problem leaves the files of those before it as they are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/case.h"
#include "case/names.h"
#include "case/source.h"
#include "engine/loops.h"

enum { MOST_LOOPS = 4096, MOST_ITERATIONS = 4 };

typedef struct known_loop {
    char *body;
    int problem; /* index of the first that has it */
    int inputs, outputs;
    unsigned long long constant; /* bit per input */
} known_loop;

static known_loop known[MOST_LOOPS];
static int count;

static int current; /* the problem whose loops are listed */

static void remember(const strake_graph *graph, const strake_loop *loop)
{
    static char body[STRAKE_LOOP_TEXT];
    if (strake_loop_body(graph, loop, body, sizeof body) < 0 || count == MOST_LOOPS) {
        (void)fprintf(stderr, "write_loops: a loop or their number is too large\n");
        exit(1);
    }
    for (int k = 0; k < count; k++) {
        if (strcmp(known[k].body, body) == 0) {
            return;
        }
    }
    known_loop *entry = &known[count++];
    entry->body = strdup(body);
    entry->problem = current;
    entry->inputs = loop->inputs;
    entry->outputs = loop->outputs;
    for (int k = 0; k < loop->inputs; k++) {
        if (graph->value[loop->input[k].value].is_constant) {
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

static void add_graph(strake_case *which, bool traces)
{
    static strake_graph graph;
    static strake_loop loop[STRAKE_MAX_VALUES];
    const strake_problem *problem = which->problem;
    strake_error error;
    const double number[STRAKE_MAX_FIELDS] = {0.5, 0.25, 0.125, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (int f = 0; f < problem->fields; f++) {
        which->output_field[f] = traces;
    }
    /* Velocities are constant together or not at all. */
    const unsigned masks = 1U << (inputs_of(problem) + 1);
    for (unsigned mask = 0; mask < masks; mask++) {
        bool constant[STRAKE_MAX_FIELDS] = {false};
        int bit = 0;
        for (int f = 0; f < problem->fields; f++) {
            const strake_field *field = &problem->field[f];
            const int at = field->is_velocity ? 0 : is_plain_input(field) ? ++bit : -1;
            constant[f] = at >= 0 && (mask >> at & 1U) != 0;
        }
        if (problem->build(which, constant, number, &graph, &error) != STRAKE_OK) {
            (void)fprintf(stderr, "write_loops: %s\n", error.text);
            exit(1);
        }
        const int loops = strake_loops_plan(&graph, graph.set > 0 ? STRAKE_LOOP_SETS : 1,
                                            STRAKE_MAX_VALUES, loop);
        for (int g = 0; g < loops; g++) {
            remember(&graph, &loop[g]);
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
static void add_shared(strake_case *which)
{
    static strake_problem problem;
    static strake_field field[STRAKE_MAX_FIELDS];
    const strake_problem *const usual = which->problem;
    problem = *usual;
    problem.field = field;
    problem.fields = 0;
    for (int f = 0; f < usual->fields; f++) {
        for (int k = 0; k < (usual->field[f].each != NULL ? STRAKE_LOOP_SETS : 1); k++) {
            field[problem.fields++] = usual->field[f];
        }
    }
    which->problem = &problem;
    if (problem.fields > usual->fields) {
        add_graph(which, false);
    }
    which->problem = usual;
}

/* With walls across each axis, and all of them, where states change their sign beyond a wall. */
static void add_walls(const strake_case *usual)
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
            (void)fprintf(stderr, "write_loops: %s\n", error.text);
            exit(1);
        }
        if (which.named != NULL) {
            add_graph(&which, false);
        }
        free(which.named);
    }
}

/*
 * All values of all keys, and lists of all lengths; integers (numbers of iterations) up to a few: further
 * ones repeat the loops. Of these what the problem calls usual; for several fields what is near the default.
 */
static void add_variants(strake_case *which, int key)
{
    const strake_problem *problem = which->problem;
    strake_error error;
    if (key == problem->keys) {
        const bool is_legal = problem->check == NULL || problem->check(which, &error) == STRAKE_OK;
        if (is_legal && (problem->is_usual == NULL || problem->is_usual(which))) {
            add_graph(which, false);
            add_graph(which, true);
            add_walls(which);
            if (is_near_default(which)) {
                add_shared(which);
            }
        }
        return;
    }
    const strake_key *k = &problem->key[key];
    if (k->type == STRAKE_KEY_REAL || k->type == STRAKE_KEY_NAMES || k->type == STRAKE_KEY_EACH) {
        which->value[key] = k->fallback;
        add_variants(which, key + 1);
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
    for (int v = first; v <= last; v++) {
        which->value[key] = v;
        if (k->type == STRAKE_KEY_REALS) {
            give_list(which, key, v);
        }
        add_variants(which, key + 1);
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

/* The loops of one problem, which may have none. */
static void write_functions(FILE *out, int problem)
{
    (void)fprintf(out,
                  "/* Written by host/cpu/tool/write_loops.c. */\n"
                  "#include \"problem/rows.h\"\n\n#include \"cl/real.h\"\n\n"
                  "#include \"cl/elementary.h\"\n\n#include \"cl/wall.h\"\n\n#include \"cl/%s\"\n",
                  strake_problems[problem]->cl_source);
    for (int k = 0; k < count; k++) {
        if (known[k].problem == problem) {
            write_function(out, &known[k]);
        }
    }
}

static void write_table(FILE *out)
{
    (void)fprintf(out, "/* Written by host/cpu/tool/write_loops.c. */\n"
                       "#include \"engine/loops.h\"\n#include \"problem/rows.h\"\n\n");
    for (int k = 0; k < count; k++) {
        (void)fprintf(
            out, "STRAKE_LOOP_DECLARE(loop_%016llx, f64) STRAKE_LOOP_DECLARE(loop_%016llx, f32)\n",
            name_of(known[k].body), name_of(known[k].body));
    }
    (void)fprintf(out, "\nconst strake_loop_code strake_loop_codes[] = {\n");
    for (int k = 0; k < count; k++) {
        (void)fprintf(out,
                      "    {UINT64_C(0x%016llx),\n     {STRAKE_LOOP_LIST(loop_%016llx, f64), "
                      "STRAKE_LOOP_LIST(loop_%016llx, f32)}},\n",
                      name_of(known[k].body), name_of(known[k].body), name_of(known[k].body));
    }
    (void)fprintf(out, "};\nconst int strake_loop_code_count = %d;\n", count);
}

static FILE *open_in(const char *folder, const char *before, const char *name, const char *after)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/strake_loops%s%s%s.c", folder, before, name, after);
    FILE *const out = freopen(path, "w", stdout);
    if (out == NULL) {
        perror(path);
        exit(1);
    }
    return out;
}

static void close_whole(FILE *out)
{
    if (ferror(out) != 0 || fflush(out) != 0) {
        perror("write_loops");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: write_loops FOLDER\n");
        return 2;
    }
    for (int p = 0; strake_problems[p] != NULL; p++) {
        current = p;
        if (!strake_problems[p]->has_particles) {
            strake_case which = {.problem = strake_problems[p], .precision = STRAKE_DOUBLE};
            which.file = (char[]){"write_loops"};
            add_variants(&which, 0);
        }
        FILE *const out = open_in(argv[1], "_", strake_problems[p]->name, "_rows");
        write_functions(out, p);
        close_whole(out);
    }
    FILE *const out = open_in(argv[1], "", "", "");
    write_table(out);
    close_whole(out);
    return 0;
}
