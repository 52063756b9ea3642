/*
 * Measuring in a process of its own, with processes that crash, hang, talk nonsense or tell of
 * failures in their place; and the journal. Workers are shell scripts that play their part. The clock nearly stands
 * still but for a second for each byte in $PASSED (support/own_clock.c), so that no load disturbs a limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autotune/journal.h"
#include "base/file.h"
#include "autotune/measure.h"

static const strake_tuned_setting hold = {"run.hold", "60"};

static strake_request request_of(void)
{
    return (strake_request){.where = "cpu",
                            .case_file = "case",
                            .reference = "reference",
                            .steps = 3,
                            .samples = 2,
                            .sample_seconds = 0.1,
                            .give_up = INFINITY,
                            .settings = 1,
                            .setting = &hold};
}

static char passed[] = "/tmp/strake-passed-XXXXXX";

/* Lets a file be so many bytes longer: seconds. */
static void let_pass(int seconds)
{
    FILE *const file = fopen(passed, "a");
    assert_non_null(file);
    for (int k = 0; k < seconds; k++) {
        assert_int_equal(fputc('\n', file), '\n');
    }
    assert_int_equal(fclose(file), 0);
}

/* Measures once with a script that has read one request line into $line. */
static strake_measurement play(strake_worker *worker, const char *script, double limit)
{
    char text[1000];
    strake_measurement m;
    strake_error error;
    (void)snprintf(text, sizeof text, "while read -r line; do %s; done", script);
    const char *const command[] = {"/bin/sh", "-c", text, NULL};
    const strake_request request = request_of();
    worker->command = command;
    if (strake_measure(worker, &request, limit, &m, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return m;
}

static void a_good_answer_is_read(void **state)
{
    (void)state;
    strake_worker worker = {0};
    const strake_measurement m = play(
        &worker,
        "echo noise; echo noise >&2; printf 'phase\\tbuild\\ndone\\t0.5\\t0.25\\t3\\t1\\t2\\n' >&3",
        5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_GOOD);
    assert_true(m.build == 0.5 && m.check == 0.25);
    assert_int_equal(m.samples, 3);
    assert_true(strake_measurement_median(&m) == 2.0);
    assert_true(strake_measurement_spread(&m) == 1.0);
    assert_int_not_equal(worker.process, 0);
    strake_worker_stop(&worker);
}

static void kernels_and_rates_come_before_the_answer(void **state)
{
    (void)state;
    strake_worker worker = {0};
    const strake_measurement m =
        play(&worker,
             "printf 'phase\\tkernels\\nkernel\\tstage_01\\t0.5\\nkernel\\tstage_02\\t2e-3\\n"
             "kernel\\tbroken\\nrates\\t1e9\\t2e9\\t3e10\\nslow\\t0\\t0\\t0.502\\n' >&3",
             5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_SLOW);
    assert_int_equal(m.kernels, 2);
    assert_string_equal(m.kernel[0].name, "stage_01");
    assert_string_equal(m.kernel[1].name, "stage_02");
    assert_true(m.kernel[0].seconds == 0.5 && m.kernel[1].seconds == 2e-3);
    assert_true(m.up == 1e9 && m.down == 2e9 && m.cells == 3e10);
    assert_true(strake_measurement_median(&m) == 0.502);
    strake_worker_stop(&worker);
}

static void a_process_prepares_without_being_waited_for(void **state)
{
    (void)state;
    strake_worker worker = {0};
    const strake_request request = request_of();
    static const char *const slow[] = {
        "/bin/sh", "-c",
        "read -r line; echo phase >&3; until [ -s $PASSED ]; do sleep 0.01; done; "
        "printf 'done\t0\t0\n' >&3; cat",
        NULL};
    static const char *const stuck[] = {"/bin/sh", "-c", "sleep 100", NULL};
    static const char *const dying[] = {"/bin/sh", "-c", "read -r line; kill -SEGV $$", NULL};
    worker.command = slow;
    assert_true(strake_worker_is_idle(&worker, 5.0));
    strake_worker_prepare(&worker, &request);
    assert_true(worker.is_busy);
    assert_false(strake_worker_is_idle(&worker, 5.0));
    let_pass(1);
    while (!strake_worker_is_idle(&worker, 5.0)) {
    }
    assert_true(strake_worker_is_idle(&worker, 5.0));
    assert_int_not_equal(worker.process, 0);
    strake_worker_stop(&worker);
    worker.command = stuck;
    strake_worker_prepare(&worker, &request);
    assert_false(strake_worker_is_idle(&worker, 5.0));
    assert_true(strake_worker_is_idle(&worker, 0.0));
    assert_int_equal(worker.process, 0);
    worker.command = dying;
    strake_worker_prepare(&worker, &request);
    while (!strake_worker_is_idle(&worker, 5.0)) {
    }
    assert_true(strake_worker_is_idle(&worker, 5.0));
    assert_int_equal(worker.process, 0);
}

static void the_request_reaches_the_process(void **state)
{
    (void)state;
    strake_worker worker = {0};
    const strake_measurement m =
        play(&worker, "printf 'failed\\trun\\t%s\\n' \"$(printf %s \"$line\" | tr '\\t' ' ')\" >&3",
             5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_RUN);
    assert_string_equal(m.message, "measure cpu case reference 3 2 0.1 inf run.hold=60");
    strake_worker_stop(&worker);
}

static void a_crash_costs_one_measurement(void **state)
{
    (void)state;
    strake_worker worker = {0};
    strake_measurement m = play(&worker, "printf 'phase\\tbuild\\n' >&3; kill -SEGV $$", 5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_CRASH);
    assert_non_null(strstr(m.message, "signal 11"));
    assert_non_null(strstr(m.message, "build"));
    m = play(&worker, "exit 7", 5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_CRASH);
    assert_non_null(strstr(m.message, "status 7"));
    m = play(&worker, "printf 'done\\t0\\t0\\t1\\n' >&3", 5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_GOOD);
    assert_int_equal(worker.starts, 3);
    strake_worker_stop(&worker);
}

static void a_hang_is_ended_at_the_limit(void **state)
{
    (void)state;
    strake_worker worker = {0};
    strake_measurement m = play(&worker,
                                "trap '' TERM INT HUP; printf 'phase\\t%d\\n' $$ >&3; while :; do "
                                "echo >>$PASSED; sleep 0.05; done",
                                0.5);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_TIMEOUT);
    const char *const process = strstr(m.message, "stopped after 0.5 s during: ");
    assert_non_null(process);
    assert_int_equal(kill((pid_t)atoi(strchr(process, ':') + 2), 0), -1);
    assert_int_equal(errno, ESRCH);
    m = play(&worker, "printf 'done\\t0\\t0\\t1\\n' >&3", 5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_GOOD);
    strake_worker_stop(&worker);
}

static void nonsense_is_no_answer(void **state)
{
    (void)state;
    strake_worker worker = {0};
    const strake_measurement m =
        play(&worker, "printf 'done\\nhello\\n\\t\\t\\nslow\\t1\\t1\\t9\\n' >&3", 5.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_SLOW);
    assert_int_equal(m.samples, 1);
    strake_worker_stop(&worker);
    const strake_measurement long_line = play(
        &worker,
        "while :; do echo >>$PASSED; sleep 0.05; done & head -c 100000 /dev/zero | tr '\\0' x >&3",
        5.0);
    assert_int_equal(long_line.outcome, STRAKE_OUTCOME_CRASH);
    strake_worker_stop(&worker);
}

static void a_missing_program_is_a_crash(void **state)
{
    (void)state;
    static const char *const command[] = {"/dev/null/strake", NULL};
    strake_worker worker = {.command = command};
    strake_measurement m;
    strake_error error;
    const strake_request request = request_of();
    assert_int_equal(strake_measure(&worker, &request, 5.0, &m, &error), STRAKE_OK);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_CRASH);
    strake_worker_stop(&worker);
}

static bool stop_now(void *user)
{
    return ++*(int *)user > 2;
}

static void the_user_can_stop_a_measurement(void **state)
{
    (void)state;
    int asked = 0;
    strake_worker worker = {.stop = stop_now, .user = &asked};
    const strake_measurement m = play(&worker, "sleep 100", 50.0);
    assert_int_equal(m.outcome, STRAKE_OUTCOME_STOPPED);
    assert_int_equal(worker.process, 0);
    strake_worker_stop(&worker);
}

static void tabs_in_names_are_refused(void **state)
{
    (void)state;
    static const char *const command[] = {"/bin/false", NULL};
    strake_worker worker = {.command = command};
    strake_measurement m;
    strake_error error;
    strake_request request = request_of();
    request.case_file = "a\tb";
    assert_int_equal(strake_measure(&worker, &request, 5.0, &m, &error), STRAKE_ERR_USAGE);
}

static strake_journal_entry entry_of(int64_t rows, const char *value, strake_outcome outcome)
{
    strake_journal_entry entry = {.n = {rows, 1, 64}, .settings = 1, .when = 1.7e9};
    entry.setting[0] = hold;
    (void)snprintf(entry.setting[0].value, sizeof entry.setting[0].value, "%s", value);
    entry.result.outcome = outcome;
    if (outcome == STRAKE_OUTCOME_GOOD) {
        entry.result.samples = 2;
        entry.result.seconds[0] = 0.125;
        entry.result.seconds[1] = 0.25;
        entry.result.kernels = 1;
        (void)snprintf(entry.result.kernel[0].name, sizeof entry.result.kernel[0].name, "march");
        entry.result.kernel[0].seconds = 0.0625;
        entry.result.down = 5e9;
    } else {
        (void)snprintf(entry.result.message, sizeof entry.result.message,
                       "bad \"news\":\twith \\ and \n and ä");
    }
    return entry;
}

static char journal_folder[] = "/tmp/strake-journal-XXXXXX";

static void remove_journal_folder(void)
{
    (void)rmdir(journal_folder);
}

/* In a folder that nobody else may write to: what lies in another is not believed. */
static char *temporary_path(void)
{
    static char path[64];
    if (path[0] == '\0') {
        assert_non_null(mkdtemp(journal_folder));
        assert_int_equal(atexit(remove_journal_folder), 0);
    }
    (void)snprintf(path, sizeof path, "%s/journal", journal_folder);
    return path;
}

static void a_journal_is_taken_up_again(void **state)
{
    (void)state;
    const char *const path = temporary_path();
    strake_journal journal;
    strake_error error;
    const strake_journal_entry good = entry_of(64, "20", STRAKE_OUTCOME_GOOD);
    const strake_journal_entry bad = entry_of(64, "40", STRAKE_OUTCOME_WRONG);
    assert_int_equal(strake_journal_open(&journal, path, "{\"me\": 1}", &error), STRAKE_OK);
    assert_int_equal(journal.resumed, 0);
    assert_int_equal(strake_journal_add(&journal, &good, &error), STRAKE_OK);
    assert_int_equal(strake_journal_add(&journal, &bad, &error), STRAKE_OK);
    strake_journal_close(&journal, false);

    assert_int_equal(strake_journal_open(&journal, path, "{\"me\": 1}", &error), STRAKE_OK);
    assert_int_equal(journal.resumed, 2);
    const strake_measurement *m = strake_journal_find(&journal, good.n, 1, good.setting);
    assert_non_null(m);
    assert_true(m->outcome == STRAKE_OUTCOME_GOOD && m->samples == 2 && m->seconds[1] == 0.25);
    assert_int_equal(m->kernels, 1);
    assert_string_equal(m->kernel[0].name, "march");
    assert_true(m->kernel[0].seconds == 0.0625 && m->down == 5e9 && m->up == 0.0);
    m = strake_journal_find(&journal, bad.n, 1, bad.setting);
    assert_non_null(m);
    assert_int_equal(m->outcome, STRAKE_OUTCOME_WRONG);
    assert_string_equal(m->message, bad.result.message);
    const int64_t other[STRAKE_AXES] = {65, 1, 64};
    assert_null(strake_journal_find(&journal, other, 1, good.setting));
    assert_null(strake_journal_find(&journal, good.n, 0, NULL));
    strake_journal_close(&journal, false);

    /* Another space, case or processor: begins anew. */
    assert_int_equal(strake_journal_open(&journal, path, "{\"me\": 2}", &error), STRAKE_OK);
    assert_int_equal(journal.resumed, 0);
    strake_journal_close(&journal, true);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A line of a journal with one part replaced. @return how many measurements are taken over */
static int resumed_with(const char *part, const char *instead)
{
    static const char line[] =
        "{\"grid\": [64, 1, 64], \"settings\": {\"run.hold\": \"20\"}, \"outcome\": \"good\", "
        "\"build\": 1, \"check\": 1, \"when\": 1, \"seconds\": [1, 2], \"kernels\": {\"a\": 1}, "
        "\"rates\": [0, 0, 0], \"message\": \"\"}\n";
    const char *const path = temporary_path();
    strake_journal journal;
    strake_error error;
    char text[1000];
    const char *const at = strstr(line, part);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "{}\n%s%.*s%s%s%s", line, (int)(at - line), line, instead,
                   at + strlen(part), line);
    assert_int_equal(strake_file_put(path, 0, text, strlen(text), &error), STRAKE_OK);
    assert_int_equal(strake_journal_open(&journal, path, "{}", &error), STRAKE_OK);
    const int resumed = journal.resumed;
    strake_journal_close(&journal, true);
    return resumed;
}

static void lines_of_a_journal_that_cannot_be_are_left_out(void **state)
{
    (void)state;
    static const char *const slip[][2] = {{"[1, 2]", "[1, nan]"},
                                          {"[1, 2]", "[1, -2]"},
                                          {"[1, 2]", "[0, 0]"},
                                          {"[1, 2]", "[]"},
                                          {"[1, 2]", "3"},
                                          {"[1, 2]", "[1, {a: 2}]"},
                                          {"[64, 1, 64]", "[64]"},
                                          {"[64, 1, 64]", "[64, 1e30, 64]"},
                                          {"[64, 1, 64]", "[64, 1, 0]"},
                                          {"\"when\": 1", "\"when\": 1e30"},
                                          {"\"when\": 1", "\"when\": -1"},
                                          {"\"good\"", "\"fine\""},
                                          {"run.hold", "run.nothing"},
                                          {"\"20\"", "\"many\""},
                                          {"{\"a\": 1}", "{\"a\": \"b\"}"},
                                          {"\"build\": 1, ", ""},
                                          {"{\"grid\"", "%\x01\x02 {{{\"grid\""}};
    assert_int_equal(resumed_with("[1, 2]", "[1, 3]"), 3);
    for (size_t k = 0; k < sizeof slip / sizeof slip[0]; k++) {
        if (resumed_with(slip[k][0], slip[k][1]) != 2) {
            fail_msg("%s in place of %s is taken over", slip[k][1], slip[k][0]);
        }
    }
}

static void a_pipe_in_place_of_a_journal_is_an_error(void **state)
{
    (void)state;
    const char *const path = temporary_path();
    strake_journal journal;
    strake_error error;
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)alarm(20); /* must not wait for a reader */
    assert_int_equal(strake_journal_open(&journal, path, "{}", &error), STRAKE_ERR_IO);
    (void)alarm(0);
    assert_non_null(strstr(error.text, path));
    (void)unlink(path);
}

static void a_journal_cut_anywhere_loses_at_most_its_last_line(void **state)
{
    (void)state;
    const char *const path = temporary_path();
    static const char identity[] = "{\"me\": 1}";
    strake_journal journal;
    strake_error error;
    off_t size[4];
    struct stat info;
    assert_int_equal(strake_journal_open(&journal, path, identity, &error), STRAKE_OK);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(stat(path, &info), 0);
        size[k] = info.st_size;
        const strake_journal_entry entry = entry_of(64 + k, "20", STRAKE_OUTCOME_GOOD);
        assert_int_equal(strake_journal_add(&journal, &entry, &error), STRAKE_OK);
    }
    assert_int_equal(stat(path, &info), 0);
    size[3] = info.st_size;
    strake_journal_close(&journal, false);
    for (off_t cut = size[3]; cut >= size[0]; cut--) {
        int whole = 0;
        while (whole < 3 && size[whole + 1] <= cut) {
            whole++;
        }
        assert_int_equal(truncate(path, cut), 0);
        assert_int_equal(strake_journal_open(&journal, path, identity, &error), STRAKE_OK);
        assert_int_equal(journal.resumed, whole);
        strake_journal_close(&journal, false);
        if (cut - 1 < size[whole]) {
            cut = size[whole]; /* opening has dropped the rest */
        }
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_answer_is_read),
        cmocka_unit_test(kernels_and_rates_come_before_the_answer),
        cmocka_unit_test(a_process_prepares_without_being_waited_for),
        cmocka_unit_test(the_request_reaches_the_process),
        cmocka_unit_test(a_crash_costs_one_measurement),
        cmocka_unit_test(a_hang_is_ended_at_the_limit),
        cmocka_unit_test(nonsense_is_no_answer),
        cmocka_unit_test(a_missing_program_is_a_crash),
        cmocka_unit_test(the_user_can_stop_a_measurement),
        cmocka_unit_test(tabs_in_names_are_refused),
        cmocka_unit_test(a_journal_is_taken_up_again),
        cmocka_unit_test(lines_of_a_journal_that_cannot_be_are_left_out),
        cmocka_unit_test(a_pipe_in_place_of_a_journal_is_an_error),
        cmocka_unit_test(a_journal_cut_anywhere_loses_at_most_its_last_line),
    };
    char clock[100];
    const int file = mkstemp(passed);
    (void)snprintf(clock, sizeof clock, "0.01:1:%s", passed);
    if (file < 0 || setenv("PASSED", passed, 1) != 0 ||
        setenv("STRAKE_TEST_CLOCK", clock, 1) != 0) {
        perror(passed);
        return 1;
    }
    (void)close(file);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(passed);
    return failed;
}
