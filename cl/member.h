/*
 * member.h: where a member of a batch is, C11 and OpenCL C: the host and the kernels of member.cl have the same struct.
 * host/opencl/cl_batch.h says what a batch is.
 */
#ifndef STRAKE_MEMBER_OF_ALL_H
#define STRAKE_MEMBER_OF_ALL_H

typedef struct strake_member {
    int left;       /* steps that it is to make still */
    int parity;     /* which of the two arrays of each state is current */
    int goes;       /* whether the sweep that is to come computes it */
    int non_finite; /* whether a search found NaN or Inf in its states */
    int what;       /* of its tiles the next look goes through: cl/active.h */
} strake_member;

#endif
