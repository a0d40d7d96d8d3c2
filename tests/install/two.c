/* One half is a program, the other (PLUGIN) a library that it loads and that has been compiled with another MPI. Both
 * say which MPI their calls reach, and use it as the only process of a job. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int alone(void)
{
    int up, rank = -1, size = -1, sum = -1, one = 1;
    MPI_Initialized(&up);
    if (!up) MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return rank == 0 && size == 1 && sum == 1;
}

#ifdef PLUGIN
void plugin_version(char *text)
{
    int n;
    MPI_Get_library_version(text, &n);
}

/* Rank 0 of 1, with an MPI that the program may have started already. */
int plugin_alone(void) { return alone(); }

int plugin_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

void plugin_end(void)
{
    int down;
    MPI_Finalized(&down);
    if (!down) MPI_Finalize();
}
#else
int main(int argc, char **argv)
{
    static char own[9000], its[9000];
    int n, size, mode = RTLD_NOW | (strstr(argv[2], "global") ? RTLD_GLOBAL : RTLD_LOCAL);
    if (strstr(argv[2], "deep")) mode |= RTLD_DEEPBIND;
    int first = strstr(argv[2], "first") != NULL; /* the plugin begins before the program */
    MPI_Get_library_version(own, &n);
    if (!first) MPI_Init(&argc, &argv);
    void *plugin = dlopen(argv[1], mode);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void (*version)(char *) = (void (*)(char *))dlsym(plugin, "plugin_version");
    int (*plugin_alone)(void) = (int (*)(void))dlsym(plugin, "plugin_alone");
    int (*plugin_size)(void) = (int (*)(void))dlsym(plugin, "plugin_size");
    void (*end)(void) = (void (*)(void))dlsym(plugin, "plugin_end");
    version(its);
    own[8] = its[8] = 0;
    if (first && !plugin_alone()) return 2;
    if (first) MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1 && !(alone() && plugin_alone())) return 3;
    printf("%s of %d loads %s of %d\n", own, size, its, plugin_size());
    fflush(stdout);
    MPI_Finalize();
    end();
    return 0;
}
#endif
