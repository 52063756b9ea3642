/* Kept figures of ranks: one file for each set-up of ranks, machines and MPI. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "io/cache.h"
#include "model/kept.h"
#include "model/messages.h"

enum { FORMAT = 5 /* of the file; raise it when its members change their meaning */ };

static const char prefix[] = "ranks-";

/* What every rank tells the others. */
typedef struct facts {
    int machine, sharing;
    uint64_t transports;
    char host[64];
} facts;

extern char **environ;

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
    strake_model_print_rate("rate", &m->rate, json);
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

static const char *file_name(const strake_rank_setup *setup, char name[64])
{
    (void)snprintf(name, 64, "%s%016" PRIx64 ".yaml", prefix, setup->hash);
    return name;
}

strake_status strake_rank_model_store(const char *folder, const strake_rank_setup *setup,
                                      const strake_rank_model *model, strake_error *error)
{
    strake_text text = {0};
    strake_json json = strake_model_kept_begin(&text, FORMAT);
    char name[64];
    strake_json_string(&json, "setup", setup->text);
    strake_json_hash(&json, "key", setup->hash);
    strake_rank_model_print(model, NULL, &json);
    return strake_model_kept_write(&json, &text, folder, file_name(setup, name),
                                   "what messages between the ranks cost", error);
}

/* --- reading -------------------------------------------------------------------------------------- */

static void read_sizes(strake_model_reader *r, const strake_node *map, strake_round_sizes *s)
{
    const strake_node *const bytes = strake_node_get(map, "bytes");
    s->count = bytes != NULL ? bytes->children : 0;
    r->good = r->good && s->count > 0 && s->count <= STRAKE_ROUND_SIZES;
    s->count = r->good ? s->count : 0;
    strake_model_read_numbers(r, bytes, s->count, s->bytes);
    strake_model_read_numbers(r, strake_node_get(map, "seconds"), s->count, s->seconds);
    for (int k = 0; k < s->count; k++) {
        r->good = r->good && s->seconds[k] > 0.0 && (k == 0 || s->bytes[k] > s->bytes[k - 1]);
    }
}

static void read_rounds(strake_model_reader *r, const strake_node *map, strake_rank_model *m)
{
    for (int w = 0; w < STRAKE_WAITS; w++) {
        const strake_node *wait = strake_node_get(map, strake_wait_name[w]);
        for (int k = 0; k < STRAKE_ROUNDS; k++) {
            char name[32];
            strake_model_read_path(r, strake_node_get(wait, strake_round_name[k]), &m->round[k][w]);
            read_sizes(r, strake_node_get(wait, part_name(k, "sizes", name)), &m->sizes[k][w]);
        }
        for (int k = 0; k < STRAKE_ROUNDS && w == STRAKE_WAIT_CROWDED; k++) {
            char name[32];
            strake_model_read_path(r, strake_node_get(wait, part_name(k, "work", name)),
                                   &m->work[k]);
        }
        m->reduce[w] = strake_model_read_member(r, wait, "reduce");
        m->meet[w] = strake_model_read_member(r, wait, "meet");
    }
}

static bool read_model(const strake_node *root, const strake_rank_setup *setup,
                       strake_rank_model *m)
{
    strake_model_reader r = {true};
    char key[32] = "", wanted[32];
    const strake_node *const active = strake_node_get(root, "active");
    const strake_node *const messages = strake_node_get(root, "messages");
    const strake_node *const pieces = strake_node_get(root, "pieces");
    const strake_node *const whole = strake_node_get(root, "whole");
    (void)snprintf(wanted, sizeof wanted, "%016" PRIx64, setup->hash);
    strake_model_kept_check(&r, root, FORMAT);
    strake_model_read_text(&r, root, "key", key, sizeof key);
    r.good = r.good && strcmp(key, wanted) == 0;
    strake_model_read_text(&r, root, "date", m->date, sizeof m->date);
    m->to = strake_model_read_whole(&r, root, "to");
    strake_model_read_path(&r, strake_node_get(root, "path"), &m->path);
    read_rounds(&r, strake_node_get(root, "rounds"), m);
    m->pairs = strake_model_read_whole(&r, active, "pairs");
    r.good = r.good && m->pairs >= 1 && m->pairs <= STRAKE_ROUND_PAIRS;
    strake_model_read_numbers(&r, strake_node_get(active, "latency"), r.good ? m->pairs : 0,
                              m->latency);
    strake_model_read_numbers(&r, strake_node_get(active, "seconds"), r.good ? m->pairs : 0,
                              m->large);
    m->rate = strake_model_read_rate(&r, strake_node_get(active, "rate"));
    strake_model_read_numbers(&r, strake_node_get(messages, "seconds"), STRAKE_ROUND_MESSAGES,
                              m->messages);
    m->further = strake_model_read_member(&r, messages, "further");
    m->piece = strake_model_read_member(&r, pieces, "bytes");
    for (int w = 0; w < STRAKE_WAITS; w++) {
        strake_model_read_numbers(&r, strake_node_get(pieces, strake_wait_name[w]), 2,
                                  m->pieces[w]);
    }
    r.good = r.good && (m->piece == 0.0 || m->piece == STRAKE_ROUND_PIECE);
    if (whole != NULL && whole->kind == STRAKE_NODE_MAP) {
        strake_model_read_text(&r, root, "device", m->device, sizeof m->device);
        strake_model_read_path(&r, whole, &m->whole);
    }
    return r.good;
}

/* Figures of some other set-up, for the message. */
static bool find_other(const char *folder, char *text, size_t size)
{
    bool found = false;
    DIR *const list = opendir(folder);
    for (const struct dirent *at = NULL; list != NULL && !found && (at = readdir(list)) != NULL;) {
        strake_model_reader r = {true};
        strake_node *root = NULL;
        if (strncmp(at->d_name, prefix, sizeof prefix - 1) == 0 &&
            strake_model_kept_read(folder, at->d_name, &root)) {
            strake_model_read_text(&r, root, "setup", text, size);
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
    char *const path = strake_path_join(folder, file_name(setup, name));
    if (path != NULL && access(path, F_OK) == 0) {
        const bool good =
            strake_model_kept_read(folder, name, &root) && read_model(root, setup, out);
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
