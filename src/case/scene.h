/**
 * @file scene.h
 * What a scene of particles is made of: `scene` of a case. All particles of a scene stand on one lattice, in the middle
 * of cubes (in 2D squares) as wide as the spacing, the first of which lies in the lower corner of the box: volumes are
 * filled with those whose middle they contain, and walls stand on the places next to them.
 *
 * Directions are x, y, z; scenes in 2D have x and z, and lists of numbers two items.
 */
#ifndef STRAKE_CASE_SCENE_H
#define STRAKE_CASE_SCENE_H

#include "case/tree.h"

#include "cl/sine.h"
#include "cl/sph_double.h"

#include "cl/sph_motion.h"

struct strake_case;

enum { STRAKE_SCENE_DIRECTIONS = 3, STRAKE_SCENE_SLOTS = 8, STRAKE_SCENE_MOST = 250 };

/** Whether scenes of so many dimensions have direction @p d: those in 2D have no y. */
static inline bool strake_scene_has_direction(int dims, int d)
{
    return dims == 3 || d != 1;
}

/** What something in a scene is there for. */
typedef enum strake_scene_role {
    STRAKE_SCENE_FLUID,   /**< water in it */
    STRAKE_SCENE_WALL,    /**< a vessel: walls are around it */
    STRAKE_SCENE_OBSTACLE /**< a body: walls are its outermost layers */
} strake_scene_role;

typedef enum strake_scene_form {
    STRAKE_SCENE_BOX,
    STRAKE_SCENE_CYLINDER,
    STRAKE_SCENE_SPHERE,
    STRAKE_SCENE_PLANE,
    STRAKE_SCENE_MESH, /**< what is inside of a surface, from an STL file */
    STRAKE_SCENE_CLOUD /**< particles from files, where they are there */
} strake_scene_form;

/** Sides of boxes, as bits. */
enum {
    STRAKE_SIDE_LEFT = 1U << 0, /**< low x, high x; y; z */
    STRAKE_SIDE_RIGHT = 1U << 1,
    STRAKE_SIDE_FRONT = 1U << 2,
    STRAKE_SIDE_BACK = 1U << 3,
    STRAKE_SIDE_BOTTOM = 1U << 4,
    STRAKE_SIDE_TOP = 1U << 5
};
#define STRAKE_SIDE_WORDS "left|right|front|back|bottom|top"

/** What walls are made of. */
typedef enum strake_scene_walls {
    STRAKE_WALLS_DYNAMIC,   /**< particles whose density follows the fluid's, several layers */
    STRAKE_WALLS_REPULSIVE, /**< particles that repel (Lennard-Jones), one layer */
    STRAKE_WALLS_PLANES /**< sides of the scene's box as planes that repel; all else as repulsive */
} strake_scene_walls;
#define STRAKE_WALLS_WORDS "dynamic|lennard_jones|planes"

/** How fast a fluid is at the start. */
typedef enum strake_scene_flow {
    STRAKE_FLOW_NONE,
    STRAKE_FLOW_UNIFORM, /**< rate: the velocity [m/s] */
    STRAKE_FLOW_STRAIN,  /**< rate [1/s] times the distance from the centre, per direction */
    STRAKE_FLOW_WAVE /**< of a standing wave along x that passes its level: rate has amplitude and length [m] */
} strake_scene_flow;

/** One thing in a scene; numbers by direction have room for three. */
typedef struct strake_scene_item {
    char *where; /**< place in the case, for messages */
    char *file;  /**< of a mesh or a cloud: path, usable from the working directory */
    char *velocity_file, *density_file; /**< of a cloud; NULL: not given */
    strake_scene_role role;
    strake_scene_form form;
    double v
        [STRAKE_SCENE_SLOTS]; /**< box: from, to; cylinder: from, to, radius; sphere: centre, -, radius; plane:
                                     point, normal */
    unsigned sides;           /**< of a wall */
    bool is_of_box;           /**< a wall around the scene's box */
    bool is_sheet;            /**< of a mesh: particles along the surface, which may be open */
    strake_scene_walls walls; /**< kind of walls */
    strake_scene_flow flow;
    double rate[STRAKE_SCENE_DIRECTIONS], center[STRAKE_SCENE_DIRECTIONS];
    /** pressure of water at rest up to the highest fluid, else none but the dome */
    bool is_at_rest;
    /** pressure at the centre [Pa], from where it falls with the square of the distance ... */
    double dome;
    double dome_radius; /**< ... to 0 here */
    sph_motion motion;  /**< of a wall or an obstacle, by direction; no laws: it stays */
} strake_scene_item;

typedef enum strake_probe_kind {
    STRAKE_PROBE_PRESSURE,
    STRAKE_PROBE_VELOCITY,
    STRAKE_PROBE_HEIGHT /**< of the surface, along z */
} strake_probe_kind;
#define STRAKE_PROBE_WORDS "pressure|velocity|height"

enum { STRAKE_PROBE_NAME = 32 };

/** A place where something is measured. */
typedef struct strake_probe {
    char name[STRAKE_PROBE_NAME]; /**< as given, or the kind and a number: "pressure1" */
    strake_probe_kind kind;
    double at[STRAKE_SCENE_DIRECTIONS]; /**< of a height: x and y alone */
} strake_probe;

enum { STRAKE_PROBE_COLUMN = STRAKE_PROBE_NAME + 2 };

/** How many numbers a probe measures: a velocity has one for each direction. */
int strake_probe_columns(const strake_probe *probe, int dims);

/** The name of one of them: that of the probe, of velocities with the direction, "jet_x". */
void strake_probe_column(const strake_probe *probe, int dims, int k,
                         char name[STRAKE_PROBE_COLUMN]);

/** All of them. */
typedef struct strake_scene_plan {
    int items, probes;
    strake_scene_item *item;
    strake_probe *probe;
    int bodies;         /**< items that move */
    sph_motion gravity; /**< how it changes; no laws: it does not */
    int points;         /**< of all series of motions: pairs of a time [s] and a value */
    double *series;
} strake_scene_plan;

/** Reads the lists of a scene into which->scene, when the problem's other keys are known. */
strake_status strake_scene_read(strake_node *root, struct strake_case *which, strake_error *error);

void strake_scene_plan_free(strake_scene_plan *plan);

#endif
