/** @file commit.h Which source the program was built from. */
#ifndef STRAKE_COMMIT_H
#define STRAKE_COMMIT_H

/** Of the repository, "-dirty" behind it where files were changed; "" where the source was in none. */
extern const char strake_commit[];

#endif
