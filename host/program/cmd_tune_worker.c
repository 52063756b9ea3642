/* `strake tune-worker`: the process in which `strake tune` measures. Not for users, not in the help. */
#include <stdio.h>

#include "autotune/protocol.h"
#include "program/command.h"
#include "program/say.h"

static int command(const strake_arguments *arguments)
{
    (void)arguments;
    return strake_worker_serve() == 0 ? STRAKE_EXIT_DONE : STRAKE_EXIT_USAGE;
}

static const strake_option options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_tune_worker = {.name = "tune-worker",
                                                   .operands = "",
                                                   .text = "Measures for `strake tune`",
                                                   .option = options,
                                                   .details = "Measures for `strake tune`.\n",
                                                   .examples = "  strake tune\n",
                                                   .run = command,
                                                   .joins_ranks = true};
