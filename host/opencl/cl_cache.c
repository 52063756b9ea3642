/*
 * Program binaries in files. One entry is DIRECTORY/NAME.clbin, NAME being 16 hex digits of the
 * key: header, payload, and the FNV-1a-64 of both. Entries are machine-local, hence in native byte
 * order.
 */
#include "opencl/cl_impl.h"

#include "base/hash.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Path of an entry, to be freed; NULL if there is no cache. */
static char *entry_path(const strake_cl_key *key)
{
    char *const directory = strake_cache_folder();
    char *path = NULL;
    if (directory != NULL && asprintf(&path, "%s/%016" PRIx64 ".clbin", directory, key->name) < 0) {
        path = NULL;
    }
    free(directory);
    return path;
}

/*
 * Makes the folders above a file, private to the user; existing ones are left as they are. Failure
 * shows when the file is made (mkdir of an existing folder may also fail for other reasons).
 */
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static bool read_all(int file, void *data, size_t size)
{
    char *next = data;
    while (size > 0) {
        const ssize_t got = read(file, next, size);
        if (got > 0) {
            next += got;
            size -= (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool write_all(int file, const void *data, size_t size)
{
    const char *next = data;
    while (size > 0) {
        const ssize_t put = write(file, next, size);
        if (put > 0) {
            next += put;
            size -= (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

void strake_cl_cache_load(const strake_cl_key *key, unsigned char **payload, size_t *size)
{
    char *const path = entry_path(key);
    const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat info;
    entry_header header;
    uint64_t checksum = 0;
    unsigned char *bytes = NULL;

    *payload = NULL;
    *size = 0;
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        !read_all(file, &header, sizeof header) || memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.name != key->name || header.check != key->check || header.length != key->length ||
        header.size == 0 || header.size > largest_entry ||
        (uint64_t)info.st_size != sizeof header + header.size + sizeof checksum) {
        goto cleanup;
    }
    bytes = malloc(header.size);
    if (bytes == NULL || !read_all(file, bytes, header.size) ||
        !read_all(file, &checksum, sizeof checksum) ||
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
    free(path);
}

void strake_cl_cache_store(const strake_cl_key *key, const unsigned char *payload, size_t size)
{
    entry_header header = {
        .name = key->name, .check = key->check, .length = key->length, .size = size};
    uint64_t checksum = 0;
    char *const path = entry_path(key);
    char *temporary = NULL;
    bool written = false;
    int file = -1;

    if (path == NULL || size == 0 || size > largest_entry) {
        goto cleanup;
    }
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        temporary = NULL;
        goto cleanup;
    }
    make_parents(temporary);
    file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        goto cleanup;
    }
    memcpy(header.magic, magic, sizeof magic);
    checksum = strake_fnv1a(strake_fnv1a(STRAKE_FNV_SEED, &header, sizeof header), payload, size);
    written = write_all(file, &header, sizeof header) && write_all(file, payload, size) &&
              write_all(file, &checksum, sizeof checksum);
    written = close(file) == 0 && written;
    if (!written || rename(temporary, path) != 0) {
        (void)unlink(temporary);
    }

cleanup:
    free(temporary);
    free(path);
}

void strake_cl_cache_remove(const strake_cl_key *key)
{
    char *const path = entry_path(key);
    if (path != NULL) {
        (void)unlink(path);
    }
    free(path);
}
