#include "particles/record.h"

/* Where the numbers of a record are in an image; NULL: nowhere. */
static void *number_of(const strake_sph_image *image, int k)
{
    void *const *const value = image->state.value;
    void *const all[STRAKE_SPH_RECORD_NUMBERS] = {
        value[STRAKE_SPH_X0],    value[STRAKE_SPH_X0 + 1], value[STRAKE_SPH_X0 + 2],
        value[STRAKE_SPH_RHO],   value[STRAKE_SPH_V0],     value[STRAKE_SPH_V0 + 1],
        value[STRAKE_SPH_V0 + 2]};
    return all[k];
}

void strake_sph_record_put(const strake_sph_image *image, int64_t k, char *record)
{
    const size_t real = (size_t)image->element;
    const uint32_t key = strake_sph_key_of(image, k);
    for (int a = 0; a < STRAKE_SPH_RECORD_NUMBERS; a++, record += real) {
        const char *const from = number_of(image, a);
        if (from != NULL) {
            memcpy(record, from + (size_t)k * real, real);
        } else {
            memset(record, 0, real);
        }
    }
    memcpy(record, &image->cell[k], sizeof image->cell[k]);
    memcpy(record + sizeof image->cell[k], &key, sizeof key);
}

void strake_sph_record_get(const char *record, strake_sph_image *image, int64_t at)
{
    const size_t real = (size_t)image->element;
    uint32_t key = 0;
    for (int a = 0; a < STRAKE_SPH_RECORD_NUMBERS; a++, record += real) {
        char *const to = number_of(image, a);
        if (to != NULL) {
            memcpy(to + (size_t)at * real, record, real);
        }
    }
    memcpy(&image->cell[at], record, sizeof image->cell[at]);
    memcpy(&key, record + sizeof image->cell[at], sizeof key);
    image->number[at] = strake_sph_number_of(key);
    image->kind[at] = (uint8_t)(key >> STRAKE_SPH_PLACE_BITS);
}
