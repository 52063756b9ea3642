/**
 * @file trial.h
 * Cases of any problem with made-up fields, for tests of what must hold whatever is solved: a subject
 * is a problem with variants of its scheme, a trial is one case of it with its fields.
 */
#ifndef STRAKE_TESTS_TRIAL_H
#define STRAKE_TESTS_TRIAL_H

#include "tests/support/harness.h"

enum { STRAKE_TRIAL_FIELDS = 4, STRAKE_TRIAL_OTHER = 4 };

typedef struct strake_subject strake_subject;

/** What a trial is made from. */
typedef struct strake_trial_config {
    const strake_subject *subject;
    int variant;    /**< of the subject; numbers beyond its list mean schemes drawn from them */
    int rows, cols; /**< cells of axes 0 and 2; a subject in 3D has a few lines of axis 1, too */
    /** bit 0: axis 0 has walls, bit 1: axis 2; STRAKE_TRIAL_OTHER: of the other kind (open, no_flux) */
    int boundary;
    bool single;
    bool constant_h; /**< MPDATA: h is one number */
} strake_trial_config;

typedef struct strake_trial {
    strake_trial_config made_from;
    strake_case *which; /**< its options may be changed before a solver is opened */
    int fields;
    const char *field[STRAKE_TRIAL_FIELDS]; /**< the state first */
    double *data[STRAKE_TRIAL_FIELDS];
    size_t count[STRAKE_TRIAL_FIELDS];
    size_t cells;
    char name[200]; /**< for messages */
} strake_trial;

struct strake_subject {
    const char *problem;
    int variants;
    const char *const *variant;
    int explosive; /**< a variant that overflows within a few steps from a multiple of its state; -1: none does */
    double scale;   /**< the multiple */
    bool is_walled; /**< walls all round, whatever boundary is asked for */
    /** Makes the case and the fields, which trial frees. */
    void (*make)(const strake_trial_config *config, uint64_t *seed, strake_trial *trial);
};

extern const strake_subject strake_subject_mpdata2d;
extern const strake_subject strake_subject_cahn_hilliard2d;
extern const strake_subject strake_subject_cahn_hilliard3d;
extern const strake_subject strake_subject_lava;

void strake_trial_begin(strake_trial *trial, const strake_trial_config *config, uint64_t seed);
/** Adds what tends to go wrong to the state: exact zeros, plateaus, denormals. */
void strake_trial_roughen(strake_trial *trial, uint64_t seed);
void strake_trial_end(strake_trial *trial);

/** Opens a solver on @p where and hands it the fields; split may be NULL. */
strake_solver *strake_trial_open(const strake_trial *trial, const char *where, const char *split,
                                 int threads);

/** FNV-1a-64 of the bytes of the state. */
uint64_t strake_trial_checksum(const strake_trial *trial, strake_solver *solver);

/**
 * Runs each test once for each subject, which is its initial state; $STRAKE_TESTS_SUBJECT, the name of a problem,
 * asks for one subject. @return as a main function
 */
int strake_trial_run(const struct CMUnitTest *tests, size_t count);

/** Whether whole matrices are asked for (STRAKE_TESTS_LONG=1), not the samples of them that `make check` runs. */
bool strake_trial_is_whole(void);

/**
 * Whether a run of a matrix is made: with whole matrices every one, otherwise one of @p of. With the sum of the
 * indices of two or more of its axes as @p number, every value of each axis stays, with changing values of the others.
 */
bool strake_trial_takes(int number, int of);

/**
 * The same of a problem: others than mpdata2d, which share its engine, take half of what that takes. A fault of the engine
 * shows there; here one of a problem's own stages, halos and states.
 */
bool strake_trial_takes_of(const strake_subject *subject, int number, int of);

#endif
