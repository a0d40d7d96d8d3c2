/* Fortran's functions as C's. */
#include "callbacks.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Cells lie in blocks, so that an address tells whether it is one of them. */
enum { CELLS = 1024 };
static struct block {
    struct block *next;
    MPI_Aint cells[CELLS];
} * blocks;
static MPI_Aint *idle; /* each holds the address of the next */

static int is_cell(const void *p)
{
    for (const struct block *b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); b; b = b->next)
        if ((uintptr_t)p - (uintptr_t)b->cells < sizeof b->cells) return 1;
    return 0;
}

void *impi_fortran_cell(MPI_Aint value)
{
    pthread_mutex_lock(&mutex);
    if (!idle) {
        struct block *b = (struct block *)malloc(sizeof *b);
        for (int i = 0; b && i < CELLS; i++) {
            b->cells[i] = (MPI_Aint)idle;
            idle = &b->cells[i];
        }
        if (b) {
            b->next = blocks;
            __atomic_store_n(&blocks, b, __ATOMIC_RELEASE);
        }
    }
    MPI_Aint *cell = idle;
    if (cell) {
        idle = (MPI_Aint *)*cell;
        *cell = value;
    }
    pthread_mutex_unlock(&mutex);
    return cell;
}

static void give_back(void *cell)
{
    if (!is_cell(cell)) return;
    pthread_mutex_lock(&mutex);
    *(MPI_Aint *)cell = (MPI_Aint)idle;
    idle = (MPI_Aint *)cell;
    pthread_mutex_unlock(&mutex);
}

/* C says predefined attributes by the address of an int, or of an MPI_Aint; a window's memory by its address. */
MPI_Aint impi_fortran_value(int keyval, void *attribute)
{
    if (impi_fortran_is_int(keyval)) return *(int *)attribute;
    return keyval == MPI_WIN_SIZE || is_cell(attribute) ? *(MPI_Aint *)attribute : (MPI_Aint)attribute;
}

struct state *impi_fortran_state(procedure a, procedure b, procedure c, MPI_Aint extra, int first)
{
    struct state *s = (struct state *)malloc(sizeof *s);
    if (!s) return NULL;
    *s = (struct state){{a, b, c}, extra, first, impi_fortran_is_dup(a)};
    if (s->dup || impi_fortran_is_nothing(a)) s->functions[0] = NULL;
    if (impi_fortran_is_nothing(b)) s->functions[1] = NULL;
    return s;
}

void impi_fortran_no_state(struct state *s) { free(s); }

int impi_fortran_copy_attr(Fint object, int keyval, void *state, void *in, void *out, int *flag)
{
    const struct state *s = (const struct state *)state;
    procedure f = s->functions[0];
    MPI_Aint value = impi_fortran_value(keyval, in), copy = value, extra = s->extra;
    Fint f_keyval = keyval, f_flag = 0, ierror = MPI_SUCCESS, first_value = (Fint)value, first_extra = (Fint)extra;
    *flag = s->dup;
    if (f && s->first) {
        Fint first_copy = 0;
        CALL(f, Fint *, Fint *, Fint *, Fint *, Fint *, Fint *, Fint *)
        (&object, &f_keyval, &first_extra, &first_value, &first_copy, &f_flag, &ierror);
        copy = first_copy;
    } else if (f) {
        copy = 0;
        CALL(f, Fint *, Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, Fint *, Fint *)
        (&object, &f_keyval, &extra, &value, &copy, &f_flag, &ierror);
    }
    if (f) *flag = logical_in(f_flag);
    if (ierror != MPI_SUCCESS || !*flag) return int_in(ierror);
    void *made = s->dup && !is_cell(in) ? in : impi_fortran_cell(copy);
    if (!made) return MPI_ERR_NO_MEM;
    *(void **)out = made;
    return MPI_SUCCESS;
}

int impi_fortran_delete_attr(Fint object, int keyval, void *attribute, void *state)
{
    const struct state *s = (const struct state *)state;
    procedure f = s->functions[1];
    MPI_Aint value = impi_fortran_value(keyval, attribute), extra = s->extra;
    Fint f_keyval = keyval, ierror = MPI_SUCCESS, first_value = (Fint)value, first_extra = (Fint)extra;
    if (f && s->first)
        CALL(f, Fint *, Fint *, Fint *, Fint *, Fint *)(&object, &f_keyval, &first_value, &first_extra, &ierror);
    else if (f)
        CALL(f, Fint *, Fint *, MPI_Aint *, MPI_Aint *, Fint *)(&object, &f_keyval, &value, &extra, &ierror);
    if (ierror == MPI_SUCCESS) give_back(attribute);
    return int_in(ierror);
}

/* The program's functions that C tells nothing of which one they are (trampolines.c). */

void impi_fortran_call_operator(procedure f, void *in, void *inout, int64_t n, MPI_Datatype type)
{
    Fint f_type = Datatype_out(type);
    int64_t most = sizeof(Fint) == 4 ? INT_MAX : n; /* more elements than an INTEGER holds come in parts */
    MPI_Aint lb, extent = 0;
    if (UNLIKELY(n > most)) PMPI_Type_get_extent(type, &lb, &extent);
    for (int64_t at = 0; at < n; at += most) {
        Fint f_n = (Fint)(n - at < most ? n - at : most);
        CALL(f, void *, void *, Fint *, Fint *)((char *)in + at * extent, (char *)inout + at * extent, &f_n, &f_type);
    }
}

void impi_fortran_call_operator_c(procedure f, void *in, void *inout, MPI_Count n, MPI_Datatype type)
{
    Fint f_type = Datatype_out(type);
    CALL(f, void *, void *, MPI_Count *, Fint *)(in, inout, &n, &f_type);
}

/* A function keeps its place in a pool for good, and has it again when it comes again. */
int impi_fortran_place(procedure *pool, int n, procedure f)
{
    int i = 0;
    pthread_mutex_lock(&mutex);
    while (i < n && pool[i] && pool[i] != f) i++;
    if (i < n) pool[i] = f;
    pthread_mutex_unlock(&mutex);
    return i < n ? i : -1;
}

int impi_fortran_exhausted(void)
{
    return impi_fortran_raise(MPI_ERR_OTHER, "over this MPI library 256 procedures of Fortran may be operators, and 64 "
                                             "may be error handlers of a kind: no more can be told apart");
}
