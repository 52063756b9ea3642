/**
 * @file protocol.h
 * What the tuner and its worker process say to each other: lines of fields separated by tabs, over
 * pipes. The worker reads requests from standard input and answers on descriptor 3, so that drivers
 * may print what they like.
 *
 *     prepare    WHERE CASE SETTING...                   builds kernels, for the cache of programs
 *     reference  WHERE CASE FILE STEPS SETTING...        writes the states after STEPS steps
 *     measure    WHERE CASE FILE STEPS SAMPLES SECONDS LIMIT SETTING...
 *
 * FILE holds what `reference` wrote: after STEPS steps the states must have these bytes. Then every
 * kernel of a device is timed alone; together they are no slower than a step, and where they already
 * take longer than LIMIT seconds nothing else is measured. Otherwise SAMPLES times about SECONDS
 * seconds are stepped, but no more once a step takes longer than LIMIT seconds. A SETTING is KEY=VALUE.
 *
 * Before an answer come lines that tell more:
 *
 *     phase  NAME                      what is being done
 *     kernel NAME SECONDS              one launch, by the device's timers
 *     rates  UP DOWN CELLS             of a stripe in blocks: link [bytes/s], kernels [cells/s]
 *     effect HEX                       hash of the kernels and parameters that settings came to
 *
 *     done  BUILD CHECK SECONDS...     seconds of opening and checking; seconds per step of each sample
 *     slow  BUILD CHECK SECONDS        slower than LIMIT
 *     failed KIND MESSAGE              KIND: build, run, wrong
 */
#ifndef STRAKE_AUTOTUNE_PROTOCOL_H
#define STRAKE_AUTOTUNE_PROTOCOL_H

enum {
    STRAKE_WORKER_ANSWERS = 3,  /**< descriptor */
    STRAKE_WORKER_LINE = 16384, /**< longest line */
    STRAKE_WORKER_FIELDS = 64,
    STRAKE_WORKER_SAMPLES = 32,
    STRAKE_WORKER_KERNELS = 32
};

/** Serves requests until standard input ends. @return exit status of the process */
int strake_worker_serve(void);

#endif
