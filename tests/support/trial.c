#include "tests/support/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"

static const strake_subject *const subjects[] = {
    &strake_subject_mpdata2d, &strake_subject_cahn_hilliard2d, &strake_subject_cahn_hilliard3d,
    &strake_subject_lava};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

void strake_trial_roughen(strake_trial *trial, uint64_t seed)
{
    double *state = trial->data[0];
    for (size_t k = 1; k < trial->cells; k++) {
        const double choice = strake_random(&seed);
        if (choice < 0.05) {
            state[k] = 0.0;
        } else if (choice < 0.15) {
            state[k] = state[k - 1];
        } else if (choice < 0.16) {
            state[k] = trial->made_from.single ? 1e-41 : 1e-311;
        }
    }
}

void strake_trial_begin(strake_trial *trial, const strake_trial_config *config, uint64_t seed)
{
    const strake_subject *subject = config->subject;
    memset(trial, 0, sizeof *trial);
    trial->made_from = *config;
    subject->make(config, &seed, trial);
    trial->cells = trial->count[0];
    (void)snprintf(trial->name, sizeof trial->name, "%s, %s, %s, %lldx%lldx%lld, boundary %d, h %s",
                   subject->problem,
                   config->variant <= subject->variants ? subject->variant[config->variant]
                                                        : "a drawn scheme",
                   config->single ? "single" : "double", (long long)trial->which->n[0],
                   (long long)trial->which->n[1], (long long)trial->which->n[2], config->boundary,
                   config->constant_h ? "constant" : "variable");
}

void strake_trial_end(strake_trial *trial)
{
    for (int f = 0; f < trial->fields; f++) {
        free(trial->data[f]);
    }
    strake_case_close(&trial->which);
}

strake_solver *strake_trial_open(const strake_trial *trial, const char *where, const char *split,
                                 int threads)
{
    strake_solver *const solver = strake_harness_solver(trial->which, where, split, threads);
    assert_int_equal(strake_element_size(solver),
                     trial->made_from.single ? sizeof(float) : sizeof(double));
    for (int f = 0; f < trial->fields; f++) {
        strake_harness_set(solver, trial->field[f], trial->data[f], trial->count[f]);
    }
    return solver;
}

uint64_t strake_trial_checksum(const strake_trial *trial, strake_solver *solver)
{
    return strake_harness_checksum(solver, trial->field[0], trial->cells);
}

/* The subjects that are asked for, all of them by default. @return how many */
static int asked_for(const strake_subject *list[SUBJECTS])
{
    const char *const name = getenv("STRAKE_TESTS_SUBJECT");
    const bool all = name == NULL || *name == '\0';
    int count = 0;
    for (int k = 0; k < SUBJECTS; k++) {
        if (all || strcmp(subjects[k]->problem, name) == 0) {
            list[count++] = subjects[k];
        }
    }
    if (count == 0) {
        (void)fprintf(stderr, "STRAKE_TESTS_SUBJECT: no subject is called %s\n", name);
    }
    return count;
}

int strake_trial_run(const struct CMUnitTest *tests, size_t count)
{
    const strake_subject *list[SUBJECTS];
    const size_t all_tests = count * (size_t)asked_for(list);
    if (all_tests == 0) {
        return 1;
    }
    struct CMUnitTest *all = calloc(all_tests, sizeof *all);
    char(*name)[200] = calloc(all_tests, sizeof *name);
    if (all == NULL || name == NULL) {
        abort();
    }
    for (size_t k = 0; k < all_tests; k++) {
        const strake_subject *subject = list[k / count];
        (void)snprintf(name[k], sizeof name[k], "%s_%s", subject->problem, tests[k % count].name);
        all[k] = tests[k % count];
        all[k].name = name[k];
        all[k].initial_state = (void *)subject;
    }
    const int failed = _cmocka_run_group_tests("every problem", all, all_tests, NULL, NULL);
    free(all);
    free(name);
    return failed;
}

bool strake_trial_is_whole(void)
{
    const char *const wanted = getenv("STRAKE_TESTS_LONG");
    return wanted != NULL && strcmp(wanted, "1") == 0;
}

bool strake_trial_takes(int number, int of)
{
    return number % of == 0 || strake_trial_is_whole();
}

bool strake_trial_takes_of(const strake_subject *subject, int number, int of)
{
    return strake_trial_takes(number, subject == &strake_subject_mpdata2d ? of : 2 * of);
}
