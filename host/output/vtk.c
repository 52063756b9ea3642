#include "output/vtk.h"

#include <inttypes.h>
#include <stdlib.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_ORDER_NAME "BigEndian"
#else
#define BYTE_ORDER_NAME "LittleEndian"
#endif

static const char *const section_name[] = {[STRAKE_VTK_POINT_DATA] = "PointData",
                                           [STRAKE_VTK_POINTS] = "Points",
                                           [STRAKE_VTK_VERTS] = "Verts"};

static void print_head(const strake_vtk_head *head, strake_text *text)
{
    uint64_t offset = 0;
    strake_text_print(text,
                      "<?xml version=\"1.0\"?>\n"
                      "<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"" BYTE_ORDER_NAME
                      "\" header_type=\"UInt64\">\n"
                      "  <%s%s%s>\n"
                      "    <FieldData>\n"
                      "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                      "format=\"ascii\">%.17g</DataArray>\n"
                      "    </FieldData>\n"
                      "    <Piece %s>\n",
                      head->kind, head->kind, head->attributes[0] != '\0' ? " " : "",
                      head->attributes, head->time, head->piece);
    for (int k = 0; k < head->arrays; k++) {
        const strake_vtk_array *const a = &head->array[k];
        const char *const section = section_name[a->section];
        if (k == 0 || head->array[k - 1].section != a->section) {
            strake_text_print(text, "      <%s>\n", section);
        }
        strake_text_print(text,
                          "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                          "format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                          a->type, a->name, a->components, offset);
        if (k + 1 == head->arrays || head->array[k + 1].section != a->section) {
            strake_text_print(text, "      </%s>\n", section);
        }
        offset += sizeof(uint64_t) + a->bytes;
    }
    strake_text_print(text,
                      "    </Piece>\n"
                      "  </%s>\n"
                      "  <AppendedData encoding=\"raw\">\n"
                      "_",
                      head->kind);
}

strake_status strake_vtk_begin(strake_vtk *vtk, const char *path, const strake_vtk_head *head,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    *vtk = (strake_vtk){.path = path, .arrays = head->arrays};
    print_head(head, &text);
    vtk->bytes = calloc((size_t)head->arrays + 1, sizeof *vtk->bytes);
    STRAKE_CHECK(vtk->bytes != NULL && !text.failed, error, STRAKE_ERR_MEMORY,
                 "%s: no memory to write it", path);
    for (int k = 0; k < head->arrays; k++) {
        vtk->bytes[k] = head->array[k].bytes;
    }
    STRAKE_TRY(strake_file_begin(&vtk->file, path, STRAKE_FILE_HASTY, error));
    STRAKE_TRY(strake_file_write(&vtk->file, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    if (status != STRAKE_OK) {
        strake_vtk_abandon(vtk);
    }
    return status;
}

/* Goes on to the next array that has bytes, once the present one is complete. */
static strake_status go_on(strake_vtk *vtk, strake_error *error)
{
    strake_status status = STRAKE_OK;
    while (vtk->left == 0 && vtk->next < vtk->arrays && status == STRAKE_OK) {
        vtk->left = vtk->bytes[vtk->next++];
        status = strake_file_write(&vtk->file, &vtk->left, sizeof vtk->left, error);
    }
    return status;
}

strake_status strake_vtk_write(strake_vtk *vtk, const void *data, size_t bytes, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(go_on(vtk, error));
    STRAKE_CHECK(bytes <= vtk->left, error, STRAKE_ERR_STATE,
                 "%s: %zu bytes of an array that lacks %" PRIu64, vtk->path, bytes, vtk->left);
    STRAKE_TRY(strake_file_write(&vtk->file, data, bytes, error));
    vtk->left -= bytes;
cleanup:
    return status;
}

strake_status strake_vtk_end(strake_vtk *vtk, strake_error *error)
{
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    strake_status status = STRAKE_OK;
    STRAKE_TRY(go_on(vtk, error)); /* arrays without bytes */
    STRAKE_CHECK(vtk->left == 0 && vtk->next == vtk->arrays, error, STRAKE_ERR_STATE,
                 "%s: array %d of %d lacks %" PRIu64 " bytes", vtk->path, vtk->next, vtk->arrays,
                 vtk->left);
    STRAKE_TRY(strake_file_write(&vtk->file, tail, sizeof tail - 1, error));
    STRAKE_TRY(strake_file_commit(&vtk->file, error));
cleanup:
    strake_vtk_abandon(vtk);
    return status;
}

void strake_vtk_abandon(strake_vtk *vtk)
{
    strake_file_abandon(&vtk->file);
    free(vtk->bytes);
    *vtk = (strake_vtk){0};
}

void strake_vtk_series_begin(strake_text *text)
{
    strake_text_print(
        text, "<?xml version=\"1.0\"?>\n"
              "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"" BYTE_ORDER_NAME "\">\n"
              "  <Collection>\n");
}

void strake_vtk_series_add(strake_text *text, double time, const char *file)
{
    strake_text_print(text, "    <DataSet timestep=\"%.17g\" part=\"0\" file=\"%s\"/>\n", time,
                      file);
}

void strake_vtk_series_end(strake_text *text)
{
    strake_text_print(text, "  </Collection>\n</VTKFile>\n");
}
