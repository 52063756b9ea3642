/*
 * A machine of little memory, for LD_PRELOAD: who asks for its pages is told of 1 GiB at most. What measures how fast memory
 * is takes arrays of a sixteenth of it each, of which gigabytes take longer than all else that a test does.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { MEMORY = 1 << 30 };

long sysconf(int name)
{
    typedef long function(int);
    void *const symbol = dlsym(RTLD_NEXT, "sysconf");
    function *const real = *(function *const *)&symbol;
    const long found = real(name);
    if (name != _SC_PHYS_PAGES) {
        return found;
    }
    const long most = MEMORY / real(_SC_PAGESIZE);
    return found > most ? most : found;
}
