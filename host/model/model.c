#include "model/model.h"

#include <math.h>

const char *const strake_path_name[STRAKE_PATHS] = {
    "up_pageable", "up_pinned", "up_mapped", "down_pageable",  "down_pinned", "down_mapped",
    "within",      "publish",   "fetch",     "publish_beside", "fetch_beside"};

static bool goes_up(strake_path_kind kind)
{
    return kind <= STRAKE_UP_MAPPED || kind == STRAKE_FETCH || kind == STRAKE_FETCH_BESIDE;
}

double strake_model_seconds(const strake_device_model *model, strake_path_kind kind, double bytes,
                            int messages)
{
    const double further = goes_up(kind) ? model->message.up : model->message.down;
    const double one = strake_path_seconds(&model->path[kind], bytes);
    return messages > 1 && isfinite(further) ? one + (messages - 1) * further : one;
}

/* What the limit of a link adds to each of several transfers. */
static double waiting(const strake_path *path, const strake_max_rate *rate, double bytes,
                      int active)
{
    return strake_max_rate_seconds(path, rate, bytes, active) - strake_path_seconds(path, bytes);
}

double strake_model_exchange(const strake_device_model *model, bool beside, double bytes_down,
                             int messages_down, double bytes_up, int messages_up, int active)
{
    double seconds = 0.0;
    if (messages_down > 0) {
        seconds +=
            strake_model_seconds(model, beside ? STRAKE_PUBLISH_BESIDE : STRAKE_PUBLISH, bytes_down,
                                 messages_down) +
            waiting(&model->path[STRAKE_DOWN_PINNED], &model->active_down, bytes_down, active);
    }
    if (messages_up > 0) {
        seconds += strake_model_seconds(model, beside ? STRAKE_FETCH_BESIDE : STRAKE_FETCH,
                                        bytes_up, messages_up) +
                   waiting(&model->path[STRAKE_UP_PINNED], &model->active_up, bytes_up, active);
    }
    return seconds;
}

double strake_model_reduce(const strake_device_model *model, int numbers)
{
    const double message = isfinite(model->message.down) ? model->message.down : 0.0;
    return numbers > 0 ? numbers * message : 0.0;
}

double strake_model_passes(const strake_device_model *model, bool is_pageable, double passes,
                           double bytes_down, double messages_down, double bytes_up,
                           double messages_up)
{
    const strake_path_kind ways[2] = {is_pageable ? STRAKE_DOWN_PAGEABLE : STRAKE_PUBLISH_BESIDE,
                                      is_pageable ? STRAKE_UP_PAGEABLE : STRAKE_FETCH_BESIDE};
    const double barrier = is_pageable ? model->barrier : 0.0; /* what is published has it in it */
    const double down =
        bytes_down > 0.0 ? strake_path_seconds(&model->path[ways[0]], bytes_down / passes) : 0.0;
    const double up =
        bytes_up > 0.0 ? strake_path_seconds(&model->path[ways[1]], bytes_up / passes) : 0.0;
    const double further = fmax(messages_down - passes, 0.0) * model->message.down +
                           fmax(messages_up - passes, 0.0) * model->message.up;
    return passes * (barrier + down + up) + (isfinite(further) ? further : 0.0);
}

strake_path_kind strake_model_fastest(const strake_device_model *model, bool up, double bytes)
{
    const strake_path_kind first = up ? STRAKE_UP_PAGEABLE : STRAKE_DOWN_PAGEABLE;
    strake_path_kind best = first;
    for (int k = 1; k < 3; k++) {
        const strake_path_kind kind = (strake_path_kind)((int)first + k);
        const double seconds = strake_path_seconds(&model->path[kind], bytes);
        best = seconds < strake_path_seconds(&model->path[best], bytes) ? kind : best;
    }
    return best;
}
