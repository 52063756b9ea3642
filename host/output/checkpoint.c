#include "output/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "cpu/spread.h"
#include "files/text.h"

/* Pieces of a field are to fit, too. */
static strake_status make_room(strake_slabs *slabs, const char *name, strake_error *error)
{
    const strake_status status = strake_slabs_select(slabs, name, error);
    if (status == STRAKE_OK) {
        const size_t piece = strake_piece_bytes(slabs->slab, strake_slabs_total(slabs));
        slabs->capacity = piece > slabs->capacity ? piece : slabs->capacity;
    }
    return status;
}

strake_status strake_slabs_open(strake_slabs *slabs, const strake_case *which,
                                strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *slabs = (strake_slabs){.solver = solver, .element_size = strake_element_size(solver)};
    for (int f = 0; f < which->problem->fields; f++) {
        STRAKE_TRY(make_room(slabs, which->problem->field[f].name, error));
    }
    for (int k = 0; strake_solver_kept(solver, k) != NULL; k++) {
        STRAKE_TRY(make_room(slabs, strake_solver_kept(solver, k), error));
    }
    slabs->data = malloc(slabs->capacity);
    STRAKE_CHECK(slabs->data != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory: %zu bytes for gathering a part of a field", slabs->capacity);
cleanup:
    return status;
}

strake_slabs strake_slabs_of(const char *name, int dims, const int64_t *shape, double *data)
{
    strake_slabs slabs = {.element_size = sizeof *data,
                          .data = data,
                          .name = name,
                          .dims = dims,
                          .shape = {1, 1, 1},
                          .slab = sizeof *data};
    for (int d = 0; d < dims; d++) {
        slabs.shape[d] = shape[d];
        slabs.slab *= d > 0 ? (size_t)shape[d] : 1;
    }
    slabs.slabs = slabs.end = slabs.shape[0];
    slabs.capacity = (size_t)slabs.slabs * slabs.slab;
    return slabs;
}

strake_status strake_slabs_select(strake_slabs *slabs, const char *name, strake_error *error)
{
    strake_extent extent;
    const strake_status status = strake_field_extent(slabs->solver, name, &extent, error);
    slabs->name = name;
    if (status == STRAKE_OK) {
        slabs->dims = extent.dims;
        memcpy(slabs->shape, extent.shape, sizeof slabs->shape);
        slabs->slabs = extent.slabs;
        slabs->slab = extent.bytes;
    }
    slabs->first = 0;
    slabs->end = 0;
    return status;
}

bool strake_slabs_next(strake_slabs *slabs)
{
    const int64_t most = (int64_t)(slabs->capacity / slabs->slab);
    if (slabs->end == slabs->slabs) {
        slabs->first = 0;
        slabs->end = 0;
        return false;
    }
    slabs->first = slabs->end;
    slabs->end = slabs->slabs - slabs->first < most ? slabs->slabs : slabs->first + most;
    return true;
}

static uint64_t slabs_offset(const strake_slabs *slabs)
{
    return (uint64_t)slabs->first * slabs->slab;
}

static strake_status slabs_set(strake_slabs *slabs, strake_error *error)
{
    return strake_solver_restore(slabs->solver, slabs->name, slabs->first, slabs->end, slabs->data,
                                 error);
}

enum {
    VERSION = 3,
    MANY_VERSION = 4, /* with the whole header */
    OLD_VERSION = 2,  /* without settings */
    BYTE_ORDER_MARK = 0x01020304,
    CHUNK = 1 << 16,
    MOST_SETTINGS = 1 << 20, /* bytes */
    MOST_DIFFERENCES = 3     /* that a message names */
};

static const unsigned char magic[8] = {0x89, 'S', 'T', 'R', 'A', 'K', 'E', '\n'};

_Static_assert(sizeof(strake_checkpoint_field) == 72, "the file format has no padding");
_Static_assert(sizeof(strake_checkpoint_header) == 112 + 72 * STRAKE_CHECKPOINT_FIELDS,
               "the file format has no padding");
_Static_assert((int)STRAKE_CHECKPOINT_FIELDS >= (int)STRAKE_MAX_NAMES, "all states have room");

strake_status strake_field_bytes(const strake_solver *solver, const char *name, size_t *bytes,
                                 strake_error *error)
{
    int dims = 0;
    int64_t shape[3] = {1, 1, 1};
    const strake_status status = strake_field_shape(solver, name, &dims, shape, error);
    *bytes = strake_element_size(solver);
    for (int k = 0; status == STRAKE_OK && k < dims; k++) {
        *bytes *= (size_t)shape[k];
    }
    return status;
}

/* For how many fields a header has room in its file, and what of it lies there. */
static uint32_t header_room(const strake_checkpoint_header *header)
{
    return header->version == MANY_VERSION ? STRAKE_CHECKPOINT_FIELDS : STRAKE_CHECKPOINT_FEW;
}

static size_t header_bytes(const strake_checkpoint_header *header)
{
    return offsetof(strake_checkpoint_header, field) + header_room(header) * sizeof *header->field;
}

static strake_status fill_header(strake_checkpoint_header *header, const strake_case *which,
                                 strake_solver *solver, strake_error *error)
{
    strake_status status = STRAKE_OK;
    memcpy(header->magic, magic, sizeof magic);
    header->byte_order = BYTE_ORDER_MARK;
    header->element_size = (uint32_t)strake_element_size(solver);
    STRAKE_TRY(strake_solver_hash(solver, strake_time(solver), &header->hash, error));
    header->step = strake_step_count(solver);
    header->time = strake_time(solver);
    header->end = which->end;
    memcpy(header->cells, which->n, sizeof header->cells);
    strncpy(header->problem, which->problem->name, sizeof header->problem - 1);
    for (const char *name = NULL;
         (name = strake_solver_kept(solver, (int)header->fields)) != NULL;) {
        assert(header->fields < STRAKE_CHECKPOINT_FIELDS && "more states than have room");
        strake_checkpoint_field *const field = &header->field[header->fields++];
        int dims = 0;
        size_t bytes = 0;
        field->shape[0] = field->shape[1] = field->shape[2] = 1;
        STRAKE_TRY(strake_field_shape(solver, name, &dims, field->shape, error));
        STRAKE_TRY(strake_field_bytes(solver, name, &bytes, error));
        field->dims = (uint32_t)dims;
        for (int k = dims; k < 3; k++) {
            field->shape[k] = 1;
        }
        field->bytes = bytes;
        strncpy(field->name, name, sizeof field->name - 1);
    }
    header->version = header->fields > STRAKE_CHECKPOINT_FEW ? MANY_VERSION : VERSION;
cleanup:
    return status;
}

static void add_setting(void *user, const char *name, uint64_t hash, const char *value)
{
    strake_text_print(user, "%s\t%016llx\t%s\n", name, (unsigned long long)hash, value);
}

/* Lines behind those of settings: the bits of the lengths of the next steps. */
static const char *const length_names[] = {"length of the next step", "and of the one after it"};

static void add_lengths(const strake_solver *solver, strake_text *text)
{
    double length[2];
    for (int k = 0; k < 2 && strake_solver_lengths(solver, length); k++) {
        uint64_t bits = 0;
        memcpy(&bits, &length[k], sizeof bits);
        add_setting(text, length_names[k], bits, "");
    }
}

/* The text's length and the text. */
static strake_status write_settings(strake_file *file, strake_solver *solver, uint64_t *checksum,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    uint64_t length = 0;
    STRAKE_TRY(strake_solver_settings(solver, strake_time(solver), add_setting, &text, error));
    add_lengths(solver, &text);
    strake_case_coming(strake_solver_case(solver), strake_time(solver), add_setting, &text);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory");
    length = text.length;
    STRAKE_TRY(strake_file_write(file, &length, sizeof length, error));
    STRAKE_TRY(strake_file_write(file, text.data, text.length, error));
    *checksum = strake_fnv1a(*checksum, &length, sizeof length);
    *checksum = strake_fnv1a(*checksum, text.data, text.length);
cleanup:
    strake_text_free(&text);
    return status;
}

strake_status strake_checkpoint_write(const char *path, const strake_case *which,
                                      strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_file file = {0};
    strake_checkpoint_header header = {0};
    strake_hash_team team = strake_hash_team_begin(strake_solver_threads(slabs->solver));
    uint64_t checksum = 0;
    STRAKE_TRY(fill_header(&header, which, slabs->solver, error));
    STRAKE_TRY(strake_file_begin(&file, path, 0, error));
    STRAKE_TRY(strake_file_write(&file, &header, header_bytes(&header), error));
    checksum = strake_fnv1a(STRAKE_FNV_SEED, &header, header_bytes(&header));
    STRAKE_TRY(write_settings(&file, slabs->solver, &checksum, error));
    for (uint32_t k = 0; k < header.fields; k++) {
        STRAKE_TRY(strake_slabs_select(slabs, header.field[k].name, error));
        while (strake_slabs_next(slabs)) {
            const size_t bytes = strake_slabs_bytes(slabs);
            STRAKE_TRY(strake_slabs_get(slabs, error));
            STRAKE_TRY(strake_file_write(&file, slabs->data, bytes, error));
            checksum = strake_hash_team_add(&team, checksum, slabs->data, bytes);
        }
    }
    STRAKE_TRY(strake_file_write(&file, &checksum, sizeof checksum, error));
    STRAKE_TRY(strake_file_commit(&file, error));
cleanup:
    strake_hash_team_end(&team);
    strake_file_abandon(&file);
    return status;
}

/* Reads exactly the bytes at an offset. */
static strake_status read_at(const strake_checkpoint *checkpoint, uint64_t offset, void *data,
                             size_t bytes, strake_error *error)
{
    if (!strake_file_read_at(checkpoint->descriptor, data, bytes, (int64_t)offset)) {
        return strake_fail(error, STRAKE_ERR_IO, "cannot read checkpoint %s: %s", checkpoint->path,
                           errno != 0 ? strake_file_reason(errno) : "it became shorter");
    }
    return STRAKE_OK;
}

/* Whether a header can be trusted to size buffers; total receives the length the file must have. */
static bool header_is_sane(const strake_checkpoint_header *header, uint64_t *total)
{
    *total = header_bytes(header) + sizeof(uint64_t);
    if ((header->element_size != 4 && header->element_size != 8) || header->fields < 1 ||
        header->fields > header_room(header) || header->step < 0 ||
        memchr(header->problem, '\0', sizeof header->problem) == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < header->fields; k++) {
        const strake_checkpoint_field *const field = &header->field[k];
        uint64_t bytes = header->element_size;
        if (field->dims < 1 || field->dims > 3 ||
            memchr(field->name, '\0', sizeof field->name) == NULL) {
            return false;
        }
        for (int d = 0; d < 3; d++) {
            if (field->shape[d] < 1 ||
                __builtin_mul_overflow(bytes, (uint64_t)field->shape[d], &bytes)) {
                return false;
            }
        }
        if (bytes != field->bytes || __builtin_add_overflow(*total, bytes, total) ||
            *total > INT64_MAX) {
            return false;
        }
    }
    return true;
}

static strake_status read_settings(strake_checkpoint *checkpoint, uint64_t length, uint64_t *total,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint64_t bytes = 0;
    checkpoint->fields_at = header_bytes(&checkpoint->header);
    if (checkpoint->header.version == OLD_VERSION) {
        return STRAKE_OK;
    }
    *total += sizeof bytes;
    if (length < *total) {
        return STRAKE_OK; /* as the caller says */
    }
    STRAKE_TRY(read_at(checkpoint, checkpoint->fields_at, &bytes, sizeof bytes, error));
    STRAKE_CHECK(bytes <= MOST_SETTINGS, error, STRAKE_ERR_IO,
                 "checkpoint %s is damaged: its list of settings makes no sense", checkpoint->path);
    *total += bytes;
    checkpoint->fields_at += sizeof bytes + bytes;
    if (length < *total) {
        return STRAKE_OK;
    }
    checkpoint->settings = calloc((size_t)bytes + 1, 1);
    STRAKE_CHECK(checkpoint->settings != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory",
                 checkpoint->path);
    STRAKE_TRY(read_at(checkpoint, header_bytes(&checkpoint->header) + sizeof bytes,
                       checkpoint->settings, (size_t)bytes, error));
cleanup:
    return status;
}

static strake_status verify_checksum(const strake_checkpoint *checkpoint, uint64_t total,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint64_t sum = STRAKE_FNV_SEED, stored = 0;
    const uint64_t covered = total - sizeof stored;
    unsigned char *const chunk = malloc(CHUNK);
    STRAKE_CHECK(chunk != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory", checkpoint->path);
    for (uint64_t at = 0; at < covered; at += CHUNK) {
        const size_t bytes = covered - at < CHUNK ? (size_t)(covered - at) : CHUNK;
        STRAKE_TRY(read_at(checkpoint, at, chunk, bytes, error));
        sum = strake_fnv1a(sum, chunk, bytes);
    }
    STRAKE_TRY(read_at(checkpoint, covered, &stored, sizeof stored, error));
    STRAKE_CHECK(sum == stored, error, STRAKE_ERR_IO,
                 "checkpoint %s is damaged: its checksum is %016llx, its content gives %016llx; "
                 "use another checkpoint or start from the beginning",
                 checkpoint->path, (unsigned long long)stored, (unsigned long long)sum);
cleanup:
    free(chunk);
    return status;
}

strake_status strake_checkpoint_open(const char *path, strake_checkpoint *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    int64_t bytes = 0;
    uint64_t total = 0, length = 0;
    size_t head = 0;
    *out = (strake_checkpoint){.path = strdup(path), .descriptor = -1};
    STRAKE_CHECK(out->path != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory", path);
    out->descriptor = strake_file_open(path, &bytes, &why);
    STRAKE_CHECK(out->descriptor >= 0 || errno != ENOTSUP, error, STRAKE_ERR_USAGE,
                 "%s is not a Strake checkpoint: %s", path, why);
    STRAKE_CHECK(out->descriptor >= 0, error, STRAKE_ERR_IO, "cannot read checkpoint %s: %s", path,
                 why);
    length = (uint64_t)bytes;
    head = length < sizeof out->header ? (size_t)length : sizeof out->header;
    STRAKE_TRY(read_at(out, 0, &out->header, head, error));
    STRAKE_CHECK(head >= sizeof magic && memcmp(out->header.magic, magic, sizeof magic) == 0, error,
                 STRAKE_ERR_USAGE,
                 "%s is not a Strake checkpoint; expected a file that a run with `checkpoint: "
                 "{every: N}` wrote as %s",
                 path, STRAKE_CHECKPOINT_NAME);
    STRAKE_CHECK(head >= header_bytes(&out->header), error, STRAKE_ERR_IO,
                 "checkpoint %s is truncated: %llu bytes, the header alone has %zu", path,
                 (unsigned long long)length, header_bytes(&out->header));
    STRAKE_CHECK(out->header.byte_order == BYTE_ORDER_MARK, error, STRAKE_ERR_USAGE,
                 "checkpoint %s was written on a machine with another byte order", path);
    STRAKE_CHECK(out->header.version >= OLD_VERSION && out->header.version <= MANY_VERSION, error,
                 STRAKE_ERR_USAGE,
                 "checkpoint %s has format version %u; this Strake reads version %d", path,
                 out->header.version, VERSION);
    STRAKE_CHECK(header_is_sane(&out->header, &total), error, STRAKE_ERR_IO,
                 "checkpoint %s is damaged: its header makes no sense", path);
    STRAKE_TRY(read_settings(out, length, &total, error));
    STRAKE_CHECK(length >= total, error, STRAKE_ERR_IO,
                 "checkpoint %s is truncated: %llu bytes, expected %llu", path,
                 (unsigned long long)length, (unsigned long long)total);
    STRAKE_CHECK(length == total, error, STRAKE_ERR_IO,
                 "checkpoint %s is damaged: %llu bytes, expected %llu", path,
                 (unsigned long long)length, (unsigned long long)total);
    STRAKE_TRY(verify_checksum(out, total, error));
cleanup:
    if (status != STRAKE_OK) {
        strake_checkpoint_close(out);
    }
    return status;
}

strake_status strake_checkpoint_read(const strake_checkpoint *checkpoint, int field,
                                     uint64_t offset, void *data, size_t bytes, strake_error *error)
{
    offset += checkpoint->fields_at;
    for (int k = 0; k < field; k++) {
        offset += checkpoint->header.field[k].bytes;
    }
    return read_at(checkpoint, offset, data, bytes, error);
}

/* "61 x 97"; in 2D the middle axis is not used. */
static void grid_text(int dims, const int64_t cells[STRAKE_AXES], char *text, size_t size)
{
    if (dims == 3) {
        (void)snprintf(text, size, "%lld x %lld x %lld", (long long)cells[0], (long long)cells[1],
                       (long long)cells[2]);
    } else {
        (void)snprintf(text, size, "%lld x %lld", (long long)cells[0], (long long)cells[2]);
    }
}

strake_status strake_checkpoint_match(const strake_checkpoint *checkpoint, const strake_case *which,
                                      strake_error *error)
{
    const strake_checkpoint_header *const header = &checkpoint->header;
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(strcmp(header->problem, which->problem->name) == 0, error, STRAKE_ERR_USAGE,
                 "checkpoint %s belongs to another case: its problem is %s, that of %s is %s",
                 checkpoint->path, header->problem, which->file, which->problem->name);
    if (memcmp(header->cells, which->n, sizeof header->cells) != 0) {
        char theirs[72], ours[72];
        grid_text(which->problem->dims, header->cells, theirs, sizeof theirs);
        grid_text(which->problem->dims, which->n, ours, sizeof ours);
        return strake_fail(
            error, STRAKE_ERR_USAGE,
            "checkpoint %s belongs to another case: its grid is %s, that of %s is %s",
            checkpoint->path, theirs, which->file, ours);
    }
    STRAKE_CHECK((int)header->element_size == strake_case_element_size(which), error,
                 STRAKE_ERR_USAGE,
                 "checkpoint %s belongs to another case: its precision is %s, that of %s is %s",
                 checkpoint->path, header->element_size == 8 ? "double" : "single", which->file,
                 strake_precision_name(which->precision));
cleanup:
    return status;
}

strake_status strake_checkpoint_precedes(const strake_checkpoint *checkpoint,
                                         const strake_case *which, strake_error *error)
{
    const int64_t step = checkpoint->header.step;
    if (strake_case_ends_in_time(which) && checkpoint->header.time > which->end) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "checkpoint %s is at %.10g s, beyond time.end %.10g s of %s; give a "
                           "later one to continue from it",
                           checkpoint->path, checkpoint->header.time, which->end, which->file);
    }
    if (step <= which->steps) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "checkpoint %s is at step %lld, beyond the last step %lld of %s; give a "
                       "larger --steps to continue from it",
                       checkpoint->path, (long long)step, (long long)which->steps, which->file);
}

/* Whether the fields are the solver's, by name and size. */
static strake_status check_fields(const strake_checkpoint *checkpoint, strake_slabs *slabs,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (uint32_t k = 0; k < checkpoint->header.fields; k++) {
        const strake_checkpoint_field *const field = &checkpoint->header.field[k];
        STRAKE_TRY(strake_slabs_select(slabs, field->name, error));
        STRAKE_CHECK(strake_slabs_total(slabs) == field->bytes, error, STRAKE_ERR_USAGE,
                     "checkpoint %s belongs to another case: field %s has %llu bytes, expected "
                     "%llu",
                     checkpoint->path, field->name, (unsigned long long)field->bytes,
                     (unsigned long long)strake_slabs_total(slabs));
    }
cleanup:
    return status;
}

/* Fields that only cases have which name them in their outputs. */
static strake_status check_traced(const strake_checkpoint *checkpoint, const strake_case *which,
                                  strake_error *error)
{
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        bool is_there = false;
        for (uint32_t k = 0; k < checkpoint->header.fields; k++) {
            is_there = is_there || strcmp(checkpoint->header.field[k].name, field->name) == 0;
        }
        if (field->is_traced && is_there != strake_case_has(which, f)) {
            return strake_fail(error, STRAKE_ERR_USAGE,
                               "checkpoint %s belongs to another case: output.fields of its run %s "
                               "%s, those of %s %s",
                               checkpoint->path, is_there ? "had" : "had no", field->name,
                               which->file, is_there ? "have not" : "have");
        }
    }
    return STRAKE_OK;
}

/* What a case that differs in its numbers may differ in, where the checkpoint does not list its settings. */
static const char *describe_difference(const strake_problem *problem)
{
    if (problem->has_particles) {
        return "the problem agrees, but the precision, the scene, scheme, parameters";
    }
    return problem->pour != NULL
               ? "problem, grid and precision agree, but time.dt_max, scheme, "
                 "parameters, a static field, vents or their rates before that time"
               : "problem, grid and precision agree, but the time step, "
                 "boundaries, scheme, parameters, a static field";
}

/* What the settings of a checkpoint and those of a case differ in. */
typedef struct differences {
    const strake_checkpoint *checkpoint;
    const strake_case *which;
    strake_text text;
    int count;
} differences;

/* The line of a checkpoint's setting, behind its name; NULL: there is none. */
static const char *find_setting(const char *line, const char *name)
{
    const size_t length = strlen(name);
    while (line != NULL && *line != '\0') {
        if (strncmp(line, name, length) == 0 && line[length] == '\t') {
            return line + length + 1;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

static void compare_setting(void *user, const char *name, uint64_t hash, const char *value)
{
    differences *const all = user;
    char ours[24];
    const char *const theirs = find_setting(all->checkpoint->settings, name);
    const char *const their_value = theirs != NULL ? theirs + strcspn(theirs, "\t\n") : "";
    const int length = *their_value == '\t' ? (int)strcspn(their_value + 1, "\n") : 0;
    (void)snprintf(ours, sizeof ours, "%016llx", (unsigned long long)hash);
    if ((theirs != NULL && strncmp(theirs, ours, 16) == 0) ||
        /* those of one field are hashed behind those of all before */
        (all->count > 0 &&
         strncmp(name, STRAKE_SETTING_VALUES, sizeof STRAKE_SETTING_VALUES - 1) == 0) ||
        ++all->count > MOST_DIFFERENCES) {
        return;
    }
    const char *const before = all->count > 1 ? "; " : "";
    if (theirs == NULL) {
        strake_text_print(&all->text, "%s%s is given in %s only", before, name, all->which->file);
    } else if (length == 0 || *value == '\0' ||
               ((size_t)length == strlen(value) &&
                strncmp(their_value + 1, value, (size_t)length) == 0)) {
        strake_text_print(&all->text, "%s%s%s%s%s differ from those of %s", before, name,
                          *value != '\0' ? " (" : "", value, *value != '\0' ? "): its numbers" : "",
                          all->which->file);
    } else {
        strake_text_print(&all->text, "%s%s is %.*s there and %s in %s", before, name, length,
                          their_value + 1, value, all->which->file);
    }
}

static strake_status refuse(const strake_checkpoint *checkpoint, strake_solver *solver,
                            strake_error *error)
{
    strake_status status = STRAKE_OK;
    differences all = {.checkpoint = checkpoint, .which = strake_solver_case(solver)};
    if (checkpoint->settings != NULL) {
        STRAKE_TRY(
            strake_solver_settings(solver, checkpoint->header.time, compare_setting, &all, error));
    }
    if (all.count > MOST_DIFFERENCES) {
        strake_text_print(&all.text, "; %d more settings differ", all.count - MOST_DIFFERENCES);
    }
    if (all.text.data != NULL && strstr(all.text.data, "before that time is given in") != NULL) {
        strake_text_print(
            &all.text, "; only the checkpoint of a case with barriers, [] if there are none yet, "
                       "goes on with others");
    }
    if (all.text.data != NULL && strstr(all.text.data, "before that time") != NULL) {
        strake_text_print(&all.text, "; the checkpoint is at %.15g s", checkpoint->header.time);
    }
    STRAKE_CHECK(all.count == 0 || all.text.failed, error, STRAKE_ERR_USAGE,
                 "checkpoint %s belongs to another case: %s", checkpoint->path, all.text.data);
    STRAKE_CHECK(checkpoint->settings == NULL, error, STRAKE_ERR_USAGE,
                 "checkpoint %s is of another version of Strake, although all settings of its case "
                 "agree with those of %s",
                 checkpoint->path, all.which->file);
    status = strake_fail(error, STRAKE_ERR_USAGE,
                         "checkpoint %s belongs to another case: %s or the version of Strake "
                         "differ",
                         checkpoint->path, describe_difference(all.which->problem));
cleanup:
    strake_text_free(&all.text);
    return status;
}

/* Steps go on with the lengths that the checkpoint has, where they have different ones. @return STRAKE_ERR_USAGE: it has none */
static strake_status restore_lengths(const strake_checkpoint *checkpoint, strake_solver *solver,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    double length[2];
    if (!strake_solver_lengths(solver, length)) {
        return STRAKE_OK;
    }
    for (int k = 0; k < 2; k++) {
        const char *const line = find_setting(checkpoint->settings, length_names[k]);
        const uint64_t bits = line != NULL ? strtoull(line, NULL, 16) : 0;
        memcpy(&length[k], &bits, sizeof bits);
        STRAKE_CHECK(length[k] > 0.0 && length[k] <= DBL_MAX, error, STRAKE_ERR_USAGE,
                     "checkpoint %s does not say how long the next steps are; begin anew, or from "
                     "another one",
                     checkpoint->path);
    }
    strake_solver_set_lengths(solver, length);
cleanup:
    return status;
}

/* A change that cut the last step short is one of the case that goes on, too, or an end that did so. */
static strake_status check_last_step(const strake_checkpoint *checkpoint, const strake_case *which,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double time = checkpoint->header.time;
    STRAKE_CHECK(find_setting(checkpoint->settings, STRAKE_CASE_CHANGE) == NULL ||
                     checkpoint->header.end == time || strake_case_changes_at(which, time),
                 error, STRAKE_ERR_USAGE,
                 "checkpoint %s belongs to another case: its last step was cut short to end at "
                 "%.10g s, where a rate changed, and %s has no change then; go on from an earlier "
                 "checkpoint",
                 checkpoint->path, time, which->file);
cleanup:
    return status;
}

static void compare_coming(void *user, const char *name, uint64_t hash, const char *value)
{
    differences *const all = user;
    char ours[24];
    const char *const theirs = find_setting(all->checkpoint->settings, name);
    (void)value;
    (void)snprintf(ours, sizeof ours, "%016llx", (unsigned long long)hash);
    const bool is_item = strchr(name, '[') != NULL;
    if (is_item && (theirs == NULL || strncmp(theirs, ours, 16) != 0)) {
        strake_text_print(&all->text, "%s%s%s", all->count++ > 0 ? ", " : "", name,
                          theirs == NULL ? " (not there before)" : "");
    }
}

char *strake_checkpoint_news(const strake_checkpoint *checkpoint, const strake_case *which)
{
    differences all = {.checkpoint = checkpoint, .which = which};
    char name[32] = "";
    if (find_setting(checkpoint->settings, STRAKE_CASE_COMING) == NULL) {
        return NULL;
    }
    strake_case_coming(which, checkpoint->header.time, compare_coming, &all);
    for (int m = 0; m < 2; m++) {
        for (int v = m == 0 ? which->vents.count : which->barriers.count;; v++) {
            (void)snprintf(name, sizeof name, "%s[%d]", m == 0 ? "vents" : "barriers", v);
            if (find_setting(checkpoint->settings, name) == NULL) {
                break;
            }
            strake_text_print(&all.text, "%s%s (not there any more)", all.count++ > 0 ? ", " : "",
                              name);
        }
    }
    return all.text.data;
}

strake_status strake_checkpoint_restore(const strake_checkpoint *checkpoint, strake_slabs *slabs,
                                        strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_checkpoint_header *const header = &checkpoint->header;
    const strake_case *const which = strake_solver_case(slabs->solver);
    uint64_t hash = 0;
    STRAKE_TRY(check_traced(checkpoint, which, error));
    STRAKE_TRY(strake_solver_hash(slabs->solver, header->time, &hash, error));
    STRAKE_TRY(header->hash == hash ? STRAKE_OK : refuse(checkpoint, slabs->solver, error));
    STRAKE_TRY(check_last_step(checkpoint, which, error));
    STRAKE_TRY(check_fields(checkpoint, slabs, error));
    for (uint32_t k = 0; k < header->fields; k++) {
        STRAKE_TRY(strake_slabs_select(slabs, header->field[k].name, error));
        while (strake_slabs_next(slabs)) {
            STRAKE_TRY(strake_checkpoint_read(checkpoint, (int)k, slabs_offset(slabs), slabs->data,
                                              strake_slabs_bytes(slabs), error));
            STRAKE_TRY(slabs_set(slabs, error));
        }
    }
    strake_solver_set_progress(slabs->solver, header->step, header->time);
    STRAKE_TRY(restore_lengths(checkpoint, slabs->solver, error));
cleanup:
    return status;
}

void strake_checkpoint_close(strake_checkpoint *checkpoint)
{
    if (checkpoint->path != NULL && checkpoint->descriptor >= 0) {
        (void)close(checkpoint->descriptor);
    }
    free(checkpoint->path);
    free(checkpoint->settings);
    checkpoint->path = checkpoint->settings = NULL;
    checkpoint->descriptor = -1;
}
