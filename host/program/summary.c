#include "program/summary.h"

#include <math.h>
#include <string.h>

#include "case/source.h"
#include "program/say.h"
#include "cost/say.h"

const char *strake_shape_text(int dims, const int64_t shape[3], char text[72])
{
    int used = 0;
    text[0] = '\0';
    for (int k = 0; k < dims; k++) {
        used += snprintf(text + used, (size_t)(72 - used), "%s%lld", k > 0 ? " x " : "",
                         (long long)shape[k]);
    }
    return text;
}

const char *strake_slab_name(const strake_case *which)
{
    return which->problem->has_particles ? "slices" : which->problem->dims == 3 ? "planes" : "rows";
}

static void print_parts(const strake_result *result, FILE *stream)
{
    const int64_t slabs = strake_solver_describe(result->solver).slabs;
    (void)fprintf(stream, "\n%-7s %-25s %9s %6s %9s %9s %9s\n", "where", "device",
                  strake_slab_name(result->which), "share", "compute", "exchange", "idle");
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const p = &result->part[k];
        const double share = (double)(p->end - p->first) / (double)slabs;
        char where[48];
        (void)snprintf(where, sizeof where, "%d:%s", p->rank, p->id);
        (void)fprintf(stream, "%-7.7s %-25.25s %9lld %4.0f %% %7.2f s %7.2f s %7.2f s\n",
                      result->ranks > 1 ? where : p->id, p->name, (long long)(p->end - p->first),
                      100.0 * share, p->compute, p->exchange, p->idle);
    }
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const p = &result->part[k];
        if (p->dropped_at >= 0) {
            (void)fprintf(stream, "%s failed after step %lld: the others did its work\n", p->id,
                          (long long)p->dropped_at);
        }
    }
}

/* What the decision on the next time step takes, and what models say of it. */
static void print_meeting(const strake_result *result, FILE *stream)
{
    strake_result_meeting m;
    char step[32], beside[32], predicted[32], woken[32], waited[32];
    if (!strake_result_meets(result, &m) || isnan(m.seconds)) {
        return;
    }
    (void)fprintf(
        stream, "meeting of %d parts: of a step's %s on %s %s for the bound and borders (", m.parts,
        strake_say_seconds(m.step, step), m.part->id, strake_say_seconds(m.seconds, beside));
    if (isnan(m.predicted)) {
        (void)fprintf(stream, "`strake model` would tell what it should be");
    } else {
        (void)fprintf(stream, "the model of %s says %s", m.part->id,
                      strake_say_seconds(m.predicted, predicted));
    }
    (void)fprintf(stream, ")%s, %s until it goes on, %s of waiting for slower parts\n",
                  m.beside ? ", borders beside kernels" : "", strake_say_seconds(m.woken, woken),
                  strake_say_seconds(m.waited, waited));
}

/* What parts that meet within a step exchange and wait for, beside what models and their shares of the work say. */
static void print_dealings(const strake_result *result, FILE *stream)
{
    bool is_first = true;
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const p = &result->part[k];
        const strake_part_dealings *const d = &p->dealings;
        char text[7][32], where[48];
        if (!(d->steps > 0.0)) {
            continue;
        }
        if (is_first) {
            (void)fprintf(stream, "\n%-7s %9s %9s %9s %9s %9s   %9s %9s %9s %9s\n", "a step",
                          "bytes out", "bytes in", "transfers", "take", "by model", "forces", "dt",
                          "orders", "by work");
            is_first = false;
        }
        (void)snprintf(where, sizeof where, "%d:%s", p->rank, p->id);
        (void)snprintf(text[0], sizeof text[0], "%.1f", d->messages_sent + d->messages_received);
        (void)strake_say_seconds(d->moving, text[1]);
        (void)strake_say_seconds(d->predicted_moving, text[2]);
        for (int w = 0; w < STRAKE_PART_WAITS; w++) {
            (void)strake_say_seconds(d->waited[w], text[3 + w]);
        }
        (void)strake_say_seconds(d->predicted_waiting, text[6]);
        (void)fprintf(stream, "%-7.7s %9.0f %9.0f %9s %9s %9s   %9s %9s %9s %9s\n",
                      result->ranks > 1 ? where : p->id, d->sent, d->received, text[0],
                      isnan(d->moving) ? "-" : text[1], isnan(d->predicted_moving) ? "-" : text[2],
                      text[3], text[4], text[5], text[6]);
    }
    if (!is_first) {
        (void)fprintf(stream,
                      "exchanged, with nothing beside it, and as the device's model has it; waited "
                      "for forces,\nfor the time step and for new orders of all, and for who has "
                      "most work, as shares have it\n");
    }
}

/* Rates that count quiet cells say little where most of them are left out. */
static void print_activity(const strake_part_report *part, FILE *stream)
{
    char rate[32];
    if (part->active_updates > 0.0) {
        (void)fprintf(
            stream,
            "%s: %.0f active cells; %.4g of them updated, %.2f cells computed for each, "
            "active ones at %s\n",
            part->id, part->active, part->active_updates, part->computed / part->active_updates,
            strake_rate_text(part->active_updates / (part->compute > 0.0 ? part->compute : 1.0),
                             rate));
    }
}

void strake_summary_print_cpu(const strake_part_report *part, int parts, FILE *stream)
{
    for (int k = 0; k < parts; k++) {
        const strake_part_report *const p = &part[k];
        if (strcmp(p->id, "cpu") == 0 && p->first < p->end) {
            (void)fprintf(stream, "\ncpu: %d thread%s, ", p->threads, p->threads == 1 ? "" : "s");
            if (p->block > 0) {
                (void)fprintf(stream, "%d step%s a sweep, %lld columns", p->sweep,
                              p->sweep == 1 ? "" : "s", (long long)p->block);
                if (p->lines > 1) {
                    (void)fprintf(stream, " of %lld lines", (long long)p->lines);
                }
                (void)fprintf(stream, " at once, ");
            }
            (void)fprintf(stream, "%s\n", p->instruction_set);
        }
        print_activity(p, stream);
    }
}

/* Which tuned settings were used, if any: one line for each kind. */
static void print_tuning(const strake_result *result, FILE *stream)
{
    for (int k = 0; k < result->parts; k++) {
        const strake_part_report *const p = &result->part[k];
        const bool used = p->tuned_for[0] > 0;
        if (strcmp(p->tuned, "off") == 0) {
            continue;
        }
        const bool refused = !used && p->tuned_differs[0] != '\0';
        (void)fprintf(stream, "%s%-7.7s tuned: %s%s%.150s", k == 0 ? "\n" : "", p->id, p->tuned,
                      used      ? ", for "
                      : refused ? " result left out: "
                                : " settings",
                      refused ? p->tuned_differs : "");
        if (used) {
            char text[72];
            int64_t shape[3];
            const int dims = strake_size_axes(result->which->problem);
            for (int d = 0; d < dims; d++) {
                shape[d] = p->tuned_for[strake_axis_of(dims, d)];
            }
            (void)fprintf(stream, "%s %s%s%.150s; %s", strake_shape_text(dims, shape, text),
                          result->which->problem->has_particles ? "particles" : "cells",
                          p->tuned_differs[0] != '\0' ? "; " : "", p->tuned_differs,
                          p->tuned_search);
        }
        (void)fprintf(stream, "\n");
    }
}

/* What became of a run that has a course of its own, and what its quantities are at the end. */
static void print_course(const strake_result *result, FILE *stream)
{
    const strake_problem *const problem = result->which->problem;
    if (!result->course.is_there) {
        return;
    }
    (void)fprintf(stream, "\nended at %.10g s, after step %lld: %s\n", result->time,
                  (long long)result->last_step, strake_result_end(result));
    for (int q = 0; q < problem->quantities; q++) {
        const strake_quantity *const quantity = &problem->quantity[q];
        if (!strake_case_measures(result->which, q)) {
            continue;
        }
        const int length = (int)strlen(quantity->unit) - 2;
        (void)fprintf(stream, "%-15s %18.10g %-4.*s %s\n", quantity->name,
                      result->course.quantity[q], length, quantity->unit + 1, quantity->text);
    }
    if (problem->imbalance != NULL) {
        (void)fprintf(stream, "%-15s %18.2g      of what must be kept: roundings\n", "imbalance",
                      result->course.imbalance);
    }
}

/* What is counted of a domain that has more than cells. */
static void print_numbers(const strake_domain_report *domain, double seconds, FILE *stream)
{
    for (int k = 0; k < domain->numbers; k++) {
        const strake_domain_number *const n = &domain->number[k];
        (void)fprintf(stream, "%s%-19s %14.10g  %s", k == 0 ? "\n" : "", n->name, n->value,
                      n->text);
        if (n->is_work && seconds > 0.0) {
            (void)fprintf(stream, ", %.4g a second", n->value / seconds);
        }
        (void)fprintf(stream, "\n");
    }
    if (domain->losses > 0) {
        const strake_domain_loss *const last = &domain->loss[domain->losses - 1];
        (void)fprintf(stream, "%-19s %14lld  %s, by step %lld, t = %g s; all: lost.csv\n",
                      "the last one lost", (long long)last->number, last->kind,
                      (long long)last->step, last->time);
    }
}

void strake_summary_print(const strake_result *result, FILE *stream)
{
    char shape_text[72], rate[32];
    int64_t shape[3];
    const strake_domain_report domain = strake_solver_describe(result->solver);
    const int dims = strake_case_shape(result->which, shape);
    if (dims == 0) {
        (void)snprintf(shape_text, sizeof shape_text, "%.0f", domain.items);
    } else {
        (void)strake_shape_text(dims, shape, shape_text);
    }
    (void)fprintf(stream, "%s, %s %ss, %s precision: steps %lld to %lld done\n",
                  result->which->problem->name, shape_text, domain.item,
                  strake_precision_name(result->which->precision), (long long)result->first_step,
                  (long long)result->last_step);
    print_course(result, stream);
    print_parts(result, stream);
    print_meeting(result, stream);
    print_dealings(result, stream);
    print_numbers(&domain, result->seconds, stream);
    strake_summary_print_cpu(result->part, result->parts, stream);
    print_tuning(result, stream);
    (void)fprintf(stream, "\n%-9s %20s %20s %26s%s\n", "field", "minimum", "maximum", "sum",
                  result->has_mass ? "                       mass" : "");
    for (int f = 0; f < result->fields; f++) {
        const strake_statistics *const s = &result->field[f];
        (void)fprintf(stream, "%-9s %20.12g %20.12g %26.17g", result->name[f], s->minimum,
                      s->maximum, s->sum);
        if (result->has_mass) {
            (void)fprintf(stream, " %26.17g", result->mass[f]);
        }
        (void)fprintf(stream, "\n");
    }
    if (domain.rate_unit > 1.0) {
        (void)snprintf(rate, sizeof rate, "%.4g %s", strake_result_rate(result) / domain.rate_unit,
                       domain.rate);
    } else {
        (void)strake_rate_text(strake_result_rate(result), rate);
    }
    (void)fprintf(stream, "\n%s in %.3f s of stepping; setup %.3f s, files %.3f s\n", rate,
                  result->seconds, result->setup_seconds, result->io_seconds);
    if (domain.rate_unit > 1.0) {
        (void)fprintf(stream, "(mips: millions of particles that make a step in a second)\n");
    }
}

double strake_case_bytes(const strake_case *which)
{
    double bytes = 0.0, number = 0.0;
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        int64_t shape[STRAKE_AXES];
        const strake_source *const source = which->source[f];
        if (!strake_case_has(which, f) ||
            (!field->is_state && source != NULL && strake_source_constant(source, &number))) {
            continue;
        }
        strake_case_field_shape(which, f, shape);
        bytes += (field->is_state ? 2.0 : 1.0) * (double)shape[0] * (double)shape[1] *
                 (double)shape[2] * strake_precision_size(which->precision);
    }
    return bytes;
}
