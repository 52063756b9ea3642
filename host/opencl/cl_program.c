#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "cpu/topology.h"
#include "files/cache.h"
#include "opencl/cl_device.h"

const char *strake_cl_source(const char *name)
{
    const strake_embedded *entry = strake_cl_texts;
    while (entry->name != NULL && strcmp(entry->name, name) != 0) {
        entry++;
    }
    return (const char *)entry->bytes;
}

void strake_cl_watch_begin(strake_cl_watch *watch,
                           void (*tell)(void *user, const char *device, int number, int of),
                           void *user)
{
    memset(watch, 0, sizeof *watch);
    (void)pthread_mutex_init(&watch->lock, NULL);
    watch->tell = tell;
    watch->user = user;
}

void strake_cl_watch_list(strake_cl_watch *watch, strake_cl_list *list)
{
    if (list->cl != NULL) {
        list->cl->watch = watch;
    }
}

void strake_cl_watch_expect(strake_cl_watch *watch, int programs)
{
    watch->expected += programs;
}

/* A program of this name is asked for. @return its number; @p watch may be NULL here and below */
static int ask_for(strake_cl_watch *watch, uint64_t name)
{
    int number = 0;
    if (watch == NULL) {
        return 0;
    }
    (void)pthread_mutex_lock(&watch->lock);
    while (number < watch->asked && number < STRAKE_CL_WATCHED && watch->seen[number] != name) {
        number++;
    }
    if (number == watch->asked && number < STRAKE_CL_WATCHED) {
        watch->seen[watch->asked++] = name;
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return number + 1;
}

/* It is compiled from now on (number > 0), or was (0). */
static void report_build(strake_cl_watch *watch, const strake_cl_device *device, int number)
{
    char text[64];
    if (watch == NULL || watch->tell == NULL) {
        return;
    }
    (void)snprintf(text, sizeof text, "ocl:%d (%.16s)", device->number, device->name);
    (void)pthread_mutex_lock(&watch->lock);
    watch->tell(watch->user, text, number,
                watch->expected > watch->asked ? watch->expected : watch->asked);
    (void)pthread_mutex_unlock(&watch->lock);
}

/*
 * Program binaries in files. One entry is DIRECTORY/NAME.clbin, NAME being 16 hex digits of the
 * key: header, payload, and the FNV-1a-64 of both. Entries are machine-local, hence in native byte
 * order.
 */

/* Identity of a program: two independent hashes and the length of all text added. */
typedef struct program_key {
    uint64_t name;   /* FNV-1a-64, also the file's name */
    uint64_t check;  /* a hash of another construction, kept inside the file */
    uint64_t length; /* bytes hashed */
} program_key;

static const char magic[8] = {'S', 'T', 'R', 'A', 'K', 'E', 'C', '1'};

typedef struct entry_header {
    char magic[8];
    program_key key;
    uint64_t size; /* bytes of payload */
} entry_header;

/* Larger files are no program of ours. */
static const uint64_t largest_entry = UINT64_C(1) << 28;

/* Adds a text and its terminating NUL, so that ("ab", "c") and ("a", "bc") differ. */
static void key_add(program_key *key, const char *text)
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

static const char *entry_name(const program_key *key, char name[NAME])
{
    (void)snprintf(name, NAME, "%016" PRIx64 ".clbin", key->name);
    return name;
}

/* Path of an entry, to be freed; NULL if there is no cache. */
static char *entry_path(const char *directory, const program_key *key)
{
    char name[NAME];
    return directory != NULL ? strake_path_join(directory, entry_name(key, name)) : NULL;
}

/* The payload of an entry of the cache, to be freed; NULL if there is no valid entry. */
static unsigned char *cache_load(const program_key *key, size_t *size)
{
    char name[NAME];
    const char *why = NULL;
    char *bytes = NULL, *payload = NULL;
    size_t length = 0;
    entry_header header;
    uint64_t checksum = 0;
    const size_t around = sizeof header + sizeof checksum;
    char *const directory = strake_cache_folder();
    if (directory != NULL &&
        strake_cache_read(directory, entry_name(key, name), (int64_t)(largest_entry + around),
                          &bytes, &length, &why) &&
        length > around) {
        memcpy(&header, bytes, sizeof header);
        memcpy(&checksum, bytes + length - sizeof checksum, sizeof checksum);
        if (memcmp(header.magic, magic, sizeof magic) == 0 &&
            memcmp(&header.key, key, sizeof *key) == 0 && header.size == length - around &&
            checksum == strake_fnv1a(STRAKE_FNV_SEED, bytes, length - sizeof checksum)) {
            payload = memmove(bytes, bytes + sizeof header, header.size);
            *size = header.size;
        }
    }
    if (payload == NULL) {
        free(bytes);
    }
    free(directory);
    return (unsigned char *)payload;
}

/* Writes or atomically replaces an entry; failure leaves no file and is silent. */
static void cache_store(const program_key *key, const unsigned char *payload, size_t size)
{
    entry_header header = {.key = *key, .size = size};
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

/* Removes an entry that the driver refused; silent if there is none. */
static void cache_remove(const program_key *key)
{
    char *const directory = strake_cache_folder();
    char *const path = entry_path(directory, key);
    if (path != NULL) {
        (void)unlink(path);
    }
    free(path);
    free(directory);
}

/*
 * All build options of a device. Never -cl-fast-relaxed-math, -cl-mad-enable or
 * -cl-denorms-are-zero (which flushes fp64 as well on PoCL): they change results. Contraction is
 * turned off by the pragma in cl/real.h, for which OpenCL has no option.
 */
static strake_status build_options(const strake_cl_device *device, strake_precision precision,
                                   const char *extra, char **out, strake_error *error)
{
    const bool single = precision == STRAKE_SINGLE;
    const char *const rounding =
        single && device->has_correct_single ? " -cl-fp32-correctly-rounded-divide-sqrt" : "";
    const bool has_extra = extra != NULL && extra[0] != '\0';

    if (asprintf(out, "-cl-std=CL1.2%s%s%s%s", single ? " -DSTRAKE_REAL_SINGLE" : "", rounding,
                 has_extra ? " " : "", has_extra ? extra : "") < 0) {
        *out = NULL;
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for OpenCL build options");
    }
    return STRAKE_OK;
}

static bool is_nvidia(const strake_cl_device *device)
{
    return strncmp(device->vendor, "NVIDIA", 6) == 0;
}

size_t strake_cl_group_limit(const strake_cl_device *device, size_t said, size_t compiled)
{
    return is_nvidia(device) && compiled > said ? compiled : said;
}

const char *strake_cl_register_options(const strake_cl_device *device, int registers, char *buffer,
                                       size_t size)
{
    if (!is_nvidia(device)) {
        return NULL;
    }
    /* The log tells the registers that were used: for reports only, since a program that the driver
       finds in its cache has none. */
    if (registers == 0) {
        (void)snprintf(buffer, size, "-cl-nv-verbose");
    } else {
        (void)snprintf(buffer, size, "-cl-nv-verbose -cl-nv-maxrregcount=%d", registers);
    }
    return buffer;
}

/* Everything on which a binary depends; the options say the precision. */
static program_key key_of(const strake_cl_device *device, const char *options, const char *source)
{
    const char *const part[] = {
        STRAKE_VERSION, device->platform_name, device->platform_version, device->name,
        device->vendor, device->version,       device->driver,           options,
        source};
    program_key key = {.name = STRAKE_FNV_SEED};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; ++i) {
        key_add(&key, part[i]);
    }
    return key;
}

/*
 * PoCL keeps what it has compiled. For a binary it would compile every kernel once more, for groups of any size,
 * which takes nearly as long again: only programs that are built so often get one, which loads faster.
 */
enum { BUILDS_FOR_BINARY = 4 };

static bool has_own_cache(const strake_cl_device *device)
{
    const char *const kept = getenv("POCL_KERNEL_CACHE");
    return strake_cl_device_is_pocl(device) && (kept == NULL || strcmp(kept, "0") != 0);
}

/*
 * A built program from the cache, or NULL. An entry that the driver refuses is removed; one of a single byte tells
 * how often the program was built.
 */
static cl_program load_program(const strake_cl *cl, const strake_cl_device *device,
                               cl_context context, const char *options, const program_key *key,
                               int *builds)
{
    size_t size = 0;
    cl_int code = CL_SUCCESS;
    cl_int binary_code = CL_SUCCESS;
    unsigned char *const binary = cache_load(key, &size);
    const unsigned char *bytes = binary;
    if (binary == NULL || size == 1) {
        *builds = binary != NULL ? binary[0] : 0;
        free(binary);
        return NULL;
    }
    const cl_program program = cl->clCreateProgramWithBinary(context, 1, &device->device, &size,
                                                             &bytes, &binary_code, &code);
    free(binary);
    if (program != NULL && code == CL_SUCCESS && binary_code == CL_SUCCESS &&
        cl->clBuildProgram(program, 1, &device->device, options, NULL, NULL) == CL_SUCCESS) {
        return program;
    }
    if (program != NULL) {
        (void)cl->clReleaseProgram(program);
    }
    cache_remove(key);
    return NULL;
}

/* Puts the binary of a built program into the cache; drivers that give none are not cached. */
static void store_program(const strake_cl *cl, const strake_cl_device *device, cl_program program,
                          int builds, const program_key *key)
{
    cl_uint devices = 0;
    size_t size = 0;
    unsigned char *binary = NULL;
    const unsigned char count = (unsigned char)(builds + 1);

    if (has_own_cache(device) && count < BUILDS_FOR_BINARY) {
        cache_store(key, &count, sizeof count);
        return;
    }
    if (cl->clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL) !=
            CL_SUCCESS ||
        devices != 1 ||
        cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size == 0) {
        return;
    }
    binary = malloc(size);
    if (binary != NULL && cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary,
                                               NULL) == CL_SUCCESS) {
        cache_store(key, binary, size);
    }
    free(binary);
}

/* The build log, to be freed; NULL where there is none. */
static char *build_log(const strake_cl *cl, const strake_cl_device *device, cl_program program)
{
    size_t size = 0;
    char *text = NULL;
    if (cl->clGetProgramBuildInfo(program, device->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) ==
        CL_SUCCESS) {
        text = calloc(size + 1, 1);
    }
    if (text != NULL && cl->clGetProgramBuildInfo(program, device->device, CL_PROGRAM_BUILD_LOG,
                                                  size, text, NULL) != CL_SUCCESS) {
        text[0] = '\0';
    }
    return text;
}

int64_t strake_cl_unit_registers(const strake_cl *cl, const strake_cl_device *device)
{
    enum { REGISTERS_PER_BLOCK_NV = 0x4002 }; /* cl_nv_device_attribute_query */
    cl_uint all = 0;
    if (!is_nvidia(device) || cl->clGetDeviceInfo(device->device, REGISTERS_PER_BLOCK_NV,
                                                  sizeof all, &all, NULL) != CL_SUCCESS) {
        return 0;
    }
    return all;
}

int strake_cl_registers(const strake_cl *cl, const strake_cl_device *device, cl_program program,
                        const char *kernel)
{
    if (!is_nvidia(device)) {
        return 0;
    }
    /* "... 'NAME' for 'sm_90' ... Used 96 registers, ..." */
    char *log = build_log(cl, device, program);
    char quoted[96];
    (void)snprintf(quoted, sizeof quoted, "'%s'", kernel);
    const char *at = log != NULL ? strstr(log, quoted) : NULL;
    at = at != NULL ? strstr(at, "Used ") : NULL;
    const int used = at != NULL ? (int)strtol(at + strlen("Used "), NULL, 10) : 0;
    free(log);
    return used;
}

static strake_status fail_build(const strake_cl *cl, const strake_cl_device *device,
                                cl_program program, const char *options, cl_int code,
                                strake_error *error)
{
    char *text = build_log(cl, device, program);
    const char *log = "";
    strake_status status = STRAKE_OK;

    if (text != NULL) {
        log = text + strspn(text, " \t\r\n");
        for (size_t end = strlen(log); end > 0 && strchr(" \t\r\n", log[end - 1]) != NULL; --end) {
            text[(log - text) + (ptrdiff_t)end - 1] = '\0';
        }
    }
    status =
        strake_fail(error, STRAKE_ERR_DEVICE,
                    "%s (driver %s): the OpenCL program does not build with \"%.300s\": %s (%d); "
                    "build log: %.600s%s",
                    device->name, device->driver, options, strake_cl_error_name(code), (int)code,
                    log[0] != '\0' ? log : "(empty)", strlen(log) > 600 ? " ..." : "");
    free(text);
    return status;
}

/* The call of a build, for the thread that makes it: compilers take a deep stack. */
typedef struct build_call {
    const strake_cl *cl;
    const strake_cl_device *device;
    cl_context context;
    const char *source;
    strake_precision precision;
    const char *extra;
    cl_program *out;
    strake_error *error;
    strake_status status;
} build_call;

static void build(void *data)
{
    build_call *const b = data;
    const strake_cl *const cl = b->cl;
    const strake_cl_device *const device = b->device;
    strake_error *const error = b->error;
    strake_status status = STRAKE_OK;
    char *options = NULL;
    cl_program program = NULL;
    cl_int code = CL_SUCCESS;
    program_key key;
    int number = 0, builds = 0;
    bool is_told = false;

    STRAKE_TRY(build_options(device, b->precision, b->extra, &options, error));
    key = key_of(device, options, b->source);
    number = ask_for(cl->watch, key.name);
    program = load_program(cl, device, b->context, options, &key, &builds);
    if (program == NULL) {
        report_build(cl->watch, device, number);
        is_told = true;
        program = cl->clCreateProgramWithSource(b->context, 1, &b->source, NULL, &code);
        STRAKE_CL("clCreateProgramWithSource", code, error, device);
        code = cl->clBuildProgram(program, 1, &device->device, options, NULL, NULL);
        if (code != CL_SUCCESS) {
            status = fail_build(cl, device, program, options, code, error);
            goto cleanup;
        }
        store_program(cl, device, program, builds, &key);
    }
    *b->out = program;
    program = NULL;

cleanup:
    if (is_told) {
        report_build(cl->watch, device, 0);
    }
    if (program != NULL) {
        (void)cl->clReleaseProgram(program);
    }
    free(options);
    b->status = status;
}

strake_status strake_cl_program_build(const strake_cl *cl, const strake_cl_device *device,
                                      cl_context context, const char *source,
                                      strake_precision precision, const char *extra,
                                      cl_program *out, strake_error *error)
{
    build_call b = {cl, device, context, source, precision, extra, out, error, STRAKE_OK};
    strake_threads_deep(build, &b);
    return b.status;
}

strake_status strake_cl_program_dump(const char *folder, const char *name,
                                     strake_precision precision, const char *text,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    strake_error reason;
    folder = folder != NULL ? folder : getenv("STRAKE_DUMP_KERNELS");
    if (folder == NULL || folder[0] == '\0') {
        return STRAKE_OK;
    }
    const uint64_t hash = strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text));
    if (asprintf(&path, "%s/%s_%s_%016llx.cl", folder, name, strake_precision_name(precision),
                 (unsigned long long)hash) < 0) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory dumping kernels");
    }
    if (strake_file_put(path, STRAKE_FILE_HASTY, text, strlen(text), &reason) != STRAKE_OK) {
        status = strake_fail(error, STRAKE_ERR_IO,
                             "%s (run.dump_kernels or STRAKE_DUMP_KERNELS must name an existing "
                             "folder)",
                             reason.text);
    }
    free(path);
    return status;
}
