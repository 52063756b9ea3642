/* Boxes in one STL file that face out or in: which are bodies, which are holes, and which cancel each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene/scene.h"

static const char file[] = "build/tests/shells.stl";
static const char bath[] = "problem: sph3d\n"
                           "scene:\n"
                           "  spacing: 0.1\n"
                           "  to: [2, 2, 2]\n"
                           "  fluid: [{stl: {file: build/tests/shells.stl}}]\n"
                           "time: {end: 1}\n";

/* Corners 0 to 7: bit d is the end along direction d. The second kind cuts sides from x to y along their other diagonal. */
static const int sides[2][12][3] = {{{0, 2, 1},
                                     {1, 2, 3},
                                     {4, 5, 6},
                                     {5, 7, 6},
                                     {0, 1, 4},
                                     {1, 5, 4},
                                     {2, 6, 3},
                                     {3, 6, 7},
                                     {0, 4, 2},
                                     {2, 4, 6},
                                     {1, 3, 5},
                                     {3, 7, 5}},
                                    {{0, 2, 3},
                                     {0, 3, 1},
                                     {4, 5, 7},
                                     {4, 7, 6},
                                     {0, 1, 5},
                                     {0, 5, 4},
                                     {2, 6, 7},
                                     {2, 7, 3},
                                     {0, 4, 6},
                                     {0, 6, 2},
                                     {1, 3, 7},
                                     {1, 7, 5}}};

typedef struct box {
    double low, high; /* along x, y and z */
    int faces;        /* 1: out, -1: in */
    int cut;          /* which of its sides */
} box;

static void write_boxes(const box *of, int count)
{
    FILE *const to = fopen(file, "w");
    assert_non_null(to);
    (void)fprintf(to, "solid boxes\n");
    for (int t = 0; t < 12 * count; t++) {
        const box *const b = &of[t / 12];
        (void)fprintf(to, "facet normal 0 0 0\nouter loop\n");
        for (int k = 0; k < 3; k++) {
            const int corner = sides[b->cut][t % 12][b->faces > 0 ? k : 2 - k];
            (void)fprintf(to, "vertex");
            for (int d = 0; d < 3; d++) {
                (void)fprintf(to, " %.9g", (corner >> d & 1) != 0 ? b->high : b->low);
            }
            (void)fprintf(to, "\n");
        }
        (void)fprintf(to, "endloop\nendfacet\n");
    }
    (void)fprintf(to, "endsolid\n");
    assert_int_equal(fclose(to), 0);
}

/* @p particles: how many fill the boxes, or 0: they are refused with @p message. */
static void expect(const box *of, int count, int64_t particles, const char *message)
{
    static const char *const none[] = {NULL};
    strake_case *which = NULL;
    strake_scene scene = {0};
    strake_error error = {.text = ""};
    write_boxes(of, count);
    assert_int_equal(strake_case_parse("scene.yaml", bath, none, false, &which, &error), STRAKE_OK);
    const strake_status status = strake_scene_make(which, &scene, &error);
    if (message == NULL) {
        assert_string_equal(status == STRAKE_OK ? "" : error.text, "");
        assert_int_equal(scene.count, particles);
    } else {
        assert_int_equal(status, STRAKE_ERR_USAGE);
        if (strstr(error.text, message) == NULL) {
            fail_msg("'%s' is not in '%s'", message, error.text);
        }
    }
    strake_scene_close(&scene);
    strake_case_close(&which);
}

#define EXPECT(particles, message, ...)                                                            \
    expect((const box[]){__VA_ARGS__}, sizeof((const box[]){__VA_ARGS__}) / sizeof(box),           \
           particles, message)

static const char twice[] = "shells.stl has surfaces that face opposite ways and cancel each other "
                            "at (0.25, 0.25, 0.25) m";

static void bodies_that_cancel_each_other_are_refused(void **state)
{
    (void)state;
    EXPECT(0, twice, {0.2, 0.7, 1, 0}, {0.2, 0.7, -1, 0}, {1.0, 1.5, 1, 0});
    EXPECT(0, twice, {1.0, 1.5, 1, 0}, {0.2, 0.7, -1, 0}, {0.2, 0.7, 1, 1});
    /* Beside one that faces in. */
    EXPECT(0, twice, {0.2, 0.7, 1, 0}, {0.2, 0.7, -1, 0}, {1.0, 1.5, -1, 0});
    /* One that faces the wrong way and overlaps another one. */
    EXPECT(0, "cancel each other at (0.45, 0.45, 0.45) m", {0.2, 0.7, 1, 0}, {0.4, 0.9, -1, 0});
}

static void holes_and_unions_stay(void **state)
{
    (void)state;
    EXPECT(1000 - 27, NULL, {0.2, 1.2, 1, 0}, {0.4, 0.7, -1, 0});
    EXPECT(1000 - 27, NULL, {0.2, 1.2, -1, 0}, {0.4, 0.7, 1, 0}); /* all inside out */
    EXPECT(1000 - 27, NULL, {0.2, 1.2, 1, 0}, {0.2, 0.5, -1, 0}); /* at a corner */
    EXPECT(1000 - 125 + 27, NULL, {0.2, 1.2, 1, 0}, {0.4, 0.9, -1, 0}, {0.5, 0.8, 1, 0});
    EXPECT(1000, NULL, {0.2, 1.2, 1, 0}, {0.4, 0.7, -1, 0}, {0.4, 0.7, 1, 0}); /* a filled hole */
    EXPECT(125, NULL, {0.2, 0.7, 1, 0}, {0.2, 0.7, 1, 1});
    EXPECT(2 * 125 - 27, NULL, {0.2, 0.7, 1, 0}, {0.4, 0.9, 1, 0});
    EXPECT(2 * 125, NULL, {0.2, 0.7, 1, 0}, {0.9, 1.4, -1, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_that_cancel_each_other_are_refused),
        cmocka_unit_test(holes_and_unions_stay),
    };
    return cmocka_run_group_tests_name("shells", tests, NULL, NULL);
}
