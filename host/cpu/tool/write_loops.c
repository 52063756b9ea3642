/*
 * Build-time tool: writes the fused loops of every variant of every problem as C.
 *   write_loops FOLDER
 * writes into FOLDER strake_loops_PROBLEM_rows.c for each problem, which is compiled once per instruction set and
 * precision, and strake_loops.c with the hashes and addresses of all loops. A loop that several problems have is in
 * the file of the first of them, so that a new problem leaves the files of those before it as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/loop_writer.h"

static FILE *open_in(const char *folder, const char *before, const char *name, const char *after)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/strake_loops%s%s%s.c", folder, before, name, after);
    FILE *const out = freopen(path, "w", stdout);
    if (out == NULL) {
        perror(path);
        exit(1);
    }
    return out;
}

static void close_whole(FILE *out)
{
    if (ferror(out) != 0 || fflush(out) != 0) {
        perror("write_loops");
        exit(1);
    }
}

/* What stands before the loops of a problem: its formulas, in a header under cl/ or in its own file. */
static void begin(FILE *out, const strake_problem *problem)
{
    (void)fprintf(out, "/* Written by host/cpu/tool/write_loops.c. */\n"
                       "#include \"problem/rows.h\"\n\n");
    if (strchr(problem->cl_source, '/') != NULL) {
        (void)fprintf(out,
                      "#define STRAKE_LOOPS_ALONE\n#include \"%s\"\n\n#include \"cl/wall.h\"\n",
                      problem->cl_source);
        return;
    }
    (void)fprintf(out,
                  "#include \"cl/real.h\"\n\n"
                  "#include \"cl/elementary.h\"\n\n#include \"cl/wall.h\"\n\n#include \"cl/%s\"\n",
                  problem->cl_source);
}

int main(int argc, char **argv)
{
    strake_error error;
    FILE *out = NULL;
    strake_loop_writer *writer = strake_loop_writer_open();
    if (argc != 2 || writer == NULL) {
        (void)fprintf(stderr, "usage: write_loops FOLDER\n");
        return 2;
    }
    for (int p = 0; strake_problems[p] != NULL; p++) {
        if (strake_loop_writer_add(writer, strake_problems[p], p, &error) != STRAKE_OK) {
            (void)fprintf(stderr, "write_loops: %s\n", error.text);
            return 1;
        }
        out = open_in(argv[1], "_", strake_problems[p]->name, "_rows");
        begin(out, strake_problems[p]);
        strake_loop_writer_rows(writer, p, out);
        close_whole(out);
    }
    out = open_in(argv[1], "", "", "");
    (void)fprintf(out, "/* Written by host/cpu/tool/write_loops.c. */\n"
                       "#include \"engine/loops.h\"\n#include \"problem/rows.h\"\n\n");
    strake_loop_writer_table(writer, out);
    close_whole(out);
    strake_loop_writer_close(&writer);
    return 0;
}
