#include "main/model_table.h"

#include <math.h>

#include "model/say.h"

/* Half of an interval in percent of its value; above 100 % the value is not known. */
static double half_width(const strake_estimate *e)
{
    return e->value > 0.0 ? 50.0 * (e->high - e->low) / e->value : 0.0;
}

static void print_estimate(FILE *stream, const strake_estimate *e, const char *text)
{
    if (half_width(e) > 100.0 || text[0] == '-') {
        (void)fprintf(stream, " %11s %8s", "-", "");
    } else {
        (void)fprintf(stream, " %11s %6.1f %%", text, half_width(e));
    }
}

void strake_model_table_path(FILE *stream, const char *name, const strake_path *path)
{
    for (int r = 0; r < path->regimes; r++) {
        char text[32];
        const strake_postal *p = &path->regime[r];
        (void)fprintf(stream, "  %-14s %9s", r == 0 ? name : "",
                      strake_say_bytes(r == 0 ? path->least : p->from, text));
        print_estimate(stream, &p->alpha, strake_say_seconds(p->alpha.value, text));
        print_estimate(stream, &p->beta,
                       p->beta.value > 0.0 ? strake_say_rate(1.0 / p->beta.value, text) : "-");
        if (r == 0) {
            (void)fprintf(stream, " %5.1f %5.0f", 100.0 * path->error, 100.0 * path->worst);
        }
        (void)fprintf(stream, "\n");
    }
}

void strake_model_table_head(FILE *stream, const char *id, const char *name)
{
    (void)fprintf(stream, "%s%s%.60s\n  %-14s %9s %11s %8s %11s %8s %11s\n", id,
                  name[0] != '\0' ? ": " : "", name, "path", "from", "start-up", "+-", "rate", "+-",
                  "off by %");
}

static void say_pairs(FILE *stream, const strake_rank_model *r)
{
    char a[32], b[32], c[32];
    const int all = r->pairs - 1;
    if (all == 0) {
        return; /* the path says it */
    }
    (void)fprintf(stream, "%d pairs at once: %s to start instead of %s; ", r->pairs,
                  strake_say_seconds(r->latency[all], a), strake_say_seconds(r->latency[0], b));
    (void)fprintf(stream, "one moves %s, all together %s%s\n", strake_say_rate(r->rate.one, a),
                  r->rate.reached ? "no more than " : "at least ",
                  strake_say_rate(fmin(r->rate.all, r->pairs * r->rate.one), c));
}

void strake_model_table_ranks(FILE *stream, const strake_message_model *m)
{
    static const char *const wait_text[STRAKE_WAITS] = {"a processor each",
                                                        "threads share processors"};
    static const char *const what[STRAKE_ROUNDS] = {"to neighbours", "in a ring", "one way"};
    const strake_rank_model *const r = &m->model;
    char id[64], a[32], b[32];
    if (r->path.regimes == 0) {
        return;
    }
    (void)snprintf(id, sizeof id, "rank 0 to rank %d", r->to);
    strake_model_table_head(stream, id, m->setup.text);
    strake_model_table_path(stream, "messages", &r->path);
    if (r->whole.regimes > 0) {
        strake_model_table_path(stream, "from device to", &r->whole);
    }
    for (int w = 0; w < STRAKE_WAITS; w++) {
        (void)snprintf(id, sizeof id, "\nall ranks at once, %s", wait_text[w]);
        strake_model_table_head(stream, id, "");
        for (int k = 0; k < STRAKE_ROUNDS; k++) {
            strake_model_table_path(stream, what[k], &r->round[k][w]);
        }
        (void)fprintf(stream, "an all-reduce of a number takes %s, beside an exchange %s more\n",
                      strake_say_seconds(r->reduce[w], a), strake_say_seconds(r->meet[w], b));
    }
    say_pairs(stream, r);
    for (int w = 0; w < STRAKE_WAITS && m->setup.machines > 1; w++) {
        (void)fprintf(stream, "%s both ways between machines, %s: whole %s, in pieces of %s %s\n",
                      strake_say_bytes(STRAKE_ROUND_VOLUME, id), wait_text[w],
                      strake_say_seconds(r->pieces[w][0], a),
                      strake_say_bytes(STRAKE_ROUND_PIECE, id + 32),
                      strake_say_seconds(r->pieces[w][1], b));
    }
    (void)fprintf(stream, "%s in 16 messages take %s, in one %s: %s for each further one\n\n",
                  strake_say_bytes(STRAKE_ROUND_VOLUME, id),
                  strake_say_seconds(r->messages[STRAKE_ROUND_MESSAGES - 1], a),
                  strake_say_seconds(r->messages[0], b), strake_say_seconds(r->further, id + 32));
}

void strake_model_json_ranks(const strake_message_model *m, strake_json *json)
{
    if (m->model.path.regimes > 0) {
        strake_json_object(json, "messages", STRAKE_JSON_LINE);
        strake_json_string(json, "setup", m->setup.text);
        strake_rank_model_print(&m->model, m, json);
        strake_json_end(json);
    }
}
