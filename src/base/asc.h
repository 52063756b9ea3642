/**
 * @file asc.h
 * ESRI ASCII grids (.asc; SCIARA's .stt): a header of keywords in any case and order, then one number per cell from
 * north to south and from west to east, with any blanks and ends of lines between them. Lines that begin with # are
 * comments.
 */
#ifndef STRAKE_ASC_H
#define STRAKE_ASC_H

#include "base/error.h"
#include "base/georef.h"

/** What the header says. */
typedef struct strake_asc_info {
    int64_t rows, cols;
    strake_georef georef; /**< corner or centre, it is the north-west corner here */
    bool has_nodata;
    double nodata; /**< NODATA_value: of cells without a value; NaN is one, too */
} strake_asc_info;

/** Which number stands for no value. */
typedef enum strake_nodata {
    STRAKE_NODATA_FILE,   /**< the header's; where that is 0, a cell that holds 0 is refused */
    STRAKE_NODATA_NONE,   /**< none: the header's is a number as all others */
    STRAKE_NODATA_NUMBER, /**< one that the user gives */
    STRAKE_NODATA_SHOWN   /**< the header's but for 0: for who wants to see what is there */
} strake_nodata;

/** Whether a cell holds the number that stands for no value, also where one of the two was in single precision once. */
bool strake_nodata_is(double value, double number);

/** An open grid. */
typedef struct strake_asc_reader strake_asc_reader;

/**
 * Whether a file is to be opened as such a grid: it is called .asc or begins, after comments, with a keyword of such a
 * header, or with a number, as a grid does that has lost its header and is refused for that.
 */
bool strake_asc_is_file(const char *path);

/**
 * Opens a file and reads its header. @return STRAKE_ERR_IO if it cannot be read, STRAKE_ERR_USAGE with the line where
 * the header is wrong or the file too short for its cells, STRAKE_ERR_MEMORY. Messages begin with the path.
 */
strake_status strake_asc_open(const char *path, strake_asc_reader **out, strake_error *error);

/** The header; borrowed until the reader is closed. */
const strake_asc_info *strake_asc_header(const strake_asc_reader *reader);

/** What stands for no value from now on. @param[in] number  for STRAKE_NODATA_NUMBER */
void strake_asc_set_nodata(strake_asc_reader *reader, strake_nodata nodata, double number);

/**
 * Cells [first, first + count), counted from the north-west corner along rows; NaN where there is no value. The file
 * is never held whole: reading from the beginning to the end goes over it once, a jump back to a row once more.
 * @return STRAKE_ERR_USAGE with the line of what is no number, of a cell too few or too many; STRAKE_ERR_IO
 */
strake_status strake_asc_read(strake_asc_reader *reader, int64_t first, int64_t count, double *out,
                              strake_error *error);

/** Fails because 0 stands for no value in a file, and a cell holds it. @param[in] line  "line 7: " or "" */
strake_status strake_asc_refuse_zero(const char *path, const char *line, int64_t row, int64_t col,
                                     strake_error *error);

/**
 * Keeps the numbers of files that were read to their ends, up to so many bytes in all, for others that read the same files
 * later in this process or in copies of it: runs of a scan have one terrain. 0, as at first: none more. A file that has changed
 * is read anew.
 */
void strake_asc_keep(uint64_t bytes);

/** Closes a reader and sets the pointer to NULL; NULL is accepted. */
void strake_asc_close(strake_asc_reader **reader);

/** Room for a number of strake_asc_number(). */
enum { STRAKE_ASC_NUMBER = 32 };

/** What is written for cells without a value. */
#define STRAKE_ASC_NODATA (-9999)

/** The header of a grid that lies there: six lines. @return their length, or -1 where @p size is too small */
int strake_asc_write_header(const strake_asc_info *info, char *text, size_t size);

/**
 * The shortest text that reads back as the same double, or as the same float; STRAKE_ASC_NODATA for NaN.
 * @return its length
 */
int strake_asc_write_number(double value, bool is_single, char text[STRAKE_ASC_NUMBER]);

#endif
