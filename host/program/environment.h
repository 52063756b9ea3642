/**
 * @file environment.h
 * The environment that the program was started with. OpenCL loaders change theirs: Khronos' cuts
 * OCL_ICD_FILENAMES at its first colon while it reads it, so that a process started afterwards would see
 * the first driver only.
 */
#ifndef STRAKE_ENVIRONMENT_H
#define STRAKE_ENVIRONMENT_H

/** Copies the environment; to be called once, before anything is loaded. */
void strake_environment_keep(void);

/** For processes that the program starts: the copy, or the present one where there is none. */
char *const *strake_environment(void);

#endif
