/**
 * @file record.h
 * A particle on its way to others at a new order, as devices write and read it (sph_record of cl/sph_parts.cl): eight numbers
 * of the working precision, which are x, y, z in its cell [m], density [kg/m3], speeds along the axes [m/s] and one that
 * nobody reads; then its cell and its key. Records lie one after the other.
 */
#ifndef STRAKE_PARTICLES_RECORD_H
#define STRAKE_PARTICLES_RECORD_H

#include <string.h>

#include "particles/run.h"
#include "particles/sph_rows.h"

enum { STRAKE_SPH_RECORD_NUMBERS = 8 };

/** By which particles of a cell are sorted: kind, then number. */
static inline uint32_t strake_sph_key_of(const strake_sph_image *image, int64_t p)
{
    return (uint32_t)image->number[p] | (uint32_t)image->kind[p] << STRAKE_SPH_PLACE_BITS;
}

/** The number of the particle that has a key. */
static inline int64_t strake_sph_number_of(uint32_t key)
{
    return (int64_t)(key & ((1U << STRAKE_SPH_PLACE_BITS) - 1));
}

/** @param[in] element  bytes of a number */
static inline size_t strake_sph_record_bytes(int element)
{
    return STRAKE_SPH_RECORD_NUMBERS * (size_t)element + sizeof(int32_t) + sizeof(uint32_t);
}

/** The cell of a record. */
static inline int32_t strake_sph_record_cell(const char *record, int element)
{
    int32_t cell = 0;
    memcpy(&cell, record + STRAKE_SPH_RECORD_NUMBERS * (size_t)element, sizeof cell);
    return cell;
}

/** Particle @p k of an image becomes a record. */
void strake_sph_record_put(const strake_sph_image *image, int64_t k, char *record);

/** A record becomes particle @p at of an image. */
void strake_sph_record_get(const char *record, strake_sph_image *image, int64_t at);

#endif
