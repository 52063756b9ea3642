/* Problems in files of their own: finds the object that this user has built, checks it and loads it. */
#include "solver/problem_file.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "case/case.h"
#include "cpu/pipeline.h"
#include "files/cache.h"
#include "strake.h"

static const strake_file_calls calls = {
#define X(name) .name = name,
#include "problem/file_calls.inc"
#undef X
};

static uint64_t hash_headers(void)
{
    uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, STRAKE_VERSION, sizeof STRAKE_VERSION);
    for (const strake_embedded *header = strake_header_texts; header->name != NULL; header++) {
        hash = strake_fnv1a(hash, header->name, strlen(header->name));
        hash = strake_fnv1a(hash, header->bytes, header->length);
    }
    return hash;
}

void strake_problem_text_free(strake_problem_text *text)
{
    free(text->text);
    text->text = NULL;
}

/*
 * Takes out what joins lines, as compilers do first: a backslash at the end of a line, with blanks behind it where some
 * compilers allow them. @param[out] out  as long as the text, or the text itself
 */
static void join_lines(const char *text, char *out)
{
    while (*text != '\0') {
        const char *const end = text + 1 + (*text == '\\' ? strspn(text + 1, " \t\r") : 0);
        if (*text == '\\' && *end == '\n') {
            text = end + 1;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* Takes comments out of a text whose lines are joined; literals may look like some. */
static void drop_comments(char *text)
{
    char *out = text;
    char quote = '\0'; /* of a literal that stands open */
    while (*text != '\0') {
        if (quote == '\0' && strncmp(text, "/*", 2) == 0) {
            const char *const end = strstr(text + 2, "*/");
            text = end != NULL ? text + (end + 2 - text) : text + strlen(text);
            *out++ = ' ';
        } else if (quote == '\0' && strncmp(text, "//", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (quote != '\0' && *text == '\\' && text[1] != '\0') {
            *out++ = *text++;
            *out++ = *text++;
        } else {
            if (*text == '\n') {
                quote = '\0';
            } else if ((*text == '"' || *text == '\'') && (quote == '\0' || quote == *text)) {
                quote = quote == '\0' ? *text : '\0';
            }
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/*
 * What a file may include: strake_problem.h, and headers of the system, by lines that begin with #include. Another
 * header would be no part of what was built: devices would read it when the file runs, as it is then.
 */
static bool includes_only_headers(const strake_problem_text *text, strake_error *error)
{
    static const char own[] = "#include \"strake_problem.h\"";
    char *const plain = malloc(text->length + 1);
    bool is_good = plain != NULL;
    if (plain == NULL) {
        (void)strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a problem's file");
        return false;
    }
    join_lines(text->text, plain);
    drop_comments(plain);
    for (const char *line = plain; is_good && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const char *const first = line + strspn(line, " \t\f\v\r");
        const size_t sign = *first == '#' ? 1 : strncmp(first, "%:", 2) == 0 ? 2 : 0;
        const char *const word = first + sign + strspn(first + sign, " \t\f\v");
        if (sign > 0 && (strncmp(word, "inc", 3) == 0 || strncmp(word, "import", 6) == 0 ||
                         strncmp(word, "embed", 5) == 0)) {
            /* As it stands in the file, too: that is how it is left out for devices. */
            is_good =
                strncmp(first, own, sizeof own - 1) == 0 ||
                (strncmp(first, "#include <", 10) == 0 && isalpha((unsigned char)first[10]) &&
                 memchr(first, '>', length) != NULL && memmem(first, length, "..", 2) == NULL);
            char as_written[200];
            (void)snprintf(as_written, sizeof as_written, "%.*s", (int)strcspn(first, ">\r\n"),
                           first);
            is_good = is_good && strstr(text->text, as_written) != NULL;
        }
        line += length + (line[length] != '\0' ? 1 : 0);
    }
    free(plain);
    if (!is_good) {
        (void)strake_fail(error, STRAKE_ERR_USAGE,
                          "a problem is one file: beside #include \"strake_problem.h\" it includes "
                          "headers of the system alone, by lines such as #include <stdlib.h>");
    }
    return is_good;
}

bool strake_problem_is_file(const char *name)
{
    const size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, ".c") == 0;
}

strake_status strake_problem_text_read(const char *path, strake_problem_text *out,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint64_t hash = 0;
    strake_error reason;
    memset(out, 0, sizeof *out);
    STRAKE_CHECK(strake_problem_is_file(path), error, STRAKE_ERR_USAGE,
                 "%s: a problem in a file is a C file, NAME.c (`strake problem new` prints one); "
                 "what is compiled already is never loaded",
                 path);
    STRAKE_TRY(strake_file_read(path, STRAKE_PROBLEM_MOST, "problem's file", &out->text,
                                &out->length, error));
    STRAKE_CHECK(memchr(out->text, '\0', out->length) == NULL, error, STRAKE_ERR_USAGE,
                 "%s: it is no text: found a byte 0, expected C (`strake problem new` prints a "
                 "problem)",
                 path);
    if (!includes_only_headers(out, &reason)) {
        status = strake_fail(error, reason.status, "%s: %s", path, reason.text);
        goto cleanup;
    }
    hash = strake_fnv1a(STRAKE_FNV_SEED, out->text, out->length);
    hash = hash != 0 ? hash : 1;
    out->origin = hash;
    out->headers = hash_headers();
    (void)snprintf(out->content, sizeof out->content, "%016" PRIx64, hash);
    (void)snprintf(out->object, sizeof out->object, "problem-%016" PRIx64 ".so",
                   strake_fnv1a(out->headers, &hash, sizeof hash));
cleanup:
    if (status != STRAKE_OK) {
        strake_problem_text_free(out);
    }
    return status;
}

/* Of problems, fields and quantities. */
static bool is_word(const char *text)
{
    return text != NULL && strake_name_is_word(text, STRAKE_NAME_LENGTH - 1);
}

static const char *fault_of_fields(const strake_problem *p)
{
    int states = 0;
    for (int f = 0; f < p->fields; f++) {
        const strake_field *const field = &p->field[f];
        if (!is_word(field->name)) {
            return "a field's name is no word of letters, digits and _ with at most 31 characters";
        }
        if (field->unit == NULL || field->text == NULL) {
            return "a field has no unit or no text";
        }
        for (int g = 0; g < f; g++) {
            if (strcmp(p->field[g].name, field->name) == 0) {
                return "two fields have the same name";
            }
        }
        states += field->is_state ? 1 : 0;
    }
    return states > 0 ? NULL : "no field is a state";
}

/* Whether a name that a field gives, if any, is that of a field of cells. */
static bool is_field(const strake_problem *p, const char *name)
{
    bool is_there = name == NULL;
    for (int f = 0; f < p->fields && !is_there; f++) {
        is_there = strcmp(p->field[f].name, name) == 0 && p->field[f].position == STRAKE_CELL;
    }
    return is_there;
}

/* What fields say of others, and what only problems of the program can have. */
static const char *fault_of_references(const strake_problem *p)
{
    for (int f = 0; f < p->fields; f++) {
        const strake_field *const field = &p->field[f];
        bool has_key = field->fallback_key == NULL;
        for (int k = 0; k < p->keys; k++) {
            has_key = has_key || strcmp(p->key[k].path, field->fallback_key) == 0;
        }
        if (!is_field(p, field->weight) || !is_field(p, field->follows) || !has_key) {
            return "weight, follows or fallback_key of a field names none";
        }
        if (field->is_poured || field->each != NULL || field->derive != NULL || field->is_traced ||
            field->is_optional) {
            return "is_poured, each, derive, is_traced and is_optional are for fields of Strake's "
                   "own "
                   "problems";
        }
        if (field->is_state && field->position != STRAKE_CELL) {
            return "a state lies in cells (STRAKE_CELL): one on faces is that of the cell before "
                   "or "
                   "after them";
        }
        if (field->is_velocity && field->position == STRAKE_CELL) {
            return "a velocity (is_velocity) lies on faces";
        }
    }
    return p->open_key != NULL || p->event != NULL || p->pour != NULL || p->pace != NULL ||
                   p->measures_each
               ? "open_key, event, pour, pace and measures_each are for Strake's own problems"
               : NULL;
}

static const char *fault_of_keys(const strake_problem *p)
{
    for (int k = 0; k < p->keys; k++) {
        const strake_key *const key = &p->key[k];
        if (key->path == NULL || key->text == NULL || key->unit == NULL ||
            (strncmp(key->path, "parameters.", 11) != 0 && strncmp(key->path, "scheme.", 7) != 0)) {
            return "a key has no path (parameters.NAME or scheme.NAME), no unit or no text";
        }
        if (key->type != STRAKE_KEY_INTEGER && key->type != STRAKE_KEY_REAL &&
            key->type != STRAKE_KEY_BOOLEAN && key->type != STRAKE_KEY_CHOICE) {
            return "a key is none of INTEGER, REAL, BOOLEAN and CHOICE";
        }
        for (int other = 0; other < k; other++) {
            if (strcmp(p->key[other].path, key->path) == 0) {
                return "two keys have the same path";
            }
        }
        if (key->type == STRAKE_KEY_CHOICE && key->choices == NULL) {
            return "a key of type CHOICE has no choices";
        }
    }
    return NULL;
}

/* Keys that the file asks for and its table has not. @return a clause, or NULL */
static const char *fault_of_keys_asked(const strake_problem *p, const char *text)
{
    static const char *const calls_of[] = {"strake_case_value(", "strake_case_key("};
    static _Thread_local char said[160];
    for (int c = 0; c < 2; c++) {
        for (const char *at = strstr(text, calls_of[c]); at != NULL;
             at = strstr(at + 1, calls_of[c])) {
            const char *const open = at + strcspn(at, "\")");
            const size_t length = *open == '"' ? strcspn(open + 1, "\"\n") : 0;
            bool has = length == 0;
            for (int k = 0; k < p->keys && !has; k++) {
                has = strlen(p->key[k].path) == length &&
                      strncmp(p->key[k].path, open + 1, length) == 0;
            }
            if (!has) {
                (void)snprintf(said, sizeof said, "it asks for the key %.*s, which its table lacks",
                               (int)(length < 80 ? length : 80), open + 1);
                return said;
            }
        }
    }
    return NULL;
}

/*
 * Devices treat a formula with one division in its list as one that ends with it: it must be declared so, and no other
 * one. @return a clause, or NULL
 */
static const char *fault_of_text(const char *text)
{
    static const char ratio[] = "STRAKE_RATIO_FUNCTION", plain[] = "STRAKE_POINT_FUNCTION real";
    if (strstr(text, "STRAKE_POINTS_WITH_DOUBT(") != NULL) {
        return NULL;
    }
    for (const char *at = strstr(text, "X("); at != NULL; at = strstr(at + 1, "X(")) {
        char name[64], declared[120];
        int operands = 0, adds = 0, muls = 0, divs = 0;
        if (sscanf(at, "X(%63[A-Za-z0-9_], %d, %d, %d, %d,", name, &operands, &adds, &muls,
                   &divs) != 5) {
            continue;
        }
        (void)snprintf(declared, sizeof declared, "%s %s(", divs == 1 ? plain : ratio, name);
        if (strstr(text, declared) != NULL) {
            return divs == 1
                       ? "a formula with one division in its list is no STRAKE_RATIO_FUNCTION: "
                         "let it end with STRAKE_RATIO(n, d), or see STRAKE_DOUBT in "
                         "cl/real.h"
                       : "a STRAKE_RATIO_FUNCTION has another number of divisions than 1 in "
                         "its list";
        }
    }
    return NULL;
}

/* What is wrong in the tables of a problem, a clause; NULL: nothing that can be seen without a case. */
static const char *fault_of(const strake_problem *p)
{
    if (!is_word(p->name)) {
        return "its name is no word of letters, digits and _ with at most 31 characters";
    }
    const strake_problem *const known = strake_problem_find(p->name);
    if (known != NULL && known->content == NULL) {
        return "its name is that of a problem of Strake's own: give it another";
    }
    if (p->text == NULL || p->build == NULL || p->dims < 1 || p->dims > 3) {
        return "text, build or dims (1 to 3) is missing";
    }
    if (p->has_particles) {
        return "has_particles is set: only grid problems can be in a file";
    }
    if (p->keys < 0 || (p->keys > 0 && p->key == NULL) || p->field == NULL || p->quantities < 0) {
        return "a table is missing, or the number of its rows is negative";
    }
    if (p->fields < 1 || p->fields > STRAKE_MAX_FIELDS || p->keys > STRAKE_MAX_KEYS ||
        p->quantities > STRAKE_MAX_QUANTITIES) {
        return "it has no field, or too many fields, keys or quantities";
    }
    if (p->boundaries == 0) {
        return "boundaries names no kind of boundary";
    }
    if (p->quantities > 0 && (p->quantity == NULL || p->evaluate == NULL)) {
        return "it has quantities, but no evaluate";
    }
    for (int q = 0; q < p->quantities; q++) {
        if (!is_word(p->quantity[q].name) || p->quantity[q].unit == NULL ||
            p->quantity[q].text == NULL) {
            return "a quantity has no name that is a word, no unit or no text";
        }
    }
    if ((p->survey == NULL) != (p->judge == NULL)) {
        return "of survey and judge, one is missing";
    }
    const char *fault = fault_of_fields(p);
    fault = fault != NULL ? fault : fault_of_keys(p);
    return fault != NULL ? fault : fault_of_references(p);
}

strake_status strake_problem_load(const char *path, const strake_problem_text *text,
                                  const char *file, void **handle, const strake_file_entry **out,
                                  strake_error *error)
{
    const strake_file_entry *entry = NULL;
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        return strake_fail(error, STRAKE_ERR_STATE, "%s: what was built of it does not load: %s",
                           file, dlerror());
    }
    entry = dlsym(object, STRAKE_FILE_SYMBOL);
    const char *fault = "it is of another version of Strake";
    if (entry != NULL && entry->headers == text->headers) {
        const bool is_same =
            entry->length == text->length && memcmp(entry->text, text->text, text->length) == 0;
        fault = is_same ? fault_of(*entry->problem) : "it is of another file";
        fault = fault != NULL ? fault : fault_of_text(text->text);
        fault = fault != NULL ? fault : fault_of_keys_asked(*entry->problem, text->text);
    }
    if (entry == NULL || fault != NULL) {
        (void)dlclose(object);
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s", file, fault);
    }
    *entry->calls = &calls;
    *handle = object;
    *out = entry;
    return STRAKE_OK;
}

/* A loaded problem as the engine sees it. */
typedef struct known_file {
    strake_problem problem;
    char content[17];
    char file[];
} known_file;

static strake_status keep(const strake_problem_text *text, const char *path,
                          const strake_file_entry *entry, const strake_problem **out,
                          strake_error *error)
{
    char *const absolute = realpath(path, NULL);
    const char *const file = absolute != NULL ? absolute : path;
    known_file *const known = malloc(sizeof *known + strlen(file) + 1);
    if (known != NULL) {
        known->problem = **entry->problem;
        memcpy(known->content, text->content, sizeof known->content);
        memcpy(known->file, file, strlen(file) + 1);
        known->problem.file = known->file;
        known->problem.cl_source = known->file;
        known->problem.cl_text = entry->text;
        known->problem.content = known->content;
        known->problem.origin = text->origin;
    }
    free(absolute);
    if (known == NULL || !strake_loops_add(entry->code, entry->codes, text->origin) ||
        !strake_problem_add(&known->problem)) {
        free(known);
        return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to load it", path);
    }
    *out = &known->problem;
    return STRAKE_OK;
}

/* Whether an object has all its bytes: its table of sections is the last thing in it. A loader would crash otherwise. */
static bool is_whole(const char *bytes, size_t length)
{
    Elf64_Ehdr head;
    if (sizeof(void *) != 8) {
        return true;
    }
    if (length < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return false;
    }
    memcpy(&head, bytes, sizeof head);
    return head.e_shoff > 0 && head.e_shoff <= length &&
           (size_t)head.e_shnum * head.e_shentsize <= length - head.e_shoff;
}

static strake_status load_built(const char *path, const strake_problem_text *text,
                                const strake_problem **out, strake_error *error)
{
    enum { MOST_OBJECT = 256 << 20 };
    strake_status status = STRAKE_OK;
    const strake_file_entry *entry = NULL;
    const char *why = NULL;
    char *const folder = strake_cache_folder();
    char *const object = folder != NULL ? strake_path_join(folder, text->object) : NULL;
    char *bytes = NULL;
    size_t length = 0;
    void *handle = NULL;
    STRAKE_CHECK(folder != NULL, error, STRAKE_ERR_USAGE,
                 "%s: what was built of it is in the user's cache, and there is none: set "
                 "STRAKE_CACHE_DIR or HOME",
                 path);
    STRAKE_CHECK(object != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to load it", path);
    /* Proves that nobody else can have written folder and file. */
    if (!strake_cache_read(folder, text->object, MOST_OBJECT, &bytes, &length, &why)) {
        STRAKE_CHECK(errno == ENOENT, error, STRAKE_ERR_USAGE,
                     "%s: what was built of it, %s, is not used: %s; delete it and run `strake "
                     "problem build %s`",
                     path, object, why, path);
        status = strake_fail(
            error, STRAKE_ERR_USAGE,
            "%s: a problem in a file is code, and runs only once you have built it here, as it "
            "is now: look at it, then run `strake problem build %s`",
            path, path);
        goto cleanup;
    }
    STRAKE_CHECK(is_whole(bytes, length), error, STRAKE_ERR_USAGE,
                 "%s: what was built of it, %s, is not whole; run `strake problem build %s` again",
                 path, object, path);
    STRAKE_TRY(strake_problem_load(object, text, path, &handle, &entry, error));
    assert(entry != NULL);
    STRAKE_TRY(keep(text, path, entry, out, error)); /* the object stays loaded */
cleanup:
    free(bytes);
    free(object);
    free(folder);
    return status;
}

strake_status strake_problem_open(const char *path, const strake_problem **out, strake_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    strake_problem_text text;
    strake_status status = strake_problem_text_read(path, &text, error);
    if (status != STRAKE_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&lock);
    *out = strake_problem_loaded(text.content);
    if (*out == NULL || strlen((*out)->cl_text) != text.length ||
        memcmp((*out)->cl_text, text.text, text.length) != 0) {
        status = load_built(path, &text, out, error);
    }
    (void)pthread_mutex_unlock(&lock);
    strake_problem_text_free(&text);
    return status;
}
