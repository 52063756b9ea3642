/* Large fills are cut into commands whose sizes drivers can count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "opencl/cl_fill.h"

/* What the commands of one fill have covered so far: [start, end). */
static size_t start, end;
static int commands, fails_at;

static cl_int CL_API_CALL fake_fill(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                    size_t size, size_t offset, size_t bytes, cl_uint events,
                                    const cl_event *list, cl_event *event)
{
    (void)queue, (void)buffer, (void)list;
    assert_non_null(pattern);
    assert_null(event);
    assert_int_equal(events, 0);
    if (commands == fails_at) {
        return CL_OUT_OF_RESOURCES;
    }
    assert_true(bytes > 0 && bytes <= INT32_MAX);
    assert_int_equal(offset % size, 0);
    assert_int_equal(bytes % size, 0);
    assert_true(offset == (commands == 0 ? start : end));
    end = offset + bytes;
    commands++;
    return CL_SUCCESS;
}

static const strake_cl fake = {.clEnqueueFillBuffer = fake_fill};
static const strake_cl_device device = {.name = "fake"};

static strake_status fill(size_t size, size_t offset, size_t bytes, strake_error *error)
{
    static const double pattern[16] = {0.0};
    start = offset;
    end = offset;
    commands = 0;
    return strake_cl_fill(&fake, &device, NULL, NULL, pattern, size, offset, bytes, error);
}

static void test_every_byte_is_filled_once(void **state)
{
    static const size_t most = STRAKE_CL_MOST_FILL;
    /* The last one is an array of 1600 x 1600 x 1600 cells in double precision. */
    static const size_t bytes[] = {
        0, 4, most - 4, most, most + 4, 3 * most - 8, (size_t)INT32_MAX + 1, 33628880896};
    static const size_t sizes[] = {4, 8, 128};
    strake_error error = {0};
    (void)state;
    fails_at = -1;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (size_t b = 0; b < sizeof bytes / sizeof bytes[0]; b++) {
            const size_t whole = bytes[b] / sizes[s] * sizes[s];
            for (size_t offset = 0; offset <= 5 * most; offset += 5 * most) {
                assert_int_equal(fill(sizes[s], offset, whole, &error), STRAKE_OK);
                assert_true(end == offset + whole);
                assert_int_equal(commands, (int)((whole + most - 1) / most));
            }
        }
    }
}

static void test_a_failing_command_ends_it(void **state)
{
    strake_error error = {0};
    (void)state;
    fails_at = 2;
    assert_int_equal(fill(4, 0, (size_t)4 * STRAKE_CL_MOST_FILL, &error), STRAKE_ERR_DEVICE);
    assert_int_equal(commands, 2);
    assert_non_null(strstr(error.text, "clEnqueueFillBuffer"));
    assert_non_null(strstr(error.text, "fake"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_byte_is_filled_once),
                                       cmocka_unit_test(test_a_failing_command_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
