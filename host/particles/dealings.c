/* What runs of particles exchange with others and wait for. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "particles/crew.h"

void strake_sph_note_sent(strake_sph_run *run, size_t bytes)
{
    run->dealings.sent += (double)bytes;
    run->dealings.messages_sent += 1.0;
}

void strake_sph_note_received(strake_sph_run *run, size_t bytes)
{
    run->dealings.received += (double)bytes;
    run->dealings.messages_received += 1.0;
}

void strake_sph_note_pageable(strake_sph_run *run, size_t bytes)
{
    run->dealings.pageable += (double)bytes;
}

void strake_sph_note_moving(strake_sph_run *run, double seconds)
{
    strake_sph_dealings *const d = &run->dealings;
    d->sample[d->samples++ % STRAKE_SPH_SAMPLES] = seconds;
}

void strake_sph_note_filtering(strake_sph_run *run, double seconds)
{
    run->dealings.filtering += seconds;
    run->dealings.filter_samples++;
}

void strake_sph_describe_dealings(const strake_sph_run *run, strake_part_dealings *out)
{
    const strake_sph_dealings *const d = &run->dealings;
    const double steps = (double)(d->steps > 0 ? d->steps : 1);
    const double orders = (double)(d->orders > 0 ? d->orders : 1);
    const int samples = d->samples < STRAKE_SPH_SAMPLES ? (int)d->samples : STRAKE_SPH_SAMPLES;
    const double filters = (double)d->filters / steps;
    const double filtering = d->filter_samples > 0 ? d->filtering / (double)d->filter_samples : 0.0;
    double sorted[STRAKE_SPH_SAMPLES];
    memcpy(sorted, d->sample, sizeof sorted);
    *out = (strake_part_dealings){
        .steps = (double)d->steps,
        .sent = d->sent / steps,
        .received = d->received / steps,
        .messages_sent = d->messages_sent / steps,
        .messages_received = d->messages_received / steps,
        .pageable = d->pageable / steps,
        .exchanges = STRAKE_PART_PASSES + filters,
        .orders = (double)d->orders,
        .order_sent = d->order_sent / orders,
        .order_received = d->order_received / orders,
        .moving = samples > 0 ? strake_median(sorted, samples) + filters * filtering : (double)NAN,
        .samples = (int)d->samples,
        .predicted_moving = (double)NAN,
        .predicted_waiting = (double)NAN};
    for (int k = 0; k < STRAKE_PART_WAITS; k++) {
        out->waited[k] = d->waited[k] / steps;
    }
}
