/** @file leave.h Memory that the driver of a failed device may still use. */
#ifndef STRAKE_LEAVE_H
#define STRAKE_LEAVE_H

/** Leaves it where it is until the process ends. NULL is accepted. */
void strake_leave_behind(void *thing);

#endif
