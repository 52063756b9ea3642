/** @file scene_impl.h What the readers of scenes share, inside src/case/. */
#ifndef STRAKE_CASE_SCENE_IMPL_H
#define STRAKE_CASE_SCENE_IMPL_H

#include "case/case.h"

#endif
