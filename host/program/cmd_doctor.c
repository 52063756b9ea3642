/* `strake doctor`: what Strake finds of this machine, what of it is wrong, and what to do. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "view/plot.h"
#include "files/gdal.h"
#include "files/cache.h"
#include "cpu/machine.h"
#include "program/command.h"
#include "program/compiling.h"
#include "program/say.h"
#include "files/module.h"
#include "mpi/module.h"
#include "files/netcdf.h"
#include "opencl/cl_device.h"
#include "opencl/cl_queue.h"
#include "output/devices.h"

/* Given by the Makefile: the modules that were built. */
#ifndef STRAKE_MODULES
#define STRAKE_MODULES ""
#endif

enum { INDENT = 19, WIDTH = 80 };

typedef enum state { GOOD, ABSENT, WRONG } state;

static int wrong; /* how many findings are */

/* Words from a column on, broken before the edge of a terminal. */
static void print_words(const char *text)
{
    int column = INDENT;
    for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        if (column > INDENT && column + 1 + length > WIDTH) {
            (void)printf("\n%*s", INDENT, "");
            column = INDENT;
        }
        column += printf("%s%.*s", column > INDENT ? " " : "", length, at);
        at += length;
    }
    (void)printf("\n");
}

static void find(const char *what, state is, const char *format, ...) STRAKE_PRINTF(3, 4);

/* One line of the page, or more where the text is long. */
static void find(const char *what, state is, const char *format, ...)
{
    static const char *const words[] = {"ok", "-", "WRONG"};
    char text[4 * PATH_MAX];
    va_list list;
    va_start(list, format);
    (void)strake_number_vprint(text, sizeof text, format, list);
    va_end(list);
    (void)printf("%-12s %-5s ", what, words[is]);
    print_words(text);
    wrong += is == WRONG;
}

static void advise(const char *text)
{
    (void)printf("%*s", INDENT, "");
    print_words(text);
}

static void look_at_driver(const strake_cl_driver *driver)
{
    char text[1024];
    if (driver->verdict == STRAKE_CL_GOOD) {
        find("driver", GOOD, "%s (%s), tried in %.2f s", driver->library, driver->icd,
             driver->seconds);
    } else if (driver->verdict == STRAKE_CL_UNTRIED) {
        find("driver", ABSENT,
             "%s (%s): not tried, since strake-driver is not found or cannot be started",
             driver->library, driver->icd);
    } else {
        find("driver", WRONG, "%s", strake_cl_driver_text(driver, text, sizeof text));
        (void)snprintf(text, sizeof text, "-> install this driver anew, %s%s",
                       driver->has_icd ? "or remove " : "or take it out of ", driver->icd);
        advise(text);
        if (access("/sys/devices/system", F_OK) != 0) {
            advise(
                "-> or mount /sys, which is missing here and which some drivers cannot do without");
        }
    }
}

static void look_at_drivers(const strake_cl_list *list)
{
    const strake_cl_drivers *const all = &list->drivers;
    for (int k = 0; k < all->count; k++) {
        look_at_driver(&all->driver[k]);
    }
    if (list->cl != NULL && all->count == 0) {
        find("driver", ABSENT, "none is named in /etc/OpenCL/vendors");
        advise(
            "-> install the OpenCL driver of your device (Debian, for the CPU: pocl-opencl-icd)");
    }
    if (all->pocl_fails) {
        find("PoCL's cache", WRONG,
             "PoCL, the driver of the CPU, cannot write its cache and has no device then");
        advise("-> set POCL_CACHE_DIR to a folder that can be written");
    } else if (all->pocl_cache[0] != '\0') {
        find("PoCL's cache", GOOD, "%s, since the usual folder cannot be written", all->pocl_cache);
    }
}

/* Lines of failed self-tests; they are told with their device. */
static void keep_line(void *user, const char *line)
{
    (void)snprintf(user, sizeof(strake_error), "%s", line);
}

static void look_at_device(const strake_cl_list *list, int k)
{
    static const char *const words[] = {"differs", "exact"};
    char text[200] = "";
    char why[sizeof(strake_error)] = "";
    strake_cl_list one = {.cl = list->cl, .count = 1, .device = &list->device[k]};
    bool good = true;
    size_t used = 0;
    strake_devices_test(&one, keep_line, why);
    for (int p = 0; p < STRAKE_PRECISIONS; p++) {
        const int result = one.device->bit_exact[p];
        const bool can = strake_device_can_run(one.device, (strake_precision)p);
        good = good && (!can || result == 1);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", p > 0 ? ", " : "",
                                 strake_precision_name((strake_precision)p),
                                 !can         ? "none"
                                 : result < 0 ? "failed"
                                              : words[result]);
    }
    find("device", good ? GOOD : WRONG, "ocl:%d %s: self-test of arithmetic: %s", k,
         one.device->name, text);
    if (!good) {
        if (why[0] != '\0') {
            advise(why);
        }
        advise("-> install a newer driver; until then name other places with --on");
    }
}

static strake_status look_at_opencl(strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_list list = {0};
    strake_cl_watch watch;
    char loader[PATH_MAX];
    STRAKE_TRY(strake_cl_list_open_as(&list, true, error));
    strake_cl_loader_path(list.cl, loader);
    if (list.cl != NULL) {
        find("loader", GOOD, "%s", loader);
    } else {
        find("loader", strake_cl_loader_named() != NULL ? WRONG : ABSENT, "%s", list.why_none);
    }
    look_at_drivers(&list);
    strake_cl_watch_begin(&watch, strake_compiling, NULL);
    strake_cl_watch_list(&watch, &list);
    for (int k = 0; k < list.count; k++) {
        look_at_device(&list, k);
    }
    if (list.count == 0 && list.cl != NULL) {
        find("device", ABSENT, "%s", list.why_none);
    }
cleanup:
    strake_cl_list_free(&list);
    return status;
}

static void look_at_cache(void)
{
    strake_error error;
    char *const folder = strake_cache_folder();
    if (folder == NULL) {
        find("cache", WRONG, "neither STRAKE_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder");
    } else if (strake_cache_check(folder, &error) != STRAKE_OK) {
        find("cache", WRONG, "%s", error.text);
    } else if (strake_cache_create(folder, &error) != STRAKE_OK) {
        find("cache", WRONG, "%s", error.text);
    } else {
        find("cache", GOOD, "%s", folder);
        free(folder);
        return;
    }
    advise(
        "-> set STRAKE_CACHE_DIR to a folder of your own; until then kernels are compiled anew by "
        "every run, and drivers are tried anew");
    free(folder);
}

/* Where a program is that users call by its name; "" where it is not. */
static const char *find_program(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        const int length = (int)strcspn(at, ":");
        const int all = snprintf(path, PATH_MAX, "%.*s/%s", length, at, name);
        if (length > 0 && all > 0 && all < PATH_MAX && access(path, X_OK) == 0) {
            return path;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return "";
}

static void look_at_compilers(void)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    char path[PATH_MAX], text[3 * PATH_MAX] = "";
    size_t used = 0;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const char *const found = find_program(names[k], path);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 used > 0 && found[0] != '\0' ? ", " : "", found);
    }
    find("built by", GOOD, "%s", strake_machine_compiler());
    find("compilers", used > 0 ? GOOD : ABSENT, "%s",
         used > 0 ? text
                  : "none found; building Strake and some OpenCL drivers need one (Debian: gcc)");
}

static void look_at_module(const strake_module_kind *kind, const char *name, const char *package)
{
    strake_module_failure *const failure = calloc(1, sizeof *failure); /* large */
    char what[32], built[sizeof STRAKE_MODULES + 2];
    (void)snprintf(what, sizeof what, " %s ", name);
    (void)snprintf(built, sizeof built, " %s ", STRAKE_MODULES);
    if (strstr(built, what) == NULL) {
        find(kind->what, ABSENT, "this Strake was built without it (Debian: %s, then build anew)",
             package);
    } else if (failure != NULL && strake_module_load(kind, failure) == NULL) {
        find(kind->what, WRONG, "%s", failure->why);
        (void)snprintf(failure->why, sizeof failure->why, "-> %s", failure->what_to_do);
        advise(failure->why);
    } else {
        find(kind->what, GOOD, "module %s loads", kind->file);
    }
    free(failure);
}

static void look_at_modules(void)
{
    static const struct {
        strake_module_kind kind;
        const char *name, *package;
    } all[] = {
        {{"MPI", STRAKE_MODULE_FILE, STRAKE_MODULE_SYMBOL, sizeof(strake_module),
          "install the MPI that it was built with, or build Strake anew with another"},
         "mpi",
         "libopenmpi-dev"},
        {{"NetCDF", "libstrake-netcdf.so", STRAKE_NETCDF_SYMBOL, sizeof(strake_netcdf),
          "install the NetCDF that it was built with, or build Strake anew"},
         "netcdf",
         STRAKE_NETCDF_PACKAGE},
        {{"cairo", "libstrake-cairo.so", STRAKE_CAIRO_SYMBOL, sizeof(strake_cairo),
          "install the cairo that it was built with, or build Strake anew"},
         "cairo",
         "libcairo2-dev"},
        {{"GDAL", "libstrake-gdal.so", STRAKE_GDAL_SYMBOL, sizeof(strake_gdal),
          "install the GDAL that it was built with, or build Strake anew"},
         "gdal",
         "libgdal-dev"},
    };
    char path[PATH_MAX];
    const char *const found = find_program("mpirun", path);
    find("mpirun", found[0] != '\0' ? GOOD : ABSENT, "%s",
         found[0] != '\0' ? found : "not found; it starts several ranks");
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        look_at_module(&all[k].kind, all[k].name, all[k].package);
    }
}

static int command(const strake_arguments *arguments)
{
    strake_error error;
    (void)arguments;
    wrong = 0;
    (void)printf("Strake %s\n", STRAKE_VERSION);
    const strake_status status = look_at_opencl(&error);
    if (status != STRAKE_OK) {
        return strake_say_error(&error);
    }
    look_at_cache();
    look_at_compilers();
    look_at_modules();
    (void)printf(wrong == 0 ? "\nNothing is wrong.\n"
                            : "\nWrong: %d. What to do stands behind ->.\n",
                 wrong);
    return wrong == 0 ? STRAKE_EXIT_DONE : STRAKE_EXIT_FAILED;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_doctor = {
    .name = "doctor",
    .operands = "",
    .text = "Looks for what is wrong on this machine, and says what to do",
    .option = options,
    .details =
        "Lists the OpenCL loader, every driver, the arithmetic of every device, the cache,\n"
        "compilers, MPI and optional modules. - is what is not there and need not be. Exit code "
        "1:\n"
        "something is WRONG.\n"
        "Every driver is tried in a process of its own, for 30 seconds at most, or as many as the\n"
        "variable STRAKE_DRIVER_SECONDS says. One that crashes, exits or hangs there is left out\n"
        "by all commands for an hour, or until it or what it depends on changes; this command\n"
        "tries all of them anew.\n",
    .examples = "  strake doctor\n",
    .run = command};
