/* What a part that meets others within a step exchanges and waits for, in the report. */
#include "output/report.h"

void strake_report_dealings(const strake_part_report *part, strake_json *json)
{
    const strake_part_dealings *const d = &part->dealings;
    if (!(d->steps > 0.0)) {
        return;
    }
    strake_json_object(json, "exchange", STRAKE_JSON_LINE);
    strake_json_number(json, "steps", d->steps);
    strake_json_number(json, "bytes_sent_per_step", d->sent);
    strake_json_number(json, "bytes_received_per_step", d->received);
    strake_json_number(json, "transfers_sent_per_step", d->messages_sent);
    strake_json_number(json, "transfers_received_per_step", d->messages_received);
    strake_json_number(json, "bytes_not_pinned_per_step", d->pageable);
    strake_json_number(json, "measured_seconds_per_step", d->moving);
    strake_json_number(json, "predicted_seconds_per_step", d->predicted_moving);
    strake_json_integer(json, "samples", d->samples);
    strake_json_number(json, "orders", d->orders);
    strake_json_number(json, "bytes_sent_per_order", d->order_sent);
    strake_json_number(json, "bytes_received_per_order", d->order_received);
    strake_json_end(json);
    strake_json_object(json, "waiting", STRAKE_JSON_LINE);
    strake_json_number(json, "forces_seconds_per_step", d->waited[STRAKE_WAIT_BORDERS]);
    strake_json_number(json, "time_step_seconds_per_step", d->waited[STRAKE_WAIT_STEP]);
    strake_json_number(json, "order_seconds_per_step", d->waited[STRAKE_WAIT_ORDER]);
    strake_json_number(json, "measured_seconds_per_step", strake_part_waited(d));
    strake_json_number(json, "predicted_seconds_per_step", d->predicted_waiting);
    strake_json_end(json);
}
