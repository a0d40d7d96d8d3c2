/* MPI_Comm_spawn_multiple: several commands make one world, whose ranks count through them; MPI_APPNUM is the number
 * of a process's command. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn_multiple MPI_Comm_get_parent */
#include "family.h"

/* Each child says which command it is of, and how many arguments it has. */
static int child(int argc, char **argv, MPI_Comm parent)
{
    int *appnum, flag, me[3] = {-1, argc - 1, argc > 1 ? atoi(argv[1]) : -1}, sum = 0, one = 1;
    CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag), MPI_SUCCESS);
    CHECK(flag);
    me[0] = *appnum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size);
    CHECK_EQ(MPI_Gather(me, 3, MPI_INT, NULL, 0, MPI_INT, 0, parent), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
    return check_end();
}

enum { COMMANDS = 3, CHILDREN = 6 };
static int procs[COMMANDS] = {1, 2, 3};

static void meet(MPI_Comm children, int given)
{
    int all[3 * CHILDREN], rank, remote;
    MPI_Comm_rank(children, &rank);
    CHECK_EQ(MPI_Comm_remote_size(children, &remote), MPI_SUCCESS);
    CHECK_EQ(remote, CHILDREN);
    CHECK_EQ(MPI_Gather(NULL, 0, MPI_INT, all, 3, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children),
             MPI_SUCCESS);
    for (int command = 0, i = 0; command < COMMANDS && rank == 0; command++)
        for (int n = 0; n < procs[command]; n++, i++) {
            CHECK_EQ(all[3 * i], command);
            CHECK_EQ(all[3 * i + 1], given ? command : 0);
            CHECK_EQ(all[3 * i + 2], given && command > 0 ? 10 * command : -1);
        }
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children;
    if (parent != MPI_COMM_NULL) return child(argc, argv, parent);
    char *program = family_program(argv[0]), *programs[COMMANDS] = {program, program, program};
    char *none[] = {NULL}, *one[] = {"10", NULL}, *two[] = {"20", "more", NULL}, **args[COMMANDS] = {none, one, two};
    MPI_Info info[COMMANDS] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    int codes[CHILDREN], root = check_size / 2;
    for (int i = 0; i < CHILDREN; i++) codes[i] = -1;
    MPI_Info_create(&info[1]);
    MPI_Info_set(info[1], "impi_nobody_knows_this", "ignored");

    CHECK_EQ(MPI_Comm_spawn_multiple(COMMANDS, programs, args, procs, info, 0, MPI_COMM_WORLD, &children, codes),
             MPI_SUCCESS);
    for (int i = 0; i < CHILDREN && check_rank == 0; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    meet(children, 1);

    if (check_rank == root) {
        CHECK_EQ(MPI_Comm_spawn_multiple(COMMANDS, programs, MPI_ARGVS_NULL, procs, info, root, MPI_COMM_WORLD,
            &children, MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Comm_spawn_multiple(-1, NULL, NULL, NULL, NULL, root, MPI_COMM_WORLD, &children,
            MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    }
    meet(children, 0);

    CHECK_EQ(MPI_Comm_spawn_multiple(COMMANDS, programs, args, procs, info, 0, MPI_COMM_SELF, &children,
        MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    meet(children, 1);
    MPI_Info_free(&info[1]);
    return check_end();
}
