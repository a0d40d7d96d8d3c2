/* A library that impirun preloads into scripts which put folders in front of LD_LIBRARY_PATH, as R's does: a program
 * that they start would find another MPI before libimpi. It looks at the variable before the program's main, and starts
 * the program anew if the folders of libimpi do not come first. It needs no other library, so that it is in nobody's
 * way. */
#include <stddef.h>

#define WEAK __attribute__((weak))
WEAK char *getenv(const char *);
WEAK int execv(const char *, char *const[]);
WEAK int setenv(const char *, const char *, int);
WEAK long readlink(const char *, char *, size_t);
WEAK const char *gnu_get_libc_version(void); /* musl's loader gives constructors no arguments */

enum { MOST = 1 << 16 }; /* bytes of the variable; a longer one stays as it is */

static size_t copy(char *to, const char *from, size_t most)
{
    size_t n = 0;
    while (from[n] && n < most) to[n] = from[n], n++;
    to[n] = 0;
    return n;
}

static int begins(const char *text, const char *with)
{
    while (*with && *text == *with) text++, with++;
    return !*with && (!*text || *text == ':');
}

static void __attribute__((constructor)) first(int argc, char **argv)
{
    static char path[2 * MOST + 2], file[4096];
    if (!gnu_get_libc_version || !getenv || !execv || !setenv || !readlink || argc < 1 || !argv) return;
    const char *folders = getenv("IMPI_FRONTS"), *now = getenv("LD_LIBRARY_PATH");
    if (!folders || !*folders || (now && begins(now, folders))) return;
    size_t n = copy(path, folders, MOST);
    if (now && *now) path[n++] = ':', n += copy(path + n, now, MOST);
    long length = readlink("/proc/self/exe", file, sizeof file - 1);
    if (length <= 0 || n >= 2 * MOST || setenv("LD_LIBRARY_PATH", path, 1)) return;
    execv(file, argv); /* where that fails, the program goes on as it is */
}
