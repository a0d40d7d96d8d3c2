/* Info keys of MPI_Comm_spawn: where programs are found and run, how many will do, their error handler, and their
 * environment; keys that nobody knows are ignored. */
/* ranks: 1 2 */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"
#include <limits.h>
#include <sys/stat.h>

static char directory[] = "/tmp/libimpi-processes-XXXXXX";

static int child(int argc, char **argv, MPI_Comm parent)
{
    char here[PATH_MAX] = "", *want = argc > 2 ? argv[2] : "";
    if (!strcmp(argv[1], "wdir")) {
        CHECK(getcwd(here, sizeof here));
        CHECK_SAY(!strcmp(here, want), "the working directory is %s, not %s", here, want);
    } else if (!strcmp(argv[1], "env")) {
        char *value = getenv("LIBIMPI_TEST_WORD");
        CHECK_SAY(value && !strcmp(value, want), "the variable is %s, not %s", value ? value : "not set", want);
    } else if (!strcmp(argv[1], "handler")) {
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        CHECK(handler == MPI_ERRORS_RETURN);
        MPI_Comm_get_errhandler(parent, &handler);
        CHECK(handler == MPI_ERRORS_RETURN);
    }
    CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
    return check_end();
}

/* One child with a key; it checks what it has to. */
static void with(char *program, char *key, char *value, char *what, char *want)
{
    char *args[] = {what, want, NULL};
    MPI_Info info;
    MPI_Comm children;
    int codes[2] = {-1, -1}, n;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_EQ(MPI_Comm_spawn(program, args, 2, info, 0, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
    MPI_Comm_remote_size(children, &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(codes[0], MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    MPI_Info_free(&info);
}

/* Programs that do not use MPI, as users of Open MPI start them: nobody comes. They may end before the answer has. */
static void without_mpi(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_non_mpi", "true");
    for (int i = 0; i < 20; i++) {
        MPI_Comm children = MPI_COMM_WORLD;
        int codes[2] = {-1, -1};
        CHECK_EQ(MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
        CHECK(children == MPI_COMM_NULL);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children;
    if (parent != MPI_COMM_NULL) return child(argc, argv, parent);
    char *program = family_program(argv[0]), *slash = strrchr(program, '/'), none[] = "";
    char folder[PATH_MAX], file[PATH_MAX + 8];
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - program), program);
    if (check_rank == 0) CHECK(mkdtemp(directory));
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);

    if (check_library("libimpi")) without_mpi();
    with(program, "wdir", directory, "wdir", directory);
    with(slash + 1, "path", folder, "plain", none);
    with(program, "host", "localhost", "plain", none);
    with(program, "nobody_knows_this_key", "value", "plain", none);
    if (check_library("libimpi")) {
        with(program, "env", "LIBIMPI_TEST_WORD=two words", "env", "two words");
        with(program, "mpi_initial_errhandler", "mpi_errors_return", "handler", none);
    }

    /* A file of hosts, as other tools have it. */
    snprintf(file, sizeof file, "%s/keys", directory);
    if (check_rank == 0) {
        FILE *f = fopen(file, "w");
        fprintf(f, "# keys and values\nwdir = %s\n", directory);
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_library("libimpi")) with(program, "file", file, "wdir", directory);

    /* A number that is acceptable, and a program of which none starts. */
    MPI_Info info;
    int n, codes[4];
    MPI_Info_create(&info);
    MPI_Info_set(info, "soft", "0:4:2");
    char *args[] = {"plain", none, NULL};
    CHECK_EQ(MPI_Comm_spawn(program, args, 4, info, 0, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
    MPI_Comm_remote_size(children, &n);
    CHECK(n == 2 || n == 4);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        remove(file);
        CHECK_EQ(rmdir(directory), 0);
    }
    return check_end();
}
