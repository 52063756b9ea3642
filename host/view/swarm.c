#include "view/swarm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "output/format.h"
#include "problem/sph.h"
#include "view/left.h"
#include "output/vtk.h"

enum { ROWS = 8192 /* asked for at once */ };

/* Dots are a little wider than the spacing, so that those of a lattice leave no gaps. */
static const double wider = 1.1;

/* What a point of the picture has been given so far. */
typedef struct point {
    double sum, least, most;
    int64_t count;
} point;

/** What is drawn of a case, as its output.picture says. */
static strake_dots_plan dots_plan_of(const strake_case *which)
{
    const strake_picture_plan *const picture = &which->picture;
    const int from = strake_case_key(which, "scene.from"), to = strake_case_key(which, "scene.to");
    const int dims = which->problem->dims;
    const double spacing = strake_case_value(which, "scene.spacing");
    const double walls = ceil(2.0 * strake_case_value(which, "scheme.smoothing")) * spacing;
    strake_dots_plan plan = {.dims = dims,
                             .walls = walls,
                             .spacing = spacing,
                             .along = dims == 3 ? picture->along : 1,
                             .is_cut = picture->is_cut,
                             .at = picture->at,
                             .field = picture->field,
                             .reduction = (strake_reduction)picture->reduction};
    for (int d = 0, k = 0; d < STRAKE_DOTS_DIRECTIONS; d++) {
        if (strake_scene_has_direction(dims, d)) {
            plan.low[d] = (which->given[from] ? which->list[from][k] : 0.0) - walls;
            plan.high[d] = which->list[to][k++] + walls;
        }
    }
    return plan;
}

strake_status strake_dots_turn(strake_dots_plan *plan, int along, bool is_cut, double at,
                               strake_error *error)
{
    if (plan->dims == 2) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "there is no slice and no direction of sight in 2D: all particles are "
                           "seen; leave it out");
    }
    if (is_cut && !(at >= plan->low[along] && at <= plan->high[along])) {
        char text[120];
        (void)strake_number_print(text, sizeof text, "%c = %.6g m; expected %.6g to %.6g m",
                                  "xyz"[along], at, plan -> low[along], plan -> high[along]);
        return strake_fail(error, STRAKE_ERR_USAGE, "there are no particles at %s", text);
    }
    plan->along = along;
    plan->is_cut = is_cut;
    plan->at = at;
    return STRAKE_OK;
}

/* Points as wide as high in what is shown, as many as there is room for. */
static void choose_size(strake_dots *dots, const strake_view *view)
{
    const strake_dots_plan *const plan = &dots->plan;
    const double right = plan->high[dots->right] - plan->low[dots->right];
    const double up = plan->high[dots->down] - plan->low[dots->down];
    const double by_cols = right / view->most_cols, by_rows = up / view->most_rows / view->stretch;
    const double side = fmax(by_cols, by_rows);
    strake_picture *const picture = &dots->picture;
    picture->cols = (int)fmax(1.0, fmin(floor(right / side + 0.5), view->most_cols));
    picture->rows = (int)fmax(1.0, fmin(floor(up / side / view->stretch + 0.5), view->most_rows));
    dots->width = right / picture->cols;
    dots->height = up / picture->rows;
}

static strake_status begin(strake_dots *dots, const strake_dots_plan *plan, const strake_view *view,
                           point **points, strake_error *error)
{
    strake_status status = STRAKE_OK;
    *dots = (strake_dots){.plan = *plan,
                          .down = plan->along == 2 ? 1 : 2,
                          .right = plan->along == 0 ? 1 : 0,
                          .picture = {.dims = 2, .planes = 1, .reduction = plan->reduction}};
    choose_size(dots, view);
    strake_picture *const picture = &dots->picture;
    const size_t count = (size_t)picture->rows * (size_t)picture->cols;
    picture->cell_rows = picture->rows;
    picture->cell_cols = picture->cols;
    picture->least = picture->most = picture->positive = (double)NAN;
    picture->value = malloc(count * sizeof *picture->value);
    picture->solid = calloc(count, 1);
    *points = calloc(count, sizeof **points);
    STRAKE_CHECK(picture->value != NULL && picture->solid != NULL && *points != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for a picture");
cleanup:
    return status;
}

static void add_value(strake_dots *dots, point *p, double value)
{
    strake_picture *const picture = &dots->picture;
    p->least = p->count == 0 || value < p->least ? value : p->least;
    p->most = p->count == 0 || value > p->most ? value : p->most;
    p->sum += value;
    p->count++;
    picture->least = !(value >= picture->least) ? value : picture->least;
    picture->most = !(value <= picture->most) ? value : picture->most;
    picture->positive = value > 0.0 && !(value >= picture->positive) ? value : picture->positive;
}

/* Whether a particle is in the layer, or between the walls of the box in front and behind. */
static bool is_seen(const strake_dots_plan *plan, const double *x)
{
    const double at = x[plan->along], half = 0.5001 * plan->spacing; /* never between two layers */
    return plan->is_cut ? fabs(at - plan->at) <= half
                        : plan->dims == 2 || (at >= plan->low[plan->along] + plan->walls &&
                                              at <= plan->high[plan->along] - plan->walls);
}

/* A particle: the points whose middle its dot covers, and the one that it is in. */
static void add(strake_dots *dots, point *points, const double *x, bool is_solid, double value)
{
    const strake_dots_plan *const plan = &dots->plan;
    strake_picture *const picture = &dots->picture;
    const double radius = 0.5 * wider * plan->spacing;
    const double col = (x[dots->right] - plan->low[dots->right]) / dots->width;
    const double row = (plan->high[dots->down] - x[dots->down]) / dots->height;
    if (!is_seen(plan, x) ||
        !(col >= 0.0 && col < picture->cols && row >= 0.0 && row < picture->rows)) {
        return;
    }
    const int most_r = (int)fmin(row + radius / dots->height, picture->rows - 1.0);
    const int most_c = (int)fmin(col + radius / dots->width, picture->cols - 1.0);
    for (int r = (int)fmax(row - radius / dots->height, 0.0); r <= most_r; r++) {
        for (int c = (int)fmax(col - radius / dots->width, 0.0); c <= most_c; c++) {
            const double over = (r + 0.5 - row) * dots->height;
            const double beside = (c + 0.5 - col) * dots->width;
            const int at = r * picture->cols + c;
            if (over * over + beside * beside > radius * radius &&
                (r != (int)row || c != (int)col)) {
                continue;
            }
            if (is_solid) {
                picture->solid[at] = 1;
            } else {
                add_value(dots, &points[at], value);
            }
        }
    }
}

static void finish(strake_dots *dots, const point *points)
{
    strake_picture *const picture = &dots->picture;
    double sum = 0.0, count = 0.0;
    for (int k = 0; k < picture->rows * picture->cols; k++) {
        sum += points[k].sum;
        count += (double)points[k].count;
    }
    const double mean = count > 0.0 ? sum / count : 0.0;
    for (int k = 0; k < picture->rows * picture->cols; k++) {
        const point *const p = &points[k];
        const double extreme = p->most - mean > mean - p->least ? p->most : p->least;
        picture->value[k] = p->count == 0 ? (double)NAN
                            : picture->reduction == STRAKE_REDUCE_EXTREME
                                ? extreme
                                : p->sum / (double)p->count;
    }
}

/* What colours a particle: a number, the length of a vector, or who computes it. */
static double value_of(const strake_dots_plan *plan, const double *x, const double *row)
{
    double square = 0.0;
    int part = 0;
    if (plan->parts > 0) {
        while (part + 1 < plan->parts && x[plan->part_direction] >= plan->part_end[part]) {
            part++;
        }
        return part;
    }
    for (int k = 0; k < plan->dims && plan->field == STRAKE_SPH_VELOCITY; k++) {
        square += row[k] * row[k];
    }
    return plan->field == STRAKE_SPH_VELOCITY ? sqrt(square) : row[0];
}

/**
 * Draws so many particles.
 * @param[in] view  the room that there is: most_rows, most_cols and stretch
 * @return as @p read; STRAKE_ERR_MEMORY. Call strake_dots_free() in any case.
 */
static strake_status dots_read(strake_dots *dots, const strake_dots_plan *plan,
                               const strake_view *view, int64_t count, strake_dots_reader *read,
                               void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int dims = plan->dims;
    const int columns = plan->field == STRAKE_SPH_VELOCITY ? dims : 1;
    const bool colours_all = plan->parts > 0 || plan->field == STRAKE_SPH_KIND;
    point *points = NULL;
    double *const position = malloc((size_t)dims * ROWS * sizeof *position);
    double *const kind = malloc(ROWS * sizeof *kind);
    double *const field = malloc((size_t)columns * ROWS * sizeof *field);
    STRAKE_CHECK(position != NULL && kind != NULL && field != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a picture");
    STRAKE_TRY(begin(dots, plan, view, &points, error));
    for (int64_t first = 0; first < count; first += ROWS) {
        const int64_t now = count - first < ROWS ? count - first : ROWS;
        STRAKE_TRY(read(user, STRAKE_SPH_POSITION, first, now, position, error));
        STRAKE_TRY(read(user, STRAKE_SPH_KIND, first, now, kind, error));
        STRAKE_TRY(plan->parts > 0 ? STRAKE_OK : read(user, plan->field, first, now, field, error));
        for (int64_t k = 0; k < now; k++) {
            const double *const row = position + k * dims;
            const double x[] = {row[0], dims == 3 ? row[1] : 0.0, row[dims - 1]};
            const bool is_solid = !colours_all && kind[k] > STRAKE_PARTICLE_FLUID;
            add(dots, points, x, is_solid, value_of(plan, x, field + k * columns));
        }
    }
    finish(dots, points);
cleanup:
    free(points);
    free(position);
    free(kind);
    free(field);
    return status;
}

strake_scene strake_dots_scene(const strake_dots *dots, const strake_case *which)
{
    const strake_dots_plan *const plan = &dots->plan;
    const strake_field *const field = &which->problem->field[plan->field];
    strake_scene scene = {.step = -1,
                          .time = (double)NAN,
                          .spacing = {1.0, -dots->height, dots->width},
                          .first = {0.0, plan->high[dots->down] - 0.5 * dots->height,
                                    plan->low[dots->right] + 0.5 * dots->width}};
    char where[60] = "";
    if (plan->is_cut) {
        (void)strake_number_print(where, sizeof where, ", %c = %.6g m", "xyz"[plan->along],
                                  plan -> at);
    } else if (plan->dims == 3) {
        (void)snprintf(where, sizeof where, ", seen along %c", "xyz"[plan->along]);
    }
    (void)snprintf(scene.title, sizeof scene.title, "%s%s%s",
                   plan->parts > 0 ? "the part that computes" : field->name,
                   plan->parts == 0 && plan->field == STRAKE_SPH_VELOCITY ? " (magnitude)" : "",
                   where);
    if (plan->parts == 0) {
        strake_format_unit(field->unit, scene.unit, sizeof scene.unit);
    }
    (void)snprintf(scene.axis[1], sizeof scene.axis[1], "%c [m]", "xyz"[dots->down]);
    (void)snprintf(scene.axis[2], sizeof scene.axis[2], "%c [m]", "xyz"[dots->right]);
    return scene;
}

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
    strake_dots_plan plan = dots_plan_of(which);
    strake_extent extent;
    double *end = NULL;
    STRAKE_TRY(which->picture.parts ? find_parts(&plan, solver, &end, error) : STRAKE_OK);
    STRAKE_TRY(strake_field_extent(solver, which->problem->field[plan.field].name, &extent, error));
    STRAKE_TRY(dots_read(dots, &plan, view, extent.slabs, get_rows, solver, error));
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
        swarm->plan = dots_plan_of(swarm->which);
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
    STRAKE_TRY(dots_read(&dots, &plan, view, f.count, read_rows, &f, error));
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
