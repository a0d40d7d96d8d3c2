/* MPI_Comm_spawn: children get the arguments that they are given, know their parents, and talk with them; the
 * arguments of the call count at the root alone. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"

/* Arguments that a shell or a careless launcher would change. */
static char *odd[] = {"arguments", "", "two words", "\"quoted\"", "$HOME", "a\tb\nc", "-n", "--", "*", "\\",
                      "\xc3\xa9", NULL};

/* What a child is, to its parents: its rank and size among its siblings, and its MPI_APPNUM. */
static void introduce(MPI_Comm parent)
{
    int *appnum, flag, me[3] = {check_rank, check_size, -1};
    CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag), MPI_SUCCESS);
    if (flag) me[2] = *appnum;
    CHECK_EQ(MPI_Gather(me, 3, MPI_INT, NULL, 0, MPI_INT, 0, parent), MPI_SUCCESS);
}

static int child(int argc, char **argv, MPI_Comm parent)
{
    int remote, inter, local;
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    MPI_Comm again = family_parent();
    CHECK(again == parent);
    CHECK_EQ(MPI_Comm_test_inter(parent, &inter), MPI_SUCCESS);
    CHECK(inter);
    CHECK_EQ(MPI_Comm_remote_size(parent, &remote), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_size(parent, &local), MPI_SUCCESS);
    CHECK_EQ(local, check_size);
    CHECK_EQ(MPI_Comm_get_name(parent, name, &n), MPI_SUCCESS);
    CHECK_SAY(!strcmp(name, "MPI_COMM_PARENT"), "the parents' communicator is called %s", name);
    if (argc > 1 && !strcmp(argv[1], "arguments")) {
        CHECK_EQ(argc, sizeof odd / sizeof *odd);
        for (int i = 1; i < argc; i++)
            CHECK_SAY(!strcmp(argv[i], odd[i - 1]), "argument %d is %s, not %s", i, argv[i], odd[i - 1]);
    } else if (argc > 1) {
        CHECK_SAY(!strcmp(argv[1], "talk") && argc == 2, "there are %d arguments: %s", argc - 1, argv[1]);
        family_talk(parent, 7, 100000);
    }
    introduce(parent);
    CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
    CHECK(parent == MPI_COMM_NULL);
    CHECK(family_parent() == MPI_COMM_NULL);
    return check_end();
}

/* The children's introductions arrive, and they go. */
static void meet(MPI_Comm children, int n)
{
    int rank, *all = malloc(n * 3 * sizeof *all);
    MPI_Comm_rank(children, &rank);
    CHECK_EQ(MPI_Gather(NULL, 0, MPI_INT, all, 3, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children),
             MPI_SUCCESS);
    for (int i = 0; i < n && rank == 0; i++) {
        CHECK_EQ(all[3 * i], i);
        CHECK_EQ(all[3 * i + 1], n);
        CHECK_EQ(all[3 * i + 2], 0);
    }
    free(all);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    CHECK(children == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children;
    if (parent != MPI_COMM_NULL) return child(argc, argv, parent);
    char *program = family_program(argv[0]), *talk[] = {"talk", NULL};
    int last = check_size - 1, codes[3] = {-1, -1, -1}, *universe, flag, rank, size;
    CHECK_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag), MPI_SUCCESS);
    if (flag) CHECK_SAY(*universe >= check_size, "the universe has %d places", *universe);

    /* No arguments. */
    CHECK_EQ(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
        MPI_ERRCODES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_rank(children, &rank), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_size(children, &size), MPI_SUCCESS);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    meet(children, 1);

    /* Odd ones, which the root alone has. */
    if (check_rank == last) {
        CHECK_EQ(MPI_Comm_spawn(program, odd, 3, MPI_INFO_NULL, last, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Comm_spawn(NULL, NULL, -1, MPI_INFO_NULL, last, MPI_COMM_WORLD, &children, codes), MPI_SUCCESS);
    }
    if (check_rank == last)
        for (int i = 0; i < 3; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    meet(children, 3);

    /* Each with each. */
    CHECK_EQ(MPI_Comm_spawn(program, talk, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    family_talk(children, 7, 100000);
    meet(children, 2);

    /* All at once, each its own. */
    CHECK_EQ(MPI_Comm_spawn(program, talk, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    family_talk(children, 7, 100000);
    meet(children, 2);
    return check_end();
}
