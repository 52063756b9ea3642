/*
 * active.h: what a device knows of the tiles of its cells that are computed, C11 and OpenCL C: the host and
 * the kernels of active.cl have the same struct. host/opencl/cl_active.h says what it is for.
 */
#ifndef STRAKE_ACTIVE_OF_ALL_H
#define STRAKE_ACTIVE_OF_ALL_H

#ifdef __OPENCL_C_VERSION__
typedef long strake_whole;
#else
typedef long long strake_whole;
#endif

enum {
    STRAKE_TILES_TURNS =
        3, /* of what is counted: of the last look, the one that runs, the next one */
    STRAKE_TILES_LISTED = 0, /* a look at the tiles of the last list, ... */
    STRAKE_TILES_ALL = 1,    /* ... at all of them, which all stay, */
    STRAKE_TILES_FRESH = 3,  /* ... at all of them, both of whose arrays hold the same, */
    STRAKE_TILES_INPUTS =
        2 /* ... at the inputs in all of them, which may only add some to that list */
};

typedef struct strake_tiles {
    strake_whole updates;          /* active cells times sweeps */
    strake_whole computed;         /* computed ones times sweeps */
    int look;                      /* number of the last look, from 1 on; 0: there was none */
    int left;                      /* groups that are through with the one that runs */
    int tiles[STRAKE_TILES_TURNS]; /* in the list of look k, [k % STRAKE_TILES_TURNS] */
    int cells[STRAKE_TILES_TURNS]; /* that it found active */
} strake_tiles;

#endif
