/* Numbers as text: a decimal point, in every locale (tests/unit/locale.t runs this with a comma). */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "files/json.h"

static void numbers_are_read_with_a_point(void **state)
{
    (void)state;
    char *end = NULL;
    const char *const list = "0.5,1.25";
    assert_true(strake_number_read(list, &end) == 0.5);
    assert_ptr_equal(end, list + 3);
    assert_true(strake_number_read(end + 1, &end) == 1.25);
    assert_int_equal(*end, '\0');
    const char *const integers = "1,2";
    assert_true(strake_number_read(integers, &end) == 1.0);
    assert_ptr_equal(end, integers + 1);
    const char *const word = "max";
    assert_true(strake_number_read(word, &end) == 0.0);
    assert_ptr_equal(end, word);
    assert_true(strake_number_read("6.02e23", NULL) == 6.02e23);
    double two[2] = {0.0, 0.0};
    const char *const range = "-0.5,1.5 m";
    assert_ptr_equal(strake_number_list(range, ',', 2, two), range + 8);
    assert_true(two[0] == -0.5 && two[1] == 1.5);
    assert_null(strake_number_list(range, ',', 3, (double[3]){0.0}));
    assert_null(strake_number_list("1\t2", ',', 2, two));
    assert_null(strake_number_list("1,", ',', 2, two));
}

/* Short numbers do not go through strtod(); they are what it makes of them, and end where it ends. */
static void short_numbers_are_those_of_the_c_library(void **state)
{
    (void)state;
    static const char *const text[] = {"0",
                                       "-0",
                                       "007.50",
                                       "1.",
                                       ".5",
                                       "-.25",
                                       "1.e3",
                                       "-",
                                       ".",
                                       "1e",
                                       "0x1p3",
                                       "12.3.4",
                                       "+4",
                                       "",
                                       "999999999999999",
                                       "9999999999999999",
                                       "123456789.123456",
                                       "0.000000000000001",
                                       "0.0000000000000001",
                                       "-1234.5678,9",
                                       " 3",
                                       "1-2"};
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    for (size_t k = 0; k < sizeof text / sizeof text[0]; k++) {
        char *end = NULL, *expected = NULL;
        const double value = strake_number_read(text[k], &end);
        const double wanted = strtod_l(text[k], &expected, plain);
        if (memcmp(&value, &wanted, sizeof value) != 0 || end != expected) {
            fail_msg("'%s' is %.17g, not %.17g, or ends elsewhere", text[k], value, wanted);
        }
    }
    uint64_t random = 1;
    for (int k = 0; k < 200000; k++) {
        char word[40];
        random = random * 6364136223846793005U + 1442695040888963407U;
        (void)snprintf(word, sizeof word, "%s%llu", k % 2 != 0 ? "-" : "",
                       (unsigned long long)(random >> 11) % 1000000000000000U);
        const size_t length = strlen(word), point = 1 + (random >> 7) % length;
        memmove(word + point + 1, word + point, length - point + 1);
        word[point] = word[0] == '-' && point == 1 ? '1' : '.';
        const double value = strake_number_read(word, NULL), wanted = strtod_l(word, NULL, plain);
        assert_memory_equal(&value, &wanted, sizeof value);
    }
    freelocale(plain);
}

static void numbers_are_written_with_a_point(void **state)
{
    (void)state;
    char text[64];
    assert_int_equal(strake_number_print(text, sizeof text, "%.17g;%d", 0.1, 7), 21);
    assert_string_equal(text, "0.10000000000000001;7");
    strake_error error;
    (void)strake_fail(&error, STRAKE_ERR_USAGE, "%.2f s", 1.5);
    assert_string_equal(error.text, "1.50 s");
    strake_text long_text = {0};
    strake_text_print(&long_text, "%g", 1.5);
    strake_json json = strake_json_on(&long_text);
    strake_json_number(&json, NULL, 2.5);
    assert_string_equal(long_text.data, "1.52.5");
    strake_text_free(&long_text);
    FILE *const file = tmpfile();
    assert_non_null(file);
    assert_int_equal(strake_number_write(file, "%.3f\t%.9g\n", 2.5, 1e-3), 12);
    rewind(file);
    assert_non_null(fgets(text, sizeof text, file));
    (void)fclose(file);
    assert_string_equal(text, "2.500\t0.001\n");
}

static void the_callers_locale_stays(void **state)
{
    (void)state;
    char before[32], after[32];
    (void)snprintf(before, sizeof before, "%.1f", 1.5);
    (void)strake_number_read("1.5", NULL);
    (void)strake_number_print(after, sizeof after, "%.1f", 1.5);
    (void)snprintf(after, sizeof after, "%.1f", 1.5);
    assert_string_equal(before, after);
}

/* "1,2" are two weights for two parts, and one weight too few for three; never 1.2. */
static void weights_are_separated_by_commas(void **state)
{
    (void)state;
    strake_error error;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const char text[] = "problem: cahn_hilliard2d\n"
                        "grid: {rows: 80, cols: 16, dx: 1.5}\n"
                        "time: {dt: 0.01, steps: 1}\n"
                        "fields: {u: {random: {seed: 1, minimum: -0.5, maximum: 0.5}}}\n";
    assert_int_equal(strake_case_parse("w", text, NULL, false, &which, &error), STRAKE_OK);
    const strake_options one = {.where = "cpu", .split = "1,2", .threads = 1};
    assert_int_equal(strake_open(which, &one, &solver, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "split `1,2`: too many weights"));
    const strake_options point = {.where = "cpu", .split = "1.25", .threads = 1};
    if (strake_open(which, &point, &solver, &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    strake_close(&solver);
    strake_case_close(&which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_with_a_point),
        cmocka_unit_test(short_numbers_are_those_of_the_c_library),
        cmocka_unit_test(numbers_are_written_with_a_point),
        cmocka_unit_test(the_callers_locale_stays),
        cmocka_unit_test(weights_are_separated_by_commas),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
