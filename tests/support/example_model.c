/*
 * A model with its own time loop and arrays that lets Strake advect one of its fields: the example of
 * README.md. Build: make example, or cc example_model.c $(pkg-config --cflags --libs strake)
 */
#include <stdio.h>
#include <stdlib.h>

#include <strake.h>

enum { ROWS = 128, COLS = 128, STEPS = 100 };

int main(void)
{
    static const char text[] = "problem: mpdata2d\n"
                               "grid: {rows: 128, cols: 128}\n"
                               "time: {steps: 1}\n"
                               "fields: {u1: {constant: 0.2}, u2: {constant: 0.1},\n"
                               "         h: {constant: 1}}\n"; /* folded: see strake.h */
    static double tracer[ROWS][COLS];
    double total = 0.0;
    strake_error error;
    strake_case *description = NULL;
    strake_solver *solver = NULL;
    const strake_options options = {.where = "hybrid"};

    tracer[40][40] = 1.0;
    if (strake_case_parse("tracer", text, NULL, true, &description, &error) != STRAKE_OK ||
        strake_open(description, &options, &solver, &error) != STRAKE_OK) {
        goto failed;
    }
    for (int step = 0; step < STEPS; step++) {
        tracer[64][64] += 0.01; /* the model's own physics: a source */
        if (strake_set_field(solver, "psi", tracer, &error) != STRAKE_OK ||
            strake_step(solver, 1, &error) != STRAKE_OK ||
            strake_get_field(solver, "psi", tracer, &error) != STRAKE_OK) {
            goto failed;
        }
    }
    for (int i = 0; i < ROWS * COLS; i++) {
        total += tracer[i / COLS][i % COLS];
    }
    printf("after %d steps the tracer adds up to %.12f\n", STEPS, total);
    strake_close(&solver);
    strake_case_close(&description);
    return EXIT_SUCCESS;

failed:
    fprintf(stderr, "model: %s\n", error.text);
    strake_close(&solver);
    strake_case_close(&description);
    return EXIT_FAILURE;
}
