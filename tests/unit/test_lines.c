/* Text in lines, and files of the system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"

static void a_text_is_its_lines(void **state)
{
    (void)state;
    char text[] = "first\n\nthird\nlast";
    const char *const want[] = {"first", "", "third", "last"};
    char *rest = text, *none = NULL;
    for (int k = 0; k < 4; k++) {
        assert_string_equal(strake_next_line(&rest), want[k]);
    }
    assert_null(strake_next_line(&rest));
    char ended[] = "only\n", empty[] = "";
    rest = ended;
    assert_string_equal(strake_next_line(&rest), "only");
    assert_null(strake_next_line(&rest));
    rest = empty;
    assert_null(strake_next_line(&rest));
    assert_null(strake_next_line(&none));
}

static void files_of_the_system_have_no_length_but_are_read(void **state)
{
    (void)state;
    char *const text = strake_system_text("/proc/self/stat");
    assert_non_null(text);
    assert_non_null(strchr(text, ')'));
    free(text);
    assert_null(strake_system_text("/proc/self/nothing"));
    assert_null(strake_system_text("/proc/self"));
    assert_true(strake_system_number("/proc/sys/kernel/pid_max", -1) > 0);
    assert_int_equal(strake_system_number("/proc/self/nothing", -7), -7);
    assert_int_equal(strake_system_number("/proc/version", -7), -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_its_lines),
        cmocka_unit_test(files_of_the_system_have_no_length_but_are_read),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
