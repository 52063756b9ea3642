/* How ranks exchange, in the report. */
#include <math.h>

#include "group/exchange.h"
#include "output/report.h"

static void print_way(const char *key, strake_exchange way, strake_json *json)
{
    char name[16];
    strake_json_string(json, key, strake_exchange_name(way, name, sizeof name));
}

void strake_report_exchange(const strake_solver *solver, strake_json *json)
{
    const strake_rank_exchange *const x = strake_solver_exchange(solver);
    if (x == NULL) {
        return;
    }
    const bool known = x->figures != NULL;
    strake_json_object(json, "rank_exchange", STRAKE_JSON_LINE);
    strake_json_string(json, "figures", known ? x->figures->date : NULL);
    strake_json_string(json, "why_not", x->why);
    print_way("exchange", x->way, json);
    if (!strake_solver_case(solver)->problem->has_particles) { /* who exchange in each pass */
        strake_json_integer(json, "steps_per_sweep", strake_solver_steps_at_once(solver));
    }
    strake_json_boolean(json, "chose_exchange", x->chose_way);
    strake_json_boolean(json, "chose_steps_per_sweep", x->chose_steps);
    strake_json_number(json, "predicted_seconds", x->predicted);
    strake_json_number(json, "predicted_with_devices_seconds", x->whole);
    strake_json_number(json, "measured_seconds", x->measured);
    strake_json_integer(json, "samples", x->samples);
    strake_json_number(json, "predicted_reduce_seconds", x->reduce);
    strake_json_number(json, "measured_reduce_seconds", x->reduced);
    strake_json_number(json, "waited_seconds_per_sweep",
                       x->sweeps > 0 ? x->waited / (double)x->sweeps : 0.0);
    strake_json_array(json, "options", STRAKE_JSON_LINES);
    for (int k = 0; k < x->options; k++) {
        const strake_round_option *const o = &x->option[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        print_way("exchange", (strake_exchange)o->way, json);
        strake_json_integer(json, "steps_per_sweep", o->steps);
        strake_json_number(json, "predicted_exchange_seconds", o->exchange);
        strake_json_number(json, "predicted_step_seconds", o->step);
        strake_json_number(json, "measured_step_seconds",
                           o->samples > 0 ? o->measured : (double)NAN);
        strake_json_integer(json, "samples", o->samples);
        strake_json_number(json, "corrected_step_seconds",
                           o->learnt > 0.0 ? o->learnt : (double)NAN);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_end(json);
}
