#include "model/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/cache.h"
#include "strake.h"

strake_json strake_model_kept_begin(strake_text *text, int format)
{
    strake_json json = strake_json_on(text);
    strake_json_object(&json, NULL, STRAKE_JSON_LINES);
    strake_json_string(&json, "strake", STRAKE_VERSION);
    strake_json_integer(&json, "format", format);
    return json;
}

strake_status strake_model_kept_write(strake_json *json, strake_text *text, const char *folder,
                                      const char *name, const char *what, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const own = strake_cache_folder_or(folder);
    char *const path = own != NULL ? strake_path_join(own, name) : NULL;
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_IO,
                 "%s cannot be kept: there is no cache folder; set STRAKE_CACHE_DIR or give "
                 "--cache",
                 what);
    strake_json_end(json);
    strake_text_append(text, "\n", 1);
    STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory: %s cannot be kept", what);
    STRAKE_TRY(strake_cache_create(own, error));
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, text->data, text->length, error));
cleanup:
    strake_text_free(text);
    free(path);
    free(own);
    return status;
}

bool strake_model_kept_read(const char *folder, const char *name, strake_node **root)
{
    strake_error ignored;
    char *data = NULL;
    size_t length = 0;
    const char *why = NULL;
    const bool good =
        strake_cache_read(folder, name, STRAKE_MODEL_MOST_BYTES, &data, &length, &why) &&
        strake_tree_parse(name, data, length, root, &ignored) == STRAKE_OK;
    free(data);
    return good;
}

void strake_model_kept_check(strake_model_reader *r, const strake_node *root, int format)
{
    char version[32] = "";
    strake_model_read_text(r, root, "strake", version, sizeof version);
    r->good = r->good && strcmp(version, STRAKE_VERSION) == 0 &&
              strake_model_read_whole(r, root, "format") == format;
}
