/*
 * Whole tunings of the CPU, with shell scripts in place of the process that measures, and a clock that nearly stands still
 * but for a tenth of a second for each byte in $PASSED (support/own_clock.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotune/tune_impl.h"
#include "base/file.h"

/* Falls asleep, for longer than any budget. */
#define SLEEP "while :; do head -c 1000 /dev/zero >>$PASSED; sleep 0.05; done"

/* Answers at once; asleep from the second grid on; always asleep. */
static const char quick[] = "while read -r line; do printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3; done";
static const char once[] =
    "while read -r line; do case $line in reference*) r=$((r + 1)); "
    "[ $r -lt 2 ] || { " SLEEP "; };; esac; printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3; done";
static const char asleep[] = SLEEP;

#define SPACE(grids) SPACE_OF(grids, "[1, 2]")
#define SPACE_OF(grids, values)                                                                    \
    "problem: mpdata2d\nplace: cpu\nsteps: 3\ngrids: " grids "\n"                                  \
    "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n"                         \
    "parameters:\n  - {path: run.steps_per_sweep, values: " values "}\nconstraints: []\n"
static const char two_grids[] = SPACE("[[96, 80], [64, 64]]");

typedef struct fixture {
    char folder[64], passed[80];
    const char *command[4];
    strake_tune_options options;
    strake_tune_result result;
    strake_error error;
} fixture;

static int begin(void **state)
{
    fixture *const f = calloc(1, sizeof *f);
    *state = f;
    if (f == NULL) {
        return -1;
    }
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/strake-whole-XXXXXX");
    f->options = (strake_tune_options){.where = "cpu",
                                       .space = two_grids,
                                       .space_name = "two_grids",
                                       .budget = 20.0,
                                       .folder = f->folder,
                                       .worker = f->command};
    if (mkdtemp(f->folder) == NULL) {
        return -1;
    }
    (void)snprintf(f->passed, sizeof f->passed, "%s/passed", f->folder);
    char clock[100];
    (void)snprintf(clock, sizeof clock, "0.001:0.1:%s", f->passed);
    return setenv("STRAKE_CACHE_DIR", f->folder, 1) == 0 && setenv("PASSED", f->passed, 1) == 0
               ? setenv("STRAKE_TEST_CLOCK", clock, 1)
               : -1;
}

static int end(void **state)
{
    fixture *const f = *state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    const int code = system(command); /* NOLINT(cert-env33-c): a folder of our own making */
    free(f);
    return code;
}

/* Tunes with a script in place of the process that measures. */
static strake_status tune(fixture *f, const char *script)
{
    f->command[0] = "/bin/sh";
    f->command[1] = "-c";
    f->command[2] = script;
    const strake_status status = strake_tune(&f->options, &f->result, &f->error);
    strake_tune_end(&f->result);
    return status;
}

/* Number of results in the folder. */
static int results(const fixture *f)
{
    strake_tuned_set *set = NULL;
    strake_tuned_key key;
    int count = 0;
    strake_tuned_key_make(NULL, NULL, NULL, STRAKE_DOUBLE, 0, &key);
    assert_int_equal(strake_tuned_load(f->folder, NULL, NULL, &set, NULL), STRAKE_OK);
    for (const strake_tuned_record *at = NULL;
         (at = strake_tuned_of_device(set, &key, count)) != NULL && !at->is_shipped;) {
        count++;
    }
    strake_tuned_free(&set);
    return count;
}

static void a_budget_that_suffices_for_nothing_is_an_error(void **state)
{
    fixture *const f = *state;
    f->options.budget = 0.3;
    assert_int_equal(tune(f, asleep), STRAKE_ERR_STATE);
    assert_non_null(strstr(f->error.text, "the budget (0.3 s of it) ended before"));
    assert_non_null(strstr(f->error.text, "--budget 30"));
    assert_int_equal(results(f), 0);
}

static void grids_that_are_too_large_are_an_error_where_there_are_no_others(void **state)
{
    fixture *const f = *state;
    f->options.space = SPACE("[[2000000, 2000000]]");
    assert_int_equal(tune(f, quick), STRAKE_ERR_MEMORY);
    assert_non_null(strstr(f->error.text, "too much memory"));
    assert_int_equal(results(f), 0);
}

static void a_tuning_that_was_cut_short_tells_so_and_goes_on(void **state)
{
    fixture *const f = *state;
    f->options.budget = 2.0;
    assert_int_equal(tune(f, once), STRAKE_OK);
    assert_int_equal(f->result.record.classes, 1);
    assert_int_equal(f->result.record.todo, 1);
    assert_false(f->result.already);
    f->options.budget = 0.3;
    assert_int_equal(tune(f, asleep), STRAKE_ERR_STATE);
    assert_non_null(strstr(f->error.text, "still to do"));
    f->options.budget = 20.0;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    assert_int_equal(f->result.record.classes, 2);
    assert_int_equal(f->result.record.todo, 0);
    assert_int_equal(tune(f, asleep), STRAKE_OK);
    assert_true(f->result.already);
    assert_int_equal(results(f), 1);
}

/* Classes are numbers of particles, and the key tells the variant of the scheme. */
static void particles_are_tuned_by_their_number(void **state)
{
    static const char *const cubic[] = {"scheme.kernel=cubic", NULL};
    static const char *const scene[] = {"scene.spacing=1", NULL};
    fixture *const f = *state;
    uint64_t table = 0;
    f->options.space = "problem: sph2d\nparticles-cpu: {grids: [[900], [400]]}\n";
    assert_int_equal(tune(f, quick), STRAKE_OK);
    assert_int_equal(f->result.record.classes, 2);
    for (int c = 0; c < 2; c++) {
        const int64_t *const n = f->result.record.class[c].n;
        assert_int_equal(n[0] * n[1], 1);
        assert_int_equal(n[2], c == 0 ? 900 : 400);
    }
    assert_string_equal(f->result.record.key.problem, "sph2d");
    table = f->result.record.key.table;
    f->options.sets = cubic;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    assert_true(f->result.record.key.table != table);
    f->options.sets = scene;
    assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
    assert_non_null(strstr(f->error.text, "come from the search space"));
}

/* Every measurement takes half a second: the next tuning could begin many of them. */
static void a_budget_is_kept_within_a_tenth(void **state)
{
    fixture *const f = *state;
    static const char steady[] =
        "while read -r line; do printf 12345 >>$PASSED; printf 'done\\t0\\t0\\t.5\\n' >&3; done";
    f->options.space =
        SPACE_OF("[[128, 128], [100, 100], [90, 80], [200, 50]]", "[1, 2, 3, 4, 5, 6, 7, 8]");
    f->options.force = true;
    f->options.budget = 12.0;
    struct stat file;
    assert_int_equal(tune(f, steady), STRAKE_OK);
    assert_true(f->result.record.todo > 0);
    assert_int_equal(stat(f->passed, &file), 0);
    print_message("# %.1f s of 12\n", 0.1 * (double)file.st_size);
    assert_in_range(file.st_size, 108, 132);
}

static void an_interrupted_tuning_searches_on(void **state)
{
    fixture *const f = *state;
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3, 4, 5, 6, 7, 8]");
    f->options.budget = 0.5;
    /* The defaults are measured, then time runs out. */
    assert_int_equal(tune(f, "while read -r line; do case $line in measure*) m=$((m + 1)); "
                             "[ $m -lt 2 ] || { " SLEEP "; };; esac; "
                             "printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3; done"),
                     STRAKE_ERR_STATE);
    assert_non_null(strstr(f->error.text, "is kept, and the same command again goes on"));
    f->options.budget = 20.0;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    assert_int_equal(f->result.resumed, 1);
    assert_int_equal(f->result.record.class[0].evaluated, 1 + 8);
}

/* What the file says of the only grid. */
static strake_tuned_class stored(const fixture *f, const char **effort)
{
    strake_tuned_set *set = NULL;
    strake_tuned_use use;
    assert_int_equal(strake_tuned_load(f->folder, NULL, NULL, &set, NULL), STRAKE_OK);
    strake_tuned_find(set, &f->result.record.key, &use);
    assert_int_equal(use.record->classes, 1);
    const strake_tuned_class class = use.record->class[0];
    *effort = strake_tuned_effort(use.record);
    strake_tuned_free(&set);
    return class;
}

static void the_record_tells_what_ended_the_search(void **state)
{
    fixture *const f = *state;
    /* Of the reference, the defaults and three configurations the last never answers. */
    static const char stuck[] =
        "while read -r line; do m=$((m + 1)); [ $m -lt 5 ] || { " SLEEP "; }; "
        "printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3; done";
    static const char failing[] =
        "while read -r line; do case $line in *sweep=3*) printf 'failed\\trun\\tno\\n' >&3;; "
        "*) printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3;; esac; done";
    const char *effort = NULL;
    f->options.force = true;
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3, 4]");
    assert_int_equal(tune(f, failing), STRAKE_OK);
    strake_tuned_class class = stored(f, &effort);
    assert_string_equal(effort, "full");
    assert_int_equal(class.end, STRAKE_TUNED_END_COMPLETE);
    assert_int_equal(class.tried, 4);
    assert_int_equal(class.failed, 1);
    assert_true(class.possible == 4.0);
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3, 4]") "tries: 3\n";
    assert_int_equal(tune(f, quick), STRAKE_OK);
    class = stored(f, &effort);
    assert_string_equal(effort, "cut_short");
    assert_int_equal(class.end, STRAKE_TUNED_END_TRIES);
    assert_int_equal(class.tried, 3);
    assert_int_equal(class.failed, 0);
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3, 4]");
    f->options.budget = 1.0;
    assert_int_equal(tune(f, stuck), STRAKE_OK);
    class = stored(f, &effort);
    assert_string_equal(effort, "cut_short");
    assert_int_equal(class.end, STRAKE_TUNED_END_BUDGET);
    assert_int_equal(class.tried, 2);
}

/* The defaults took long, for whatever reason: that does not limit how many are tried. */
static void a_disturbed_first_measurement_ends_no_search(void **state)
{
    fixture *const f = *state;
    static const char script[] =
        "while read -r line; do case $line in measure*sweep*) ;; measure*) [ -n \"$d\" ] || printf "
        "123456 >>$PASSED; d=1;; esac; printf 'done\\t0\\t0\\t1\\t1\\t1\\n' >&3; done";
    const char *effort = NULL;
    f->options.budget = 3.0;
    f->options.space = "problem: mpdata2d\nplace: cpu\nsteps: 3\ngrids: [[96, 80]]\n"
                       "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n"
                       "parameters:\n  - {path: run.steps_per_sweep, values: [1, 2, 3, 4, 5, 6, 7, "
                       "8, 9, 10, 11, 12]}\n"; /* and no constraints */
    assert_int_equal(tune(f, script), STRAKE_OK);
    const strake_tuned_class class = stored(f, &effort);
    assert_int_equal(class.tried, 12);
    assert_true(class.possible == 12.0);
    assert_int_equal(class.end, STRAKE_TUNED_END_COMPLETE);
    assert_string_equal(effort, "full");
}

static void a_space_that_rules_out_everything_is_an_error(void **state)
{
    fixture *const f = *state;
    f->options.space = "problem: mpdata2d\nplace: cpu\nsteps: 3\ngrids: [[96, 80]]\n"
                       "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n"
                       "parameters:\n  - {path: run.steps_per_sweep, values: [1, 2]}\n"
                       "constraints:\n  - {keep: steps_per_sweep > rows, why: too few steps}\n";
    assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
    assert_non_null(strstr(f->error.text, "rule out every configuration"));
    assert_non_null(strstr(f->error.text, "(2) because too few steps"));
    assert_int_equal(results(f), 0);
}

/* Settings that spell out the defaults are the defaults, however fast they seem. */
static void the_defaults_spelt_out_win_nothing(void **state)
{
    fixture *const f = *state;
    static const char script[] =
        "while read -r line; do t=1; e=a; case $line in *sweep=2*) t=.1;; *sweep=3*) t=.5; e=b;; "
        "esac; printf 'effect\\t%s\\ndone\\t0\\t0\\t%s\\t%s\\t%s\\n' $e $t $t $t >&3; done";
    f->options.force = true;
    f->options.space = SPACE("[[96, 80]]");
    assert_int_equal(tune(f, script), STRAKE_OK);
    assert_int_equal(f->result.record.class[0].settings, 0);
    assert_true(f->result.record.class[0].seconds == f->result.record.class[0].fallback);
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3]");
    assert_int_equal(tune(f, script), STRAKE_OK);
    assert_string_equal(f->result.record.class[0].setting[0].value, "3");
}

/*
 * Two kernels, the first faster in groups 32 wide, the second in groups 64 wide: no one size serves both.
 * Together they are faster still.
 */
static void kernels_get_sizes_of_their_own_where_that_is_faster(void **state)
{
    fixture *const f = *state;
    static const char script[] =
        "while read -r line; do a=.3; b=.3; t=.6; case $line in "
        "*groups=auto/64x4*) a=.1; b=.1; t=.2;; *groups*) t=9;; "
        "*width=32*) a=.1; b=.45; t=.55;; *width=64*) a=.5; b=.1; t=.6;; "
        "*width*) ;; *) t=1;; esac; "
        "printf 'kernel\\ta\\t%s\\nkernel\\tb\\t%s\\ndone\\t0\\t0\\t%s\\t%s\\t%s\\n' "
        "$a $b $t $t $t >&3; done";
    static const char space[] =
        "problem: mpdata2d\nplace: cpu\nsteps: 3\ngrids: [[96, 80]]\n"
        "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n"
        "parameters:\n  - {path: run.group_width, values: [16, 32, 64]}\n"
        "  - {path: run.group_height, values: [4]}\nconstraints: []\n";
    char text[900];
    (void)snprintf(text, sizeof text, "%seach_kernel: {gain: %s}\n", space, "0.05");
    f->options.space = text;
    assert_int_equal(tune(f, script), STRAKE_OK);
    const strake_tuned_class *const class = &f->result.record.class[0];
    assert_int_equal(class->settings, 3);
    assert_string_equal(class->setting[0].value, "32");
    assert_string_equal(class->setting[2].path, "run.groups");
    assert_string_equal(class->setting[2].value, "auto/64x4");
    assert_true(class->seconds == 0.2);
    assert_int_equal(class->tried, 3);
    assert_int_equal(class->evaluated, 1 + 3 + 1);
    /* What the timers promise must be worth a measurement, and where nobody asks none is made. */
    (void)snprintf(text, sizeof text, "%seach_kernel: {gain: %s}\n", space, "0.9");
    f->options.force = true;
    assert_int_equal(tune(f, script), STRAKE_OK);
    assert_int_equal(class->settings, 2);
    assert_int_equal(class->evaluated, 1 + 3);
    f->options.space = space;
    assert_int_equal(tune(f, script), STRAKE_OK);
    assert_int_equal(class->settings, 2);
    assert_int_equal(class->evaluated, 1 + 3);
}

/* The break point: three streams are faster, four and six not by a fiftieth, and eight are not tried. */
static void streams_are_tried_until_more_are_no_faster(void **state)
{
    fixture *const f = *state;
    char script[600];
    static const char space[] = SPACE(
        "[[96, 80], [64, 64]]") "streams: {values: [1, 2, 3, 4, 6, 8], memory: 0.3, gain: 0.02}\n";
    (void)snprintf(
        script, sizeof script,
        "while read -r line; do t=1; case $line in *streams=1*) t=1;; *streams=2*) t=.5;; "
        "*streams=3*) t=.4;; *streams=4*) t=.395;; *streams=6*) t=.399;; "
        "*streams=8*) echo 8 >>%s/eight; t=.1;; esac; "
        "printf 'rates\\t3e9\\t4e9\\t5e9\\ndone\\t0\\t0\\t%%s\\t%%s\\t%%s\\n' $t $t $t >&3; done",
        f->folder);
    f->options.space = space;
    assert_int_equal(tune(f, script), STRAKE_OK);
    const strake_tuned_streaming *const found = &f->result.record.streaming;
    assert_int_equal(found->streams, 3);
    assert_true(found->up == 3e9 && found->down == 4e9);
    char *const eight = strake_path_join(f->folder, "eight");
    assert_int_not_equal(access(eight, F_OK), 0);
    free(eight);
    /* Runs begin with it, and with the rate of the class nearest to an eighth of their rows. */
    const strake_tuned_use use = {.level = STRAKE_TUNED_EXACT, .record = &f->result.record};
    const int64_t n[STRAKE_AXES] = {8 * 96, 1, 80};
    const strake_cl_known known = strake_tuned_known(&use, n, true);
    assert_int_equal(known.streams, 3);
    assert_true(known.rates.up == 3e9 && known.rates.cells == 96.0 * 80.0);
}

/* A class of the folder's only record. */
static strake_tuned_class stored_for(const fixture *f, int64_t rows)
{
    strake_tuned_set *set = NULL;
    strake_tuned_use use;
    strake_tuned_class class = {.n = {0, 0, 0}};
    assert_int_equal(strake_tuned_load(f->folder, NULL, NULL, &set, NULL), STRAKE_OK);
    strake_tuned_find(set, &f->result.record.key, &use);
    for (int c = 0; c < use.record->classes; c++) {
        class = use.record->class[c].n[0] == rows ? use.record->class[c] : class;
    }
    strake_tuned_free(&set);
    assert_int_equal(class.n[0], rows);
    return class;
}

/*
 * On the second grid other programs take the processors from half of what is measured: two steps per sweep
 * seem to be 1.5 times as fast. The next tuning begins with that grid and finds what is true; it repeats nothing else.
 */
static void what_was_disturbed_is_told_and_measured_again(void **state)
{
    fixture *const f = *state;
    char text[STRAKE_TUNED_TEXT];
    static const char busy[] =
        "while read -r line; do case $line in reference*) r=$((r + 1));; esac; s='1 1 1'; "
        "if [ $r -gt 1 ]; then case $line in *sweep=2*) s='.9 1 1.05';; *) s='1 1.5 1.6';; esac; "
        "fi; "
        "printf 'done\\t0\\t0'; printf '\\t%s' $s; echo; done >&3";
    static const char slower[] = "while read -r line; do case $line in *sweep=2*) s='2 3 3';; *) "
                                 "s='1.9 2.9 2.9';; esac; printf 'done\\t0\\t0'; "
                                 "printf '\\t%s' $s; echo; done >&3";
    char quiet[300];
    (void)snprintf(quiet, sizeof quiet,
                   "while read -r line; do echo x >>%s/asked; case $line in *sweep=2*) s=.9;; *) "
                   "s=1;; esac; printf 'done\\t0\\t0\\t%%s\\t%%s\\t%%s\\n' $s $s $s; done >&3",
                   f->folder);
    assert_int_equal(tune(f, busy), STRAKE_OK);
    strake_tuned_class class = stored_for(f, 64);
    assert_int_equal(class.disturbed, 1);
    assert_true(class.fallback / class.seconds == 1.5 && class.excess > 0.49);
    assert_non_null(strstr(strake_tuned_search_text(&class, text, sizeof text),
                           "DISTURBED: half of the samples took 50 % longer"));
    assert_non_null(strstr(text, "`strake tune` measures it again"));
    assert_int_equal(stored_for(f, 96).disturbed, 0);
    /* Again on a disturbed machine: what was less disturbed stays. */
    assert_int_equal(tune(f, slower), STRAKE_OK);
    class = stored_for(f, 64);
    assert_int_equal(class.disturbed, 2);
    assert_true(class.seconds == 1.0);
    assert_int_equal(tune(f, quiet), STRAKE_OK);
    class = stored_for(f, 64);
    assert_int_equal(class.disturbed, 0);
    assert_true(class.seconds == 0.9 && class.fallback == 1.0 && class.excess == 0.0);
    assert_int_equal(f->result.record.classes, 2);
    assert_int_equal(f->result.record.todo, 0);
    assert_int_equal(stored_for(f, 96).seconds, 1);
    /* One grid was measured: one reference, the defaults, two settings, and finals of all three. */
    char *const asked = strake_path_join(f->folder, "asked");
    FILE *const file = fopen(asked, "r");
    int lines = 0;
    assert_non_null(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        lines += c == '\n';
    }
    (void)fclose(file);
    free(asked);
    assert_int_equal(lines, 1 + 1 + 2 + 3 * STRAKE_TUNE_ROUNDS);
    assert_int_equal(tune(f, asleep), STRAKE_OK);
    assert_true(f->result.already);
}

/* What scatters in every tuning is how that processor is. */
static void what_is_always_disturbed_is_not_measured_for_ever(void **state)
{
    fixture *const f = *state;
    static const char busy[] =
        "while read -r line; do printf 'done\\t0\\t0\\t1\\t2\\t2\\n'; done >&3";
    char text[STRAKE_TUNED_TEXT];
    f->options.space = SPACE("[[96, 80]]");
    for (int k = 1; k <= STRAKE_TUNED_MOST_DISTURBED; k++) {
        assert_int_equal(tune(f, busy), STRAKE_OK);
        assert_false(f->result.already);
        assert_int_equal(stored_for(f, 96).disturbed, k);
    }
    assert_non_null(strstr(strake_tuned_search_text(&f->result.record.class[0], text, sizeof text),
                           "(in every tuning so far)"));
    assert_int_equal(tune(f, asleep), STRAKE_OK);
    assert_true(f->result.already);
}

static bool have_enough(void *user)
{
    int *const asked = user;
    return ++*asked > 12;
}

static void an_interrupt_is_told_from_a_budget(void **state)
{
    fixture *const f = *state;
    const char *effort = NULL;
    int asked = 0;
    f->options.space = SPACE_OF("[[96, 80]]", "[1, 2, 3, 4, 5, 6, 7, 8]");
    f->options.stop = have_enough;
    f->options.user = &asked;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    const strake_tuned_class class = stored(f, &effort);
    assert_string_equal(effort, "cut_short");
    assert_int_equal(class.end, STRAKE_TUNED_END_INTERRUPT);
    assert_in_range(class.tried, 1, 7);
}

static void a_first_use_that_finds_nothing_happens_once(void **state)
{
    fixture *const f = *state;
    static const char text[] =
        "problem: mpdata2d\ngrid: {rows: 9000, cols: 9000}\ntime: {steps: 1}\n"
        "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n";
    strake_case *which = NULL;
    strake_tuned_set *set = NULL;
    strake_tuned_use use;
    assert_int_equal(strake_case_parse("test", text, NULL, false, &which, &f->error), STRAKE_OK);
    f->options.like = which;
    f->options.budget = 0.3;
    assert_int_equal(tune(f, asleep), STRAKE_OK);
    assert_true(f->result.in_vain);
    assert_int_equal(strake_tuned_load(f->folder, NULL, NULL, &set, &f->error), STRAKE_OK);
    strake_tuned_find(set, &f->result.record.key, &use);
    assert_int_equal(use.level, STRAKE_TUNED_EXACT);
    assert_true(use.record->is_brief);
    assert_int_equal(use.record->classes, 1);
    assert_int_equal(use.record->class[0].n[0], 512);
    assert_int_equal(use.record->class[0].settings, 0);
    strake_tuned_free(&set);
    strake_case_close(&which);
}

static void a_device_that_fails_on_its_first_use_is_not_asked_again(void **state)
{
    fixture *const f = *state;
    strake_case *which = NULL;
    assert_int_equal(strake_case_parse("test",
                                       "problem: mpdata2d\ngrid: {rows: 64, cols: 64}\n"
                                       "time: {steps: 1}\nfields: {psi: {constant: 1}, "
                                       "u1: {constant: 0}, u2: {constant: 0}}\n",
                                       NULL, false, &which, &f->error),
                     STRAKE_OK);
    f->options.like = which;
    assert_int_equal(
        tune(f, "read -r line; printf 'done\\t0\\t0\\n' >&3; read -r line; kill -SEGV $$"),
        STRAKE_ERR_DEVICE);
    assert_non_null(strstr(f->error.text, "even the default settings fail"));
    assert_int_equal(results(f), 1);
    strake_case_close(&which);
}

static void a_full_record_takes_another_grid(void **state)
{
    fixture *const f = *state;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    strake_tuned_record *const record = &f->result.record;
    for (int c = record->classes; c < STRAKE_TUNED_CLASSES; c++) {
        const int64_t n[STRAKE_AXES] = {1000 + c, 1, 7};
        *strake_tuned_class_for(record, n) = (strake_tuned_class){
            .n = {1000 + c, 1, 7}, .seconds = 1.0, .fallback = 1.0, .evaluated = 1};
    }
    assert_int_equal(record->classes, STRAKE_TUNED_CLASSES);
    assert_int_equal(strake_tuned_store(f->folder, record, false, &f->error), STRAKE_OK);
    f->options.space = SPACE("[[100, 90], [90, 100]]");
    assert_int_equal(tune(f, quick), STRAKE_OK);
    assert_int_equal(record->classes, STRAKE_TUNED_CLASSES);
    assert_int_equal(record->todo, 0);
    assert_int_equal(record->class[STRAKE_TUNED_CLASSES - 2].n[0], 100);
    assert_int_equal(record->class[STRAKE_TUNED_CLASSES - 1].n[0], 90);
    assert_int_equal(record->class[0].n[0], 1002); /* what came first gave way */
    assert_int_equal(tune(f, asleep), STRAKE_OK);
    assert_true(f->result.already);
}

static void a_tuning_with_another_folder_is_kept_apart_too(void **state)
{
    fixture *const f = *state;
    char other[80];
    (void)snprintf(other, sizeof other, "%s/other", f->folder);
    f->options.folder = other;
    assert_int_equal(tune(f, quick), STRAKE_OK);
    char *const path = strake_path_join(f->folder, "tune-any.lock");
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
    f->options.force = true;
    assert_int_equal(tune(f, quick), STRAKE_ERR_STATE);
    assert_non_null(strstr(f->error.text, "another tuning is at work"));
    (void)close(lock);
    assert_int_equal(tune(f, quick), STRAKE_OK);
    free(path);
}

static void slips_name_their_option(void **state)
{
    fixture *const f = *state;
    static const struct {
        const char *set, *says;
    } slip[] = {{"run.hold=3", "--set run.hold=3"},
                {"precision=half", "--set precision=half: precision"},
                {"scheme.iteration=3", "--set scheme.iteration=3: scheme.iteration"}};
    for (size_t k = 0; k < sizeof slip / sizeof slip[0]; k++) {
        const char *const sets[] = {slip[k].set, NULL};
        f->options.sets = sets;
        assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
        if (strncmp(f->error.text, slip[k].says, strlen(slip[k].says)) != 0) {
            fail_msg("%s", f->error.text);
        }
    }
    f->options.sets = NULL;
    f->options.problem = "cahn_hilliard2d";
    assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
    assert_non_null(strstr(f->error.text, "two_grids is for mpdata2d"));
    f->options.space = NULL;
    f->options.problem = "mpdata9d";
    assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
    assert_non_null(strstr(f->error.text, "mpdata3d, cahn_hilliard2d, cahn_hilliard3d"));
    f->options.space = "";
    f->options.problem = NULL;
    assert_int_equal(tune(f, quick), STRAKE_ERR_USAGE);
    assert_non_null(strstr(f->error.text, "two_grids: is no search space"));
}

int main(void)
{
#define WITH_FOLDER(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(a_budget_that_suffices_for_nothing_is_an_error),
        WITH_FOLDER(grids_that_are_too_large_are_an_error_where_there_are_no_others),
        WITH_FOLDER(a_tuning_that_was_cut_short_tells_so_and_goes_on),
        WITH_FOLDER(particles_are_tuned_by_their_number),
        WITH_FOLDER(a_budget_is_kept_within_a_tenth),
        WITH_FOLDER(an_interrupted_tuning_searches_on),
        WITH_FOLDER(the_record_tells_what_ended_the_search),
        WITH_FOLDER(a_disturbed_first_measurement_ends_no_search),
        WITH_FOLDER(a_space_that_rules_out_everything_is_an_error),
        WITH_FOLDER(the_defaults_spelt_out_win_nothing),
        WITH_FOLDER(kernels_get_sizes_of_their_own_where_that_is_faster),
        WITH_FOLDER(streams_are_tried_until_more_are_no_faster),
        WITH_FOLDER(what_was_disturbed_is_told_and_measured_again),
        WITH_FOLDER(what_is_always_disturbed_is_not_measured_for_ever),
        WITH_FOLDER(an_interrupt_is_told_from_a_budget),
        WITH_FOLDER(a_first_use_that_finds_nothing_happens_once),
        WITH_FOLDER(a_device_that_fails_on_its_first_use_is_not_asked_again),
        WITH_FOLDER(a_full_record_takes_another_grid),
        WITH_FOLDER(a_tuning_with_another_folder_is_kept_apart_too),
        WITH_FOLDER(slips_name_their_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
