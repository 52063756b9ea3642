/* What it costs that parts decide together on every time step. */
#include <math.h>
#include <string.h>

#include "output/report.h"

bool strake_result_meets(const strake_result *result, strake_result_meeting *out)
{
    const double steps = (double)(result->last_step - result->first_step);
    *out = (strake_result_meeting){.predicted = (double)NAN, .slowest = ""};
    if (!result->which->problem->is_adaptive || result->ranks > 1 || !(steps > 0.0)) {
        return false;
    }
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const part = &result->part[k];
        const double predicted = part->borders.predicted_meeting;
        out->parts += part->end > part->first ? 1 : 0;
        out->kernels = fmax(out->kernels, part->compute / steps);
        if (predicted > (isnan(out->predicted) ? 0.0 : out->predicted)) {
            out->predicted = predicted;
            out->slowest = part->id;
        }
    }
    out->step = result->seconds / steps;
    out->seconds = fmax(out->step - out->kernels, 0.0);
    return out->parts > 1;
}

void strake_report_meeting(const strake_result *result, strake_json *json)
{
    strake_result_meeting meeting;
    if (!strake_result_meets(result, &meeting)) {
        return;
    }
    strake_json_object(json, "meeting", STRAKE_JSON_LINE);
    strake_json_integer(json, "parts", meeting.parts);
    strake_json_number(json, "step_seconds", meeting.step);
    strake_json_number(json, "kernel_seconds", meeting.kernels);
    strake_json_number(json, "measured_seconds", meeting.seconds);
    strake_json_number(json, "predicted_seconds", meeting.predicted);
    strake_json_string(json, "predicted_for", meeting.slowest[0] != '\0' ? meeting.slowest : NULL);
    strake_json_end(json);
}
