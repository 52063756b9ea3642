/*
 * Builds a problem in a C file (src/strake_problem.h): the system's compiler makes of it a shared object in the user's
 * cache, with row loops for every instruction set and precision that this program has, and with the fused loops that
 * follow from its stage table once that can be asked for.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cpu/loop_writer.h"
#include "cpu/topology.h"
#include "files/cache.h"
#include "files/text.h"
#include "solver/problem_file.h"
#include "strake.h"

extern char **environ;

/* Given by the Makefile, which compiles the loops of Strake's own problems with the same; without it, the least. */
#ifndef STRAKE_BUILD_EXACT
#define STRAKE_BUILD_EXACT "-ffp-contract=off"
#define STRAKE_BUILD_DEFINES "-D_GNU_SOURCE"
#define STRAKE_BUILD_SCALAR ""
#define STRAKE_BUILD_SCALAR_CLANG ""
#define STRAKE_BUILD_AVX2 "-mavx2"
#define STRAKE_BUILD_AVX512 "-mavx512f -mavx512dq -mavx512vl -mavx512bw"
#endif

enum { MOST_WORDS = 96, MOST_RUNS = 24 };

/* An instruction set and the flags that its loops take. */
static const struct {
    const char *name;
    const char *flags;
    bool is_fused; /* the scalar reference has no fused loops */
} isas[] = {
    {"scalar", "", false},
    {"base", "", true},
#ifdef STRAKE_ROWS_X86
    {"avx2", STRAKE_BUILD_AVX2, true},
    {"avx512", STRAKE_BUILD_AVX512, true},
#endif
};

static const struct {
    const char *name;
    const char *flags;
} precisions[] = {{"f64", ""}, {"f32", "-DSTRAKE_REAL_SINGLE"}};

/* One run of the compiler. */
typedef struct run {
    int words;
    char *word[MOST_WORDS + 1];
    char output[4200]; /* a file */
    pid_t process;
} run;

typedef struct builder {
    const char *path; /* of the problem */
    strake_problem_text text;
    char *cache;
    char folder[4096];  /* temporary, in the cache */
    char compiler[512]; /* the words of CC */
    char version[200];  /* what it says of itself */
    bool is_clang;
    void (*notice)(void *user, const char *line);
    void *user;
    int objects; /* that are linked */
    char object[MOST_RUNS][40];
    run run[MOST_RUNS];
} builder;

static void begin(run *r)
{
    for (int k = 0; k < r->words; k++) {
        free(r->word[k]);
    }
    memset(r, 0, sizeof *r);
}

/* Adds one word, a file's name for instance. */
static void add_word(run *r, const char *format, ...) STRAKE_PRINTF(2, 3);
static void add_word(run *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (r->words < MOST_WORDS && vasprintf(&r->word[r->words], format, list) >= 0) {
        r->words++;
    }
    va_end(list);
}

/* Adds words with blanks between them: flags. */
static void add_words(run *r, const char *words)
{
    while (*(words += strspn(words, " ")) != '\0') {
        const size_t length = strcspn(words, " ");
        add_word(r, "%.*s", (int)length, words);
        words += length;
    }
}

/* Starts a command; what it prints goes to a file. @return 0 or an errno */
static int start(run *r)
{
    posix_spawn_file_actions_t files;
    int code = posix_spawn_file_actions_init(&files);
    if (code == 0) {
        r->word[r->words] = NULL;
        (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, r->output,
                                               O_WRONLY | O_CREAT | O_TRUNC, 0600);
        (void)posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        code = r->words > 0 ? posix_spawnp(&r->process, r->word[0], &files, NULL, r->word, environ)
                            : ENOENT;
        (void)posix_spawn_file_actions_destroy(&files);
    }
    return code;
}

/* Waits for a command. @return its exit code; 127: a signal ended it */
static int finish(const run *r)
{
    int state = 0;
    pid_t got = 0;
    while ((got = waitpid(r->process, &state, 0)) < 0 && errno == EINTR) {
    }
    return got == r->process && WIFEXITED(state) ? WEXITSTATUS(state) : 127;
}

/* Hands on what a command printed, line by line. @param[out] first  its first line that says error, or "" */
static void tell_output(const builder *b, const run *r, char *first, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    strake_error ignored;
    first[0] = '\0';
    if (strake_file_read(r->output, 1 << 20, "compiler's output", &text, &length, &ignored) !=
        STRAKE_OK) {
        return;
    }
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (first[0] == '\0' && strstr(line, "error") != NULL) {
            (void)snprintf(first, size, "%s", line);
        }
        if (b->notice != NULL) {
            b->notice(b->user, line);
        }
    }
    free(text);
}

/* Runs commands, as many at once as there are processors. */
static strake_status run_all(builder *b, int count, strake_error *error)
{
    run *const r = b->run;
    const int most = strake_topology_usable();
    char first[700] = "";
    int failed = -1, code = 0;
    for (int k = 0, next = 0; k < count; k++) {
        while (next < count && next < k + most && failed < 0) {
            code = start(&r[next]);
            if (code != 0) {
                failed = next;
                count = next;
            } else {
                next++;
            }
        }
        if (k < count && finish(&r[k]) != 0 && failed < 0) {
            failed = k;
            count = next;
        }
    }
    if (failed < 0) {
        return STRAKE_OK;
    }
    if (code != 0) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: the compiler %s cannot be started: %s",
                           b->path, b->compiler, strerror(code));
    }
    tell_output(b, &r[failed], first, sizeof first);
    const char *const more =
        strstr(first, "poisoned") != NULL
            ? " (formulas are OpenCL C, too: of functions they have STRAKE_SQRT, STRAKE_EXP, "
              "STRAKE_LOG, STRAKE_SIN, STRAKE_COS, STRAKE_ABS, STRAKE_MIN and STRAKE_MAX)"
        : strstr(first, "double-promotion") != NULL ? " (numbers in formulas are written REAL(0.5))"
                                                    : "";
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s does not compile it: %s%s", b->path,
                       b->version, first[0] != '\0' ? first : "it says no more", more);
}

/* A compiler's words and its version. @return false: it is not there */
static bool try_compiler(builder *b, const char *words)
{
    run *const r = &b->run[0];
    char *text = NULL;
    size_t length = 0;
    strake_error ignored;
    bool is_there = false;
    begin(r);
    (void)snprintf(b->compiler, sizeof b->compiler, "%s", words);
    add_words(r, words);
    if (r->words == 0) {
        return false;
    }
    add_word(r, "--version");
    (void)snprintf(r->output, sizeof r->output, "%s/version", b->folder);
    if (start(r) == 0 && finish(r) == 0 &&
        strake_file_read(r->output, 1 << 16, "compiler's version", &text, &length, &ignored) ==
            STRAKE_OK) {
        (void)snprintf(b->version, sizeof b->version, "%.*s", (int)strcspn(text, "\n"), text);
        b->is_clang = strstr(text, "clang") != NULL;
        is_there = true;
    }
    free(text);
    return is_there;
}

static strake_status find_compiler(builder *b, strake_error *error)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *const named = getenv("CC");
    if (named != NULL && named[0] != '\0') {
        return try_compiler(b, named)
                   ? STRAKE_OK
                   : strake_fail(error, STRAKE_ERR_USAGE,
                                 "%s: there is no compiler %s, which CC names; unset CC, or name "
                                 "another C compiler there",
                                 b->path, named);
    }
    for (size_t k = 0; k < sizeof usual / sizeof usual[0]; k++) {
        if (try_compiler(b, usual[k])) {
            return STRAKE_OK;
        }
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: building a problem takes a C compiler, and there is none (cc, gcc, "
                       "clang): install one (Debian: apt install gcc libc6-dev), or name one in CC",
                       b->path);
}

/* Puts a file into the temporary folder, with the folders that its name has. */
static strake_status put(const builder *b, const char *name, const void *data, size_t length,
                         strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const path = strake_path_join(b->folder, name);
    char *const above = path != NULL ? strake_path_folder(path) : NULL;
    STRAKE_CHECK(above != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to build it", b->path);
    STRAKE_TRY(strake_folder_make(above, 0700, error));
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_HASTY, data, length, error));
cleanup:
    free(above);
    free(path);
    return status;
}

static strake_status put_text(const builder *b, const char *name, strake_text *text,
                              strake_error *error)
{
    const strake_status status =
        text->failed ? strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to build it", b->path)
                     : put(b, name, text->data, text->length, error);
    strake_text_free(text);
    return status;
}

/* A path as it stands in a C string. */
static void print_quoted(strake_text *to, const char *text)
{
    for (; *text != '\0'; text++) {
        strake_text_print(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
}

/* The headers, and the file itself under a name without blanks; messages of the compiler name its own. */
static strake_status put_sources(const builder *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text own = {0}, table = {0}, names = {0};
    for (const strake_embedded *h = strake_header_texts; h->name != NULL; h++) {
        STRAKE_TRY(put(b, h->name, h->bytes, h->length, error));
    }
    strake_text_print(&names, "extern const strake_file_calls *strake_calls;\n");
#define X(name) strake_text_print(&names, "#define %s (*strake_calls->%s)\n", #name, #name);
#include "problem/file_calls.inc"
#undef X
    STRAKE_TRY(put_text(b, "problem/file_calls.h", &names, error));
    strake_text_print(&own, "#line 1 \"");
    print_quoted(&own, b->path);
    strake_text_print(&own, "\"\n");
    strake_text_append(&own, b->text.text, b->text.length);
    STRAKE_TRY(put_text(b, "problem.c", &own, error));
    strake_text_print(
        &table, "#include \"strake_problem.h\"\n"
                "extern const strake_problem *const strake_file_problem;\n"
                "#ifdef STRAKE_HAS_LOOPS\n"
                "#define CODES strake_loop_codes, (int)(sizeof strake_loop_codes / sizeof "
                "strake_loop_codes[0]) - 1\n"
                "#include \"codes.h\"\n"
                "#else\n#define CODES 0, 0\n#endif\n"
                "const double strake_zero_double = 0.0;\nconst float strake_zero_single = 0.0F;\n"
                "const strake_file_calls *strake_calls;\nstatic const unsigned char text[] = {");
    for (size_t k = 0; k < b->text.length; k++) {
        strake_text_print(&table, "%s%d,", k % 24 == 0 ? "\n" : "", (unsigned char)b->text.text[k]);
    }
    strake_text_print(&table,
                      "\n0};\n#define ENTRY __attribute__((visibility(\"default\"))) const "
                      "strake_file_entry strake_file_entry_of\nextern ENTRY;\n"
                      "ENTRY = {UINT64_C(0x%016" PRIx64 "), \"",
                      b->text.headers);
    print_quoted(&table, b->version);
    strake_text_print(&table, "\", (const char *)text, sizeof text - 1, &strake_file_problem, "
                              "CODES, &strake_calls};\n");
    STRAKE_TRY(put_text(b, "table.c", &table, error));
cleanup:
    strake_text_free(&own);
    strake_text_free(&table);
    strake_text_free(&names);
    return status;
}

/* A command that compiles a file of the temporary folder. */
static run *compile(builder *b, int k, const char *file, const char *object)
{
    run *const r = &b->run[k];
    begin(r);
    add_words(r, b->compiler);
    add_words(r, "-std=gnu11 -O2 -fno-fast-math -USTRAKE_REAL_SINGLE -fPIC -fopenmp-simd "
                 "-fvisibility=hidden " STRAKE_BUILD_DEFINES " " STRAKE_BUILD_EXACT " -c -o");
    add_word(r, "%s/%s", b->folder, object);
    add_word(r, "-I%s", b->folder);
    add_word(r, "%s/%s", b->folder, file);
    (void)snprintf(r->output, sizeof r->output, "%s/%s.txt", b->folder, object);
    return r;
}

static void link_with(builder *b, const char *object)
{
    (void)snprintf(b->object[b->objects++], sizeof b->object[0], "%s", object);
}

/* The commands from number @p k on for every instruction set and precision. @return one more than the last number */
static int compile_rows(builder *b, int k, const char *name, bool fused)
{
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        for (size_t p = 0; p < 2 && (isas[i].is_fused || !fused); p++) {
            char object[40];
            (void)snprintf(object, sizeof object, "%s.%s.%s.o", name, isas[i].name,
                           precisions[p].name);
            run *const r = compile(b, k++, fused ? "loops.c" : "problem.c", object);
            /* Numbers without REAL() would be of double precision here, and perhaps not on devices. */
            add_words(r, fused ? "-w -DSTRAKE_LOOPS_ALONE"
                               : "-Werror=implicit-function-declaration -Werror=double-promotion");
            add_words(r, fused && !b->is_clang ? "-fno-thread-jumps" : "");
            add_word(r, "-DSTRAKE_ROWS_ISA=%s", isas[i].name);
            add_word(r, "-DSTRAKE_ROWS_PRECISION=%s", precisions[p].name);
            add_words(r, precisions[p].flags);
            add_words(r, isas[i].is_fused ? isas[i].flags
                         : b->is_clang    ? STRAKE_BUILD_SCALAR_CLANG
                                          : STRAKE_BUILD_SCALAR);
            link_with(b, object);
        }
    }
    return k;
}

static strake_status link_all(builder *b, const char *name, strake_error *error)
{
    run *const r = &b->run[0];
    begin(r);
    add_words(r, b->compiler);
    add_words(r, "-fno-fast-math -shared -o"); /* whatever CC says: bits are the same everywhere */
    add_word(r, "%s/%s", b->folder, name);
    for (int k = 0; k < b->objects; k++) {
        add_word(r, "%s/%s", b->folder, b->object[k]);
    }
    /* A call of what a problem cannot call is found here rather than where it is loaded. */
    add_words(r, "-Wl,-z,defs -lm");
    (void)snprintf(r->output, sizeof r->output, "%s/%s.txt", b->folder, name);
    return run_all(b, 1, error);
}

/* Writes the fused loops of a problem that was loaded, and their table. */
static strake_status put_loops(builder *b, const strake_problem *problem, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_loop_writer *writer = strake_loop_writer_open();
    strake_error reason;
    char *memory[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    STRAKE_CHECK(writer != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to build it", b->path);
    status = strake_loop_writer_add(writer, problem, 0, &reason);
    STRAKE_CHECK(status == STRAKE_OK, error,
                 status == STRAKE_ERR_MEMORY ? status : STRAKE_ERR_USAGE, "%s: %s", b->path,
                 reason.text);
    for (int k = 0; k < 2; k++) {
        FILE *const out = open_memstream(&memory[k], &size[k]);
        STRAKE_CHECK(out != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to build it", b->path);
        if (k == 0) {
            (void)fprintf(out, "#include \"problem.c\"\n#include \"cl/wall.h\"\n");
            strake_loop_writer_rows(writer, 0, out);
        } else {
            strake_loop_writer_table(writer, out);
        }
        STRAKE_CHECK(fclose(out) == 0, error, STRAKE_ERR_MEMORY, "%s: no memory to build it",
                     b->path);
    }
    STRAKE_TRY(put(b, "loops.c", memory[0], size[0], error));
    STRAKE_TRY(put(b, "codes.h", memory[1], size[1], error));
cleanup:
    free(memory[0]);
    free(memory[1]);
    strake_loop_writer_close(&writer);
    return status;
}

/* Compiles the file, asks it for its stage table, and compiles the fused loops of that. */
static strake_status make_object(builder *b, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_file_entry *entry = NULL;
    void *handle = NULL;
    char name[4200];
    /* The host's side first: its messages are about all of the file, and come once. */
    add_words(
        compile(b, 0, "problem.c", "host.o"),
        "-DSTRAKE_IN_FILE=<problem/file_calls.h> -Wall -Wextra -Wno-missing-field-initializers "
        "-Werror=implicit-function-declaration");
    link_with(b, "host.o");
    STRAKE_TRY(run_all(b, 1, error));
    tell_output(b, &b->run[0], name, sizeof name); /* warnings */
    add_words(compile(b, 0, "table.c", "table.o"), "-w");
    link_with(b, "table.o");
    STRAKE_TRY(run_all(b, compile_rows(b, 1, "rows", false), error));
    STRAKE_TRY(link_all(b, "first.so", error));
    (void)snprintf(name, sizeof name, "%s/first.so", b->folder);
    STRAKE_TRY(strake_problem_load(name, &b->text, b->path, &handle, &entry, error));
    STRAKE_TRY(put_loops(b, *entry->problem, error));
    add_words(compile(b, 0, "table.c", "table.o"), "-w -DSTRAKE_HAS_LOOPS");
    STRAKE_TRY(run_all(b, compile_rows(b, 1, "loops", true), error));
    STRAKE_TRY(link_all(b, "problem.so", error));
cleanup:
    if (handle != NULL) {
        (void)dlclose(handle);
    }
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Removes what builds that were interrupted have left, after a while in which none takes so long. */
static void sweep(const char *cache)
{
    static const int64_t long_ago = 600; /* seconds */
    DIR *const folder = opendir(cache);
    const struct dirent *entry = NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat info;
        char path[4400];
        (void)snprintf(path, sizeof path, "%.4000s/%s", cache, entry->d_name);
        if (strncmp(entry->d_name, "building-", 9) == 0 && lstat(path, &info) == 0 &&
            S_ISDIR(info.st_mode) && strake_clock_date() - (int64_t)info.st_mtime > long_ago) {
            (void)nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

strake_status strake_problem_build(const char *path, void (*notice)(void *user, const char *line),
                                   void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    builder *const b = calloc(1, sizeof *b);
    STRAKE_CHECK(b != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to build it", path);
    b->path = path;
    b->notice = notice;
    b->user = user;
    STRAKE_TRY(strake_problem_text_read(path, &b->text, error));
    b->cache = strake_cache_folder();
    STRAKE_CHECK(b->cache != NULL, error, STRAKE_ERR_USAGE,
                 "%s: what is built goes into the user's cache, and there is none: set "
                 "STRAKE_CACHE_DIR or HOME",
                 path);
    STRAKE_TRY(strake_cache_create(b->cache, error));
    sweep(b->cache);
    STRAKE_CHECK(snprintf(b->folder, sizeof b->folder, "%s/building-XXXXXX", b->cache) <
                         (int)sizeof b->folder / 8 &&
                     mkdtemp(b->folder) != NULL,
                 error, STRAKE_ERR_IO, "%s: cannot make a folder in %s: %s", path, b->cache,
                 strerror(errno));
    STRAKE_TRY(find_compiler(b, error));
    STRAKE_TRY(put_sources(b, error));
    STRAKE_TRY(make_object(b, error));
    STRAKE_TRY(strake_cache_adopt(b->cache, b->text.object, b->folder, "problem.so", error));
cleanup:
    if (b != NULL) {
        if (b->folder[0] != '\0' && strstr(b->folder, "XXXXXX") == NULL) {
            (void)nftw(b->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        }
        for (int k = 0; k < MOST_RUNS; k++) {
            begin(&b->run[k]);
        }
        strake_problem_text_free(&b->text);
        free(b->cache);
        free(b);
    }
    return status;
}
