/**
 * @file cl_trial.h
 * Tries OpenCL drivers in processes of their own. A driver that ends, crashes or hangs its process does no harm
 * there; the program strake-driver (tool/try_driver.c) loads one driver and tells how far it came.
 */
#ifndef STRAKE_CL_TRIAL_H
#define STRAKE_CL_TRIAL_H

#include <stdbool.h>

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

typedef struct strake_cl_trial {
    const char *library; /**< input, borrowed: what dlopen() is told */
    const char
        *pocl_cache; /**< input, borrowed: POCL_CACHE_DIR of the trial; NULL or "": as it is */
    strake_cl_verdict verdict;
    char file[4096]; /**< the file that was loaded, "" where none was */
    char said[512];  /**< REFUSED, BAD: what happened, a sentence without subject */
    double seconds;  /**< that it took */
    long process;    /**< strake-driver's, while it runs */
    int output;      /**< the end of its pipe that is read, or -1 */
    char *text;      /**< what it wrote */
    unsigned long length;
} strake_cl_trial;

/**
 * Tries drivers side by side. Output goes nowhere but into the sentences; no file descriptor, process or signal handler
 * is left. Where the host program waits for all of its children itself the ends of lines decide alone.
 * @param[in] helper  path of strake-driver
 */
void strake_cl_trial_run(const char *helper, strake_cl_trial *trial, int count);

/** Seconds that a driver may take: $STRAKE_DRIVER_SECONDS, or 30. */
int strake_cl_trial_limit(void);

#endif
