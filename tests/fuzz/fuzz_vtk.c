/* Files for VTK: particles that a scene begins with (legacy and .vtp), and outputs that are viewed (.vtp). */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "scene/scene.h"
#include "output/vtk.h"

enum { ROWS = 97 }; /* read at a time */

static void make_scene(const char *path)
{
    char text[800];
    strake_case *which = NULL;
    strake_scene scene = {0};
    strake_error error;
    (void)snprintf(text, sizeof text,
                   "problem: sph2d\n"
                   "scene:\n"
                   "  spacing: 0.1\n"
                   "  to: [1, 1]\n"
                   "  fluid: [{particles: {file: \"%s\"}}]\n"
                   "time: {end: 1}\n",
                   path);
    if (strake_case_parse("fuzz.yaml", text, NULL, false, &which, &error) == STRAKE_OK) {
        (void)strake_scene_make(which, &scene, &error);
    }
    strake_scene_close(&scene);
    strake_case_close(&which);
}

static void view(const char *path)
{
    static const char *const name[] = {"position", "velocity", "density", "kind", "number"};
    strake_vtp vtp = {0};
    strake_vtp_array array;
    strake_error error;
    double value[3 * ROWS];
    strake_status status = strake_vtp_open(path, &vtp, &error);
    for (size_t k = 0; k < sizeof name / sizeof name[0] && status == STRAKE_OK; k++) {
        if (!strake_vtp_find(&vtp, name[k], &array)) {
            continue;
        }
        for (int64_t first = 0; first < vtp.points && status == STRAKE_OK; first += ROWS) {
            const int64_t now = vtp.points - first < ROWS ? vtp.points - first : ROWS;
            status = strake_vtp_read(&vtp, &array, first, now, array.components, value, &error);
        }
    }
    strake_vtp_close(&vtp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    make_scene(strake_fuzz_file("fuzz.vtk", data, bytes));
    view(strake_fuzz_file("fuzz.vtp", data, bytes));
    return 0;
}
