#include "base/asc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"

enum { BUFFER = 1 << 16, MAX_WORD = 63 };

/* A place in the file. */
typedef struct place {
    int64_t offset; /* of the next byte */
    int64_t line;   /* that it is in, from 1 */
} place;

struct strake_asc_reader {
    char *path;
    int descriptor;
    int64_t bytes;
    int64_t begin; /* offset of the first byte of the text */
    strake_asc_info info;
    strake_nodata nodata;
    double number; /* that stands for no value */
    place at;
    int64_t next; /* cell that follows there */
    place *row;   /* where rows begin, as far as they are known */
    int64_t rows; /* that are known */
    char buffer[BUFFER];
    int64_t first; /* offset of what the buffer has */
    size_t held;
    struct stat file; /* what it was when it was opened */
    double *
        numbers; /* of the cells before the next one, as they stand there; NULL: nobody keeps them */
    const double *kept; /* of all cells, as they were read before; NULL: they were not */
};

/* Numbers of a file; they stay for as long as the process, which may have readers of them. */
typedef struct keep {
    struct stat file;
    double *numbers;
} keep;

enum { MOST_KEPT = 16 };

static struct {
    atomic_flag lock;
    uint64_t room; /* bytes left */
    int count;
    keep file[MOST_KEPT];
} kept = {.lock = ATOMIC_FLAG_INIT};

/* Nobody has it for long. */
static void lock_kept(void)
{
    while (atomic_flag_test_and_set_explicit(&kept.lock, memory_order_acquire)) {
    }
}

static void unlock_kept(void)
{
    atomic_flag_clear_explicit(&kept.lock, memory_order_release);
}

void strake_asc_keep(uint64_t bytes)
{
    lock_kept();
    kept.room = bytes;
    unlock_kept();
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Finds numbers that are kept, or room to keep them. */
static void look_for_kept(strake_asc_reader *r)
{
    const uint64_t bytes = (uint64_t)(r->info.rows * r->info.cols) * sizeof *r->numbers;
    lock_kept();
    for (int k = 0; k < kept.count && r->kept == NULL; k++) {
        r->kept = is_same_file(&kept.file[k].file, &r->file) ? kept.file[k].numbers : NULL;
    }
    if (r->kept == NULL && kept.count < MOST_KEPT && bytes <= kept.room) {
        r->numbers = malloc(bytes);
    }
    unlock_kept();
}

/* All of them are there. */
static void keep_numbers(strake_asc_reader *r)
{
    const uint64_t bytes = (uint64_t)(r->info.rows * r->info.cols) * sizeof *r->numbers;
    bool is_there = false;
    lock_kept();
    for (int k = 0; k < kept.count; k++) {
        is_there = is_there || is_same_file(&kept.file[k].file, &r->file);
    }
    if (!is_there && kept.count < MOST_KEPT && bytes <= kept.room) {
        kept.file[kept.count++] = (keep){r->file, r->numbers};
        kept.room -= bytes;
        r->numbers = NULL;
    }
    unlock_kept();
    free(r->numbers);
    r->numbers = NULL;
}

typedef enum keyword {
    COLS,
    ROWS,
    X_CORNER,
    X_CENTER,
    Y_CORNER,
    Y_CENTER,
    CELL,
    NODATA,
    CELL_X, /* both instead of cellsize, as GDAL writes them */
    CELL_Y,
    WORDS
} keyword;

static const char *const words[WORDS] = {"ncols",     "nrows",     "xllcorner", "xllcenter",
                                         "yllcorner", "yllcenter", "cellsize",  "NODATA_value",
                                         "dx",        "dy"};

static strake_status out_of_memory(const char *path, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
}

static bool is_blank(int byte)
{
    const bool is_end = byte == 0 || byte == 0x1a; /* as old systems end texts */
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || is_end;
}

/* The next byte, which stays the next one; -1 at the end of the file, -2 where it cannot be read. */
static int peek(strake_asc_reader *r)
{
    if (r->at.offset >= r->bytes) {
        return -1;
    }
    if (r->at.offset < r->first || r->at.offset >= r->first + (int64_t)r->held) {
        const int64_t left = r->bytes - r->at.offset;
        r->first = r->at.offset;
        r->held = left < BUFFER ? (size_t)left : BUFFER;
        if (!strake_file_read_at(r->descriptor, r->buffer, r->held, r->first)) {
            r->held = 0;
            return -2;
        }
    }
    return (unsigned char)r->buffer[r->at.offset - r->first];
}

/* Skips blanks, and lines that begin with #: these are comments. @return the next byte, as peek() */
static int skip_blanks(strake_asc_reader *r)
{
    bool is_fresh = r->at.offset == r->begin; /* only blanks stand before this byte in its line */
    bool is_comment = false;
    int byte = peek(r);
    while (is_blank(byte) || is_comment || (is_fresh && byte == '#')) {
        if (byte < 0) {
            break;
        }
        is_comment = byte != '\n' && (is_comment || byte == '#');
        is_fresh = byte == '\n' || (is_fresh && !is_comment);
        r->at.line += byte == '\n' ? 1 : 0;
        r->at.offset++;
        byte = peek(r);
    }
    return byte;
}

/* The next word of the file, "" at its end; what is longer than any number or keyword is cut off. */
static strake_status next_word(strake_asc_reader *r, char word[MAX_WORD + 1], strake_error *error)
{
    size_t length = 0;
    int byte = skip_blanks(r);
    while (byte >= 0 && !is_blank(byte)) {
        if (length < MAX_WORD) {
            word[length++] = byte >= ' ' && byte < 127 ? (char)byte : '?';
        }
        r->at.offset++;
        byte = peek(r);
    }
    word[length] = '\0';
    return byte != -2 ? STRAKE_OK
                      : strake_fail(error, STRAKE_ERR_IO, "%s: cannot read it: %s", r->path,
                                    errno != 0 ? strake_file_reason(errno) : "it became shorter");
}

/* A word as a number, NaN included. */
static bool read_number(const char *word, double *out)
{
    char *end = NULL;
    *out = strake_number_read(word, &end);
    return end != word && *end == '\0' && !isinf(*out);
}

static int find_keyword(const char *word)
{
    static const char *const other[] = {"xllcentre", "yllcentre", "nodata"};
    static const keyword same[] = {X_CENTER, Y_CENTER, NODATA};
    for (int k = 0; k < WORDS; k++) {
        if (strcasecmp(word, words[k]) == 0) {
            return k;
        }
    }
    for (int k = 0; k < 3; k++) {
        if (strcasecmp(word, other[k]) == 0) {
            return (int)same[k];
        }
    }
    return -1;
}

static strake_status read_line(strake_asc_reader *r, const char *word, double value[WORDS],
                               bool given[WORDS], strake_error *error)
{
    strake_status status = STRAKE_OK;
    char number[MAX_WORD + 1];
    const int64_t line = r->at.line;
    const int k = find_keyword(word);
    STRAKE_CHECK(k >= 0, error, STRAKE_ERR_USAGE,
                 "%s: line %lld: '%s' is no keyword of an ESRI ASCII grid; expected ncols, nrows, "
                 "xllcorner or xllcenter, yllcorner or yllcenter, cellsize or dx and dy, "
                 "NODATA_value, then the numbers of the cells",
                 r->path, (long long)line, word);
    STRAKE_CHECK(!given[k], error, STRAKE_ERR_USAGE, "%s: line %lld: %s stands twice", r->path,
                 (long long)line, words[k]);
    STRAKE_TRY(next_word(r, number, error));
    STRAKE_CHECK(read_number(number, &value[k]) && (k == NODATA || !isnan(value[k])), error,
                 STRAKE_ERR_USAGE, "%s: line %lld: %s is '%s', expected a number", r->path,
                 (long long)line, words[k], number);
    given[k] = true;
cleanup:
    return status;
}

/* dx and dy, which may differ by roundings, are a cellsize. */
static strake_status join_cells(const strake_asc_reader *r, double value[WORDS], bool given[WORDS],
                                strake_error *error)
{
    static const double rounded = 1e-6;
    strake_status status = STRAKE_OK;
    if (!given[CELL_X] && !given[CELL_Y]) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(!given[CELL], error, STRAKE_ERR_USAGE, "%s: the header has both %s and %s",
                 r->path, words[CELL], words[given[CELL_X] ? CELL_X : CELL_Y]);
    STRAKE_CHECK(
        given[CELL_X] && given[CELL_Y] &&
            fabs(value[CELL_X] - value[CELL_Y]) <= rounded * fabs(value[CELL_X]),
        error, STRAKE_ERR_USAGE,
        "%s: dx is %.10g and dy %.10g, expected square cells: gdalwarp -tr CELL CELL makes "
        "them so",
        r->path, value[CELL_X], value[CELL_Y]);
    value[CELL] = value[CELL_X];
    given[CELL] = true;
cleanup:
    return status;
}

/* What the header says, from what stood in it. */
static strake_status complete(strake_asc_reader *r, double value[WORDS], bool given[WORDS],
                              strake_error *error)
{
    static const keyword needed[] = {COLS, ROWS, X_CORNER, Y_CORNER, CELL};
    strake_status status = STRAKE_OK;
    double half;
    STRAKE_TRY(join_cells(r, value, given, error));
    half = 0.5 * value[CELL];
    for (int k = 0; k < 5; k++) {
        const keyword n = needed[k];
        const bool is_place = n == X_CORNER || n == Y_CORNER;
        STRAKE_CHECK(given[n] || (is_place && given[n + 1]), error, STRAKE_ERR_USAGE,
                     "%s: line %lld: the numbers begin, but the header has no %s%s%s", r->path,
                     (long long)r->at.line, words[n], is_place ? " or " : "",
                     is_place ? words[n + 1] : "");
        STRAKE_CHECK(!is_place || !given[n] || !given[n + 1], error, STRAKE_ERR_USAGE,
                     "%s: line %lld: the header has both %s and %s", r->path, (long long)r->at.line,
                     words[n], words[n + 1]);
        STRAKE_CHECK(
            n > ROWS || (value[n] >= 1.0 && value[n] <= INT32_MAX && floor(value[n]) == value[n]),
            error, STRAKE_ERR_USAGE, "%s: %s is %.10g, expected an integer from 1 to 2147483647",
            r->path, words[n], value[n]);
        STRAKE_CHECK(n != CELL || value[n] > 0.0, error, STRAKE_ERR_USAGE,
                     "%s: cellsize is %.10g, expected a number > 0", r->path, value[n]);
    }
    r->info = (strake_asc_info){.rows = (int64_t)value[ROWS],
                                .cols = (int64_t)value[COLS],
                                .has_nodata = given[NODATA],
                                .nodata = value[NODATA]};
    r->info.georef =
        (strake_georef){.is_known = true,
                        .x = given[X_CORNER] ? value[X_CORNER] : value[X_CENTER] - half,
                        .y = (given[Y_CORNER] ? value[Y_CORNER] : value[Y_CENTER] - half) +
                             value[ROWS] * value[CELL],
                        .cell = value[CELL]};
cleanup:
    return status;
}

static bool is_word_of_header(const char *word)
{
    const bool is_letter = (word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z');
    return is_letter && strcasecmp(word, "nan") != 0 && strncasecmp(word, "inf", 3) != 0;
}

/* A mark at the beginning of a text in UTF-8 is no part of it; in UTF-16 there are no numbers to read. */
static strake_status skip_mark(strake_asc_reader *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t length = sizeof STRAKE_BYTE_ORDER_MARK - 1;
    if (r->bytes >= length && peek(r) >= 0 &&
        memcmp(r->buffer, STRAKE_BYTE_ORDER_MARK, (size_t)length) == 0) {
        r->at.offset = length;
        r->begin = length;
    }
    STRAKE_CHECK(r->bytes < 2 || peek(r) < 0 || !strake_text_is_utf16(r->buffer), error,
                 STRAKE_ERR_USAGE, "%s: is a text in UTF-16; save it in UTF-8 or ASCII", r->path);
cleanup:
    return status;
}

static strake_status read_header(strake_asc_reader *r, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double value[WORDS] = {0.0};
    bool given[WORDS] = {false};
    char word[MAX_WORD + 1];
    int words_read = 0;
    place before;
    STRAKE_TRY(skip_mark(r, error));
    before = r->at;
    STRAKE_TRY(next_word(r, word, error));
    while (is_word_of_header(word)) {
        STRAKE_TRY(read_line(r, word, value, given, error));
        words_read++;
        before = r->at;
        STRAKE_TRY(next_word(r, word, error));
    }
    STRAKE_CHECK(
        words_read > 0 || word[0] == '\0', error, STRAKE_ERR_USAGE,
        "%s: line %lld: '%s': is a text without the header of a grid; expected an ESRI "
        "ASCII grid, whose first lines are ncols, nrows, xllcorner, yllcorner and cellsize "
        "with their numbers. Write these lines before the numbers, or save the numbers as "
        ".npy",
        r->path, (long long)r->at.line, word);
    STRAKE_TRY(complete(r, value, given, error));
    r->at = before;
    /* Each cell takes a digit, and a blank unless it is the last one. */
    STRAKE_CHECK(r->info.rows * r->info.cols <= (r->bytes - before.offset + 1) / 2, error,
                 STRAKE_ERR_USAGE,
                 "%s: the header says %lld rows of %lld cells, for which the file is too short "
                 "(%lld bytes)",
                 r->path, (long long)r->info.rows, (long long)r->info.cols, (long long)r->bytes);
    r->row = malloc((size_t)r->info.rows * sizeof *r->row);
    if (r->row == NULL) {
        return out_of_memory(r->path, error);
    }
    r->row[0] = before;
    r->rows = 1;
cleanup:
    return status;
}

/* The first word of a text, after blanks and lines that begin with #. @return its length */
static size_t first_word(const char *text, const char **out)
{
    const char *at = text + strspn(text, " \t\r\n");
    while (*at == '#') {
        at += strcspn(at, "\n");
        at += strspn(at, " \t\r\n");
    }
    *out = at;
    return strcspn(at, " \t\r\n");
}

bool strake_asc_is_file(const char *path)
{
    enum { HEAD = 8192 }; /* holds what comments usually stand before a header */
    char *const head = calloc(1, HEAD + 1);
    char word[MAX_WORD + 1];
    const char *why = NULL, *begin = NULL;
    int64_t bytes = 0;
    double number = 0.0;
    const int file = head != NULL ? strake_file_open(path, &bytes, &why) : -1;
    const char *const suffix = strrchr(path, '.');
    bool is = false;
    if (file >= 0) {
        const size_t count = bytes < HEAD ? (size_t)bytes : HEAD;
        const bool is_read = strake_file_read_at(file, head, count, 0);
        const bool is_text =
            strlen(head) == count && (suffix == NULL || strcasecmp(suffix, ".npy") != 0);
        (void)close(file);
        const size_t length = first_word(strake_text_begin(head), &begin);
        (void)snprintf(word, sizeof word, "%.*s", (int)length, begin);
        /* What is wrong in a file of this name, or of numbers without a header, is told as of such a grid. */
        is = (suffix != NULL && strcasecmp(suffix, ".asc") == 0) ||
             (is_read &&
              (find_keyword(word) >= 0 || (is_text && length > 0 && read_number(word, &number)) ||
               (bytes >= 2 && strake_text_is_utf16(head))));
    }
    free(head);
    return is;
}

strake_status strake_asc_open(const char *path, strake_asc_reader **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *why = NULL;
    strake_asc_reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return out_of_memory(path, error);
    }
    r->at.line = 1;
    r->descriptor = strake_file_open(path, &r->bytes, &why);
    STRAKE_CHECK(r->descriptor >= 0, error, STRAKE_ERR_IO, "%s: cannot open it: %s", path, why);
    r->path = strdup(path);
    if (r->path == NULL) {
        status = out_of_memory(path, error);
        goto cleanup;
    }
    STRAKE_TRY(read_header(r, error));
    strake_asc_set_nodata(r, STRAKE_NODATA_FILE, 0.0);
    if (fstat(r->descriptor, &r->file) == 0 && S_ISREG(r->file.st_mode)) {
        look_for_kept(r);
    }
    *out = r;
    r = NULL;
cleanup:
    strake_asc_close(&r);
    return status;
}

const strake_asc_info *strake_asc_header(const strake_asc_reader *reader)
{
    return &reader->info;
}

bool strake_nodata_is(double value, double number)
{
    enum { LARGE = 1000 }; /* smaller ones are written with all their digits */
    return value == number || (fabs(number) >= LARGE && (float)value == (float)number);
}

void strake_asc_set_nodata(strake_asc_reader *reader, strake_nodata nodata, double number)
{
    reader->nodata = nodata;
    const strake_asc_info *const info = &reader->info;
    const bool is_files =
        nodata == STRAKE_NODATA_FILE || (nodata == STRAKE_NODATA_SHOWN && info->nodata != 0.0);
    reader->number = nodata == STRAKE_NODATA_NUMBER ? number
                     : is_files && info->has_nodata ? info->nodata
                                                    : NAN;
}

strake_status strake_asc_refuse_zero(const char *path, const char *line, int64_t row, int64_t col,
                                     strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "%s: %scell [%lld, %lld] holds 0, and the header's NODATA_value is "
                       "0, too: is that a value, or none? Say it in the case beside `file`: "
                       "`nodata: none` (0 is a value) or `nodata: 0` (it is none)",
                       path, line, (long long)row, (long long)col);
}

/* The next cell. */
static strake_status next_cell(strake_asc_reader *r, double *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char word[MAX_WORD + 1];
    const int64_t row = r->next / r->info.cols;
    if (r->next % r->info.cols == 0 && row == r->rows) {
        r->row[r->rows++] = r->at;
    }
    STRAKE_TRY(next_word(r, word, error));
    STRAKE_CHECK(word[0] != '\0', error, STRAKE_ERR_USAGE,
                 "%s: line %lld: the file ends at cell [%lld, %lld] of %lld x %lld", r->path,
                 (long long)r->at.line, (long long)row, (long long)(r->next % r->info.cols),
                 (long long)r->info.rows, (long long)r->info.cols);
    STRAKE_CHECK(read_number(word, out), error, STRAKE_ERR_USAGE,
                 "%s: line %lld: cell [%lld, %lld] is '%s', expected a number", r->path,
                 (long long)r->at.line, (long long)row, (long long)(r->next % r->info.cols), word);
    if (r->numbers != NULL) {
        r->numbers[r->next] = *out;
    }
    if (strake_nodata_is(*out, r->number)) {
        if (*out == 0.0 && r->nodata == STRAKE_NODATA_FILE) {
            (void)snprintf(word, sizeof word, "line %lld: ", (long long)r->at.line);
            return strake_asc_refuse_zero(r->path, word, row, r->next % r->info.cols, error);
        }
        *out = NAN;
    }
    r->next++;
    if (r->next == r->info.rows * r->info.cols) {
        STRAKE_TRY(next_word(r, word, error));
        STRAKE_CHECK(word[0] == '\0', error, STRAKE_ERR_USAGE,
                     "%s: line %lld: '%s' follows the last of %lld x %lld cells", r->path,
                     (long long)r->at.line, word, (long long)r->info.rows, (long long)r->info.cols);
        if (r->numbers != NULL) {
            keep_numbers(r);
        }
    }
cleanup:
    return status;
}

strake_status strake_asc_read(strake_asc_reader *reader, int64_t first, int64_t count, double *out,
                              strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_asc_reader *const r = reader;
    double skipped = 0.0;
    if (first < 0 || count < 0 || first > r->info.rows * r->info.cols - count) {
        return strake_fail(error, STRAKE_ERR_STATE, "%s: has no cells %lld to %lld", r->path,
                           (long long)first, (long long)(first + count));
    }
    if (r->kept != NULL) {
        int64_t k = 0;
        /* Where 0 may stand for no value the text tells the line. */
        while (k < count && (r->kept[first + k] != 0.0 || r->nodata != STRAKE_NODATA_FILE)) {
            const double number = r->kept[first + k];
            out[k++] = strake_nodata_is(number, r->number) ? NAN : number;
        }
        if (k == count) {
            return STRAKE_OK;
        }
    }
    const int64_t row = first / r->info.cols < r->rows ? first / r->info.cols : r->rows - 1;
    if (count > 0 && (first < r->next || row * r->info.cols > r->next)) {
        r->at = r->row[row];
        r->next = row * r->info.cols;
    }
    while (count > 0 && r->next < first) {
        STRAKE_TRY(next_cell(r, &skipped, error));
    }
    for (int64_t k = 0; k < count; k++) {
        STRAKE_TRY(next_cell(r, &out[k], error));
    }
cleanup:
    return status;
}

void strake_asc_close(strake_asc_reader **reader)
{
    if (reader == NULL || *reader == NULL) {
        return;
    }
    if ((*reader)->descriptor >= 0) {
        (void)close((*reader)->descriptor);
    }
    free((*reader)->numbers);
    free((*reader)->row);
    free((*reader)->path);
    free(*reader);
    *reader = NULL;
}

int strake_asc_write_header(const strake_asc_info *info, char *text, size_t size)
{
    const strake_georef *const g = &info->georef;
    const int length = strake_number_print(
        text, size,
        "ncols %lld\nnrows %lld\nxllcorner %.15g\nyllcorner %.15g\ncellsize %.15g\n"
        "NODATA_value %d\n",
        (long long)info->cols, (long long)info->rows, g->x, g->y - (double)info->rows * g->cell,
        g->cell, STRAKE_ASC_NODATA);
    return length >= 0 && (size_t)length < size ? length : -1;
}

int strake_asc_write_number(double value, bool is_single, char text[STRAKE_ASC_NUMBER])
{
    int length = 0;
    if (isnan(value)) {
        return strake_number_print(text, STRAKE_ASC_NUMBER, "%d", STRAKE_ASC_NODATA);
    }
    for (int digits = is_single ? 6 : 15; digits <= (is_single ? 9 : 17); digits++) {
        length = strake_number_print(text, STRAKE_ASC_NUMBER, "%.*g", digits, value);
        const double back = strake_number_read(text, NULL);
        if (is_single ? (float)back == (float)value : back == value) {
            break;
        }
    }
    return length;
}
