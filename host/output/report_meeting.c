/* What it costs that parts decide together on every time step. */
#include <math.h>

#include "output/report.h"

bool strake_result_meets(const strake_result *result, strake_result_meeting *out)
{
    const double steps = (double)(result->last_step - result->first_step);
    double most = -1.0;
    *out = (strake_result_meeting){.seconds = (double)NAN, .predicted = (double)NAN};
    if (!result->which->problem->is_adaptive || result->ranks > 1 || !(steps > 0.0)) {
        return false;
    }
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const part = &result->part[k];
        const strake_cl_exchange_report *const done = &part->borders.done;
        const double seconds = isnan(done->down + done->up) ? 0.0 : done->down + done->up;
        out->parts += part->end > part->first ? 1 : 0;
        if (done->messages_down + done->messages_up > 0 && seconds > most) {
            most = seconds;
            out->part = part;
        }
    }
    if (out->parts < 2 || out->part == NULL) {
        return false;
    }
    const strake_part_exchange *const borders = &out->part->borders;
    out->step = result->seconds / steps;
    out->seconds = borders->done.down + borders->done.up;
    out->predicted = borders->predicted_down + borders->predicted_up;
    out->woken = out->part->woken / steps;
    out->waited = out->part->waited / steps;
    out->beside = borders->done.beside;
    out->kernels = fmax(out->step - (out->beside ? 0.0 : most) - out->woken - out->waited, 0.0);
    return true;
}

void strake_report_meeting(const strake_result *result, strake_json *json)
{
    const double steps = (double)(result->last_step - result->first_step);
    strake_result_meeting meeting;
    if (!strake_result_meets(result, &meeting)) {
        return;
    }
    strake_json_object(json, "meeting", STRAKE_JSON_LINE);
    strake_json_integer(json, "parts", meeting.parts);
    strake_json_string(json, "slowest", meeting.part->id);
    strake_json_number(json, "step_seconds", meeting.step);
    strake_json_number(json, "kernel_seconds", meeting.kernels);
    strake_json_number(json, "measured_seconds", meeting.seconds);
    strake_json_number(json, "predicted_seconds", meeting.predicted);
    strake_json_number(json, "wake_seconds", meeting.woken);
    strake_json_number(json, "waiting_seconds", meeting.waited);
    strake_json_array(json, "waiting_by_part", STRAKE_JSON_LINE);
    for (int k = 0; k < result->parts; k++) {
        strake_json_number(json, NULL, result->part[k].waited / steps);
    }
    strake_json_end(json);
    strake_json_boolean(json, "beside_kernels", meeting.beside);
    strake_json_end(json);
}
