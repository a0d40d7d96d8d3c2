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

static void calls(char *program)
{
    MPI_Comm inter, dup;
    char port[MPI_MAX_PORT_NAME] = "";
    char *programs[] = {program}, *missing[] = {NULL};
    int one = 1, minus = -1, last = check_size - 1;
    MPI_Info none = MPI_INFO_NULL, timeout;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);

    /* Roots and communicators, which all members look at. */
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, check_size, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, -1, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, check_size, dup, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, -5, dup, &inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, dup, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_get_parent(NULL), MPI_ERR_ARG);

    /* What the root alone looks at is an error of all. */
    CHECK_CLASS(MPI_Comm_spawn(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn("", MPI_ARGV_NULL, 1, MPI_INFO_NULL, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, -1, MPI_INFO_NULL, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn_multiple(0, programs, MPI_ARGVS_NULL, &one, &none, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Comm_spawn_multiple(1, NULL, MPI_ARGVS_NULL, &one, &none, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn_multiple(1, missing, MPI_ARGVS_NULL, &one, &none, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn_multiple(1, programs, MPI_ARGVS_NULL, NULL, &none, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_spawn_multiple(1, programs, MPI_ARGVS_NULL, &minus, &none, last, dup, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
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
        CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, again, &inter, MPI_ERRCODES_IGNORE), MPI_ERR_COMM);
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
    if (!check_library("libimpi")) return check_end(); /* what is not said in the standard: which error is found first */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    ports();
    calls(family_program(argv[0]));
    names();
    sockets();
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    return check_end();
}
