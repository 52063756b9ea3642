/* Building kernels ahead: processes beside the one that measures, while a GPU has no use for the cores. */
#include <string.h>

#include "autotune/tune_impl.h"
#include "base/hash.h"
#include "io/machine.h"

/* Part of the host's memory that the helpers' own arrays may take. */
static const double most_memory = 0.2;

void strake_tuning_begin_helpers(strake_tuning *t)
{
    strake_machine machine;
    int inputs = t->which->problem->has_particles ? STRAKE_TUNE_REALS : 2;
    strake_machine_read(&machine);
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        inputs += value->stage < 0 && value->is_live && !value->is_constant;
    }
    const double each = inputs * (double)t->n[0] * (double)t->n[1] * (double)t->n[2] *
                        strake_precision_size(t->which->precision);
    const double fit = most_memory * (double)machine.memory / each;
    const int spare = machine.cores / 2;
    int helpers = t->prediction.is_gpu ? spare : 0;
    helpers = helpers > STRAKE_TUNE_HELPERS ? STRAKE_TUNE_HELPERS : helpers;
    helpers = helpers > fit ? (int)fit : helpers;
    t->helpers = helpers > 0 ? helpers : 0;
    t->prepared = 0;
    for (int k = 0; k < STRAKE_TUNE_HELPERS; k++) {
        t->helper[k].command = t->worker.command;
        t->helper[k].environment = t->worker.environment;
        t->helper[k].log = t->worker.log;
    }
}

static bool is_new(strake_tuning *t, int settings, const strake_tuned_setting *setting)
{
    char text[900];
    (void)strake_settings_text(settings, setting, text, sizeof text);
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text));
    for (int k = 0; k < t->prepared; k++) {
        if (t->hash[k] == hash) {
            return false;
        }
    }
    if (t->prepared == STRAKE_TUNE_PREPARED ||
        strake_journal_find(&t->journal, t->n, settings, setting) != NULL) {
        return false;
    }
    t->hash[t->prepared++] = hash;
    return true;
}

void strake_tuning_prepare(void *tuning, int count, const strake_candidate *candidate)
{
    strake_tuning *const t = tuning;
    int next = 0;
    for (int k = 0; k < t->helpers; k++) {
        if (!strake_worker_is_idle(&t->helper[k], t->wall_limit)) {
            continue;
        }
        for (bool found = false; next < count && !found; next++) {
            strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
            const int settings = strake_space_settings(t->space, &candidate[next], setting);
            found = is_new(t, settings, setting);
            if (found) {
                const strake_request request = {.where = t->options->where,
                                                .case_file = t->case_file,
                                                .reference = t->reference,
                                                .settings = settings,
                                                .setting = setting};
                strake_worker_prepare(&t->helper[k], &request);
                t->result->ahead++;
            }
        }
    }
}

void strake_tuning_rest_helpers(strake_tuning *t)
{
    for (int k = 0; k < STRAKE_TUNE_HELPERS; k++) {
        if (!strake_worker_is_idle(&t->helper[k], t->wall_limit)) {
            strake_worker_stop(&t->helper[k]);
        }
    }
}
