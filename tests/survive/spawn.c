/* spawn.c - a process that the members of the first communicator start, which computes a sum with them, and ends. Each
 * thing that they make with it counts if all of them agree that they have it, else they revoke what they have: so it
 * ends, too.
 */
#include "survive.h"
#include <string.h>

static char *program;

void spawns(char *name) { program = name; }

/* Everybody's one, added up over those who started it, and itself. */
static int sum(MPI_Comm merged, int size)
{
    int one = 1, all = 0, code = MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, merged);
    if (code == MPI_SUCCESS && all != size) wrong("%d and a new process are %d", size - 1, all);
    return code;
}

/* Whether all have what the call that gave this code has made; if not, whoever has it revokes it. */
static int all_have(int code, MPI_Comm made, int *agreed)
{
    if (code != MPI_SUCCESS) {
        check_code(code);
        give_up();
    }
    *agreed = agree(&p.where[0], code == MPI_SUCCESS);
    if (!*agreed && made != MPI_COMM_NULL) MPIX_Comm_revoke(made);
    if (!*agreed && code == MPI_SUCCESS) give_up();
    return *agreed;
}

int spawn_one(Random *r)
{
    Where *all = &p.where[0];
    MPI_Comm inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    char *arguments[] = {"child", NULL};
    int agreed = 0;
    note("spawn");
    int code = MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, below(r, all->size), all->comm, &inter,
                              MPI_ERRCODES_IGNORE);
    if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (all_have(code, inter, &agreed)) {
        code = MPI_Intercomm_merge(inter, 0, &merged);
        if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
        if (code != MPI_SUCCESS) MPIX_Comm_revoke(inter);
        if (all_have(code, merged, &agreed)) {
            code = sum(merged, all->size + 1);
            if (code != MPI_SUCCESS) MPIX_Comm_revoke(merged);
            all_have(code, merged, &agreed);
        }
        if (!agreed) MPIX_Comm_revoke(inter);
    }
    if (merged != MPI_COMM_NULL) MPI_Comm_free(&merged);
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
    return agreed;
}

int run_child(void)
{
    MPI_Comm parents, merged;
    int size;
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL) return 1;
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(parents, &size);
    if (MPI_Intercomm_merge(parents, 1, &merged) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
        sum(merged, size + 1);
        MPI_Comm_free(&merged);
    }
    MPI_Comm_free(&parents);
    MPI_Finalize();
    return 0;
}
