/* Files of VTK's XML formats, their series, and reading those of particles again. */
#include "output/vtk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "output/output.h"

enum { HEAD = 1 << 14 /* more than a header has */ };

/* The number in an attribute of an element, behind @p from and before its end. */
static bool find_number(const char *from, const char *name, int64_t *out)
{
    const char *const end = strchr(from, '>');
    const char *const at = strstr(from, name);
    char *rest = NULL;
    if (at == NULL || end == NULL || at > end) {
        return false;
    }
    const char *const number = at + strlen(name);
    const long long value = strtoll(number, &rest, 10);
    *out = value;
    return rest != number && *rest == '"' && value >= 0;
}

strake_status strake_vtp_open(const char *path, strake_vtp *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    static const char mark[] = "<AppendedData encoding=\"raw\">";
    const char *why = NULL, *piece = NULL;
    char *data = NULL;
    int64_t bytes = 0;
    size_t length = 0;
    *out = (strake_vtp){.path = path, .descriptor = strake_file_open(path, &bytes, &why)};
    out->is_open = out->descriptor >= 0;
    STRAKE_CHECK(out->is_open, error, STRAKE_ERR_IO, "cannot read %s: %s", path, why);
    out->bytes = (uint64_t)bytes;
    length = bytes < HEAD ? (size_t)bytes : HEAD;
    out->head = calloc(1, length + 1);
    STRAKE_CHECK(out->head != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    STRAKE_CHECK(strake_file_read_at(out->descriptor, out->head, length, 0), error, STRAKE_ERR_IO,
                 "cannot read %s", path);
    data = strstr(out->head, mark);
    piece = strstr(out->head, "<Piece ");
    STRAKE_CHECK(data != NULL && piece != NULL && piece < data &&
                     strstr(out->head, "header_type=\"UInt64\"") != NULL &&
                     strstr(out->head, "byte_order=\"LittleEndian\"") != NULL &&
                     strchr(data, '_') != NULL &&
                     find_number(piece, "NumberOfPoints=\"", &out->points),
                 error, STRAKE_ERR_USAGE, "%s is no file of particles that a run wrote", path);
    out->begins = (uint64_t)(strchr(data, '_') + 1 - out->head);
    *data = '\0';
cleanup:
    return status;
}

bool strake_vtp_find(const strake_vtp *vtp, const char *name, strake_vtp_array *out)
{
    static const struct {
        const char *name;
        int size;
    } types[] = {{"Float64", 8}, {"Float32", 4}, {"Int64", 8}, {"UInt8", 1}};
    char with_name[80], with_type[120];
    int64_t components = 0, offset = 0;
    (void)snprintf(with_name, sizeof with_name, "Name=\"%.60s\" ", name);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        (void)snprintf(with_type, sizeof with_type, "<DataArray type=\"%s\" %s", types[k].name,
                       with_name);
        const char *const at = strstr(vtp->head, with_type);
        if (at == NULL || !find_number(at, "NumberOfComponents=\"", &components) ||
            !find_number(at, " offset=\"", &offset) || components < 1 || components > 3) {
            continue;
        }
        *out = (strake_vtp_array){.components = (int)components, .size = types[k].size};
        (void)snprintf(out->type, sizeof out->type, "%s", types[k].name);
        out->begins = vtp->begins + (uint64_t)offset + sizeof(uint64_t);
        const uint64_t row = (uint64_t)components * (uint64_t)types[k].size;
        return out->begins <= vtp->bytes &&
               (uint64_t)vtp->points <= (vtp->bytes - out->begins) / row;
    }
    return false;
}

static double number_at(const strake_vtp_array *array, const char *bytes)
{
    double wide = 0.0;
    float narrow = 0.0F;
    int64_t number = 0;
    if (array->size == 1) {
        return (double)(unsigned char)bytes[0];
    }
    if (array->size == 4) {
        memcpy(&narrow, bytes, sizeof narrow);
        return (double)narrow;
    }
    if (array->type[0] == 'I') {
        memcpy(&number, bytes, sizeof number);
        return (double)number;
    }
    memcpy(&wide, bytes, sizeof wide);
    return wide;
}

strake_status strake_vtp_read(const strake_vtp *vtp, const strake_vtp_array *array, int64_t first,
                              int64_t count, int columns, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t row = (size_t)array->components * (size_t)array->size;
    char *const bytes = malloc((size_t)count * row + 1);
    STRAKE_CHECK(bytes != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %s", vtp->path);
    STRAKE_CHECK(strake_file_read_at(vtp->descriptor, bytes, (size_t)count * row,
                                     (int64_t)(array->begins + (uint64_t)first * row)),
                 error, STRAKE_ERR_IO, "cannot read %s", vtp->path);
    for (int64_t k = 0; k < count; k++) {
        for (int c = 0; c < columns; c++) {
            const int from = columns == 2 ? c * (array->components - 1) : c;
            out[k * columns + c] =
                number_at(array, bytes + (size_t)k * row + (size_t)(from * array->size));
        }
    }
cleanup:
    free(bytes);
    return status;
}

void strake_vtp_close(strake_vtp *vtp)
{
    if (vtp->is_open) {
        (void)close(vtp->descriptor);
    }
    free(vtp->head);
    *vtp = (strake_vtp){.descriptor = -1};
}

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

/** Beginning and end of a .pvd, a series of files with their times; vtk_series_add() between them. */
static void vtk_series_begin(strake_text *text)
{
    strake_text_print(
        text, "<?xml version=\"1.0\"?>\n"
              "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"" BYTE_ORDER_NAME "\">\n"
              "  <Collection>\n");
}

static void vtk_series_add(strake_text *text, double time, const char *file)
{
    strake_text_print(text, "    <DataSet timestep=\"%.17g\" part=\"0\" file=\"%s\"/>\n", time,
                      file);
}

static void vtk_series_end(strake_text *text)
{
    strake_text_print(text, "  </Collection>\n</VTKFile>\n");
}

strake_status strake_series_begin(const strake_format_run *run, const char *name,
                                  const char *suffix, strake_text *series, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char last[STRAKE_FORMAT_FILE] = "";
    char *rest = NULL;
    char *const lines = strdup(run->index->data != NULL ? run->index->data : "");
    STRAKE_CHECK(lines != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    vtk_series_begin(series);
    rest = lines;
    for (char *line = strake_next_line(&rest); line != NULL; line = strake_next_line(&rest)) {
        strake_index_entry entry;
        char file[STRAKE_FORMAT_FILE];
        if (!strake_index_read(line, &entry)) {
            continue;
        }
        strake_format_name(name, entry.step, suffix, file);
        if (strcmp(entry.file, file) == 0 && strcmp(last, file) != 0) {
            vtk_series_add(series, entry.time, file);
            (void)snprintf(last, sizeof last, "%s", file);
        }
    }
cleanup:
    free(lines);
    return status;
}

strake_status strake_series_add(const strake_format_run *run, const char *name, const char *file,
                                strake_text *series, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    char plain[STRAKE_FORMAT_FILE];
    (void)snprintf(plain, sizeof plain, "%s.pvd", name);
    char *const path = strake_path_join(run->folder, plain);
    vtk_series_add(series, run->output.time, file);
    if (!series->failed) {
        strake_text_append(&text, series->data, series->length);
        vtk_series_end(&text);
    }
    STRAKE_CHECK(path != NULL && !series->failed && !text.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for outputs");
    /* The index, which follows, is what a run goes on from: the series can be made again of it. */
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_HASTY, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    free(path);
    return status;
}
