/* Programs that do not start, or that are no MPI programs: MPI_ERR_SPAWN at all members, and a code for each process;
 * the job goes on. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Comm_get_parent */
#include "family.h"
#include <sys/stat.h>

enum { N = 3 };

/* Nothing comes of it. How many processes are wanted counts at the root alone, and all get as many codes. */
static void fails(char *program, char **args)
{
    MPI_Comm children = MPI_COMM_WORLD;
    int codes[N + 1] = {-1, -1, -1, 17}, bad = 0, n = check_rank == check_size - 1 ? N : 1 << 30;
    CHECK_CLASS(MPI_Comm_spawn(program, args, n, MPI_INFO_NULL, check_size - 1, MPI_COMM_WORLD, &children, codes),
                MPI_ERR_SPAWN);
    CHECK_EQ(codes[N], 17);
    for (int i = 0; i < N; i++) {
        int class_ = -1;
        MPI_Error_class(codes[i], &class_);
        CHECK_SAY(class_ == MPI_SUCCESS || class_ == MPI_ERR_SPAWN, "code %d is %d", i, codes[i]);
        bad += class_ == MPI_ERR_SPAWN;
    }
    CHECK(bad > 0);
    CHECK_CLASS(MPI_Comm_spawn(program, args, N, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children;
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        return check_end();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    fails("/no/such/program", MPI_ARGV_NULL);
    fails("no-such-program-anywhere", MPI_ARGV_NULL);
    fails("/etc/passwd", MPI_ARGV_NULL); /* nobody may execute it */
    fails("/", MPI_ARGV_NULL);
    char *code[] = {"-c", "exit 3", NULL}, *dies[] = {"-c", "kill -SEGV $$", NULL};
    fails("/bin/true", MPI_ARGV_NULL); /* it never calls MPI_Init */
    fails("/bin/sh", code);
    fails("/bin/sh", dies);

    /* One of several commands: none of the others stays. */
    char *programs[] = {family_program(argv[0]), "/no/such/program"};
    int procs[] = {2, 1}, codes[3] = {-1, -1, -1}, class_;
    MPI_Info info[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    CHECK_CLASS(MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, procs, info, 0, MPI_COMM_WORLD, &children, codes),
                MPI_ERR_SPAWN);
    MPI_Error_class(codes[2], &class_);
    CHECK_EQ(class_, MPI_ERR_SPAWN);

    /* And the job is as good as before. */
    children = family_spawn(argv[0], "child", 2, 0, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    return check_end();
}
