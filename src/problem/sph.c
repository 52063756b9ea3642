/* Weakly compressible particles (particles/sph.h): keys, and what particles have. */
#include "problem/sph.h"

#include <math.h>

static const strake_field fields[STRAKE_SPH_FIELDS] = {
    [STRAKE_SPH_POSITION] = {"position", .is_state = true, .unit = "[m]",
                             .text = "x, y, z; in 2D x, z"},
    [STRAKE_SPH_VELOCITY] = {"velocity", .is_state = true, .unit = "[m/s]",
                             .text = "along the same"},
    [STRAKE_SPH_DENSITY] = {"density", .is_state = true, .unit = "[kg/m3]",
                            .text = "of the fluid there"},
    [STRAKE_SPH_PRESSURE] = {"pressure", .is_state = true, .unit = "[Pa]",
                             .text = "from the density"},
    [STRAKE_SPH_KIND] =
        {"kind", .is_state = true, .unit = "[-]",
         .text = "0: fluid, 1: wall whose density follows, 2: wall that repels, 3: it has left"},
    [STRAKE_SPH_NUMBER] = {"number", .is_state = true, .unit = "[-]",
                           .text = "of the particle, in the order of the scene"},
};

#define QUANTITIES(unit_)                                                                          \
    {                                                                                              \
        [STRAKE_SPH_KINETIC] = {"kinetic", unit_, "energy of the fluid's motion"},                 \
        [STRAKE_SPH_POTENTIAL] = {"potential", unit_,                                              \
                                  "energy of the fluid's height, 0 at the case's origin"},         \
        [STRAKE_SPH_THERE] = {"fluid", "[-]", "particles of it in the box"},                       \
    }

static const strake_quantity quantities_2d[STRAKE_SPH_QUANTITIES] = QUANTITIES("[J/m]");
static const strake_quantity quantities_3d[STRAKE_SPH_QUANTITIES] = QUANTITIES("[J]");

/* Of what the parser of scenes reads. */
#define SCENE_KEY(name_, text_)                                                                    \
    {                                                                                              \
        name_, STRAKE_KEY_SCENE, NULL, 0, 0, 0, false, "[-]", text_                                \
    }

#define KEYS(dims_, directions_, origin_, gravity_)                                                \
    {                                                                                              \
        {"scene.spacing",                                                                          \
         STRAKE_KEY_REAL,                                                                          \
         NULL,                                                                                     \
         0,                                                                                        \
         1e-9,                                                                                     \
         INFINITY,                                                                                 \
         true,                                                                                     \
         "[m]",                                                                                    \
         "distance of neighbouring particles at the start, dp"},                                   \
            {"scene.from",                                                                         \
             STRAKE_KEY_REALS,                                                                     \
             origin_,                                                                              \
             0,                                                                                    \
             dims_,                                                                                \
             dims_,                                                                                \
             false,                                                                                \
             "[m]",                                                                                \
             "lower corner of the box; walls may stand around it"},                                \
            {"scene.to",                                                                           \
             STRAKE_KEY_REALS,                                                                     \
             NULL,                                                                                 \
             0,                                                                                    \
             dims_,                                                                                \
             dims_,                                                                                \
             true,                                                                                 \
             "[m]",                                                                                \
             "upper corner: what leaves the box and its walls is lost"},                           \
            {"scene.periodic",                                                                     \
             STRAKE_KEY_WORDS,                                                                     \
             directions_,                                                                          \
             0,                                                                                    \
             0,                                                                                    \
             0,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "directions in which the scene repeats itself"},                                      \
            SCENE_KEY(                                                                             \
                "scene.fluid",                                                                     \
                "volumes of fluid: {box: {from, to}}, {cylinder: {from, to, radius}} (3D), "       \
                "{sphere: {center, radius}}, {stl: {file, scale, move}} (3D: inside of the "       \
                "surface "                                                                         \
                "of a file), {particles: {file, velocity, density}} (where a VTK file or the "     \
                ".npy "                                                                            \
                "file of "                                                                         \
                "positions, [N, 3] or in 2D [N, 2], has them; no two nearer than half a "          \
                "spacing); "                                                                       \
                "beside it velocity: a vector [m/s], {wave: amplitude, "                           \
                "length} (standing, along x, at level) or {strain: rates "                         \
                "[1/s], center}, and pressure: at_rest (as under the highest fluid, the "          \
                "default), "                                                                       \
                "none, or {dome: p [Pa], center, radius}, which falls with the square of the "     \
                "distance"),                                                                       \
            SCENE_KEY(                                                                             \
                "scene.walls",                                                                     \
                "vessels, whose walls are outside of them: {sides: [left, right, front, back, "    \
                "bottom, top]} of the box, {box: {from, to, sides}}, {cylinder: {from, to, "       \
                "radius, "                                                                         \
                "ends}} (3D; ends that are closed, [from, to] by default), {sphere: {center, "     \
                "radius}}, "                                                                       \
                "{stl: {file, scale, move, sheet}} "                                               \
                "(3D; sheet: true makes particles along the surface, which may be open: at "       \
                "places "                                                                          \
                "whose "                                                                           \
                "cube of one spacing it crosses, dynamic walls also as far on both sides as half " \
                "their layers), or {plane: {point, normal}}, "                                     \
                "which is made of no particles; beside it kind, as scheme.walls, and motion: "     \
                "{along: "                                                                         \
                "direction} [m] or {about: point, axis: direction (3D; in 2D from x to z)} "       \
                "[degrees], beside it one of rate: change a second; sine: {amplitude, period "     \
                "[s], "                                                                            \
                "phase [degrees], ramp [s] of its growth}; series: [[time, value], ...] or file: " \
                "NAME "                                                                            \
                "of such lines, linear between them; or a list of these, which are added (one "    \
                "turn, "                                                                           \
                "whose point is carried along). What it was at time 0 is no way: a wall begins "   \
                "where "                                                                           \
                "it stands"),                                                                      \
            SCENE_KEY("scene.obstacles", "bodies, whose walls are inside of them: {box: {from, "   \
                                         "to}} (flat along a direction: "                          \
                                         "a wall), {cylinder: {from, to, radius}}, {sphere: "      \
                                         "{center, radius}}, {stl: {file, "                        \
                                         "scale, move, sheet}} (3D, as of walls); beside it "      \
                                         "kind, as scheme.walls, and motion, as of walls"),        \
            SCENE_KEY(                                                                             \
                "scene.gravity",                                                                   \
                "how parameters.gravity changes, as a tank feels it that is shaken or rocked: as " \
                "the "                                                                             \
                "motion of a wall, where along adds to it [m/s2] and about turns its direction, "  \
                "around whatever point; begins with whatever it is at time 0"),                    \
            SCENE_KEY(                                                                             \
                "scene.probes",                                                                    \
                "places to measure at, into probes.csv of the output folder, as often as "         \
                "diagnostics.every and every_seconds say, else output's: {pressure: [x, y, z]}, "  \
                "{velocity: [x, y, z]} "                                                           \
                "or {height: [x, y]} of the surface; beside it name, of the column"),              \
            {"parameters.density",                                                                 \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             1000,                                                                                 \
             1e-6,                                                                                 \
             INFINITY,                                                                             \
             false,                                                                                \
             "[kg/m3]",                                                                            \
             "of the fluid at rest, rho0"},                                                        \
            {"parameters.gravity",                                                                 \
             STRAKE_KEY_REALS,                                                                     \
             gravity_,                                                                             \
             0,                                                                                    \
             dims_,                                                                                \
             dims_,                                                                                \
             false,                                                                                \
             "[m/s2]",                                                                             \
             "acceleration of everything"},                                                        \
            {"parameters.viscosity",                                                               \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             1e-6,                                                                                 \
             0,                                                                                    \
             INFINITY,                                                                             \
             false,                                                                                \
             "[m2/s]",                                                                             \
             "kinematic, nu, of scheme.viscosity: laminar"},                                       \
            {"scheme.kernel",                                                                      \
             STRAKE_KEY_CHOICE,                                                                    \
             "wendland|cubic",                                                                     \
             STRAKE_SPH_WENDLAND,                                                                  \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "weights of neighbours: Wendland's C2 or the cubic spline"},                          \
            {"scheme.smoothing",                                                                   \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             1.3,                                                                                  \
             0.8,                                                                                  \
             4,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "smoothing length h over the spacing; neighbours are nearer than 2h"},                \
            {"scheme.sound",                                                                       \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             NAN,                                                                                  \
             1e-6,                                                                                 \
             INFINITY,                                                                             \
             false,                                                                                \
             "[m/s]",                                                                              \
             "speed of sound at rest, c0; instead of scheme.sound_factor"},                        \
            {"scheme.sound_factor",                                                                \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             14.14,                                                                                \
             1,                                                                                    \
             1000,                                                                                 \
             false,                                                                                \
             "[-]",                                                                                \
             "c0 over sqrt(g H), H being the height of the fluid at the start, or over "           \
             "V/sqrt(2) where its fastest begins with a larger V than sqrt(2 g H), the speed of "  \
             "a fall from there; the default is ten times that speed"},                            \
            {"scheme.viscosity",                                                                   \
             STRAKE_KEY_CHOICE,                                                                    \
             "artificial|laminar",                                                                 \
             STRAKE_SPH_ARTIFICIAL,                                                                \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "Monaghan's with scheme.alpha, or Monaghan and Gingold's of a fluid with "            \
             "parameters.viscosity"},                                                              \
            {"scheme.alpha", STRAKE_KEY_REAL,          NULL, 0.1, 0, 10, false,                    \
             "[-]",          "of artificial viscosity"},                                           \
            {"scheme.diffusion",                                                                   \
             STRAKE_KEY_CHOICE,                                                                    \
             "none|molteni|fourtakas",                                                             \
             STRAKE_SPH_PLAIN,                                                                     \
             0,                                                                                    \
             2,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "of density: none, Molteni and Colagrossi's, or Fourtakas et al.'s, which leaves "    \
             "water at rest alone"},                                                               \
            {"scheme.delta",                                                                       \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             0.1,                                                                                  \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "strength of the diffusion of density"},                                              \
            {"scheme.cfl",                                                                         \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             0.3,                                                                                  \
             1e-3,                                                                                 \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "part that is taken of the bounds on time steps, sqrt(h/|a|) and h/c"},               \
            {"scheme.skin",                                                                        \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             0.1,                                                                                  \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "how much further than 2h lists of neighbours reach, over 2h; fixes the order of "    \
             "sums. 0: not at all, and some that come near meanwhile are missed until "            \
             "scheme.rebuild steps are over"},                                                     \
            {"scheme.rebuild",                                                                     \
             STRAKE_KEY_INTEGER,                                                                   \
             NULL,                                                                                 \
             0,                                                                                    \
             0,                                                                                    \
             1000,                                                                                 \
             false,                                                                                \
             "[steps]",                                                                            \
             "most steps with one list of neighbours; 0: as long as the skin allows"},             \
            {"scheme.walls",                                                                       \
             STRAKE_KEY_CHOICE,                                                                    \
             STRAKE_WALLS_WORDS,                                                                   \
             STRAKE_WALLS_DYNAMIC,                                                                 \
             0,                                                                                    \
             2,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "walls of particles whose density follows the fluid's (dynamic), of particles that "  \
             "repel (lennard_jones), or, for the sides of the scene's box, planes that do"},       \
            {"scheme.slip",                                                                        \
             STRAKE_KEY_CHOICE,                                                                    \
             "none|free",                                                                          \
             0,                                                                                    \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "whether walls of particles have a share in the viscosity of fluid beside them, or "  \
             "let it slip; of others there is none"},                                              \
            {"scheme.shepard",                                                                     \
             STRAKE_KEY_INTEGER,                                                                   \
             NULL,                                                                                 \
             0,                                                                                    \
             0,                                                                                    \
             1000000,                                                                              \
             false,                                                                                \
             "[steps]",                                                                            \
             "steps between filters of density, after which each particle has the mean of those "  \
             "around it (Shepard), such as 30; 0: none"},                                          \
            {"scheme.repulsion",                                                                   \
             STRAKE_KEY_REAL,                                                                      \
             NULL,                                                                                 \
             5,                                                                                    \
             0,                                                                                    \
             1000,                                                                                 \
             false,                                                                                \
             "[-]",                                                                                \
             "strength of walls that repel, D over g H"},                                          \
            {"scheme.exact",                                                                       \
             STRAKE_KEY_BOOLEAN,                                                                   \
             NULL,                                                                                 \
             1,                                                                                    \
             0,                                                                                    \
             1,                                                                                    \
             false,                                                                                \
             "[-]",                                                                                \
             "false: OpenCL devices divide and take roots of pairs as fast as they can, in "       \
             "single precision; results agree with others within a tolerance"},                    \
            {"scheme.slices",                                                                      \
             STRAKE_KEY_CHOICE,                                                                    \
             directions_ "|longest",                                                               \
             dims_,                                                                                \
             0,                                                                                    \
             dims_,                                                                                \
             false,                                                                                \
             "[-]",                                                                                \
             "direction along which the box is cut into slices, which are shared out; fixes the "  \
             "order of sums. longest: the one with most slices"},                                  \
    }

static strake_status check(const strake_case *which, strake_error *error)
{
    if (!(strake_case_value(which, "scheme.skin") > 0.0) &&
        !(strake_case_value(which, "scheme.rebuild") > 0.0)) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: scheme.skin: 0 makes lists that miss neighbours after some steps; "
                           "scheme.rebuild has to say how many they serve, such as 10",
                           which->file);
    }
    if (strake_case_value(which, "scheme.exact") > 0.0 || which->precision == STRAKE_SINGLE) {
        return STRAKE_OK;
    }
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: scheme.exact: false has no meaning in double precision, in which no "
                       "device divides faster with fewer digits; leave it out, or set "
                       "precision: single",
                       which->file);
}

static const strake_key keys_2d[] = KEYS(2, STRAKE_SPH_DIRECTIONS_2D, "[0, 0]", "[0, -9.81]");
static const strake_key keys_3d[] = KEYS(3, STRAKE_SPH_DIRECTIONS_3D, "[0, 0, 0]", "[0, 0, -9.81]");

#define PROBLEM(dims_, text_, example_)                                                            \
    {                                                                                              \
        .name = "sph" #dims_ "d", .text = text_, .dims = dims_,                                    \
        .keys = (int)(sizeof keys_##dims_##d / sizeof keys_##dims_##d[0]), .key = keys_##dims_##d, \
        .fields = STRAKE_SPH_FIELDS, .field = fields, .is_adaptive = true, .has_particles = true,  \
        .check = check, .quantities = STRAKE_SPH_QUANTITIES, .quantity = quantities_##dims_##d,    \
        .cl_source = "sph_point.h", .example = example_,                                           \
    }

const strake_problem strake_problem_sph2d = PROBLEM(
    2, "a fluid with a free surface in a vertical plane: weakly compressible particles (SPH)",
    "scene:\n"
    "  spacing: 0.02\n"
    "  to: [1.6, 0.6]\n"
    "  fluid: [{box: {from: [0, 0], to: [0.4, 0.4]}}]\n"
    "  walls: [{sides: [bottom, left, right]}]\n"
    "time: {end: 0.5}\n"
    "output: {every_seconds: 0.1}\n");

const strake_problem strake_problem_sph3d =
    PROBLEM(3, "a fluid with a free surface: weakly compressible particles (SPH)",
            "scene:\n"
            "  spacing: 0.04\n"
            "  to: [1.6, 0.64, 0.6]\n"
            "  fluid: [{box: {from: [0, 0, 0], to: [0.4, 0.64, 0.4]}}]\n"
            "  walls: [{sides: [bottom, left, right, front, back]}]\n"
            "  obstacles: [{box: {from: [0.88, 0.24, 0], to: [1, 0.4, 0.6]}}]\n"
            "time: {end: 0.5}\n"
            "output: {every_seconds: 0.1}\n");
