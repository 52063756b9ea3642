/*
 * Sizes of work-groups kernel by kernel: what the devices' timers said of every kernel in groups of
 * different sizes is put together and measured as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/tune_impl.h"

static const char width_path[] = "run.group_width", height_path[] = "run.group_height";

/* The value of a setting as a number; 0: not set. */
static int number_of(int settings, const strake_tuned_setting *setting, const char *path)
{
    for (int s = 0; s < settings; s++) {
        if (strcmp(setting[s].path, path) == 0) {
            return (int)strtol(setting[s].value, NULL, 10);
        }
    }
    return 0;
}

static bool is_size(const char *path)
{
    return strcmp(path, width_path) == 0 || strcmp(path, height_path) == 0;
}

/* Whether a measurement is of the same kernels as a contender's, in groups of another size. */
static bool is_alike(const strake_journal_entry *entry, const strake_contender *base)
{
    bool alike = entry->settings == base->settings &&
                 entry->result.kernels == base->result.kernels &&
                 (entry->result.outcome == STRAKE_OUTCOME_GOOD ||
                  entry->result.outcome == STRAKE_OUTCOME_SLOW);
    for (int s = 0; s < entry->settings && alike; s++) {
        alike = strcmp(entry->setting[s].path, base->setting[s].path) == 0 &&
                (is_size(entry->setting[s].path) ||
                 strcmp(entry->setting[s].value, base->setting[s].value) == 0);
    }
    for (int k = 0; k < entry->result.kernels && alike; k++) {
        alike = strcmp(entry->result.kernel[k].name, base->result.kernel[k].name) == 0 &&
                entry->result.kernel[k].seconds > 0.0 && base->result.kernel[k].seconds > 0.0;
    }
    return alike;
}

/* The fastest size of every kernel, where it is not the common one. @return the part of the time that they save. */
static double choose(const strake_tuning *t, const strake_contender *base, double gain,
                     strake_group group[STRAKE_MOST_GROUPS])
{
    const strake_measurement *const m = &base->result;
    double all = 0.0, saved = 0.0;
    for (int k = 0; k < m->kernels; k++) {
        double least = (1.0 - gain) * m->kernel[k].seconds;
        all += m->kernel[k].seconds;
        for (int e = 0; e < t->journal.entries && k < STRAKE_MOST_GROUPS; e++) {
            const strake_journal_entry *const entry = &t->journal.entry[e];
            const double seconds = entry->result.kernel[k].seconds;
            if (memcmp(entry->n, t->n, sizeof t->n) == 0 && is_alike(entry, base) &&
                seconds < least) {
                const int height = number_of(entry->settings, entry->setting, height_path);
                least = seconds;
                group[k].width = number_of(entry->settings, entry->setting, width_path);
                group[k].height = height > 0 ? height : 1;
            }
        }
        saved += k < STRAKE_MOST_GROUPS && group[k].width > 0 ? m->kernel[k].seconds - least : 0.0;
    }
    return all > 0.0 ? saved / all : 0.0;
}

/* Whether all kernels chose one size: such groups were measured already. */
static bool is_common(int kernels, const strake_group *group)
{
    for (int k = 0; k < kernels; k++) {
        if (k >= STRAKE_MOST_GROUPS || group[k].width != group[0].width ||
            group[k].height != group[0].height) {
            return false;
        }
    }
    return true;
}

strake_status strake_tuning_kernels(strake_tuning *t, double give_up, strake_contender *out,
                                    bool *any, strake_error *error)
{
    strake_group group[STRAKE_MOST_GROUPS] = {{0, 0}};
    *any = false;
    if (t->space->kernel_gain <= 0.0 || t->options->like != NULL || t->finalists == 0) {
        return STRAKE_OK;
    }
    *out = t->finalist[0];
    if (out->result.kernels < 2 || out->settings == STRAKE_TUNED_SETTINGS ||
        number_of(out->settings, out->setting, width_path) == 0 ||
        choose(t, out, t->space->kernel_gain, group) < t->space->kernel_gain ||
        is_common(out->result.kernels, group)) {
        return STRAKE_OK;
    }
    strake_tuned_setting *const added = &out->setting[out->settings++];
    (void)snprintf(added->path, sizeof added->path, "run.groups");
    (void)strake_groups_print(out->result.kernels, group, added->value);
    t->doing = "kernels";
    strake_tuning_tell(t);
    const strake_status status =
        strake_tuning_measure(t, out->settings, out->setting, give_up, &out->result, error);
    *any = status == STRAKE_OK && out->result.outcome != STRAKE_OUTCOME_STOPPED;
    return status;
}
