/**
 * @file cl_drivers.h
 * The OpenCL drivers that the loader would load, as files say it, and which of them it must not.
 *
 * A loader loads every driver that an .icd file names into this process, and one that aborts, crashes, hangs or calls
 * exit() there ends or stops the process. So each is first tried in a process of its own by the program strake-driver (tool/try_driver.c). The answer is kept in the
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

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** Begins every line that strake-driver writes; the number changes with the meaning of these lines. */
#define STRAKE_CL_TRIAL_MARK "strake-driver 1: "
/** What follows the mark: the first line, the file that was loaded, and one of two ends. */
#define STRAKE_CL_TRIAL_BEGIN "begin"
#define STRAKE_CL_TRIAL_FILE "file "
#define STRAKE_CL_TRIAL_REFUSED "refused "
#define STRAKE_CL_TRIAL_GOOD "good"

/** What a trial says of a driver. */
typedef enum strake_cl_verdict {
    STRAKE_CL_UNTRIED, /**< there is no strake-driver, or it could not be started */
    STRAKE_CL_GOOD,    /**< loads and lists its devices, if it has any */
    STRAKE_CL_REFUSED, /**< the system's loader does not load it: it does no harm, and offers nothing */
    STRAKE_CL_BAD      /**< ends its process, or does not come back */
} strake_cl_verdict;

typedef struct strake_cl_driver {
    char *icd;     /**< the .icd file, or the variable that names the driver */
    char *library; /**< as it stands there */
    bool has_icd;  /**< icd is a file */
    strake_cl_verdict verdict;
    char file[4096]; /**< the file that was loaded, "" where none was */
    char said[512];  /**< REFUSED, BAD: what happened, a sentence without subject */
    double seconds;  /**< of its trial; 0: the answer was known */
    uint64_t key;    /**< of its answer */
    bool is_tried;   /**< no answer is known */
    long process;    /**< strake-driver's, while it runs */
    int output;      /**< the end of its pipe that is read, or -1 */
    char *text;      /**< what it wrote */
    unsigned long length;
} strake_cl_driver;

typedef struct strake_cl_drivers {
    int count;
    strake_cl_driver *driver;
    bool has_helper;       /**< strake-driver was found; else all are UNTRIED */
    char pocl_cache[4096]; /**< folder for PoCL's cache instead of the usual one, or "" */
    bool pocl_fails;       /**< there is no folder for it */
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

/**
 * Tries a loader, or what $STRAKE_OPENCL_LIBRARY names, in the environment that it will be asked in.
 * @param[out] said  what happened, as strake_cl_driver.said  @return false: it ends the process, or does not come back
 */
bool strake_cl_drivers_library(const strake_cl_drivers *drivers, const char *library, char *said,
                               size_t room);

/** One sentence of a driver that is bad or refused. Returns @p text. */
const char *strake_cl_driver_text(const strake_cl_driver *driver, char *text, size_t room);

#endif
