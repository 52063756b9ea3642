/**
 * @file cl_turns.h
 * Launches on PoCL before 6.0, which are its releases on Debian 12, Ubuntu 22.04 and 24.04.
 *
 * Such a PoCL keeps what it compiled in a list: one entry for a kernel, a size of groups and the widest launch up to
 * now. A launch takes the first entry that is wide enough, and gives back the first one that is when it ends. Where a
 * wider launch made a new entry between the two, that is another entry, and the process ends by an assertion,
 * "found->ref_count > 0". Two queues of one device, and two contexts, do this at times.
 */
#ifndef STRAKE_CL_TURNS_H
#define STRAKE_CL_TURNS_H

#include "opencl/cl_device.h"

/**
 * Puts functions into the table of a loader, after which a launch on such a device that may make an entry waits until
 * every queue of such devices is idle, and others wait until it is done. Other devices are not touched.
 */
void strake_cl_turns_take(strake_cl *cl);

#endif
