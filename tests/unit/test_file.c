/* One writer for all files: exclusive, complete or absent; what killed processes leave is swept. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static char folder[] = "/tmp/strake-test-file-XXXXXX";

static char *path_of(const char *name)
{
    static char path[4][300];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static int enter(void **state)
{
    (void)state;
    (void)alarm(60); /* nothing here may wait for somebody else */
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    DIR *const list = opendir(folder);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
            (void)unlink(path_of(entry->d_name));
        }
    }
    return closedir(list);
}

static int leave(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int files(void)
{
    int count = 0;
    DIR *const list = opendir(folder);
    while (readdir(list) != NULL) {
        count++;
    }
    (void)closedir(list);
    return count - 2;
}

static void put_text(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_text(const char *path, const char *text)
{
    char *found = NULL;
    size_t length = 0;
    assert_int_equal(strake_file_read(path, 1000, "text", &found, &length, NULL), STRAKE_OK);
    assert_string_equal(found, text);
    free(found);
}

/* A process whose id is the same as another's writes to the same folder: two containers do. */
static void writers_of_one_name_never_share_a_file(void **state)
{
    (void)state;
    strake_file a = {0}, b = {0};
    const char *const path = path_of("out.txt");
    assert_int_equal(strake_file_begin(&a, path, 0, NULL), STRAKE_OK);
    assert_int_equal(strake_file_begin(&b, path, 0, NULL), STRAKE_OK);
    assert_int_equal(files(), 2);
    assert_int_equal(strake_file_write(&a, "first", 5, NULL), STRAKE_OK);
    assert_int_equal(strake_file_write(&b, "second", 6, NULL), STRAKE_OK);
    assert_int_equal(strake_file_commit(&a, NULL), STRAKE_OK);
    expect_text(path, "first");
    assert_int_equal(strake_file_commit(&b, NULL), STRAKE_OK);
    expect_text(path, "second");
    assert_int_equal(files(), 1);
}

/* Somebody lays a file of his own, or a link, where the temporary file was always made. */
static void a_name_that_can_be_foretold_is_not_used(void **state)
{
    (void)state;
    char name[64];
    (void)snprintf(name, sizeof name, "out.txt.%ld.tmp", (long)getpid());
    put_text(path_of(name), "somebody else's");
    assert_int_equal(strake_file_put(path_of("out.txt"), 0, "mine", 4, NULL), STRAKE_OK);
    expect_text(path_of(name), "somebody else's");
    expect_text(path_of("out.txt"), "mine");
    assert_int_equal(files(), 2);
}

/* A child that is killed while it writes leaves its file; the folder is swept before the next one. */
static void what_a_killed_process_left_is_swept(void **state)
{
    (void)state;
    int told[2], code = 0;
    char byte = 0;
    assert_int_equal(pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
        strake_file file = {0};
        const bool good = strake_file_begin(&file, path_of("out.txt"), 0, NULL) == STRAKE_OK &&
                          strake_file_write(&file, "half", 4, NULL) == STRAKE_OK;
        (void)!write(told[1], good ? "1" : "0", 1);
        for (;;) {
            (void)pause();
        }
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(byte, '1');
    assert_int_equal(files(), 1);
    strake_folder_sweep(folder); /* its writer lives */
    assert_int_equal(files(), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(files(), 1);
    strake_folder_sweep(folder);
    assert_int_equal(files(), 0);
    (void)close(told[0]);
    (void)close(told[1]);
}

static void only_our_own_files_are_swept(void **state)
{
    (void)state;
    const char *const name[] = {".strake-0123456789abcde.tmp", ".strake-0123456789abcdef.tmp.gz",
                                ".strake-0123456789ABCDEF.tmp", "strake-0123456789abcdef.tmp",
                                "psi_00000020.npy.12.tmp"};
    const int count = (int)(sizeof name / sizeof name[0]);
    for (int k = 0; k < count; k++) {
        put_text(path_of(name[k]), "keep");
    }
    assert_int_equal(mkfifo(path_of(".strake-0000000000000001.tmp"), 0600), 0);
    assert_int_equal(symlink("/etc/passwd", path_of(".strake-0000000000000002.tmp")), 0);
    put_text(path_of(".strake-0000000000000003.tmp"), "dead");
    strake_folder_sweep(folder);
    assert_int_equal(files(), count + 2);
    assert_int_equal(access(path_of(".strake-0000000000000003.tmp"), F_OK), -1);
    /* So does whoever writes a file that the user named: a page, a picture, a table. */
    put_text(path_of(".strake-0000000000000003.tmp"), "dead");
    assert_int_equal(strake_file_put(path_of("page.html"), STRAKE_FILE_NAMED, "x", 1, NULL),
                     STRAKE_OK);
    assert_int_equal(access(path_of(".strake-0000000000000003.tmp"), F_OK), -1);
    assert_int_equal(unlink(path_of("page.html")), 0);
    if (geteuid() == 0) {
        put_text(path_of(".strake-0000000000000004.tmp"), "another user's");
        assert_int_equal(chown(path_of(".strake-0000000000000004.tmp"), 12345, 12345), 0);
        strake_folder_sweep(folder);
        assert_int_equal(files(), count + 3);
    }
}

static void links_are_followed_only_where_the_user_named_them(void **state)
{
    (void)state;
    struct stat info;
    put_text(path_of("real.txt"), "old");
    assert_int_equal(symlink("real.txt", path_of("link.txt")), 0);
    assert_int_equal(strake_file_put(path_of("link.txt"), STRAKE_FILE_NAMED, "new", 3, NULL),
                     STRAKE_OK);
    expect_text(path_of("real.txt"), "new");
    assert_int_equal(lstat(path_of("link.txt"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(strake_file_put(path_of("link.txt"), 0, "own", 3, NULL), STRAKE_OK);
    expect_text(path_of("real.txt"), "new");
    assert_int_equal(lstat(path_of("link.txt"), &info), 0);
    assert_true(S_ISREG(info.st_mode));
}

static void pipes_and_devices_are_never_replaced(void **state)
{
    (void)state;
    struct stat info;
    strake_error error;
    const char *const pipe_name = path_of("pipe");
    char got[8] = "";
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    assert_int_equal(strake_file_put(pipe_name, 0, "x", 1, &error), STRAKE_ERR_IO);
    assert_non_null(strstr(error.text, "it is a named pipe"));
    assert_int_equal(strake_file_put(pipe_name, STRAKE_FILE_NAMED, "x", 1, &error), STRAKE_ERR_IO);
    assert_non_null(strstr(error.text, "nobody reads"));
    const int reader = open(pipe_name, O_RDONLY | O_NONBLOCK);
    assert_int_equal(strake_file_put(pipe_name, STRAKE_FILE_NAMED, "read", 4, NULL), STRAKE_OK);
    assert_int_equal(read(reader, got, sizeof got), 4);
    (void)close(reader);
    assert_int_equal(lstat(pipe_name, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(strake_file_put("/dev/null", STRAKE_FILE_NAMED, "x", 1, NULL), STRAKE_OK);
    assert_int_equal(strake_file_put("/dev/null", 0, "x", 1, &error), STRAKE_ERR_IO);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* /dev/fd/N is the descriptor, also where it is a file: a shell's `2>log`. */
static void a_descriptor_is_written_where_it_stands(void **state)
{
    (void)state;
    char name[32];
    struct stat before, after;
    put_text(path_of("log"), "line\n");
    const int file = open(path_of("log"), O_WRONLY | O_APPEND);
    assert_int_equal(fstat(file, &before), 0);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", file);
    assert_int_equal(strake_file_put(name, STRAKE_FILE_NAMED, "more\n", 5, NULL), STRAKE_OK);
    assert_int_equal(stat(path_of("log"), &after), 0);
    assert_true(before.st_ino == after.st_ino);
    expect_text(path_of("log"), "line\nmore\n");
    (void)close(file);
}

static void only_files_are_read(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    strake_error error;
    const char *const other[] = {path_of("pipe"), folder, "/dev/zero"};
    const char *const kind[] = {"a named pipe", "a folder", "a device"};
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(strake_file_read(other[k], 100, "text", &text, &length, &error),
                         STRAKE_ERR_USAGE);
        assert_non_null(strstr(error.text, kind[k]));
        assert_int_equal(strncmp(error.text, other[k], strlen(other[k])), 0);
    }
    put_text(path_of("long"), "12345678");
    assert_int_equal(strake_file_read(path_of("long"), 7, "note", &text, &length, &error),
                     STRAKE_ERR_USAGE);
    assert_non_null(strstr(error.text, "has more than 7 bytes; that is no note"));
    assert_null(text);
    assert_int_equal(strake_file_read(path_of("long"), 8, "note", &text, &length, &error),
                     STRAKE_OK);
    assert_int_equal(length, 8);
    free(text);
}

#define TEST(name) cmocka_unit_test_teardown(name, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writers_of_one_name_never_share_a_file),
        TEST(a_name_that_can_be_foretold_is_not_used),
        TEST(what_a_killed_process_left_is_swept),
        TEST(only_our_own_files_are_swept),
        TEST(links_are_followed_only_where_the_user_named_them),
        TEST(pipes_and_devices_are_never_replaced),
        TEST(a_descriptor_is_written_where_it_stands),
        TEST(only_files_are_read),
    };
    return cmocka_run_group_tests_name("file", tests, enter, leave);
}
