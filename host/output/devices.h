/** @file devices.h The processors of this machine as JSON, and what of it `strake devices` says in words, too. */
#ifndef STRAKE_DEVICES_H
#define STRAKE_DEVICES_H

#include "cpu/machine.h"
#include "files/text.h"
#include "opencl/cl_device.h"
#include "cost/tuned.h"

/** "gpu", "accelerator", "cpu" or "other". */
const char *strake_device_kind(const strake_cl_device *device);

/** Whether a precision can be used at all: double needs the device's support. */
bool strake_device_can_run(const strake_cl_device *device, strake_precision precision);

/**
 * Tests the arithmetic of every device in the precisions that it can run (strake_cl_device.bit_exact).
 * @param[in] notice  is told of devices that cannot be used; may be NULL
 */
void strake_devices_test(strake_cl_list *list, void (*notice)(void *user, const char *line),
                         void *user);

/** Appends one JSON object with the processor and all devices, and a newline. */
void strake_devices_print(const strake_machine *cpu, const strake_cl_list *list,
                          const strake_tuned_set *set, strake_text *text);

#endif
