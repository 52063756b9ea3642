/*
 * A model with its own time loop that changes the winds before every step and has Strake advect a tracer: a flow that
 * deforms the tracer for half of the time and then turns round, so that it comes back to where it was.
 * Usage: model [WHERE]; reads case.yaml, writes checkpoint.strake. Build: run.sh
 */
#include <stdio.h>
#include <stdlib.h>

#include <strake.h>

enum { N = 128, STEPS = 800 };

static double base1[N + 1][N], base2[N][N + 1]; /* the winds at their strongest, as Courant numbers */
static double u1[N + 1][N], u2[N][N + 1];

/* Stream function at the corner before row i and column j: no wind through the edges. */
static double stream(int i, int j)
{
    const double x = (double)i / N, y = (double)j / N;
    const double a = x * (1.0 - x), b = y * (1.0 - y);
    return 4096.0 * ((a * a) * (b * b));
}

/* Differences along the faces: as much flows into every cell as out of it. */
static void make_base(void)
{
    for (int i = 0; i <= N; i++) {
        for (int j = 0; j <= N; j++) {
            if (j < N) {
                base1[i][j] = stream(i, j) - stream(i, j + 1);
            }
            if (i < N) {
                base2[i][j] = stream(i + 1, j) - stream(i, j);
            }
        }
    }
}

static void change_winds(int step)
{
    const double strength = 1.0 - (2.0 * step + 1.0) / STEPS;
    for (int k = 0; k < (N + 1) * N; k++) {
        (&u1[0][0])[k] = strength * (&base1[0][0])[k];
        (&u2[0][0])[k] = strength * (&base2[0][0])[k];
    }
}

static strake_status tell(strake_solver *solver, strake_error *error)
{
    double minimum, maximum, sum;
    const strake_status status =
        strake_field_statistics(solver, "psi", &minimum, &maximum, &sum, error);
    if (status == STRAKE_OK) {
        printf("step %3d: psi from %.3f to %.3f, sum %.9f\n", (int)strake_step_count(solver),
               minimum, maximum, sum);
    }
    return status;
}

static strake_status run(strake_solver *solver, strake_error *error)
{
    strake_status status = tell(solver, error);
    for (int step = 0; step < STEPS && status == STRAKE_OK; step++) {
        change_winds(step);
        status = strake_set_field(solver, "u1", u1, error);
        if (status == STRAKE_OK) {
            status = strake_set_field(solver, "u2", u2, error);
        }
        if (status == STRAKE_OK) {
            status = strake_step(solver, 1, error);
        }
        if (status == STRAKE_OK && (step + 1) % (STEPS / 2) == 0) {
            status = tell(solver, error);
        }
    }
    return status == STRAKE_OK ? strake_checkpoint_save(solver, "checkpoint.strake", error) : status;
}

int main(int argc, char **argv)
{
    strake_error error;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const strake_options options = {.where = argc > 1 ? argv[1] : "cpu"};
    make_base();
    strake_status status = strake_case_open_partial("case.yaml", NULL, &which, &error);
    if (status == STRAKE_OK) {
        status = strake_open(which, &options, &solver, &error);
    }
    if (status == STRAKE_OK) {
        status = run(solver, &error);
    }
    if (status != STRAKE_OK) {
        fprintf(stderr, "model: %s\n", error.text);
    }
    strake_close(&solver);
    strake_case_close(&which);
    return status == STRAKE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
