/** @file completion.h What shells do with the words of `strake completion`. */
#ifndef STRAKE_COMPLETION_H
#define STRAKE_COMPLETION_H

#include "base/embedded.h"

/** completion.bash, completion.zsh and completion.fish. */
extern const strake_embedded strake_completion_texts[];

#endif
