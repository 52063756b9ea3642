/* Stored models: one file for each device, named by what it holds for. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/tree.h"
#include "files/cache.h"
#include "cost/messages.h"
#include "cost/model.h"
#include "strake.h"

/* Kept figures of ranks: one file for each set-up of ranks, machines and MPI. */

enum { RANK_STORE_FORMAT = 5 /* of the file; raise it when its members change their meaning */ };

static const char prefix[] = "ranks-";

/* What every rank tells the others. */
typedef struct facts {
    int machine, sharing;
    uint64_t transports;
    char host[64];
} facts;

extern char **environ;

enum { MOST_BYTES = 1 << 20 /* of a file */ };

/* Anything unexpected makes the whole file unusable. */
typedef struct reader {
    bool good;
} reader;

static void model_read_path(reader *r, const strake_node *map, strake_path *path);
static void model_read_numbers(reader *r, const strake_node *list, int count, double *out);
static strake_max_rate model_read_rate(reader *r, const strake_node *map);
static void model_print_rate(const char *key, const strake_max_rate *rate, strake_json *json);

/* A number; NaN where it is null. */
static double model_read_number(reader *r, const strake_node *node)
{
    char *end = NULL;
    if (node != NULL && node->kind == STRAKE_NODE_NULL) {
        return (double)NAN;
    }
    const double value = node != NULL && node->kind == STRAKE_NODE_SCALAR
                             ? strake_number_read(node->text, &end)
                             : 0.0;
    r->good = r->good && end != NULL && end != node->text && *end == '\0';
    return value;
}

static double model_read_member(reader *r, const strake_node *map, const char *name)
{
    return model_read_number(r, strake_node_get(map, name));
}

static int read_whole(reader *r, const strake_node *map, const char *name)
{
    const double value = model_read_member(r, map, name);
    r->good = r->good && value >= 0.0 && value <= INT_MAX;
    return r->good ? (int)value : 0;
}

static void read_text(reader *r, const strake_node *map, const char *name, char *out, size_t size)
{
    const strake_node *node = strake_node_get(map, name);
    r->good =
        r->good && node != NULL && node->kind == STRAKE_NODE_SCALAR && strlen(node->text) < size;
    if (r->good) {
        (void)snprintf(out, size, "%s", node->text);
    }
}

static strake_json kept_begin(strake_text *text, int format)
{
    strake_json json = strake_json_on(text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "strake", STRAKE_VERSION);
    strake_json_integer(&json, "format", format);
    return json;
}

static strake_status kept_write(strake_json *json, strake_text *text, const char *folder,
                                const char *name, const char *what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const own = strake_cache_folder_or(folder);
    char *const path = own != NULL ? strake_path_join(own, name) : NULL;
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_IO,
                 "%s cannot be kept: there is no cache folder; set STRAKE_CACHE_DIR or give "
                 "--cache",
                 what);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
    STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory: %s cannot be kept", what);
    STRAKE_TRY(strake_cache_create(own, error));
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, text->data, text->length, error));
cleanup:
    strake_text_free(text);
    free(path);
    free(own);
    return status;
}

static bool kept_read(const char *folder, const char *name, strake_node **root)
{
    strake_error ignored;
    char *data = NULL;
    size_t length = 0;
    const char *why = NULL;
    const bool good = strake_cache_read(folder, name, MOST_BYTES, &data, &length, &why) &&
                      strake_tree_parse(name, data, length, root, &ignored) == STRAKE_OK;
    free(data);
    return good;
}

static void kept_check(reader *r, const strake_node *root, int format)
{
    char version[32] = "";
    read_text(r, root, "strake", version, sizeof version);
    r->good =
        r->good && strcmp(version, STRAKE_VERSION) == 0 && read_whole(r, root, "format") == format;
}

/* What a launcher or a user tells MPI to move data with, in any order. */
static uint64_t hash_transports(void)
{
    static const char *const name[] = {
        "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll", "OMPI_MCA_mpi_yield",
        "UCX_",         "FI_",          "MPICH_",       "I_MPI_FABRICS"};
    uint64_t sum = 0;
    for (char **at = environ; *at != NULL; at++) {
        for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
            if (strncmp(*at, name[k], strlen(name[k])) == 0) {
                sum += strake_fnv1a(STRAKE_FNV_SEED, *at, strlen(*at));
            }
        }
    }
    return sum;
}

static void describe(strake_ranks *ranks, const facts *all, strake_rank_setup *out)
{
    const char *const library = strake_ranks_library(ranks);
    char hosts[160] = "";
    out->hash = strake_fnv1a(STRAKE_FNV_SEED, library, strlen(library) + 1);
    out->hash = strake_fnv1a(out->hash, all, (size_t)out->ranks * sizeof *all);
    out->machines = 0;
    for (int k = 0; k < out->ranks; k++) {
        if (all[k].machine == k) { /* the first rank of one */
            const size_t used = strlen(hosts);
            (void)snprintf(hosts + used, sizeof hosts - used, "%s%s", out->machines > 0 ? ", " : "",
                           all[k].host);
            out->machines++;
        }
    }
    (void)snprintf(out->text, sizeof out->text, "%d ranks on %d machine%s (%s), %.100s", out->ranks,
                   out->machines, out->machines > 1 ? "s" : "", hosts, library);
}

strake_status strake_rank_setup_find(strake_ranks *ranks, strake_rank_setup *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    facts own;
    facts *all = NULL;
    memset(out, 0, sizeof *out);
    memset(&own, 0, sizeof own); /* padding is hashed, too */
    out->ranks = strake_ranks_count(ranks);
    own.machine = strake_ranks_machine(ranks);
    own.sharing = strake_ranks_sharing(ranks);
    own.transports = hash_transports();
    (void)gethostname(own.host, sizeof own.host - 1);
    all = calloc((size_t)out->ranks, sizeof *all);
    STRAKE_TRY(strake_ranks_agree(
        ranks,
        all != NULL ? STRAKE_OK
                    : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(strake_ranks_collect(ranks, &own, sizeof own, all, error));
    describe(ranks, all, out);
cleanup:
    free(all);
    return status;
}

/* --- writing -------------------------------------------------------------------------------------- */

static const char *part_name(int round, const char *part, char name[32])
{
    (void)snprintf(name, 32, "%s_%s", strake_round_name[round], part);
    return name;
}

static void print_rounds(const strake_rank_model *m, const strake_message_model *measured,
                         strake_json *json)
{
    strake_json_object(json, "rounds", STRAKE_JSON_LINES);
    for (int w = 0; w < STRAKE_WAITS; w++) {
        strake_json_object(json, strake_wait_name[w], STRAKE_JSON_LINES);
        for (int r = 0; r < STRAKE_ROUNDS; r++) {
            strake_model_print_path(strake_round_name[r], &m->round[r][w],
                                    measured != NULL ? &measured->round[r][w] : NULL, json);
        }
        for (int r = 0; r < STRAKE_ROUNDS; r++) {
            char name[32];
            const strake_round_sizes *const s = &m->sizes[r][w];
            strake_json_object(json, part_name(r, "sizes", name), STRAKE_JSON_LINE);
            strake_json_numbers(json, "bytes", s->count, s->bytes);
            strake_json_numbers(json, "seconds", s->count, s->seconds);
            strake_json_end(json);
        }
        for (int r = 0; r < STRAKE_ROUNDS && w == STRAKE_WAIT_CROWDED; r++) {
            char name[32];
            strake_model_print_path(part_name(r, "work", name), &m->work[r], NULL, json);
        }
        strake_json_number(json, "reduce", m->reduce[w]);
        strake_json_number(json, "meet", m->meet[w]);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_rank_model_print(const strake_rank_model *m, const strake_message_model *measured,
                             strake_json *json)
{
    strake_json_string(json, "date", m->date);
    strake_json_integer(json, "from", 0);
    strake_json_integer(json, "to", m->to);
    strake_model_print_path("path", &m->path, measured != NULL ? &measured->path : NULL, json);
    print_rounds(m, measured, json);
    strake_json_object(json, "active", STRAKE_JSON_LINE);
    strake_json_integer(json, "pairs", m->pairs);
    strake_json_numbers(json, "latency", m->pairs, m->latency);
    strake_json_integer(json, "bytes", STRAKE_ROUND_LARGE);
    strake_json_numbers(json, "seconds", m->pairs, m->large);
    model_print_rate("rate", &m->rate, json);
    strake_json_end(json);
    strake_json_object(json, "messages", STRAKE_JSON_LINE);
    strake_json_integer(json, "total", STRAKE_ROUND_VOLUME);
    strake_json_numbers(json, "seconds", STRAKE_ROUND_MESSAGES, m->messages);
    strake_json_number(json, "further", m->further);
    strake_json_end(json);
    strake_json_object(json, "pieces", STRAKE_JSON_LINE);
    strake_json_number(json, "bytes", m->piece);
    for (int w = 0; w < STRAKE_WAITS; w++) {
        strake_json_numbers(json, strake_wait_name[w], 2, m->pieces[w]);
    }
    strake_json_end(json);
    if (m->whole.regimes > 0) {
        strake_json_string(json, "device", m->device);
        strake_model_print_path("whole", &m->whole, measured != NULL ? &measured->whole : NULL,
                                json);
    } else {
        strake_json_null(json, "whole");
    }
}

static const char *rank_store_file_name(const strake_rank_setup *setup, char name[64])
{
    (void)snprintf(name, 64, "%s%016" PRIx64 ".yaml", prefix, setup->hash);
    return name;
}

strake_status strake_rank_model_store(const char *folder, const strake_rank_setup *setup,
                                      const strake_rank_model *model, strake_error *error)
{
    strake_text text = {0};
    strake_json json = kept_begin(&text, RANK_STORE_FORMAT);
    char name[64];
    strake_json_string(&json, "setup", setup->text);
    strake_json_hash(&json, "key", setup->hash);
    strake_rank_model_print(model, NULL, &json);
    return kept_write(&json, &text, folder, rank_store_file_name(setup, name),
                      "what messages between the ranks cost", error);
}

/* --- reading -------------------------------------------------------------------------------------- */

static void read_sizes(reader *r, const strake_node *map, strake_round_sizes *s)
{
    const strake_node *const bytes = strake_node_get(map, "bytes");
    s->count = bytes != NULL ? bytes->children : 0;
    r->good = r->good && s->count > 0 && s->count <= STRAKE_ROUND_SIZES;
    s->count = r->good ? s->count : 0;
    model_read_numbers(r, bytes, s->count, s->bytes);
    model_read_numbers(r, strake_node_get(map, "seconds"), s->count, s->seconds);
    for (int k = 0; k < s->count; k++) {
        r->good = r->good && s->seconds[k] > 0.0 && (k == 0 || s->bytes[k] > s->bytes[k - 1]);
    }
}

static void read_rounds(reader *r, const strake_node *map, strake_rank_model *m)
{
    for (int w = 0; w < STRAKE_WAITS; w++) {
        const strake_node *wait = strake_node_get(map, strake_wait_name[w]);
        for (int k = 0; k < STRAKE_ROUNDS; k++) {
            char name[32];
            model_read_path(r, strake_node_get(wait, strake_round_name[k]), &m->round[k][w]);
            read_sizes(r, strake_node_get(wait, part_name(k, "sizes", name)), &m->sizes[k][w]);
        }
        for (int k = 0; k < STRAKE_ROUNDS && w == STRAKE_WAIT_CROWDED; k++) {
            char name[32];
            model_read_path(r, strake_node_get(wait, part_name(k, "work", name)), &m->work[k]);
        }
        m->reduce[w] = model_read_member(r, wait, "reduce");
        m->meet[w] = model_read_member(r, wait, "meet");
    }
}

static bool rank_store_read_model(const strake_node *root, const strake_rank_setup *setup,
                                  strake_rank_model *m)
{
    reader r = {true};
    char key[32] = "", wanted[32];
    const strake_node *const active = strake_node_get(root, "active");
    const strake_node *const messages = strake_node_get(root, "messages");
    const strake_node *const pieces = strake_node_get(root, "pieces");
    const strake_node *const whole = strake_node_get(root, "whole");
    (void)snprintf(wanted, sizeof wanted, "%016" PRIx64, setup->hash);
    kept_check(&r, root, RANK_STORE_FORMAT);
    read_text(&r, root, "key", key, sizeof key);
    r.good = r.good && strcmp(key, wanted) == 0;
    read_text(&r, root, "date", m->date, sizeof m->date);
    m->to = read_whole(&r, root, "to");
    model_read_path(&r, strake_node_get(root, "path"), &m->path);
    read_rounds(&r, strake_node_get(root, "rounds"), m);
    m->pairs = read_whole(&r, active, "pairs");
    r.good = r.good && m->pairs >= 1 && m->pairs <= STRAKE_ROUND_PAIRS;
    model_read_numbers(&r, strake_node_get(active, "latency"), r.good ? m->pairs : 0, m->latency);
    model_read_numbers(&r, strake_node_get(active, "seconds"), r.good ? m->pairs : 0, m->large);
    m->rate = model_read_rate(&r, strake_node_get(active, "rate"));
    model_read_numbers(&r, strake_node_get(messages, "seconds"), STRAKE_ROUND_MESSAGES,
                       m->messages);
    m->further = model_read_member(&r, messages, "further");
    m->piece = model_read_member(&r, pieces, "bytes");
    for (int w = 0; w < STRAKE_WAITS; w++) {
        model_read_numbers(&r, strake_node_get(pieces, strake_wait_name[w]), 2, m->pieces[w]);
    }
    r.good = r.good && (m->piece == 0.0 || m->piece == STRAKE_ROUND_PIECE);
    if (whole != NULL && whole->kind == STRAKE_NODE_MAP) {
        read_text(&r, root, "device", m->device, sizeof m->device);
        model_read_path(&r, whole, &m->whole);
    }
    return r.good;
}

/* Figures of some other set-up, for the message. */
static bool find_other(const char *folder, char *text, size_t size)
{
    bool found = false;
    DIR *const list = opendir(folder);
    for (const struct dirent *at = NULL; list != NULL && !found && (at = readdir(list)) != NULL;) {
        reader r = {true};
        strake_node *root = NULL;
        if (strncmp(at->d_name, prefix, sizeof prefix - 1) == 0 &&
            kept_read(folder, at->d_name, &root)) {
            read_text(&r, root, "setup", text, size);
            found = r.good;
        }
        strake_tree_free(&root);
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return found;
}

static strake_rank_found load(const char *folder, const strake_rank_setup *setup,
                              strake_rank_model *out, char *other, size_t size)
{
    strake_rank_found found = STRAKE_RANKS_MISSING;
    strake_node *root = NULL;
    char name[64];
    char *const path = strake_path_join(folder, rank_store_file_name(setup, name));
    if (path != NULL && access(path, F_OK) == 0) {
        const bool good = kept_read(folder, name, &root) && rank_store_read_model(root, setup, out);
        found = good ? STRAKE_RANKS_FOUND : STRAKE_RANKS_DAMAGED;
        (void)snprintf(other, size, "%s", path);
    } else if (find_other(folder, other, size)) {
        found = STRAKE_RANKS_OTHER;
    }
    strake_tree_free(&root);
    free(path);
    return found;
}

strake_rank_found strake_rank_model_load(const char *folder, const strake_rank_setup *setup,
                                         strake_rank_model *out, char *why, size_t size)
{
    char other[600] = "", remedy[64];
    strake_rank_found found = STRAKE_RANKS_MISSING;
    char *const own = strake_cache_folder_or(folder);
    memset(out, 0, sizeof *out);
    (void)snprintf(remedy, sizeof remedy, "`mpirun -np %d strake model` measures and keeps them",
                   setup->ranks);
    if (own != NULL) {
        found = load(own, setup, out, other, sizeof other);
    }
    if (found == STRAKE_RANKS_MISSING) {
        (void)snprintf(why, size, "what messages between %s cost is not known: %s", setup->text,
                       remedy);
    } else if (found == STRAKE_RANKS_OTHER) {
        (void)snprintf(why, size,
                       "what messages between %s cost is not known, only that of another set-up "
                       "(%.200s): %s",
                       setup->text, other, remedy);
    } else if (found == STRAKE_RANKS_DAMAGED) {
        (void)snprintf(why, size,
                       "%s: what is kept of messages between ranks is damaged or of another "
                       "version, and not used: %s",
                       other, remedy);
    }
    if (found != STRAKE_RANKS_FOUND) {
        memset(out, 0, sizeof *out);
    }
    free(own);
    return found;
}

static strake_estimate estimate(reader *r, const strake_node *map, const char *name)
{
    char interval[32];
    (void)snprintf(interval, sizeof interval, "%s_interval", name);
    const strake_node *list = strake_node_get(map, interval);
    strake_estimate e = {.value = model_read_member(r, map, name)};
    r->good = r->good && list != NULL && list->children == 2;
    if (r->good) {
        e.low = model_read_number(r, list->child);
        e.high = model_read_number(r, list->child->next);
    }
    r->good = r->good && e.value >= 0.0;
    return e;
}

static void model_read_path(reader *r, const strake_node *map, strake_path *path)
{
    const strake_node *list = strake_node_get(map, "regimes");
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children > 0 &&
              list->children <= STRAKE_POSTAL_REGIMES;
    for (const strake_node *node = r->good ? list->child : NULL; node != NULL; node = node->next) {
        strake_postal *p = &path->regime[path->regimes++];
        p->from = model_read_member(r, node, "from");
        p->alpha = estimate(r, node, "alpha");
        p->beta = estimate(r, node, "beta");
        r->good = r->good && p->from >= 0.0;
    }
    path->least = model_read_member(r, map, "least");
    path->most = model_read_member(r, map, "most");
    path->error = model_read_member(r, map, "median_error");
    path->worst = model_read_member(r, map, "worst_error");
    path->points = read_whole(r, map, "points");
}

/** A list of exactly so many numbers. */
static void model_read_numbers(reader *r, const strake_node *list, int count, double *out)
{
    r->good = r->good && list != NULL && list->kind == STRAKE_NODE_LIST && list->children == count;
    const strake_node *node = r->good ? list->child : NULL;
    for (int k = 0; node != NULL; k++, node = node->next) {
        out[k] = model_read_number(r, node);
    }
}

static strake_max_rate model_read_rate(reader *r, const strake_node *map)
{
    char word[8] = "";
    strake_max_rate rate = {.one = model_read_member(r, map, "one"),
                            .all = model_read_member(r, map, "all")};
    read_text(r, map, "reached", word, sizeof word);
    rate.reached = strcmp(word, "true") == 0;
    return rate;
}

/* Models as JSON, which is also what is stored. */

static void print_estimate(strake_json *json, const char *name, const strake_estimate *e)
{
    char interval[64];
    (void)snprintf(interval, sizeof interval, "%s_interval", name);
    strake_json_number(json, name, e->value);
    strake_json_numbers(json, interval, 2, (const double[]){e->low, e->high});
}

static void print_points(const strake_path *path, const strake_measured *m, strake_json *json)
{
    strake_json_array(json, "measured", STRAKE_JSON_LINES);
    for (int k = 0; k < m->points; k++) {
        const strake_measured_point *p = &m->point[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_number(json, "bytes", p->bytes);
        strake_json_number(json, "seconds", p->median);
        strake_json_number(json, "least", p->least);
        strake_json_number(json, "p90", p->high);
        strake_json_number(json, "predicted", strake_path_seconds(path, p->bytes));
        strake_json_integer(json, "repeats", p->repeats);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_model_print_path(const char *key, const strake_path *path,
                             const strake_measured *measured, strake_json *json)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    strake_json_array(json, "regimes", STRAKE_JSON_LINES);
    for (int r = 0; r < path->regimes; r++) {
        const strake_postal *p = &path->regime[r];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_number(json, "from", p->from);
        print_estimate(json, "alpha", &p->alpha);
        print_estimate(json, "beta", &p->beta);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_number(json, "least", path->least);
    strake_json_number(json, "most", path->most);
    strake_json_number(json, "median_error", path->error);
    strake_json_number(json, "worst_error", path->worst);
    strake_json_integer(json, "points", path->points);
    if (measured != NULL) {
        print_points(path, measured, json);
    }
    strake_json_end(json);
}

/* [..] of one direction. */
static void print_list(strake_json *json, const char *key, const strake_both *list, int count,
                       bool up)
{
    strake_json_array(json, key, STRAKE_JSON_LINE);
    for (int k = 0; k < count; k++) {
        strake_json_number(json, NULL, up ? list[k].up : list[k].down);
    }
    strake_json_end(json);
}

/* {"up": [..], "down": [..]} */
static void print_lists(strake_json *json, const char *key, const strake_both *list, int count)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    print_list(json, "up", list, count, true);
    print_list(json, "down", list, count, false);
    strake_json_end(json);
}

/** Appends the object of a max-rate model. */
static void model_print_rate(const char *key, const strake_max_rate *rate, strake_json *json)
{
    strake_json_object(json, key, STRAKE_JSON_LINE);
    strake_json_number(json, "one", rate->one);
    strake_json_number(json, "all", rate->all);
    strake_json_boolean(json, "reached", rate->reached);
    strake_json_end(json);
}

static void print_active(const strake_device_model *m, strake_json *json)
{
    strake_json_object(json, "active", STRAKE_JSON_LINE);
    strake_json_integer(json, "bytes", STRAKE_MODEL_LARGE);
    print_lists(json, "queues", m->queues, STRAKE_MODEL_ACTIVE);
    print_lists(json, "threads", m->threads, STRAKE_MODEL_ACTIVE);
    model_print_rate("up", &m->active_up, json);
    model_print_rate("down", &m->active_down, json);
    strake_json_number(json, "both_ways", m->both_ways);
    strake_json_end(json);
}

static void print_messages(const strake_device_model *m, strake_json *json)
{
    strake_json_object(json, "messages", STRAKE_JSON_LINE);
    strake_json_integer(json, "total", STRAKE_MODEL_TOTAL);
    print_list(json, "up", m->messages, STRAKE_MODEL_MESSAGES, true);
    print_list(json, "down", m->messages, STRAKE_MODEL_MESSAGES, false);
    strake_json_number(json, "further_up", m->message.up);
    strake_json_number(json, "further_down", m->message.down);
    strake_json_end(json);
}

void strake_model_print(const strake_device_model *m, const strake_measured *measured,
                        strake_json *json)
{
    strake_json_string(json, "name", m->name);
    strake_json_string(json, "platform", m->platform);
    strake_json_string(json, "version", m->version);
    strake_json_string(json, "driver", m->driver);
    strake_json_string(json, "date", m->date);
    strake_json_object(json, "paths", STRAKE_JSON_LINES);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        strake_model_print_path(strake_path_name[k], &m->path[k],
                                measured != NULL ? &measured[k] : NULL, json);
    }
    strake_json_end(json);
    print_messages(m, json);
    print_active(m, json);
    strake_json_object(json, "overlap", STRAKE_JSON_LINE);
    strake_json_number(json, "up", m->overlap.up);
    strake_json_number(json, "down", m->overlap.down);
    strake_json_end(json);
    strake_json_object(json, "launch", STRAKE_JSON_LINE);
    strake_json_number(json, "in_a_row", m->launch);
    strake_json_number(json, "with_wait", m->launch_wait);
    strake_json_number(json, "wait", m->wait);
    strake_json_number(json, "barrier", m->barrier);
    strake_json_number(json, "enqueue_pinned", m->enqueue_pinned);
    strake_json_number(json, "enqueue_pageable", m->enqueue_pageable);
    strake_json_end(json);
    strake_json_number(json, "bandwidth", m->bandwidth);
}

enum { FORMAT = 5 /* of the file; raise it when its members change their meaning */ };

static const char *file_name(const strake_cl_device *device, char *name, size_t size)
{
    const char *const part[] = {device->platform_name, device->platform_version, device->name,
                                device->driver, STRAKE_VERSION};
    uint64_t hash = STRAKE_FNV_SEED;
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
        hash = strake_fnv1a(hash, part[k], strlen(part[k]) + 1);
    }
    (void)snprintf(name, size, "model-%016" PRIx64 ".yaml", hash);
    return name;
}

strake_status strake_model_store(const char *folder, const strake_cl_device *device,
                                 const strake_device_model *model, strake_error *error)
{
    strake_text text = {0};
    strake_json json = kept_begin(&text, FORMAT);
    char name[64], what[300];
    (void)snprintf(what, sizeof what, "the model of %.200s", device->name);
    strake_model_print(model, NULL, &json);
    return kept_write(&json, &text, folder, file_name(device, name, sizeof name), what, error);
}

static void read_list(reader *r, const strake_node *list, int count, bool up, strake_both *out)
{
    double value[STRAKE_MODEL_MESSAGES] = {0.0};
    model_read_numbers(r, list, count, value);
    for (int k = 0; k < count; k++) {
        *(up ? &out[k].up : &out[k].down) = value[k];
    }
}

static void read_lists(reader *r, const strake_node *map, int count, strake_both *out)
{
    read_list(r, strake_node_get(map, "up"), count, true, out);
    read_list(r, strake_node_get(map, "down"), count, false, out);
}

static bool read_model(const strake_node *root, strake_device_model *m)
{
    reader r = {true};
    const strake_node *paths = strake_node_get(root, "paths");
    const strake_node *messages = strake_node_get(root, "messages");
    const strake_node *active = strake_node_get(root, "active");
    const strake_node *overlap = strake_node_get(root, "overlap");
    const strake_node *launch = strake_node_get(root, "launch");
    kept_check(&r, root, FORMAT);
    read_text(&r, root, "platform", m->platform, sizeof m->platform);
    read_text(&r, root, "version", m->version, sizeof m->version);
    read_text(&r, root, "name", m->name, sizeof m->name);
    read_text(&r, root, "driver", m->driver, sizeof m->driver);
    read_text(&r, root, "date", m->date, sizeof m->date);
    for (int k = 0; k < STRAKE_PATHS; k++) {
        model_read_path(&r, strake_node_get(paths, strake_path_name[k]), &m->path[k]);
    }
    read_lists(&r, messages, STRAKE_MODEL_MESSAGES, m->messages);
    m->message = (strake_both){model_read_member(&r, messages, "further_up"),
                               model_read_member(&r, messages, "further_down")};
    read_lists(&r, strake_node_get(active, "queues"), STRAKE_MODEL_ACTIVE, m->queues);
    read_lists(&r, strake_node_get(active, "threads"), STRAKE_MODEL_ACTIVE, m->threads);
    m->active_up = model_read_rate(&r, strake_node_get(active, "up"));
    m->active_down = model_read_rate(&r, strake_node_get(active, "down"));
    m->both_ways = model_read_member(&r, active, "both_ways");
    m->overlap =
        (strake_both){model_read_member(&r, overlap, "up"), model_read_member(&r, overlap, "down")};
    m->launch = model_read_member(&r, launch, "in_a_row");
    m->launch_wait = model_read_member(&r, launch, "with_wait");
    m->wait = model_read_member(&r, launch, "wait");
    m->barrier = model_read_member(&r, launch, "barrier");
    m->enqueue_pinned = model_read_member(&r, launch, "enqueue_pinned");
    m->enqueue_pageable = model_read_member(&r, launch, "enqueue_pageable");
    m->bandwidth = model_read_member(&r, root, "bandwidth");
    return r.good;
}

static bool is_of(const strake_device_model *m, const strake_cl_device *device)
{
    return strcmp(m->platform, device->platform_name) == 0 &&
           strcmp(m->version, device->platform_version) == 0 &&
           strcmp(m->name, device->name) == 0 && strcmp(m->driver, device->driver) == 0;
}

bool strake_model_load(const char *folder, const strake_cl_device *device, strake_device_model *out)
{
    strake_node *root = NULL;
    char name[64];
    char *const own = strake_cache_folder_or(folder);
    memset(out, 0, sizeof *out);
    const bool good = own != NULL && kept_read(own, file_name(device, name, sizeof name), &root) &&
                      read_model(root, out) && is_of(out, device);
    strake_tree_free(&root);
    free(own);
    return good;
}
