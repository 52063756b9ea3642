#include "view/png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "files/text.h"

/* Signature and IHDR; what a chunk has beside its data. */
enum { HEAD = 33, SIGNATURE = 8, AROUND = 12, MOST_BYTES = 1 << 26 };

static strake_status take(void *user, const void *data, size_t bytes, strake_error *error)
{
    strake_text *const text = user;
    strake_text_append(text, data, bytes);
    return text->failed ? strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a picture")
                        : STRAKE_OK;
}

/* The checksum of PNG (ISO 3309), bit by bit: texts are short. */
static uint32_t checksum(const unsigned char *data, size_t bytes)
{
    uint32_t sum = 0xffffffffU;
    for (size_t k = 0; k < bytes; k++) {
        sum ^= data[k];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum & 1U ? 0xedb88320U ^ sum >> 1 : sum >> 1;
        }
    }
    return sum ^ 0xffffffffU;
}

static void append_number(strake_text *text, uint32_t number)
{
    char bytes[4];
    for (int k = 0; k < 4; k++) {
        bytes[k] = (char)(unsigned char)(number >> (8 * (3 - k)) & 0xffU);
    }
    strake_text_append(text, bytes, sizeof bytes);
}

/* A chunk tEXt: word, NUL, text. */
static void append_text(strake_text *png, const char *word, const char *text)
{
    const size_t length = strlen(word) + 1 + strlen(text);
    append_number(png, (uint32_t)length);
    const size_t start = png->length;
    strake_text_append(png, "tEXt", 4);
    strake_text_append(png, word, strlen(word) + 1);
    strake_text_append(png, text, strlen(text));
    if (!png->failed) {
        append_number(png, checksum((const unsigned char *)png->data + start, 4 + length));
    }
}

strake_status strake_png_write(const char *path, unsigned how, const strake_cairo *module,
                               const strake_drawing *drawing, const char *source,
                               const strake_scene *scene, const strake_plot *plot,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text plain = {0}, png = {0};
    char range[80], time[40];
    STRAKE_TRY(module->png(drawing, take, &plain, error));
    STRAKE_CHECK(plain.length > HEAD, error, STRAKE_ERR_STATE, "%s: no picture was drawn", path);
    strake_text_append(&png, plain.data, HEAD);
    (void)strake_number_print(range, sizeof range, "%.17g %.17g", plot->low, plot->high);
    append_text(&png, "Software", source);
    append_text(&png, "Title", scene->title);
    append_text(&png, STRAKE_PNG_RANGE, range);
    if (!isnan(scene->time)) {
        (void)strake_number_print(time, sizeof time, "%.17g", scene->time);
        append_text(&png, "Strake time", time);
    }
    strake_text_append(&png, plain.data + HEAD, plain.length - HEAD);
    STRAKE_CHECK(!png.failed, error, STRAKE_ERR_MEMORY, "out of memory for a picture");
    STRAKE_TRY(strake_file_put(path, how, png.data, png.length, error));
cleanup:
    strake_text_free(&plain);
    strake_text_free(&png);
    return status;
}

bool strake_png_find(const char *path, const char *word, char *out, size_t size)
{
    char *data = NULL;
    size_t length = 0;
    bool found = false;
    const size_t skip = strlen(word) + 1;
    if (strake_file_read(path, MOST_BYTES, "picture", &data, &length, NULL) != STRAKE_OK) {
        return false;
    }
    for (size_t at = SIGNATURE; at + AROUND <= length && !found;) {
        const unsigned char *const head = (const unsigned char *)data + at;
        const size_t bytes =
            (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | (size_t)head[3];
        if (bytes > length - at - AROUND) {
            break;
        }
        found = memcmp(head + 4, "tEXt", 4) == 0 && bytes >= skip &&
                memcmp(head + SIGNATURE, word, skip) == 0;
        if (found) {
            (void)snprintf(out, size, "%.*s", (int)(bytes - skip), data + at + SIGNATURE + skip);
        }
        at += AROUND + bytes;
    }
    free(data);
    return found;
}
