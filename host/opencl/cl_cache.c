/*
 * Program binaries in files. One entry is DIRECTORY/NAME.clbin, NAME being 16 hex digits of the
 * key: header, payload, and the FNV-1a-64 of both. Entries are machine-local, hence in native byte
 * order.
 */
#include "opencl/cl_impl.h"

#include "base/file.h"
#include "base/hash.h"
#include "io/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = {'S', 'T', 'R', 'A', 'K', 'E', 'C', '1'};

typedef struct entry_header {
    char magic[8];
    uint64_t name, check, length; /* the key */
    uint64_t size;                /* bytes of payload */
} entry_header;

/* Larger files are no program of ours; bounds what a damaged size can make us allocate. */
static const uint64_t largest_entry = UINT64_C(1) << 28;

strake_cl_key strake_cl_key_begin(void)
{
    return (strake_cl_key){.name = STRAKE_FNV_SEED, .check = 0, .length = 0};
}

void strake_cl_key_add(strake_cl_key *key, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    key->name = strake_fnv1a(key->name, text, bytes);
    for (size_t i = 0; i < bytes; ++i) {
        /* Add, rotate, multiply by the golden ratio: unrelated to FNV's xor and multiply. */
        const uint64_t sum = key->check + (unsigned char)text[i] + 1;
        key->check = (sum << 23 | sum >> 41) * UINT64_C(0x9e3779b97f4a7c15);
    }
    key->length += bytes;
}

enum { NAME = 32 };

static const char *entry_name(const strake_cl_key *key, char name[NAME])
{
    (void)snprintf(name, NAME, "%016" PRIx64 ".clbin", key->name);
    return name;
}

/* Path of an entry, to be freed; NULL if there is no cache. */
static char *entry_path(const char *directory, const strake_cl_key *key)
{
    char name[NAME];
    return directory != NULL ? strake_path_join(directory, entry_name(key, name)) : NULL;
}

void strake_cl_cache_load(const strake_cl_key *key, unsigned char **payload, size_t *size)
{
    char name[NAME];
    const char *why = NULL;
    int64_t length = 0;
    char *const directory = strake_cache_folder();
    const int file =
        directory != NULL ? strake_cache_open(directory, entry_name(key, name), &length, &why) : -1;
    entry_header header;
    uint64_t checksum = 0;
    unsigned char *bytes = NULL;

    *payload = NULL;
    *size = 0;
    if (file < 0 || !strake_file_read_at(file, &header, sizeof header, 0) ||
        memcmp(header.magic, magic, sizeof magic) != 0 || header.name != key->name ||
        header.check != key->check || header.length != key->length || header.size == 0 ||
        header.size > largest_entry ||
        (uint64_t)length != sizeof header + header.size + sizeof checksum) {
        goto cleanup;
    }
    bytes = malloc(header.size);
    if (bytes == NULL || !strake_file_read_at(file, bytes, header.size, sizeof header) ||
        !strake_file_read_at(file, &checksum, sizeof checksum,
                             (int64_t)(sizeof header + header.size)) ||
        checksum != strake_fnv1a(strake_fnv1a(STRAKE_FNV_SEED, &header, sizeof header), bytes,
                                 header.size)) {
        goto cleanup;
    }
    *payload = bytes;
    *size = header.size;
    bytes = NULL;

cleanup:
    free(bytes);
    if (file >= 0) {
        (void)close(file);
    }
    free(directory);
}

void strake_cl_cache_store(const strake_cl_key *key, const unsigned char *payload, size_t size)
{
    entry_header header = {
        .name = key->name, .check = key->check, .length = key->length, .size = size};
    uint64_t checksum = 0;
    strake_file file = {0};
    char *const directory = strake_cache_folder();
    char *const path = entry_path(directory, key);

    if (path == NULL || size == 0 || size > largest_entry ||
        strake_cache_create(directory, NULL) != STRAKE_OK ||
        strake_file_begin(&file, path, STRAKE_FILE_PRIVATE | STRAKE_FILE_HASTY, NULL) !=
            STRAKE_OK) {
        goto cleanup;
    }
    memcpy(header.magic, magic, sizeof magic);
    checksum = strake_fnv1a(strake_fnv1a(STRAKE_FNV_SEED, &header, sizeof header), payload, size);
    if (strake_file_write(&file, &header, sizeof header, NULL) == STRAKE_OK &&
        strake_file_write(&file, payload, size, NULL) == STRAKE_OK &&
        strake_file_write(&file, &checksum, sizeof checksum, NULL) == STRAKE_OK) {
        (void)strake_file_commit(&file, NULL);
    }

cleanup:
    strake_file_abandon(&file);
    free(path);
    free(directory);
}

void strake_cl_cache_remove(const strake_cl_key *key)
{
    char *const directory = strake_cache_folder();
    char *const path = entry_path(directory, key);
    if (path != NULL) {
        (void)unlink(path);
    }
    free(path);
    free(directory);
}
