/**
 * @file cl_drivers.h
 * The OpenCL drivers that the loader would load, as files say it, and which of them it must not.
 *
 * A loader loads every driver that an .icd file names into this process, and one that aborts, crashes, hangs or calls
 * exit() there ends or stops the process. So each is first tried in a process of its own (cl_trial.h). The answer is kept in the
 * file `drivers` of the cache: for the file that was loaded, its size and time, and everything around it that is known to decide
 * whether drivers work: the variables that they read, limits of the process, /sys and devices, the kernel. A good answer
 * stays until one of these changes, any other for an hour, and `strake doctor` tries all anew.
 *
 * A bad driver is left out by variables that loaders read when they are first asked for platforms: OCL_ICD_VENDORS (Khronos'
 * and ocl-icd) and OPENCL_VENDOR_PATH (ocl-icd) name a temporary folder with the .icd files of the others, and OCL_ICD_FILENAMES
 * (Khronos') loses it. They are set for that call alone, and not at all where there is no bad driver. Other threads of
 * the host program must not change the environment meanwhile, as with any setenv(). A loader that loads the driver all the same
 * (one with a folder of its own) is not asked for platforms.
 */
#ifndef STRAKE_CL_DRIVERS_H
#define STRAKE_CL_DRIVERS_H

#include "base/error.h"
#include "opencl/cl_trial.h"

typedef struct strake_cl_driver {
    char *icd;     /**< the .icd file, or the variable that names the driver */
    char *library; /**< as it stands there */
    bool has_icd;  /**< icd is a file */
    strake_cl_verdict verdict;
    char said[512]; /**< as strake_cl_trial.said */
    double seconds; /**< of its trial; 0: the answer was known */
} strake_cl_driver;

typedef struct strake_cl_drivers {
    int count;
    strake_cl_driver *driver;
    bool has_helper; /**< strake-driver was found; else all are UNTRIED */
    char pocl_cache
        [4096]; /**< folder for PoCL's cache, whose usual one cannot be written; "": the usual one */
    bool pocl_fails; /**< there is no folder for it */
} strake_cl_drivers;

/**
 * Finds the drivers that a loader will load, and tries those that no answer is known for.
 * @param[in] loader  path of the loader's file: one below PREFIX/lib also has PREFIX/etc/OpenCL/vendors
 * @param[in] anew    asks all of them, whatever is known
 * @return STRAKE_ERR_MEMORY; free with strake_cl_drivers_free() in any case
 */
strake_status strake_cl_drivers_find(const char *loader, bool anew, strake_cl_drivers *drivers,
                                     strake_error *error);
void strake_cl_drivers_free(strake_cl_drivers *drivers);

/** How many drivers have a verdict. */
int strake_cl_drivers_with(const strake_cl_drivers *drivers, strake_cl_verdict verdict);

/**
 * Tries a loader, or what $STRAKE_OPENCL_LIBRARY names, in the environment that it will be asked in.
 * @param[out] said  what happened, as strake_cl_trial.said  @return false: it ends the process, or does not come back
 */
bool strake_cl_drivers_library(const strake_cl_drivers *drivers, const char *library, char *said,
                               size_t room);

enum { STRAKE_CL_GUEST_VARIABLES = 4 };

/** The environment while a loader is first asked for platforms. */
typedef struct strake_cl_guest {
    char folder[256];                       /**< temporary folder of .icd files, "" for none */
    int files;                              /**< that may be in it */
    char *kept[STRAKE_CL_GUEST_VARIABLES];  /**< the values of before */
    bool is_set[STRAKE_CL_GUEST_VARIABLES]; /**< whether a variable was changed */
} strake_cl_guest;

/** Leaves bad drivers out. @return false: that is not possible, since no temporary folder can be written */
bool strake_cl_drivers_enter(const strake_cl_drivers *drivers, strake_cl_guest *guest);
void strake_cl_drivers_leave(strake_cl_guest *guest);

/** One sentence of a driver that is bad or refused. Returns @p text. */
const char *strake_cl_driver_text(const strake_cl_driver *driver, char *text, size_t room);

#endif
