/* The table of run.* keys: every row is read, told, and means what the readers' enumerations say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "engine/balance.h"
#include "engine/point.h"
#include "opencl/cl_plan.h"
#include "opencl/cl_resident.h"
#include "opencl/cl_queue.h"

/* A value of each kind that is no default. */
static const char *sample(const strake_setting *setting, char text[64])
{
    strake_words words = {0};
    switch (setting->kind) {
    case STRAKE_SETTING_WHERE:
        return "cpu";
    case STRAKE_SETTING_WEIGHTS:
        return "1,2";
    case STRAKE_SETTING_FOLDER:
        return "somewhere";
    case STRAKE_SETTING_BOOLEAN:
        return setting->fallback > 0.0 ? "false" : "true";
    case STRAKE_SETTING_GROUPS:
        return "16x4/auto/32x2";
    case STRAKE_SETTING_WORD:
        strake_words_add_choices(&words, setting->words);
        (void)snprintf(text, 64, "%s", words.word[words.count - 1]);
        return text;
    default:
        return "2";
    }
}

static strake_case *open_case(const char *const *sets)
{
    strake_case *which = NULL;
    strake_error error;
    if (strake_case_parse("test",
                          "problem: mpdata2d\ngrid: {rows: 64, cols: 64}\ntime: {steps: 1}\n"
                          "fields: {psi: {constant: 1}, u1: {constant: 0}, u2: {constant: 0}}\n",
                          sets, false, &which, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return which;
}

static void every_key_is_read_and_told(void **state)
{
    (void)state;
    char text[64], told[300], option[400];
    strake_case *plain = open_case(NULL);
    int keys = 0;
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        const char *const value = sample(at, text);
        (void)snprintf(option, sizeof option, "%s=%s", at->path, value);
        const char *const sets[] = {option, NULL};
        strake_case *which = open_case(sets);
        assert_false(strake_setting_is_given(&plain->run, at));
        if (!strake_setting_is_given(&which->run, at)) {
            fail_msg("%s is not read", at->path);
        }
        assert_string_equal(strake_setting_text(&which->run, at, told, sizeof told), value);
        /* And no other one. */
        for (const strake_setting *other = strake_setting_table; other->path != NULL; other++) {
            assert_int_equal(strake_setting_is_given(&which->run, other), other == at);
        }
        assert_ptr_equal(strake_setting_find(at->path), at);
        assert_string_equal(at->name, at->path + strlen("run."));
        assert_true(at->text[0] != '\0' && strake_setting_type(at, told, sizeof told)[0] != '\0');
        strake_case_close(&which);
        keys++;
    }
    assert_true(keys > 30);
    assert_null(strake_setting_find("run.no_such_key"));
    strake_case_close(&plain);
}

/* Where 0 means that the program chooses, tuning may choose; where nothing takes part, nobody could be told. */
static void every_key_applies_to_something(void **state)
{
    (void)state;
    char text[64];
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        const bool tunable = (at->applies & STRAKE_FOR_TUNER) != 0;
        assert_true((at->applies & ~(unsigned)STRAKE_FOR_TUNER) != 0);
        assert_int_equal(strake_setting_is_tunable(at->path), tunable);
        assert_int_equal(strake_setting_is_legal(at->path, sample(at, text)), tunable);
        assert_true(!tunable || at->fallback == 0.0);
        assert_false(strake_setting_is_legal(at->path, "no such value"));
    }
}

static void tuning_sets_what_a_case_would(void **state)
{
    (void)state;
    char text[64], told[300];
    strake_settings settings = {.on = NULL};
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        if ((at->applies & STRAKE_FOR_TUNER) != 0) {
            const char *const value = sample(at, text);
            assert_true(strake_setting_set(&settings, at->path, value));
            assert_string_equal(strake_setting_text(&settings, at, told, sizeof told), value);
        }
    }
    assert_false(strake_setting_set(&settings, "run.unroll", "3")); /* neither 1 nor even */
    assert_int_equal(settings.unroll, 2);
    assert_false(strake_setting_set(&settings, "run.vector", "3"));
    assert_false(strake_setting_set(&settings, "run.streams", "9"));
    assert_false(strake_setting_set(&settings, "run.on", "cpu"));
}

static void words_are_in_the_order_of_their_enumerations(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int value;
        const char *word;
    } want[] = {{"run.fusion", STRAKE_CL_FUSION_NONE, "none"},
                {"run.fusion", STRAKE_CL_FUSION_PLAIN, "plain"},
                {"run.fusion", STRAKE_CL_FUSION_STREAM, "stream"},
                {"run.fusion", STRAKE_CL_FUSION_TILE, "tile"},
                {"run.division", STRAKE_CL_REFINE_OFF, "plain"},
                {"run.division", STRAKE_CL_REFINE_ON, "refined"},
                {"run.overlap", STRAKE_CL_OVERLAP_OFF, "off"},
                {"run.overlap", STRAKE_CL_OVERLAP_ON, "on"},
                {"run.wait", STRAKE_CL_WAIT_SPIN, "spin"},
                {"run.wait", STRAKE_CL_WAIT_SLEEP, "sleep"},
                {"run.exchange", STRAKE_EXCHANGE_AUTO, "auto"},
                {"run.exchange", STRAKE_EXCHANGE_BOTH, "both"},
                {"run.exchange", STRAKE_EXCHANGE_ONE_WAY, "one_way"},
                {"run.exchange", STRAKE_EXCHANGE_MESSAGES, "messages"},
                {"run.balance", 1 + STRAKE_BALANCE_MODEL, "model"},
                {"run.balance", 1 + STRAKE_BALANCE_FIXED, "fixed"},
                {"run.balance", 1 + STRAKE_BALANCE_BISECTION, "bisection"},
                {"run.balance", 1 + STRAKE_BALANCE_SLICE, "slice"},
                {"run.instruction_set", STRAKE_ISA_BASE, "base"},
                {"run.instruction_set", STRAKE_ISA_AVX2, "avx2"},
                {"run.instruction_set", STRAKE_ISA_AVX512, "avx512"}};
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        char text[32];
        strake_settings settings = {.on = NULL};
        const strake_setting *const setting = strake_setting_find(want[k].path);
        *(int *)(void *)((char *)&settings + setting->offset) = want[k].value;
        assert_string_equal(strake_setting_text(&settings, setting, text, sizeof text),
                            want[k].word);
    }
}

static void copies_without_texts_outlive_their_case(void **state)
{
    (void)state;
    static const char *const sets[] = {"run.on=cpu", "run.dump_kernels=x", "run.hold=7", NULL};
    strake_case *which = open_case(sets);
    strake_settings copy = which->run;
    strake_settings_detach(&copy);
    strake_case_close(&which);
    assert_null(copy.on);
    assert_null(copy.dump_kernels);
    assert_int_equal(copy.hold, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read_and_told),
        cmocka_unit_test(every_key_applies_to_something),
        cmocka_unit_test(tuning_sets_what_a_case_would),
        cmocka_unit_test(words_are_in_the_order_of_their_enumerations),
        cmocka_unit_test(copies_without_texts_outlive_their_case)};
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
