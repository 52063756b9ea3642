/* The break point of the number of streams, and the rates that the model of blocks asks for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"
#include "base/file.h"
#include "base/number.h"

/* So many numbers in a row that are no faster end it. */
enum { LOSSES = 2, MOST_SETS = 64 };

/* One measurement takes no longer than this, and it is not worth more samples when so much slower. */
static const double stream_limit = 60.0, give_up_factor = 1.5;

/* The case of the present grid on a device with room for a part of it, and many steps ahead. */
static strake_status write_case(const strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *sets[MOST_SETS] = {NULL};
    char memory[64];
    strake_text text = {0};
    int count = 0, arrays = 0;
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        arrays += value->stage < 0 && value->is_live && !value->is_constant;
        arrays += value->next >= 0;
    }
    (void)strake_number_print(memory, sizeof memory, "run.device_memory=%.0f",
                              t->space->streams.memory * arrays * cells *
                                  strake_precision_size(t->which->precision));
    for (; t->options->sets != NULL && t->options->sets[count] != NULL; count++) {
        STRAKE_CHECK(count < MOST_SETS - 3, error, STRAKE_ERR_USAGE, "--set: more than %d",
                     (int)MOST_SETS - 3);
        sets[count] = t->options->sets[count];
    }
    sets[count++] = memory;
    sets[count++] = "time.steps=1000";
    STRAKE_TRY(strake_tune_case(t->space, t->n, t->options->like, sets, &text, error));
    STRAKE_TRY(strake_file_put(t->case_file, STRAKE_FILE_PRIVATE, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/* The settings of a class, and a number of streams. @return how many */
static int settings_with(const strake_tuned_class *class, int streams,
                         strake_tuned_setting out[STRAKE_TUNED_SETTINGS])
{
    int count = 0;
    for (; count < class->settings && count < STRAKE_TUNED_SETTINGS - 1; count++) {
        out[count] = class->setting[count];
    }
    (void)snprintf(out[count].path, sizeof out[count].path, "run.streams");
    (void)snprintf(out[count].value, sizeof out[count].value, "%d", streams);
    return count + 1;
}

strake_status strake_tuning_streams(strake_tuning *t, const strake_tuned_class *class,
                                    strake_tuned_streaming *found, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_streaming learnt = {.streams = 0};
    double best = INFINITY;
    int losses = 0;
    *found = learnt;
    t->doing = "streams";
    t->wall_limit = stream_limit;
    status = strake_tuning_reference(t, error);
    if (status == STRAKE_ERR_STATE) {
        return STRAKE_OK;
    }
    STRAKE_TRY(status);
    STRAKE_TRY(write_case(t, error));
    for (int k = 0; k < t->space->streams.values && losses < LOSSES; k++) {
        strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
        strake_measurement m;
        const int streams = t->space->streams.value[k];
        const int settings = settings_with(class, streams, setting);
        strake_tuning_tell(t);
        if (strake_tuning_left(t, t->grid_end) <= 0.0) {
            return STRAKE_OK;
        }
        STRAKE_TRY(strake_tuning_measure(t, settings, setting, give_up_factor * best, &m, error));
        if (m.outcome == STRAKE_OUTCOME_STOPPED) {
            return STRAKE_OK;
        }
        t->result->count[m.outcome]++;
        const double median = strake_measurement_median(&m);
        if (m.outcome == STRAKE_OUTCOME_GOOD && m.cells > 0.0 &&
            median < (1.0 - t->space->streams.gain) * best) {
            best = median;
            losses = 0;
            learnt = (strake_tuned_streaming){streams, m.up, m.down};
        } else {
            losses++;
        }
    }
    *found = learnt;
cleanup:
    return status;
}
