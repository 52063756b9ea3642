/**
 * @file cl_record.h
 * What a device does for a few sweeps, command by command: begin and end by the device's own timers, on
 * the host's clock. Only while somebody asks for it: every command then has an event, and queues have
 * timers.
 */
#ifndef STRAKE_CL_RECORD_H
#define STRAKE_CL_RECORD_H

#include "opencl/cl_device.h"

enum { STRAKE_CL_MOST_COMMANDS = 4096 };

typedef enum strake_cl_command_kind {
    STRAKE_CL_KERNEL,
    STRAKE_CL_UP,  /**< host to device */
    STRAKE_CL_DOWN /**< device to host */
} strake_cl_command_kind;

typedef struct strake_cl_command {
    strake_cl_command_kind kind;
    char name[48];     /**< of a kernel */
    double amount;     /**< work-items, or bytes */
    int64_t sweep;     /**< as the owner counts */
    bool is_rare;      /**< of what not every sweep has */
    double begin, end; /**< [s] on CLOCK_MONOTONIC, once read */
    cl_event event;    /**< until read */
} strake_cl_command;

typedef struct strake_cl_record {
    const strake_cl *cl;
    const strake_cl_device *device;
    int64_t sweep;      /**< of the commands to come, ... */
    bool is_rare;       /**< ... and whether they are */
    bool timers;        /**< the device has some */
    double offset;      /**< [s] host's clock - device's */
    double clock_error; /**< [s] that the offset may be wrong by */
    int commands;
    int lost; /**< commands beyond the room for them */
    strake_cl_command command[STRAKE_CL_MOST_COMMANDS];
} strake_cl_record;

/** Puts a queue with or without timers in the place of an idle one. */
strake_status strake_cl_record_renew(const strake_cl *cl, const strake_cl_device *device,
                                     cl_context context, bool timers, cl_command_queue *queue,
                                     strake_error *error);

/**
 * Finds the offset of the clocks by markers on an idle queue with timers: each lies between two looks
 * at the host's clock, and together they leave 2 * clock_error for the offset. Without timers the
 * record stays empty.
 */
strake_status strake_cl_record_begin(strake_cl_record *record, const strake_cl *cl,
                                     const strake_cl_device *device, cl_command_queue queue,
                                     strake_error *error);

/** Adds a command, by its event, which stays the caller's. Does nothing if @p record is NULL. */
void strake_cl_record_add(strake_cl_record *record, strake_cl_command_kind kind, const char *name,
                          double amount, cl_event event);

/** Forgets commands of such sweeps, and later ones: they turned out to do nothing. */
void strake_cl_record_forget(strake_cl_record *record, int64_t sweep);

/** Reads the times of all commands, which must be done, and forgets those that have none. */
void strake_cl_record_end(strake_cl_record *record);

#endif
