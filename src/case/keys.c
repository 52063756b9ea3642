/* The table of common keys, and the check for keys that nobody knows. */
#include "case/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char strake_boundary_words[] = "periodic|open|no_flux";
const char strake_precision_words[] = "double|single";
const char strake_fusion_words[] = "auto|none|plain|stream|tile";
const char strake_instruction_words[] = "auto|base|avx2|avx512";
const char strake_division_words[] = "auto|plain|refined";
const char strake_overlap_words[] = "auto|off|on";
const char strake_wait_words[] = "auto|spin|sleep";
const char strake_exchange_words[] = "both|one_way|messages";
const char strake_balance_words[] = "auto|model|fixed|bisection|slice";

const char *strake_common_words(strake_common_kind kind)
{
    switch (kind) {
    case STRAKE_COMMON_FUSION:
        return strake_fusion_words;
    case STRAKE_COMMON_DIVISION:
        return strake_division_words;
    case STRAKE_COMMON_INSTRUCTIONS:
        return strake_instruction_words;
    case STRAKE_COMMON_OVERLAP:
        return strake_overlap_words;
    case STRAKE_COMMON_WAIT:
        return strake_wait_words;
    case STRAKE_COMMON_BALANCE:
        return strake_balance_words;
    case STRAKE_COMMON_EXCHANGE:
        return strake_exchange_words;
    default:
        return NULL;
    }
}

enum { D1 = 1U << 1, D2 = 1U << 2, D3 = 1U << 3, ALL = D1 | D2 | D3 };

#define AT(member) offsetof(struct strake_case, member)
#define CELLS(axis) (AT(n) + (axis) * sizeof(int64_t))
#define SPACING(axis) (AT(spacing) + (axis) * sizeof(double))
#define EDGE(axis) (AT(boundary) + (axis) * sizeof(strake_boundary))
#define NO_RANGE                                                                                   \
    {                                                                                              \
        -INFINITY, INFINITY, false, NULL                                                           \
    }
#define CELL_RANGE                                                                                 \
    {                                                                                              \
        1.0, 2147483647.0, false, "[cells]"                                                        \
    }
#define LENGTH_RANGE                                                                               \
    {                                                                                              \
        0.0, INFINITY, true, "[m]"                                                                 \
    }
#define STEP_RANGE                                                                                 \
    {                                                                                              \
        0.0, 0x1p63, false, "[steps]"                                                              \
    }

#define CELLS_ROW(name, dims, axis, text)                                                          \
    {                                                                                              \
        "grid." name, STRAKE_COMMON_COUNT, dims, CELLS(axis), 0.0,                                 \
            "from the file of a state field", CELL_RANGE, text                                     \
    }
#define SPACING_ROW(name, dims, axis, text)                                                        \
    {                                                                                              \
        "grid." name, STRAKE_COMMON_REAL, dims, SPACING(axis), 1.0, NULL, LENGTH_RANGE, text       \
    }
#define BOUNDARY_ROW(name, dims, axis)                                                             \
    {                                                                                              \
        "boundary." name, STRAKE_COMMON_BOUNDARY, dims, EDGE(axis), 0.0, "periodic", NO_RANGE,     \
            "both edges of this direction"                                                         \
    }

const strake_common strake_commons[] = {
    {"problem", STRAKE_COMMON_PROBLEM, ALL, 0, 0.0, "required", NO_RANGE, "what is solved"},
    {"precision", STRAKE_COMMON_PRECISION, ALL, AT(precision), 0.0, "double", NO_RANGE,
     "of all arithmetic and output: double is float64, single float32"},
    CELLS_ROW("planes", D3, 0, "cells of the slowest direction"),
    CELLS_ROW("rows", D3, 1, "cells along i"),
    CELLS_ROW("rows", D2, 0, "cells along i"),
    CELLS_ROW("cols", ALL, 2, "cells along j, the contiguous direction"),
    SPACING_ROW("dz", D3, 0, "spacing between planes"),
    SPACING_ROW("dx", D3, 1, "spacing along i, between rows"),
    SPACING_ROW("dx", D2, 0, "spacing along i, between rows"),
    SPACING_ROW("dy", ALL, 2, "spacing along j, between columns"),
    {"time.dt",
     STRAKE_COMMON_REAL,
     ALL,
     AT(dt),
     1.0,
     NULL,
     {0.0, INFINITY, true, "[s]"},
     "time step"},
    {"time.steps", STRAKE_COMMON_COUNT, ALL, AT(steps), 0.0, "required", STEP_RANGE,
     "number of time steps from the initial fields on"},
    BOUNDARY_ROW("planes", D3, 0),
    BOUNDARY_ROW("rows", D3, 1),
    BOUNDARY_ROW("rows", D2, 0),
    BOUNDARY_ROW("cols", ALL, 2),
    {"fields", STRAKE_COMMON_FIELDS, ALL, 0, 0.0, NULL, NO_RANGE, "one entry per field"},
    {"run.on", STRAKE_COMMON_WHERE, ALL, AT(on), 0.0, "auto", NO_RANGE,
     "where to run: serial, gpu, hybrid, auto, or a comma-separated list of cpu, gpu:N and ocl:N"},
    {"run.split", STRAKE_COMMON_SPLIT, ALL, AT(split), 0.0, "measured", NO_RANGE,
     "weights >= 0, one per entry of run.on: [1, 2] or \"1,2\""},
    {"run.tuned", STRAKE_COMMON_BOOLEAN, ALL, AT(tuned), 1.0, "true", NO_RANGE,
     "keys below that are not given take the values that `strake tune` found for the device, and "
     "run.overlap and run.steps_per_sweep what the models of `strake model` imply"},
    {"run.balance", STRAKE_COMMON_BALANCE, ALL, AT(balance), 0.0, "auto", NO_RANGE,
     "how rows move between stripes while they run, and between the ranks of mpirun: model (an "
     "affine model of each part's time), bisection (half of the last move), slice (eight rows at a "
     "time), fixed (never, nor between the threads of the CPU, whose shares follow their speeds "
     "otherwise); auto: fixed with run.split (between ranks: with run.shares), else "
     "model"},
    {"run.shares", STRAKE_COMMON_SPLIT, ALL, AT(shares), 0.0, "measured", NO_RANGE,
     "weights >= 0, one per rank of mpirun: [1, 2] or \"1,2\" (each rank has the few rows that an "
     "exchange needs, whatever its weight); they stay unless run.balance says how rows move"},
    {"run.exchange", STRAKE_COMMON_EXCHANGE, ALL, AT(exchange), 0.0, "both", NO_RANGE,
     "how ranks exchange rows: both (each with the rank before and the rank after it, ranks of one "
     "machine in common memory), messages (the same, always in messages), one_way (as both, but "
     "rows go to the rank before only, and wander; for periodic problems without static fields)"},
    {"run.patience",
     STRAKE_COMMON_REAL,
     ALL,
     AT(patience),
     300.0,
     NULL,
     {0.0, INFINITY, true, "[s]"},
     "how long a rank waits for another before the run fails, but for rank 0 where that reads or "
     "writes files or measures diagnostics"},
    {"run.threads",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(threads),
     0.0,
     NULL,
     {0.0, 4096.0, false, "[threads]"},
     "OpenMP threads; 0: OMP_NUM_THREADS, then the usable cores"},
    {"run.teams",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(teams),
     0.0,
     NULL,
     {0.0, 1024.0, false, "[teams]"},
     "teams of cores, each with a contiguous part of the CPU stripe and its threads bound to its "
     "cores: so many of equal size (1: nothing is bound); 0: one for each memory node and last "
     "cache"},
    {"run.group_width",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(group_width),
     0.0,
     NULL,
     {0.0, 4096.0, false, "[cells]"},
     "work-group size along columns of the OpenCL stage kernels, and columns of a tile; at most "
     "what the grid's columns and their halo fill; 0: default"},
    {"run.group_height",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(group_height),
     0.0,
     NULL,
     {0.0, 4096.0, false, "[cells]"},
     "work-group size along rows of the OpenCL stage kernels, in 3D of marching ones too; a tile "
     "has "
     "group_width x group_height work-items; 0: default"},
    {"run.groups", STRAKE_COMMON_GROUPS, ALL, AT(groups), 0.0, "those of all", NO_RANGE,
     "work-group sizes of the OpenCL kernels of a step one by one, where they differ from "
     "run.group_width and run.group_height; a marching kernel's at most as large as these, and in "
     "2D of one row; tiled kernels take none"},
    {"run.steps_per_sweep",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(steps_per_sweep),
     0.0,
     NULL,
     {0.0, STRAKE_MOST_AT_ONCE, false, "[steps]"},
     "most time steps from one exchange to the next: a cpu stripe computes them in one pass over "
     "its "
     "rows (8 at most), a block of run.blocks in one visit; 0: default"},
    {"run.device_memory", STRAKE_COMMON_BYTES, ALL, AT(device_memory), 0.0, NULL, NO_RANGE,
     "most memory that arrays may take on an OpenCL device; a larger stripe streams through it in "
     "blocks of rows; 0: what the device has"},
    {"run.blocks",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(blocks),
     0.0,
     NULL,
     {0.0, 1000000.0, false, "[blocks]"},
     "blocks of rows in which a stripe streams through an OpenCL device; 0: none where its memory "
     "suffices, else as many as are fastest"},
    {"run.streams",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(streams),
     0.0,
     NULL,
     {0.0, 8.0, false, "[streams]"},
     "blocks that are on an OpenCL device at once, so that transfers and kernels overlap; needs a "
     "stripe that streams (run.blocks, or a cap run.device_memory); 0: what is fastest"},
    {"run.block_columns",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(block_columns),
     0.0,
     NULL,
     {0.0, 65536.0, false, "[cells]"},
     "columns that a cpu stripe works on at once, from which in 3D the lines follow; 0: as many as "
     "fit "
     "the caches"},
    {"run.overlap", STRAKE_COMMON_OVERLAP, ALL, AT(overlap), 0.0, "auto", NO_RANGE,
     "on: a device computes the rows that others need first, and their transfers run beside the "
     "rest; off: all rows, then the transfers; auto: on for GPUs with enough rows; a cpu stripe "
     "does so beside devices and other ranks, unless off"},
    {"run.wait", STRAKE_COMMON_WAIT, ALL, AT(wait), 0.0, "auto", NO_RANGE,
     "how a thread waits for its device: spin, sleep (leaving its core to others), auto (spin "
     "through short waits for GPUs)"},
    {"run.hang_seconds",
     STRAKE_COMMON_REAL,
     ALL,
     AT(hang_seconds),
     120.0,
     NULL,
     {0.0, INFINITY, true, "[s]"},
     "most that a device may take for one step of its stripe; then it counts as hung and is "
     "dropped, and the others do its work (under mpirun the run ends)"},
    {"run.instruction_set", STRAKE_COMMON_INSTRUCTIONS, ALL, AT(instruction_set), 0.0, "auto",
     NO_RANGE,
     "vector instructions of a cpu stripe: base (those that every processor of this kind has), "
     "avx2, avx512, auto (the best that this processor has)"},
    {"run.fusion", STRAKE_COMMON_FUSION, ALL, AT(fusion), 0.0, "auto", NO_RANGE,
     "OpenCL kernels: none (one per stage), plain (several stages per cell), stream (groups march "
     "along rows), tile (groups compute tiles, stage after stage; in 2D), auto (on GPUs "
     "tile for small grids and stream for others, plain elsewhere)"},
    {"run.division", STRAKE_COMMON_DIVISION, ALL, AT(division), 0.0, "auto", NO_RANGE,
     "OpenCL kernels divide by the device's own division (plain) or by refined reciprocals "
     "(refined), with the same bits; auto: refined on GPUs"},
    {"run.group_rows",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(group_rows),
     0.0,
     NULL,
     {0.0, 65536.0, false, "[rows]"},
     "rows (planes in 3D) per work-group of marching OpenCL kernels, rows of a tile of tiled ones; "
     "0: from the size of the stripe, and group_height"},
    {"run.hold",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(hold),
     0.0,
     NULL,
     {0.0, 1000.0, false, "[values]"},
     "numbers that a work-item of a marching kernel (run.fusion: stream) may carry from row to "
     "row, and that a tiled kernel may keep per cell in local memory; fewer split the "
     "step into more kernels, which need fewer registers but more memory traffic; 0: 300"},
    {"run.keep",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(keep),
     0.0,
     NULL,
     {0.0, 64.0, false, "[rows]"},
     "rows for which a marching kernel keeps a value that it loaded, rather than loading it again "
     "for the next row: more need more registers and fewer loads; 0: 1"},
    {"run.unroll",
     STRAKE_COMMON_EVEN,
     ALL,
     AT(unroll),
     0.0,
     NULL,
     {0.0, 16.0, false, "[rows]"},
     "rows that a marching kernel computes per pass of its loop; 0: 2"},
    {"run.prefetch",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(prefetch),
     0.0,
     NULL,
     {0.0, 8.0, false, "[rows]"},
     "how early a marching kernel loads: 1 in the row that uses a value, 2 a row before, 3 two "
     "rows before, and so on; earlier hides latency and needs more registers; tiled kernels read "
     "the neighbours' inputs from memory with 1, through local memory with more; 0: 2"},
    {"run.vector",
     STRAKE_COMMON_WIDTH,
     ALL,
     AT(vector),
     0.0,
     NULL,
     {0.0, 4.0, false, "[columns]"},
     "neighbouring columns per work-item of marching OpenCL kernels; 0: default"},
    {"run.registers",
     STRAKE_COMMON_SMALL,
     ALL,
     AT(registers),
     0.0,
     NULL,
     {0.0, 255.0, false, "[registers]"},
     "most registers per work-item, for OpenCL compilers that can be told (NVIDIA's); 0: default"},
    {"run.dump_kernels", STRAKE_COMMON_FOLDER, ALL, AT(dump_kernels), 0.0, NULL, NO_RANGE,
     "existing folder, relative to the case's, for the source of the OpenCL kernels that run; "
     "$STRAKE_DUMP_KERNELS does the same for every command"},
    {"output.directory", STRAKE_COMMON_FOLDER, ALL, AT(output_directory), 0.0, "out", NO_RANGE,
     "folder of the output, relative to the case's"},
    {"output.every", STRAKE_COMMON_COUNT, ALL, AT(output_every), 0.0, NULL, STEP_RANGE,
     "steps between outputs; 0: the last step only"},
    {"output.fields", STRAKE_COMMON_NAMES, ALL, 0, 0.0, "the state fields", NO_RANGE,
     "list of fields to write"},
    {"output.formats", STRAKE_COMMON_FORMATS, ALL, 0, 0.0, "[npy]", NO_RANGE,
     "list of formats: npy"},
    {"output.initial", STRAKE_COMMON_BOOLEAN, ALL, AT(output_initial), 0.0, NULL, NO_RANGE,
     "write step 0 too"},
    {"diagnostics.every", STRAKE_COMMON_COUNT, ALL, AT(diagnostics_every), 0.0, NULL, STEP_RANGE,
     "steps between lines of diagnostics.csv in the output folder, from step 0 on, for problems "
     "that measure their states; 0: none"},
    {"checkpoint.every", STRAKE_COMMON_COUNT, ALL, AT(checkpoint_every), 0.0, NULL, STEP_RANGE,
     "steps between checkpoints; 0: none"},
};
const int strake_common_count = (int)(sizeof strake_commons / sizeof strake_commons[0]);

/* Legal path number @p k: common keys, the problem's keys, its fields; NULL at the end, "" for a gap. */
static const char *legal_path(const strake_problem *problem, int k, char *buffer, size_t size)
{
    if (k < strake_common_count) {
        const strake_common *const common = &strake_commons[k];
        return common->kind != STRAKE_COMMON_FIELDS && (common->dims >> problem->dims & 1U) != 0
                   ? common->path
                   : "";
    }
    k -= strake_common_count;
    if (k < problem->keys) {
        return problem->key[k].path;
    }
    k -= problem->keys;
    if (k < problem->fields) {
        (void)snprintf(buffer, size, "fields.%s", problem->field[k].name);
        return buffer;
    }
    return NULL;
}

static strake_status unknown_key(const strake_node *node, const strake_problem *problem,
                                 const char *section, strake_error *error)
{
    const size_t skip = strlen(section);
    strake_words words = {0};
    char buffer[64];
    char where[STRAKE_PLACE_SIZE];
    char hint[200] = "";
    const char *path = NULL;
    for (int k = 0; (path = legal_path(problem, k, buffer, sizeof buffer)) != NULL; ++k) {
        if (strncmp(path, section, skip) == 0 && path[0] != '\0') {
            strake_words_add(&words, path + skip, strcspn(path + skip, "."));
        }
        /* the right word in the wrong place, or a whole path used as a key */
        const char *const dot = strrchr(path, '.');
        if (dot != NULL && (strcmp(node->key, dot + 1) == 0 || strcmp(node->key, path) == 0)) {
            (void)snprintf(hint, sizeof hint, "; did you mean '%s' inside '%.*s'?", dot + 1,
                           (int)(dot - path), path);
        }
    }
    if (hint[0] == '\0') {
        (void)strake_words_hint(&words, node->key, hint, sizeof hint);
    }
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: unknown key%s%slegal here: %s",
                       strake_node_where_key(node, where, sizeof where), hint,
                       hint[0] != '\0' ? " " : "; ", words.list);
}

/* @param section  "" or a path with a dot at its end */
static strake_status check_section(const strake_node *map, const strake_problem *problem,
                                   const char *section, strake_error *error)
{
    for (const strake_node *node = map->child; node != NULL; node = node->next) {
        char full[128];
        char buffer[64];
        const char *path = NULL;
        bool leaf = false;
        bool inner = false;
        strake_words words = {0};
        const int length = snprintf(full, sizeof full, "%s%s", section, node->key);
        const bool sane = length < (int)sizeof full && strchr(node->key, '.') == NULL;
        for (int k = 0; sane && (path = legal_path(problem, k, buffer, sizeof buffer)) != NULL;
             ++k) {
            if (strncmp(path, full, (size_t)length) == 0) {
                leaf = leaf || path[length] == '\0';
                if (path[length] == '.') {
                    inner = true;
                    strake_words_add(&words, path + length + 1, strcspn(path + length + 1, "."));
                }
            }
        }
        if (!leaf && !inner) {
            return unknown_key(node, problem, section, error);
        }
        if (inner && node->kind == STRAKE_NODE_MAP) {
            full[length] = '.';
            full[length + 1] = '\0';
            const strake_status status = check_section(node, problem, full, error);
            if (status != STRAKE_OK) {
                return status;
            }
        } else if (inner && node->kind != STRAKE_NODE_NULL) {
            char shown[STRAKE_SHOW_SIZE];
            return strake_node_fail(node, error, "found %s, expected a mapping with keys from: %s",
                                    strake_node_show(node, shown, sizeof shown), words.list);
        }
    }
    return STRAKE_OK;
}

strake_status strake_keys_check(const strake_node *root, const strake_problem *problem,
                                strake_error *error)
{
    return check_section(root, problem, "", error);
}

strake_status strake_keys_missing(strake_node *root, const char *path, const char *expected,
                                  strake_error *error)
{
    char section[64];
    char where[STRAKE_PLACE_SIZE];
    const char *const dot = strchr(path, '.');
    (void)snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - path) : 0, path);
    strake_node *node = dot != NULL ? strake_node_get(root, section) : root;
    const char *const rest = node != NULL && dot != NULL ? dot + 1 : path;
    node = node != NULL ? node : root;
    (void)strake_node_where(node, where, sizeof where);
    return strake_fail(error, STRAKE_ERR_USAGE, "%s%s%s: missing; expected %s", where,
                       node == root ? ": " : ".", rest, expected);
}
