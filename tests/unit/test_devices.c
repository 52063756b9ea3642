/* The order of devices and their names in WHERE, on made-up machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "case/settings.h"
#include "opencl/cl_device.h"

enum { PLATFORMS = 4, DEVICES = 7 };

typedef struct made_up {
    const char *platform, *version, *name;
    cl_device_type type;
} made_up;

/* In the order that is expected of all. */
static const made_up wanted[DEVICES] = {
    {"AMD", "2", "amd 0", CL_DEVICE_TYPE_GPU},
    {"NVIDIA", "3", "nvidia 0", CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT},
    {"NVIDIA", "3", "nvidia 1", CL_DEVICE_TYPE_GPU},
    {"Intel", "1", "fpga", CL_DEVICE_TYPE_ACCELERATOR},
    {"AMD", "2", "amd cpu", CL_DEVICE_TYPE_CPU},
    {"Portable", "1", "pocl", CL_DEVICE_TYPE_CPU},
    {"AMD", "2", "custom", CL_DEVICE_TYPE_CUSTOM},
};

static strake_cl_device make(const made_up *from)
{
    strake_cl_device out = {.type = from->type};
    (void)snprintf(out.platform_name, sizeof out.platform_name, "%s", from->platform);
    (void)snprintf(out.platform_version, sizeof out.platform_version, "%s", from->version);
    (void)snprintf(out.name, sizeof out.name, "%s", from->name);
    return out;
}

/* What a loader lists that finds the platforms in this order; drivers list processors first. */
static void list_in(const char *const order[PLATFORMS], strake_cl_device out[DEVICES])
{
    int count = 0;
    for (int p = 0; p < PLATFORMS; p++) {
        for (int pass = 0; pass < 2; pass++) {
            for (int d = 0; d < DEVICES; d++) {
                const bool is_cpu = wanted[d].type == CL_DEVICE_TYPE_CPU;
                if (strcmp(wanted[d].platform, order[p]) == 0 && is_cpu == (pass == 0)) {
                    out[count++] = make(&wanted[d]);
                }
            }
        }
    }
    assert_int_equal(count, DEVICES);
}

static void groups_are_what_a_kernel_was_compiled_for(void **state)
{
    (void)state;
    const strake_cl_device nvidia = {.vendor = "NVIDIA Corporation"};
    const strake_cl_device other = {.vendor = "Advanced Micro Devices, Inc."};
    assert_int_equal(strake_cl_group_limit(&nvidia, 256, 512), 512);
    assert_int_equal(strake_cl_group_limit(&nvidia, 256, 0), 256);
    assert_int_equal(strake_cl_group_limit(&nvidia, 256, 128), 256);
    assert_int_equal(strake_cl_group_limit(&other, 256, 512), 256);
}

static void order_does_not_depend_on_the_loader(void **state)
{
    (void)state;
    static const char *const name[PLATFORMS] = {"NVIDIA", "Portable", "Intel", "AMD"};
    int orders = 0;
    for (int code = 0; code < PLATFORMS * PLATFORMS * PLATFORMS * PLATFORMS; code++) {
        const int at[PLATFORMS] = {code % 4, code / 4 % 4, code / 16 % 4, code / 64};
        if (((1 << at[0]) | (1 << at[1]) | (1 << at[2]) | (1 << at[3])) != 15) {
            continue;
        }
        const char *const order[PLATFORMS] = {name[at[0]], name[at[1]], name[at[2]], name[at[3]]};
        strake_cl_device device[DEVICES];
        list_in(order, device);
        strake_cl_list_sort(device, DEVICES);
        for (int d = 0; d < DEVICES; d++) {
            assert_string_equal(device[d].name, wanted[d].name);
        }
        orders++;
    }
    assert_int_equal(orders, 24);
}

static void newer_platforms_of_a_name_come_later(void **state)
{
    (void)state;
    const made_up old = {"Portable", "1.8", "old", CL_DEVICE_TYPE_CPU};
    const made_up new = {"Portable", "3.1", "new", CL_DEVICE_TYPE_CPU};
    strake_cl_device device[] = {make(&new), make(&old)};
    strake_cl_list_sort(device, 2);
    assert_string_equal(device[0].name, "old");
    strake_cl_list_sort(device, 2);
    assert_string_equal(device[0].name, "old");
}

static void names_find_devices(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int index;
        const char *error;
    } ask[] = {{"ocl:0", 0, NULL},
               {"ocl:6", 6, NULL},
               {"gpu:0", 0, NULL},
               {"gpu:3", 3, NULL},
               {"cpu", -1, NULL},
               {"gpu", -1, NULL},
               {"ocl:7", -1, "there are only ocl:0 to ocl:6"},
               {"gpu:4", -1, "there are only gpu:0 to gpu:3"},
               {"gpu:", -1, "as in gpu:0"},
               {"ocl:-1", -1, "as in ocl:0"},
               {"ocl:1x", -1, "as in ocl:0"},
               {"ocl:99999999999", -1, "as in ocl:0"}};
    strake_cl_device device[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        device[d] = make(&wanted[d]);
    }
    strake_cl_list list = {.count = DEVICES, .device = device};
    assert_int_equal(strake_cl_list_gpus(&list), 4);
    for (size_t k = 0; k < sizeof ask / sizeof ask[0]; k++) {
        strake_error error = {STRAKE_OK, ""};
        int index = 0;
        const strake_status status = strake_cl_list_find(&list, ask[k].word, &index, &error);
        assert_int_equal(status, ask[k].error != NULL ? STRAKE_ERR_USAGE : STRAKE_OK);
        assert_int_equal(index, ask[k].index);
        assert_true(ask[k].error == NULL || strstr(error.text, ask[k].error) != NULL);
    }
}

static void what_there_is_is_told_where_there_is_no_gpu(void **state)
{
    (void)state;
    strake_error error;
    int index = 0;
    strake_cl_device device[] = {make(&wanted[5])};
    strake_cl_list list = {.count = 1, .device = device};
    assert_int_equal(strake_cl_list_find(&list, "gpu:0", &index, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "no GPU or accelerator"));
    assert_non_null(strstr(error.text, "ocl:0 (pocl)"));
    assert_int_equal(strake_cl_list_find(&list, "ocl:1", &index, &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "there is only ocl:0 "));
    strake_cl_list none = {.why_none = "no loader"};
    assert_int_equal(strake_cl_list_no_gpu(&none, "gpu", &error), STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "no loader"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_what_a_kernel_was_compiled_for),
        cmocka_unit_test(order_does_not_depend_on_the_loader),
        cmocka_unit_test(newer_platforms_of_a_name_come_later),
        cmocka_unit_test(names_find_devices),
        cmocka_unit_test(what_there_is_is_told_where_there_is_no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
