#include "program/scan_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* Seconds between two writings of the file: a killed scan repeats the runs that ended since. */
static const double period = 1.0;

static const int64_t most_bytes = INT64_C(1) << 32;

/* Appends a value of a table, in quotes where it needs them, and a comma. */
static void put_cell(strake_text *text, const char *value)
{
    const bool plain = strpbrk(value, ",\"\n\r") == NULL;
    strake_text_append(text, "\"", plain ? 0 : 1);
    for (const char *at = value; *at != '\0'; at++) {
        strake_text_append(text, "\"", *at == '"' ? 1 : 0);
        strake_text_append(text, *at == '\n' || *at == '\r' ? " " : at, 1);
    }
    strake_text_append(text, "\"", plain ? 0 : 1);
    strake_text_append(text, ",", 1);
}

/* The end of a cell: a comma or the end of the line. */
static const char *cell_end(const char *at)
{
    bool quoted = false;
    while (*at != '\0' && (quoted || *at != ',')) {
        quoted = *at == '"' ? !quoted : quoted;
        at++;
    }
    return at;
}

const char *strake_scan_table_cell(const char *line, int k, size_t *length)
{
    const char *at = line;
    for (; k > 0; k--) {
        at = cell_end(at);
        if (*at == '\0') {
            return NULL;
        }
        at++;
    }
    *length = (size_t)(cell_end(at) - at);
    return at;
}

static strake_status other_scan(const strake_scan_table *table, const char *what,
                                strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s is the table of another scan (%s); name another file with --table, or "
                       "remove it",
                       table->path, what);
}

/* Takes over one line: the first row of its id that has none, from @p next on, where it mostly is. */
static strake_status take_line(strake_scan_table *table, const char *line, bool keeps,
                               int64_t *next, strake_error *error)
{
    size_t length = 0, folder_length = 0;
    char *end = NULL;
    bool known = false;
    const char *const last = strrchr(line, ',');
    const uint64_t id = last != NULL ? strtoull(last + 1, &end, 16) : 0;
    const char *const state = strake_scan_table_cell(line, table->state, &length);
    const char *const folder = strake_scan_table_cell(line, table->folder, &folder_length);
    if (last == NULL || end != last + 17 || *end != '\0' || state == NULL || folder == NULL) {
        return other_scan(table, "a line of it cannot be read", error);
    }
    for (int64_t k = 0; k < table->rows; k++) {
        const int64_t r = (*next + k) % table->rows;
        strake_scan_row *const row = &table->row[r];
        if (row->id != id) {
            continue;
        }
        known = true;
        *next = r + 1;
        if (row->text == NULL && (!keeps || folder_length > 0 || state[0] == 'f')) {
            row->text = strdup(cell_end(line) + 1);
            row->failed = state[0] == 'f';
            return row->text != NULL ? STRAKE_OK
                                     : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
        }
    }
    return known ? STRAKE_OK
                 : other_scan(table, "it has runs that this one has not, or their case has changed",
                              error);
}

strake_status strake_scan_table_read(strake_scan_table *table, bool keeps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL, *rest = NULL, *line = NULL;
    size_t length = 0;
    int64_t next = 0;
    table->written = strake_clock_seconds();
    if (access(table->path, F_OK) != 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_file_read(table->path, most_bytes, "table", &text, &length, error));
    rest = text;
    line = strsep(&rest, "\n");
    if (strcmp(line, table->header.data) != 0) {
        status = other_scan(table, "its first line differs", error);
    }
    while (status == STRAKE_OK && (line = strsep(&rest, "\n")) != NULL) {
        status = *line != '\0' ? take_line(table, line, keeps, &next, error) : STRAKE_OK;
    }
cleanup:
    free(text);
    return status;
}

void strake_scan_table_head(strake_scan_table *table, const strake_scan_job *job,
                            const strake_problem *problem)
{
    static const char *const numbers[] = {"min", "max", "sum", "norm", "checksum"};
    const strake_scan_values *const values = job->values;
    strake_text *const head = &table->header;
    put_cell(head, "run");
    for (int k = 0; k < values->axes; k++) {
        put_cell(head, values->axis[k].path);
    }
    table->state = values->axes + 1;
    strake_text_print(head, "state,where,steps,seconds,setup_seconds,cells_per_second,");
    int columns = table->state + 6;
    for (int f = 0; f < problem->fields; f++) {
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            if (strake_scan_has_column(&problem->field[f])) {
                strake_text_print(head, "%s_%s,", problem->field[f].name, numbers[k]);
                columns++;
            }
        }
    }
    for (int q = 0; q < problem->quantities; q++) {
        strake_text_print(head, "%s,", problem->quantity[q].name);
        columns++;
    }
    if (job->mapped != NULL) {
        strake_text_print(head, "e1,");
        columns++;
    }
    table->folder = columns;
    strake_text_print(head, "folder,message,id");
}

strake_status strake_scan_table_put(strake_scan_table *table, const strake_scan_job *job,
                                    const strake_scan_answer *answer, strake_error *error)
{
    strake_text line = {0};
    strake_scan_row *const row = &table->row[answer->run];
    const bool failed = answer->status != STRAKE_OK;
    for (int k = 0; k < job->values->axes; k++) {
        put_cell(&line, strake_scan_value(job->values, answer->run, k));
    }
    put_cell(&line, failed ? "failed" : "done");
    put_cell(&line, answer->where);
    if (failed) {
        for (int k = table->state + 2; k < table->folder; k++) {
            put_cell(&line, "");
        }
        put_cell(&line, "");
    } else {
        strake_text_print(&line, "%lld,%.6g,%.6g,%.6g,", (long long)answer->steps, answer->seconds,
                          answer->setup_seconds, answer->rate);
        for (int f = 0; f < answer->fields; f++) {
            strake_text_print(&line, "%.17g,%.17g,%.17g,%.17g,%016" PRIx64 ",",
                              answer->field[f].minimum, answer->field[f].maximum,
                              answer->field[f].sum, answer->field[f].norm,
                              answer->field[f].checksum);
        }
        for (int q = 0; q < answer->quantities; q++) {
            strake_text_print(&line, "%.17g,", answer->quantity[q]);
        }
        if (job->mapped != NULL) {
            strake_text_print(&line, isnan(answer->e1) ? "," : "%.17g,", answer->e1);
        }
        put_cell(&line, answer->folder);
    }
    put_cell(&line, answer->text);
    strake_text_print(&line, "%016" PRIx64, row->id);
    if (line.failed) {
        strake_text_free(&line);
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the table");
    }
    free(row->text);
    row->text = line.data;
    row->failed = failed;
    table->is_new = true;
    return STRAKE_OK;
}

strake_status strake_scan_table_write(strake_scan_table *table, bool now, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    const double seconds = strake_clock_seconds();
    if (!now && (!table->is_new || seconds - table->written < period)) {
        return STRAKE_OK;
    }
    strake_text_print(&text, "%s\n", table->header.data);
    for (int64_t r = 0; r < table->rows; r++) {
        if (table->row[r].text != NULL) {
            strake_text_print(&text, "%lld,", (long long)r + 1);
            strake_text_append(&text, table->row[r].text, strlen(table->row[r].text));
            strake_text_append(&text, "\n", 1);
        }
    }
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for the table");
    STRAKE_TRY(strake_file_put(table->path, STRAKE_FILE_NAMED, text.data, text.length, error));
    table->is_new = false;
    table->written = seconds;
cleanup:
    strake_text_free(&text);
    return status;
}

void strake_scan_table_free(strake_scan_table *table)
{
    for (int64_t r = 0; r < table->rows; r++) {
        free(table->row[r].text);
    }
    free(table->row);
    strake_text_free(&table->header);
    *table = (strake_scan_table){0};
}
