/* The writer of JSON: forms, escapes, numbers, misuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "case/tree.h"
#include "files/json.h"

static void forms_put_in_commas_and_line_ends(void **state)
{
    (void)state;
    strake_text text = {0};
    strake_json json = strake_json_on(&text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "name", "a");
    strake_json_object(&json, "line", STRAKE_JSON_LINE);
    strake_json_integer(&json, "one", 1);
    strake_json_array(&json, "lines in it", STRAKE_JSON_LINES);
    strake_json_boolean(&json, NULL, true);
    strake_json_integers(&json, NULL, 2, (const int64_t[]){INT64_MIN, INT64_MAX});
    strake_json_end(&json);
    strake_json_end(&json);
    strake_json_array(&json, "nothing", STRAKE_JSON_LINES);
    strake_json_end(&json);
    strake_json_object(&json, "nor here", STRAKE_JSON_LINE);
    strake_json_end(&json);
    strake_json_raw(&json, "ready", "[1, {}]");
    strake_json_end(&json);
    assert_false(text.failed);
    assert_string_equal(text.data, "{\n"
                                   "  \"name\": \"a\",\n"
                                   "  \"line\": {\"one\": 1, \"lines in it\": [\n"
                                   "    true,\n"
                                   "    [-9223372036854775808, 9223372036854775807]\n"
                                   "  ]},\n"
                                   "  \"nothing\": [],\n"
                                   "  \"nor here\": {},\n"
                                   "  \"ready\": [1, {}]\n"
                                   "}");
    strake_node *root = NULL;
    strake_error error;
    assert_int_equal(strake_tree_parse("json", text.data, text.length, &root, &error), STRAKE_OK);
    strake_tree_free(&root);
    strake_text_free(&text);
}

static void strings_and_keys_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } pair[] = {
        {"", "\"\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"tab\tend\n\x01\x7f", "\"tab\\u0009end\\u000a\\u0001\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8b", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8b\""},
        {"\xff"
         "a\xc3",
         "\"\\ufffda\\ufffd\""},
        {"\xc2\x80\xc2\xa0\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf",
         "\"\\u0080\xc2\xa0\\u2028\\ufeff\\uffff\""},
        {"\xc0\xaf\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {NULL, "null"}};
    for (size_t k = 0; k < sizeof pair / sizeof pair[0]; k++) {
        strake_text text = {0};
        strake_json json = strake_json_on(&text);
        strake_json_string(&json, NULL, pair[k].from);
        assert_string_equal(text.data, pair[k].to);
        strake_text_free(&text);
    }
    strake_text text = {0};
    strake_json json = strake_json_on(&text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINE);
    strake_json_null(&json, "a \"key\"");
    strake_json_format(&json, "id", "ocl:%d \"%s\"", 3, "x");
    strake_json_end(&json);
    assert_string_equal(text.data, "{\"a \\\"key\\\"\": null, \"id\": \"ocl:3 \\\"x\\\"\"}");
    strake_text_free(&text);
}

static void numbers_can_be_read_back(void **state)
{
    (void)state;
    strake_text text = {0};
    strake_json json = strake_json_on(&text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINE);
    strake_json_numbers(&json, "exact", 4, (const double[]){0.1, -0.0, 5e-324, 1e300});
    strake_json_numbers(&json, "none", 3, (const double[]){NAN, INFINITY, -INFINITY});
    strake_json_rounded(&json, "rounded", 1795387473.1234567, 13);
    strake_json_hash(&json, "hash", 0xfeULL);
    strake_json_end(&json);
    assert_string_equal(text.data, "{\"exact\": [0.10000000000000001, -0, 4.9406564584124654e-324, "
                                   "1.0000000000000001e+300], \"none\": [null, null, null], "
                                   "\"rounded\": 1795387473.123, \"hash\": \"00000000000000fe\"}");
    strake_text_free(&text);
}

static void bytes_become_base64(void **state)
{
    (void)state;
    static const char *const pair[][2] = {{"", "\"\""},
                                          {"f", "\"Zg==\""},
                                          {"fo", "\"Zm8=\""},
                                          {"foo", "\"Zm9v\""},
                                          {"foobar", "\"Zm9vYmFy\""}};
    for (size_t k = 0; k < sizeof pair / sizeof pair[0]; k++) {
        strake_text text = {0};
        strake_json json = strake_json_on(&text);
        strake_json_base64(&json, NULL, (const unsigned char *)pair[k][0], strlen(pair[k][0]));
        assert_string_equal(text.data, pair[k][1]);
        strake_text_free(&text);
    }
}

static void misuse_is_told_of(void **state)
{
    (void)state;
    strake_text text = {0};
    strake_json json = strake_json_on(&text);
    for (int k = 0; k < STRAKE_JSON_DEPTH; k++) {
        strake_json_array(&json, NULL, STRAKE_JSON_LINE);
        assert_false(text.failed);
    }
    strake_json_array(&json, NULL, STRAKE_JSON_LINE); /* one too deep */
    assert_true(text.failed);
    strake_text_free(&text);
    json = strake_json_on(&text);
    strake_json_end(&json); /* nothing was begun */
    assert_true(text.failed);
    strake_text_free(&text);
    json = strake_json_on(&text);
    char longer[300];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    strake_json_format(&json, NULL, "%s", longer); /* would be cut */
    assert_true(text.failed);
    strake_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_put_in_commas_and_line_ends),
        cmocka_unit_test(strings_and_keys_are_escaped),
        cmocka_unit_test(numbers_can_be_read_back),
        cmocka_unit_test(bytes_become_base64),
        cmocka_unit_test(misuse_is_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
