#include "files/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Given by the Makefile: where libraries are seen from programs. */
#ifndef STRAKE_LIBDIR_FROM_BIN
#define STRAKE_LIBDIR_FROM_BIN "../lib"
#endif

/*
 * The folder of the program or the library that holds this code; without a slash at its end.
 * @return whether it is the program's, whose name for the loader is what its caller said
 */
static bool find_own_folder(char folder[PATH_MAX])
{
    static const char here;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address, as the kernel gives it */
    const void *const headers_of_program = (const void *)getauxval(AT_PHDR);
    Dl_info own = {0}, program = {0};
    (void)dladdr(&here, &own);
    (void)dladdr(headers_of_program, &program);
    const bool is_program = own.dli_fbase == program.dli_fbase;
    const ssize_t length = is_program ? readlink("/proc/self/exe", folder, PATH_MAX - 1) : -1;
    if (length > 0) {
        folder[length] = '\0';
    } else {
        (void)snprintf(folder, PATH_MAX, "%s", own.dli_fname != NULL ? own.dli_fname : "");
    }
    char *const slash = strrchr(folder, '/');
    if (slash == NULL) {
        (void)snprintf(folder, PATH_MAX, ".");
    } else {
        *slash = '\0';
    }
    return is_program;
}

/*
 * RTLD_GLOBAL as if the library were linked: parts that an MPI loads itself may look for its symbols.
 * RTLD_NODELETE: threads and exit handlers of a library stay.
 */
static void *open_file(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

bool strake_module_program(const char *name, char path[PATH_MAX])
{
    static const char *const where[] = {"", "/" STRAKE_LIBDIR_FROM_BIN};
    char folder[PATH_MAX];
    const int places = find_own_folder(folder) ? 2 : 1;
    for (int k = 0; k < places; k++) {
        const int length = snprintf(path, PATH_MAX, "%s%s/%s", folder, where[k], name);
        if (length > 0 && length < PATH_MAX && access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* Opens the module beside this code, in the folder of libraries, or where the loader looks. */
static void *open_module(const strake_module_kind *kind, strake_module_failure *failure)
{
    static const char *const where[] = {"", "/" STRAKE_LIBDIR_FROM_BIN};
    char folder[PATH_MAX], path[PATH_MAX + sizeof STRAKE_LIBDIR_FROM_BIN + 64];
    const int places = find_own_folder(folder) ? 2 : 1;
    for (int k = 0; k < places; k++) {
        (void)snprintf(path, sizeof path, "%s%s/%.60s", folder, where[k], kind->file);
        if (access(path, F_OK) == 0) {
            void *const library = open_file(path);
            if (library == NULL) {
                (void)snprintf(failure->why, sizeof failure->why,
                               "Strake's module for %s does not load: %s", kind->what, dlerror());
                failure->what_to_do = kind->remedy;
            }
            return library;
        }
    }
    void *const library = open_file(kind->file);
    if (library == NULL) {
        (void)snprintf(failure->why, sizeof failure->why,
                       "Strake's module for %s is neither in %s%s nor found by the loader: %s",
                       kind->what, folder,
                       places == 2 ? " and " STRAKE_LIBDIR_FROM_BIN " from there" : "", dlerror());
        failure->what_to_do = "put it there, name its folder in LD_LIBRARY_PATH";
    }
    return library;
}

const void *strake_module_load(const strake_module_kind *kind, strake_module_failure *failure)
{
    void *const library = open_module(kind, failure);
    if (library == NULL) {
        return NULL;
    }
    const strake_module_head *const head = dlsym(library, kind->symbol);
    if (head == NULL) {
        (void)snprintf(failure->why, sizeof failure->why, "%s is no module of Strake", kind->file);
        failure->what_to_do = "install the one that was built with this Strake";
        return NULL;
    }
    if (strcmp(head->version, STRAKE_VERSION) != 0 || head->size != kind->size ||
        head->error_size != sizeof(strake_error)) {
        (void)snprintf(failure->why, sizeof failure->why,
                       "%s is of another build of Strake (%.40s, this is %s)", kind->file,
                       head->version, STRAKE_VERSION);
        failure->what_to_do = "install both from the same one";
        return NULL;
    }
    return head;
}

strake_status strake_module_need(const strake_module_kind *kind, bool built, const char *who,
                                 const char *package, const void **out, strake_error *error)
{
    strake_module_failure failure;
    *out = NULL;
    if (!built) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s needs %s, and this Strake was built without it; install it (Debian: "
                           "%s) and build Strake anew",
                           who, kind->what, package);
    }
    *out = strake_module_load(kind, &failure);
    return *out != NULL ? STRAKE_OK
                        : strake_fail(error, STRAKE_ERR_USAGE, "%s needs %s, but %s; %s", who,
                                      kind->what, failure.why, failure.what_to_do);
}
