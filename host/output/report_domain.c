/* What a report says of a domain that has more than cells. */
#include <stdio.h>

#include "output/report.h"

/* Who left the domain; of very many the first ones. */
static void print_losses(const strake_domain_report *domain, int dims, strake_json *json)
{
    enum { MOST = 1000 };
    if (domain->losses == 0) {
        return;
    }
    strake_json_array(json, "lost_particles", STRAKE_JSON_LINES);
    for (int64_t k = 0; k < domain->losses && k < MOST; k++) {
        const strake_domain_loss *const loss = &domain->loss[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_integer(json, "number", loss->number);
        strake_json_string(json, "kind", loss->kind);
        strake_json_integer(json, "step", loss->step);
        strake_json_number(json, "time", loss->time);
        strake_json_numbers(json, "position", dims, loss->at);
        strake_json_end(json);
    }
    strake_json_end(json);
}

/* What is counted. */
static void print_numbers(const strake_domain_report *domain, double seconds, strake_json *json)
{
    char name[64];
    if (domain->numbers == 0) {
        return;
    }
    strake_json_object(json, "domain", STRAKE_JSON_LINE);
    for (int k = 0; k < domain->numbers; k++) {
        const strake_domain_number *const n = &domain->number[k];
        strake_json_number(json, n->name, n->value);
        if (n->is_work) {
            (void)snprintf(name, sizeof name, "%s_per_second", n->name);
            strake_json_number(json, name, seconds > 0.0 ? n->value / seconds : 0.0);
        }
    }
    strake_json_end(json);
}

void strake_report_domain(const strake_domain_report *domain, double seconds, int dims,
                          strake_json *json)
{
    print_numbers(domain, seconds, json);
    print_losses(domain, dims, json);
}
