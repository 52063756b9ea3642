/** @file parts_impl.h What passes and steps of a device beside others have in common. */
#ifndef STRAKE_PARTICLES_PARTS_IMPL_H
#define STRAKE_PARTICLES_PARTS_IMPL_H

#include "particles/crew.h"
#include "particles/device.h"

#endif
