/** @file kept.h Files of kept figures, of devices and of ranks: written whole, or not at all. Only for host/model/. */
#ifndef STRAKE_MODEL_KEPT_H
#define STRAKE_MODEL_KEPT_H

#include "io/json.h"
#include "model/read.h"

/** Begins the text of a file. @param[in] format  raised where its members change their meaning */
strake_json strake_model_kept_begin(strake_text *text, int format);

/**
 * Ends it, and puts it in the place of an older one; the text is freed.
 * @param[in] folder  NULL: the default cache @param[in] what  for the message: "the model of ..."
 * @return STRAKE_ERR_IO, STRAKE_ERR_STATE, STRAKE_ERR_MEMORY
 */
strake_status strake_model_kept_write(strake_json *json, strake_text *text, const char *folder,
                                      const char *name, const char *what, strake_error *error);

/** Reads a file. @param[out] root  strake_tree_free() it in any case @return whether it could be read */
bool strake_model_kept_read(const char *folder, const char *name, strake_node **root);

/** Whether it is of this version and format: anything else makes the file unusable. */
void strake_model_kept_check(strake_model_reader *r, const strake_node *root, int format);

#endif
