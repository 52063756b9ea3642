/** @file command.h What a command of the program is. */
#ifndef STRAKE_COMMAND_H
#define STRAKE_COMMAND_H

#include "program/options.h"

/** One command of the program. */
typedef struct strake_command {
    const char *name;
    const char *operands; /**< as in the synopsis, "CASE.yaml" */
    int operands_least, operands_most;
    const char *text;            /**< one line */
    const strake_option *option; /**< ends with a NULL name */
    const char *details;         /**< paragraphs of the help page */
    const char *examples;        /**< lines, each a command or a remark */
    int (*run)(const strake_arguments *arguments);
    bool joins_ranks; /**< works with the others that mpirun has started */
} strake_command;

extern const strake_command strake_command_run, strake_command_check, strake_command_devices,
    strake_command_bench, strake_command_model, strake_command_tune, strake_command_compare,
    strake_command_view, strake_command_new, strake_command_scan, strake_command_fit,
    strake_command_completion, strake_command_help, strake_command_doctor,
    strake_command_tune_worker, strake_command_problem;

#endif
