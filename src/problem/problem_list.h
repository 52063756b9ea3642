/** @file problem_list.h All problems: one line each. */
#ifndef STRAKE_PROBLEM_LIST_H
#define STRAKE_PROBLEM_LIST_H

#define STRAKE_PROBLEMS(X)                                                                         \
    X(mpdata1d)                                                                                    \
    X(mpdata2d)                                                                                    \
    X(mpdata3d)                                                                                    \
    X(cahn_hilliard2d)                                                                             \
    X(cahn_hilliard3d)                                                                             \
    X(lava)                                                                                        \
    X(sph2d)                                                                                       \
    X(sph3d)

#endif
