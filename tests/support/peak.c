/*
 * Usage: peak COMMAND...
 * Runs a command and prints the most memory that it had resident [KiB] on the last line of stdout.
 * Exit status: the command's, 126 if it could not be run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **argument)
{
    int state = 0;
    struct rusage usage;
    if (count < 2) {
        (void)fprintf(stderr, "usage: peak COMMAND...\n");
        return 126;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)execvp(argument[1], argument + 1);
        perror(argument[1]);
        _exit(126);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) != child) {
        perror("peak");
        return 126;
    }
    (void)printf("%ld\n", usage.ru_maxrss);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 125;
}
