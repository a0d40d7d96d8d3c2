/* A program that is not linked with MPI loads it at run time, privately, as Python and Julia do. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!lib) { fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: dlopen LIBRARY"); return 1; }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(lib, "MPI_Init");
    int (*version)(int *, int *) = (int (*)(int *, int *))dlsym(lib, "MPI_Abi_get_version");
    int (*finalize)(void) = (int (*)(void))dlsym(lib, "MPI_Finalize");
    if (!init || !version || !finalize) { fprintf(stderr, "symbols are missing\n"); return 1; }
    int major = 0, minor = 0;
    if (init(NULL, NULL) || version(&major, &minor) || finalize()) return 1;
    if (dlclose(lib)) return 1;   /* -z nodelete: stays, and must not hurt */
    printf("abi %d.%d\n", major, minor);
    return 0;
}
