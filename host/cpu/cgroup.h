/** @file cgroup.h How much processor time and memory the control groups of this process grant it. */
#ifndef STRAKE_CGROUP_H
#define STRAKE_CGROUP_H

/**
 * The least quota over period of the groups this process is in and all above them, of version 1 and 2,
 * where they are mounted. @param[in] root  "" or a folder with /proc/self and the mounted folders below
 * @return processors' worth of time, e.g. 1.5; 0 if there is no limit
 */
double strake_cgroup_quota(const char *root);

/**
 * The bytes that this process may take before the least generous of these groups is at its limit, where the
 * kernel ends a process: its limit less what the group uses, but for files in memory, which it gives back.
 * @return infinity if there is no limit
 */
double strake_cgroup_memory(const char *root);

#endif
