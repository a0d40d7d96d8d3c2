/* Copies of arguments, lengths of arrays, statuses, strings. */
#include <pthread.h>
#include <stdlib.h>

#include "fortran.h"

void *impi_fortran_more(struct room *r, size_t bytes)
{
    void **block = r->full || bytes > SIZE_MAX / 2 ? NULL : calloc(1, bytes + 16);
    if (!block) {
        r->full = 1;
        return NULL;
    }
    *block = r->more;
    r->more = block;
    return block + 2;
}

void impi_fortran_leave(struct room *r)
{
    for (void **block = (void **)r->more, **next; block; block = next) {
        next = (void **)*block;
        free(block);
    }
}

int impi_fortran_no_room(void) { return PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM; }

int impi_fortran_refuse(void)
{
    int code = MPI_ERR_BUFFER;
    if (!PMPI_Add_error_code(MPI_ERR_BUFFER, &code))
        PMPI_Add_error_string(code, "a nonblocking call has a section of an array and a datatype that does not fill it "
                                    "one element by one: this MPI library has no datatype for that");
    return PMPI_Comm_call_errhandler(MPI_COMM_SELF, code), code;
}

/* What operations go on reading, by request: few, if any. */
struct kept {
    struct kept *next;
    Fint request;
    struct room room;
};
static struct kept *all_kept;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
int impi_fortran_keeps;

void impi_fortran_keep(const struct room *room, int error, Fint request)
{
    struct room r = {.more = room->more};
    struct kept *k = error || !r.more ? NULL : (struct kept *)malloc(sizeof *k);
    if (!k) { /* without memory the copies are never given back */
        if (error) impi_fortran_leave(&r);
        return;
    }
    k->request = request;
    k->room.more = r.more;
    pthread_mutex_lock(&keeping);
    k->next = all_kept;
    all_kept = k;
    __atomic_add_fetch(&impi_fortran_keeps, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&keeping);
}

void impi_fortran_release(Fint request)
{
    pthread_mutex_lock(&keeping);
    for (struct kept **at = &all_kept, *k; (k = *at);) {
        if (k->request != request) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        impi_fortran_leave(&k->room);
        free(k);
        __atomic_sub_fetch(&impi_fortran_keeps, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&keeping);
}

/* Arrays of other integers. */

static int64_t number(const void *a, size_t size, int64_t i)
{
    return size == 4 ? ((const int32_t *)a)[i] : ((const int64_t *)a)[i];
}

static void set_number(void *a, size_t size, int64_t i, int64_t n)
{
    if (size == 4)
        ((int32_t *)a)[i] = n > INT_MAX ? INT_MAX : n < INT_MIN ? INT_MIN
                                                                : (int32_t)n;
    else
        ((int64_t *)a)[i] = n;
}

void *impi_fortran_numbers(struct room *r, const void *a, size_t size, size_t c_size, int64_t n)
{
    void *c = allocate(r, n, c_size);
    for (int64_t i = 0; c && i < n; i++) set_number(c, c_size, i, number(a, size, i));
    return c;
}

void impi_fortran_numbers_out(void *a, size_t size, const void *c, size_t c_size, int64_t n)
{
    for (int64_t i = 0; c && i < n; i++) set_number(a, size, i, number(c, c_size, i));
}

#ifndef impi_fortran_true
Fint impi_fortran_true = 1;
#endif

void impi_fortran_logicals_out(Fint *a, const int *c, int64_t n)
{
    for (int64_t i = n - 1; c && i >= 0; i--) a[i] = logical_out(c[i]); /* c may be a */
}

/* Lengths. They are asked of what the call is about, which refuses what is wrong with it. */

int64_t impi_fortran_peers(MPI_Comm comm)
{
    int inter, n;
    if (PMPI_Comm_test_inter(comm, &inter)) return 0;
    return (inter ? PMPI_Comm_remote_size(comm, &n) : PMPI_Comm_size(comm, &n)) ? 0 : n;
}

int64_t impi_fortran_dimensions(MPI_Comm comm)
{
    int n;
    return PMPI_Cartdim_get(comm, &n) ? 0 : n;
}

int64_t impi_fortran_neighbors(MPI_Comm comm, int out)
{
    int kind, rank, in_n, n, weighted;
    if (PMPI_Topo_test(comm, &kind)) return 0;
    if (kind == MPI_CART) return 2 * impi_fortran_dimensions(comm);
    if (kind == MPI_GRAPH)
        return PMPI_Comm_rank(comm, &rank) || PMPI_Graph_neighbors_count(comm, rank, &n) ? 0 : n;
    if (PMPI_Dist_graph_neighbors_count(comm, &in_n, &n, &weighted)) return 0;
    return out ? n : in_n;
}

/* Statuses. */

MPI_Status *impi_fortran_statuses(struct room *r, const Fint *a, int64_t n)
{
    return (MPI_Status *)impi_fortran_numbers(r, a, sizeof *a, sizeof(int), STATUS_INTEGERS * n);
}

void impi_fortran_statuses_out(Fint *a, const MPI_Status *c, int64_t n)
{
    impi_fortran_numbers_out(a, sizeof *a, c, sizeof(int), STATUS_INTEGERS * n);
}

/* Strings. */

char *impi_fortran_string(struct room *r, const char *s, size_t n)
{
    while (n > 0 && s[n - 1] == ' ') n--;
    char *c = (char *)allocate(r, (int64_t)n + 1, 1);
    if (c) memcpy(c, s, n);
    return c;
}

char *impi_fortran_trimmed(struct room *r, const char *s, size_t n)
{
    while (n > 0 && *s == ' ') s++, n--;
    return impi_fortran_string(r, s, n);
}

void impi_fortran_string_out(char *s, size_t n, const char *c)
{
    size_t used = strnlen(c, n);
    memcpy(s, c, used);
    memset(s + used, ' ', n - used);
}
