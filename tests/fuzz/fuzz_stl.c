/* STL files, text and binary: an obstacle of a scene, on a lattice of few places. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char text[800];
    strake_case *which = NULL;
    strake_scene scene = {0};
    strake_error error;
    const char *const path = strake_fuzz_file("fuzz.stl", data, bytes);
    (void)snprintf(text, sizeof text,
                   "problem: sph3d\n"
                   "scene:\n"
                   "  spacing: 0.1\n"
                   "  to: [1, 1, 1]\n"
                   "  fluid: [{box: {from: [0, 0, 0], to: [0.3, 0.3, 0.3]}}]\n"
                   "  obstacles: [{stl: {file: \"%s\"}}]\n"
                   "time: {end: 1}\n",
                   path);
    if (strake_case_parse("fuzz.yaml", text, NULL, false, &which, &error) == STRAKE_OK) {
        (void)strake_scene_make(which, &scene, &error);
    }
    strake_scene_close(&scene);
    strake_case_close(&which);
    return 0;
}
