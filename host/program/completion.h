/** @file completion.h Files that are part of the program: what shells do with the words of `strake completion`, a template. */
#ifndef STRAKE_COMPLETION_H
#define STRAKE_COMPLETION_H

#include "base/embedded.h"

/** completion.bash, completion.zsh and completion.fish. */
extern const strake_embedded strake_completion_texts[];

/** The file that `strake problem new` prints. */
extern const strake_embedded strake_template_texts[];

#endif
