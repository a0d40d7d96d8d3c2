/* Wrong arguments get the right error class, at every member, and leave the job as it was. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn MPI_Comm_accept MPI_Comm_connect MPI_Comm_join MPI_Publish_name MPI_Lookup_name */
#include "family.h"

static void ports(void)
{
    char port[MPI_MAX_PORT_NAME], closed[MPI_MAX_PORT_NAME];
    int last = check_size - 1;
    MPI_Comm inter;
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, closed), MPI_SUCCESS);
    CHECK_EQ(MPI_Close_port(closed), MPI_SUCCESS);
    CHECK_CLASS(MPI_Close_port(closed), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Close_port("impi://nowhere"), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept(closed, MPI_INFO_NULL, last, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_connect(closed, MPI_INFO_NULL, last, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    const char *bad[] = {"", "x", "impi://", "impi://127.0.0.1:1/", "impi://127.0.0.1:99999/00", "http://localhost/",
                         "impi://256.0.0.1:7/00112233445566778899aabbccddeeff", "impi://127.0.0.1:7/zz"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_CLASS(MPI_Comm_connect(bad[i], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    memset(port, 'a', sizeof port);
    port[sizeof port - 1] = 0;
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
}

/* The calls with the arguments that are wrong somewhere. */
#define SPAWN(program, n, root, comm) \
    MPI_Comm_spawn(program, MPI_ARGV_NULL, n, MPI_INFO_NULL, root, comm, &inter, MPI_ERRCODES_IGNORE)
#define SPAWN_MULTIPLE(count, programs, procs) \
    MPI_Comm_spawn_multiple(count, programs, MPI_ARGVS_NULL, procs, &none, last, dup, &inter, MPI_ERRCODES_IGNORE)

static void calls(char *program)
{
    MPI_Comm inter, dup;
    char port[MPI_MAX_PORT_NAME] = "";
    char *programs[] = {program}, *missing[] = {NULL};
    int one = 1, minus = -1, last = check_size - 1;
    MPI_Info none = MPI_INFO_NULL, timeout;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);

    /* Roots and communicators, which all members look at. */
    CHECK_CLASS(SPAWN(program, 1, check_size, dup), MPI_ERR_ROOT);
    CHECK_CLASS(SPAWN(program, 1, -1, dup), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, check_size, dup, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, -5, dup, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(SPAWN(program, 1, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, dup, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_parent(NULL), MPI_ERR_ARG);

    /* What the root alone looks at is an error of all. */
    CHECK_CLASS(SPAWN(NULL, 1, last, dup), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN("", 1, last, dup), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN(program, -1, last, dup), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN_MULTIPLE(0, programs, &one), MPI_ERR_COUNT);
    CHECK_CLASS(SPAWN_MULTIPLE(1, NULL, &one), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN_MULTIPLE(1, missing, &one), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN_MULTIPLE(1, programs, NULL), MPI_ERR_ARG);
    CHECK_CLASS(SPAWN_MULTIPLE(1, programs, &minus), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_accept(NULL, MPI_INFO_NULL, last, dup, &inter), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_connect(NULL, MPI_INFO_NULL, last, dup, &inter), MPI_ERR_ARG);
    MPI_Info_create(&timeout);
    const char *times[] = {"soon", "-1", "0", "nan", "1e99"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        MPI_Info_set(timeout, "timeout", times[i]);
        CHECK_CLASS(MPI_Comm_connect(port, timeout, last, dup, &inter), MPI_ERR_INFO_VALUE);
    }
    MPI_Info_free(&timeout);

    /* An intercommunicator where an intracommunicator is asked for. */
    if (check_size % 2 == 0) {
        MPI_Comm half;
        MPI_Comm_split(dup, check_rank % 2, check_rank, &half);
        MPI_Intercomm_create(half, 0, dup, !(check_rank % 2), 3, &inter);
        MPI_Comm again = inter;
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        CHECK_CLASS(SPAWN(program, 1, 0, again), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, again, &inter), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, again, &inter), MPI_ERR_COMM);
        MPI_Comm_free(&again);
        MPI_Comm_free(&half);
    }
    MPI_Comm_free(&dup);
}

static void names(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    CHECK_CLASS(MPI_Open_port(MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Close_port(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Publish_name(NULL, MPI_INFO_NULL, port), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Publish_name("", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_CLASS(MPI_Publish_name("service", MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Lookup_name("libimpi: nobody has this name", MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Lookup_name("service", MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpublish_name("libimpi: nobody has this name", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
}

static void sockets(void)
{
    MPI_Comm inter;
    int pipes[2];
    CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
    CHECK_EQ(pipe(pipes), 0);
    CHECK_CLASS(MPI_Comm_join(pipes[0], &inter), MPI_ERR_OTHER); /* no socket */
    CHECK_CLASS(MPI_Comm_join(pipes[0], NULL), MPI_ERR_ARG);
    close(pipes[0]), close(pipes[1]);
    CHECK_CLASS(MPI_Comm_join(pipes[0], &inter), MPI_ERR_OTHER); /* nothing at all */
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end(); /* the standard does not say which error is found first */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    ports();
    calls(family_program(argv[0]));
    names();
    sockets();
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    return check_end();
}
