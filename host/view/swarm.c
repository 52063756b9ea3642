#include "view/swarm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "output/format.h"
#include "problem/sph.h"
#include "view/left.h"
#include "view/vtp.h"

/* --- of a run that is under way -------------------------------------------------------------------- */

static strake_status get_rows(void *user, int field, int64_t first, int64_t count, double *out,
                              strake_error *error)
{
    strake_solver *const solver = user;
    return strake_get_slabs(solver, strake_solver_case(solver)->problem->field[field].name, first,
                            first + count, out, error);
}

/* Colours are the parts: where each of them ends. */
static strake_status find_parts(strake_dots_plan *plan, const strake_solver *solver, double **end,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_domain_report domain = strake_solver_describe(solver);
    const int parts = strake_solver_parts(solver, NULL, 0);
    strake_part_report *const part = calloc((size_t)parts + 1, sizeof *part);
    *end = calloc((size_t)parts + 1, sizeof **end);
    STRAKE_CHECK(part != NULL && *end != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    (void)strake_solver_parts(solver, part, parts);
    for (int k = 0; k < parts; k++) {
        (*end)[k] = domain.slab_low + domain.slab_width * (double)part[k].end;
    }
    plan->parts = parts;
    plan->part_direction = domain.slab_direction;
    plan->part_end = *end;
cleanup:
    free(part);
    return status;
}

strake_status strake_swarm_now(strake_dots *dots, const strake_case *which, strake_solver *solver,
                               const strake_view *view, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_dots_plan plan = strake_dots_plan_of(which);
    strake_extent extent;
    double *end = NULL;
    STRAKE_TRY(which->picture.parts ? find_parts(&plan, solver, &end, error) : STRAKE_OK);
    STRAKE_TRY(strake_field_extent(solver, which->problem->field[plan.field].name, &extent, error));
    STRAKE_TRY(strake_dots_read(dots, &plan, view, extent.slabs, get_rows, solver, error));
cleanup:
    free(end);
    dots->plan.part_end = NULL;
    return status;
}

/* --- of a folder ----------------------------------------------------------------------------------- */

static bool is_of_particles(const char *problem)
{
    const strake_problem *const found = strake_problem_find(problem);
    return found != NULL && found->has_particles;
}

strake_status strake_swarm_open(strake_swarm *swarm, const strake_recording *recording,
                                const char *about, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_left left = {0};
    strake_error ignored;
    STRAKE_CHECK(recording->kind != STRAKE_PATH_CHECKPOINT ||
                     !is_of_particles(recording->checkpoint.header.problem),
                 error, STRAKE_ERR_USAGE,
                 "%s is a checkpoint of particles, which has what a run goes on from and no "
                 "picture; give the folder of its outputs, with position among output.fields",
                 recording->path);
    if (recording->kind == STRAKE_PATH_FOLDER &&
        strake_left_open(&left, recording->path, about, "", true, &ignored) == STRAKE_OK &&
        left.which != NULL && left.which->problem->has_particles) {
        swarm->which = left.which;
        left.which = NULL;
        swarm->plan = strake_dots_plan_of(swarm->which);
        swarm->plan.is_cut = false;
    }
cleanup:
    strake_left_free(&left);
    return status;
}

const char *strake_swarm_field(const strake_swarm *swarm, const strake_recording *recording)
{
    const strake_problem *const problem = swarm->which->problem;
    for (int f = STRAKE_SPH_VELOCITY; f < problem->fields; f++) {
        for (int k = 0; k < recording->frames; k++) {
            if (strcmp(recording->frame[k].field, problem->field[f].name) == 0) {
                return problem->field[f].name;
            }
        }
    }
    return NULL;
}

bool strake_swarm_draws(const strake_swarm *swarm, const char *field)
{
    const strake_problem *const problem = swarm->which->problem;
    return strcmp(field, problem->field[STRAKE_SPH_POSITION].name) != 0 &&
           strcmp(field, problem->field[STRAKE_SPH_NUMBER].name) != 0;
}

/* The files of a step that are drawn together, or one that has all. */
typedef struct files {
    strake_array array[STRAKE_SPH_FIELDS];
    bool is_open[STRAKE_SPH_FIELDS];
    strake_vtp vtp; /* instead of these */
    strake_vtp_array in_vtp[STRAKE_SPH_FIELDS];
    int dims;
    int64_t count; /* particles */
} files;

static bool is_vector(int field)
{
    return field == STRAKE_SPH_POSITION || field == STRAKE_SPH_VELOCITY;
}

static strake_status read_rows(void *user, int field, int64_t first, int64_t count, double *out,
                               strake_error *error)
{
    files *const f = user;
    strake_array *const array = &f->array[field];
    if (!f->is_open[field]) { /* kinds: without them all are fluid */
        memset(out, 0, (size_t)count * sizeof *out);
        return STRAKE_OK;
    }
    if (f->vtp.is_open) {
        return strake_vtp_read(&f->vtp, &f->in_vtp[field], first, count,
                               is_vector(field) ? f->dims : 1, out, error);
    }
    const int64_t columns = array->dims > 1 ? array->shape[1] : 1;
    return strake_array_read(array, first * columns, count * columns, out, error);
}

/* Opens the file of a field at a step, and looks whether its rows are the particles'. */
static strake_status open_file(files *f, const strake_swarm *swarm, const char *folder, int field,
                               int64_t step, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[STRAKE_FORMAT_FILE];
    char *path = NULL;
    strake_array *const array = &f->array[field];
    if (f->is_open[field]) {
        return STRAKE_OK;
    }
    strake_format_name(swarm->which->problem->field[field].name, step, "npy", name);
    path = strake_path_join(folder, name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    if (access(path, F_OK) != 0) {
        STRAKE_CHECK(field != STRAKE_SPH_POSITION, error, STRAKE_ERR_USAGE,
                     "%s is not there, without which particles cannot be drawn; add %s to "
                     "output.fields and npy to output.formats",
                     path, swarm->which->problem->field[field].name);
        goto cleanup;
    }
    STRAKE_TRY(strake_array_open(path, array, error));
    f->is_open[field] = true;
    STRAKE_CHECK(array->dims == (is_vector(field) ? 2 : 1) &&
                     (!is_vector(field) || array->shape[1] == swarm->plan.dims) &&
                     array->shape[0] == f->array[STRAKE_SPH_POSITION].shape[0],
                 error, STRAKE_ERR_USAGE,
                 "%s is no output of the run that %s/run.json tells of: it has other rows or "
                 "columns",
                 path, folder);
cleanup:
    free(path);
    return status;
}

/* The same of a file for VTK. */
static strake_status open_vtp(files *f, const strake_swarm *swarm, const strake_frame *shown,
                              int field, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = swarm->which->problem;
    STRAKE_TRY(strake_vtp_open(shown->path, &f->vtp, error));
    f->count = f->vtp.points;
    for (int k = 0; k < STRAKE_SPH_FIELDS; k++) {
        f->is_open[k] = strake_vtp_find(&f->vtp, problem->field[k].name, &f->in_vtp[k]) &&
                        f->in_vtp[k].components == (is_vector(k) ? 3 : 1);
    }
    STRAKE_CHECK(
        f->is_open[STRAKE_SPH_POSITION] && f->is_open[field], error, STRAKE_ERR_USAGE,
        "%s has no %s, or is cut off", shown->path,
        problem->field[f->is_open[STRAKE_SPH_POSITION] ? field : STRAKE_SPH_POSITION].name);
cleanup:
    return status;
}

static strake_status open_files(files *f, const strake_swarm *swarm,
                                const strake_recording *recording, const strake_frame *shown,
                                int field, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const suffix = shown->path != NULL ? strrchr(shown->path, '.') : NULL;
    const int needs[] = {STRAKE_SPH_POSITION, STRAKE_SPH_KIND, field};
    f->dims = swarm->plan.dims;
    if (suffix != NULL && strcmp(suffix, ".vtp") == 0) {
        return open_vtp(f, swarm, shown, field, error);
    }
    for (int k = 0; k < 3; k++) {
        STRAKE_TRY(open_file(f, swarm, recording->path, needs[k], shown->step, error));
    }
    f->count = f->array[STRAKE_SPH_POSITION].shape[0];
cleanup:
    return status;
}

strake_status strake_swarm_read(const strake_swarm *swarm, const strake_recording *recording,
                                int frame, const strake_view *view, strake_picture *out,
                                strake_scene *scene, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_frame *const shown = &recording->frame[frame];
    const strake_problem *const problem = swarm->which->problem;
    strake_dots_plan plan = swarm->plan;
    strake_dots dots = {0};
    files f = {.count = 0};
    plan.field = 0;
    plan.reduction = view->reduction;
    for (int k = 1; k < problem->fields; k++) {
        plan.field = strcmp(problem->field[k].name, shown->field) == 0 ? k : plan.field;
    }
    STRAKE_CHECK(plan.field > 0, error, STRAKE_ERR_USAGE,
                 "%s says where particles are drawn and gives no colours; choose another --field",
                 shown->field);
    STRAKE_TRY(open_files(&f, swarm, recording, shown, plan.field, error));
    STRAKE_TRY(strake_dots_read(&dots, &plan, view, f.count, read_rows, &f, error));
    *scene = strake_dots_scene(&dots, swarm->which);
    scene->step = shown->step;
    scene->time = shown->time;
    *out = dots.picture;
    dots.picture = (strake_picture){0};
cleanup:
    strake_dots_free(&dots);
    for (int k = 0; k < STRAKE_SPH_FIELDS; k++) {
        strake_array_close(&f.array[k]);
    }
    strake_vtp_close(&f.vtp);
    return status;
}

void strake_swarm_close(strake_swarm *swarm)
{
    strake_case_close(&swarm->which);
}
