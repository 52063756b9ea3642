#include "view/colour.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const strake_map strake_maps[] = {
    {"viridis",
     {0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b,
      0x375a8d, 0x33638d, 0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b,
      0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b, 0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c,
      0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725}},
    {"inferno",
     {0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d,
      0x63146e, 0x70196e, 0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d,
      0xd14644, 0xdb4f3b, 0xe35932, 0xeb6528, 0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f,
      0xfbba1f, 0xf9ca32, 0xf5d949, 0xf2e865, 0xf3f586, 0xfcffa4}},
    {"coolwarm",
     {0x3b4cc0, 0x445acc, 0x4d68d7, 0x5775e1, 0x6282ea, 0x6c8ef1, 0x779af7, 0x82a5fb, 0x8db0fe,
      0x98b9ff, 0xa3c2fe, 0xaec9fc, 0xb8d0f9, 0xc2d5f4, 0xccd9ee, 0xd5dbe6, 0xdddddd, 0xe5d8d1,
      0xecd3c5, 0xf1ccb9, 0xf4c4ad, 0xf7bba0, 0xf7b194, 0xf7a687, 0xf49a7b, 0xf18d6f, 0xec7f63,
      0xe57058, 0xde604d, 0xd55042, 0xcb3e38, 0xc0282f, 0xb40426}},
    {"gray",
     {0x000000, 0x080808, 0x101010, 0x181818, 0x202020, 0x282828, 0x303030, 0x383838, 0x404040,
      0x484848, 0x505050, 0x585858, 0x606060, 0x686868, 0x707070, 0x787878, 0x808080, 0x878787,
      0x8f8f8f, 0x979797, 0x9f9f9f, 0xa7a7a7, 0xafafaf, 0xb7b7b7, 0xbfbfbf, 0xc7c7c7, 0xcfcfcf,
      0xd7d7d7, 0xdfdfdf, 0xe7e7e7, 0xefefef, 0xf7f7f7, 0xffffff}},
    {NULL, {0}}};

const strake_map *strake_map_find(const char *name)
{
    for (const strake_map *map = strake_maps; map->name != NULL; map++) {
        if (strcmp(map->name, name) == 0) {
            return map;
        }
    }
    return NULL;
}

const char *strake_map_names(void)
{
    return "viridis, inferno, coolwarm, gray";
}

static uint8_t mix(uint32_t from, uint32_t to, unsigned shift, double part)
{
    const double a = (double)(from >> shift & 0xffU), b = (double)(to >> shift & 0xffU);
    return (uint8_t)(a + (b - a) * part + 0.5);
}

strake_colour strake_map_colour(const strake_map *map, double at)
{
    if (isnan(at)) {
        return (strake_colour){255, 255, 255};
    }
    const double place = (at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at) * (STRAKE_MAP_NODES - 1);
    const int node = place < STRAKE_MAP_NODES - 1 ? (int)place : STRAKE_MAP_NODES - 2;
    const uint32_t from = map->node[node], to = map->node[node + 1];
    const double part = place - (double)node;
    return (strake_colour){mix(from, to, 16, part), mix(from, to, 8, part), mix(from, to, 0, part)};
}
