#include "output/diagnostics.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "files/text.h"
#include "solver/solver.h"

/* Files are replaced as a whole: not after every line. */
enum { SECONDS = 5 };

const char *const strake_measures_name[STRAKE_MEASURES] = {[STRAKE_MEASURES_QUANTITIES] =
                                                               "diagnostics.csv",
                                                           [STRAKE_MEASURES_PROBES] = "probes.csv",
                                                           [STRAKE_MEASURES_LOST] = "lost.csv"};

/* Numbers in a line of probes. */
static int columns_of_probes(const strake_case *which)
{
    int columns = 0;
    for (int k = 0; k < which->scene.probes; k++) {
        columns += strake_probe_columns(&which->scene.probe[k], which->problem->dims);
    }
    return columns;
}

static bool has_table(const strake_case *which, strake_measures kind)
{
    const bool is_measured = strake_batch_has_diagnostics(which);
    return kind == STRAKE_MEASURES_QUANTITIES ? is_measured
           : kind == STRAKE_MEASURES_PROBES   ? is_measured && which->scene.probes > 0
                                              : which->problem->has_particles;
}

bool strake_diagnostics_wants(const strake_case *which)
{
    bool wants = false;
    for (int k = 0; k < STRAKE_MEASURES; k++) {
        wants = wants || has_table(which, (strake_measures)k);
    }
    return wants;
}

static void print_title(const strake_case *which, strake_measures kind, strake_text *text)
{
    char name[STRAKE_PROBE_COLUMN];
    const int dims = which->problem->dims;
    strake_text_print(text, "step,time");
    if (kind == STRAKE_MEASURES_LOST) {
        strake_text_print(text, dims == 3 ? ",number,kind,x,y,z" : ",number,kind,x,z");
    }
    for (int m = 0; kind == STRAKE_MEASURES_QUANTITIES && m < which->problem->quantities; m++) {
        if (strake_case_measures(which, m)) {
            strake_text_print(text, ",%s", which->problem->quantity[m].name);
        }
    }
    for (int k = 0; kind == STRAKE_MEASURES_PROBES && k < which->scene.probes; k++) {
        const strake_probe *const probe = &which->scene.probe[k];
        for (int c = 0; c < strake_probe_columns(probe, dims); c++) {
            strake_probe_column(probe, dims, c, name);
            strake_text_print(text, ",%s", name);
        }
    }
    strake_text_print(text, "\n");
}

/* Lines of an earlier run before the one that is resumed. */
static strake_status keep_lines(strake_diagnostics *d, strake_measures kind, int64_t resumed,
                                strake_error *error)
{
    const strake_case *const which = d->which;
    strake_measures_table *const table = &d->table[kind];
    /* By time: the line of that step was written before the checkpoint, if there was one. */
    const bool by_time = which->diagnostics_seconds > 0.0 &&
                         (which->diagnostics_every == 0 || resumed % which->diagnostics_every != 0);
    /* Who left is missed after the checkpoint of a step. */
    const bool is_before = by_time && kind != STRAKE_MEASURES_LOST;
    table->is_new = kind == STRAKE_MEASURES_LOST && access(table->path, F_OK) == 0;
    return strake_table_keep(table->path, resumed + (is_before ? 1 : 0), &table->text, error);
}

strake_status strake_diagnostics_begin(strake_diagnostics *d, const strake_case *which,
                                       strake_solver *solver, const char *folder, int64_t resumed,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    *d = (strake_diagnostics){.which = which, .solver = solver, .written = strake_clock_seconds()};
    d->value = calloc((size_t)columns_of_probes(which) + 1, sizeof *d->value);
    STRAKE_CHECK(d->value != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the diagnostics");
    for (int k = 0; k < STRAKE_MEASURES; k++) {
        strake_measures_table *const table = &d->table[k];
        if (!has_table(which, (strake_measures)k)) {
            continue;
        }
        table->path = strake_path_join(folder, strake_measures_name[k]);
        STRAKE_CHECK(table->path != NULL, error, STRAKE_ERR_MEMORY,
                     "out of memory for the diagnostics");
        STRAKE_TRY(strake_file_check(table->path, error));
        print_title(which, (strake_measures)k, &table->text);
        if (resumed >= 0) {
            STRAKE_TRY(keep_lines(d, (strake_measures)k, resumed, error));
        }
    }
cleanup:
    return status;
}

/* A line of numbers that were measured now. */
static void add_line(strake_diagnostics *d, strake_measures kind, const double *value, int count)
{
    strake_measures_table *const table = &d->table[kind];
    strake_text_print(&table->text, "%lld,%.17g", (long long)strake_step_count(d->solver),
                      strake_time(d->solver));
    for (int m = 0; m < count; m++) {
        if (kind != STRAKE_MEASURES_QUANTITIES || strake_case_measures(d->which, m)) {
            strake_text_print(&table->text, ",%.17g", value[m]);
        }
    }
    strake_text_print(&table->text, "\n");
    table->is_new = true;
}

strake_status strake_diagnostics_measure(strake_diagnostics *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[STRAKE_MAX_QUANTITIES];
    if (d->table[STRAKE_MEASURES_QUANTITIES].path != NULL) {
        STRAKE_TRY(strake_solver_measure(d->solver, value, error));
        add_line(d, STRAKE_MEASURES_QUANTITIES, value, d->which->problem->quantities);
    }
    if (d->table[STRAKE_MEASURES_PROBES].path != NULL) {
        STRAKE_TRY(strake_solver_probe(d->solver, d->value, error));
        add_line(d, STRAKE_MEASURES_PROBES, d->value, columns_of_probes(d->which));
    }
    if (strake_clock_seconds() - d->written > SECONDS) {
        STRAKE_TRY(strake_diagnostics_write(d, error));
    }
cleanup:
    return status;
}

/* Who left the domain since the last look. */
static void add_losses(strake_diagnostics *d)
{
    const strake_domain_report domain = strake_solver_describe(d->solver);
    strake_measures_table *const table = &d->table[STRAKE_MEASURES_LOST];
    for (; d->losses < domain.losses; d->losses++) {
        const strake_domain_loss *const loss = &domain.loss[d->losses];
        strake_text_print(&table->text, "%lld,%.17g,%lld,%d", (long long)loss->step, loss->time,
                          (long long)loss->number, loss->kind_number);
        for (int k = 0; k < d->which->problem->dims; k++) {
            strake_text_print(&table->text, ",%.17g", loss->at[k]);
        }
        strake_text_print(&table->text, "\n");
        table->is_new = true;
    }
}

strake_status strake_diagnostics_write(strake_diagnostics *d, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (d->table[STRAKE_MEASURES_LOST].path != NULL) {
        add_losses(d);
    }
    for (int k = 0; k < STRAKE_MEASURES; k++) {
        strake_measures_table *const table = &d->table[k];
        STRAKE_CHECK(!table->text.failed, error, STRAKE_ERR_MEMORY,
                     "out of memory for the diagnostics");
        if (table->is_new) {
            STRAKE_TRY(strake_file_put(table->path, STRAKE_FILE_HASTY, table->text.data,
                                       table->text.length, error));
            table->is_new = false;
            table->is_written = true;
        }
    }
    d->written = strake_clock_seconds();
cleanup:
    return status;
}

void strake_diagnostics_end(strake_diagnostics *d)
{
    for (int k = 0; k < STRAKE_MEASURES; k++) {
        free(d->table[k].path);
        strake_text_free(&d->table[k].text);
    }
    free(d->value);
    *d = (strake_diagnostics){0};
}
