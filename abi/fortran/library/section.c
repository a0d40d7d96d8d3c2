/* Buffers of mpi_f08 that are not contiguous: a datatype over their elements, or a copy. */
#include <stdlib.h>

#include "fortran.h"

/* The datatype of the first n elements of dimensions 0 to d, of which each is element; made tells whether it is a new
 * one. Elements of the last dimension that are not all there come behind those that are. */
static int over(const struct descriptor *c, int d, int64_t n, MPI_Datatype element, MPI_Datatype *type, int *made)
{
    *made = 0;
    *type = element;
    if (d < 0) return MPI_SUCCESS;
    int64_t inner = 1;
    for (int i = 0; i < d; i++) inner *= extent(c, i);
    int64_t whole = n / inner, rest = n % inner;
    MPI_Datatype one, all, some = MPI_DATATYPE_NULL;
    int one_made, some_made = 0;
    int e = over(c, d - 1, inner, element, &one, &one_made);
    if (e) return e;
    e = PMPI_Type_create_hvector_c(whole, 1, stride(c, d), one, &all);
    if (one_made) PMPI_Type_free(&one);
    if (e) return e;
    *made = 1;
    *type = all;
    if (!rest) return MPI_SUCCESS;
    e = over(c, d - 1, rest, element, &some, &some_made);
    if (!e) {
        MPI_Datatype both[2] = {all, some};
        e = PMPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, whole * stride(c, d)}, both, type);
    }
    if (some_made) PMPI_Type_free(&some);
    PMPI_Type_free(&all);
    return e;
}

/* Items of a datatype without gaps in an element, in whole numbers; 0 if they do not fill elements. */
static int64_t items(const struct descriptor *c, MPI_Datatype datatype)
{
    MPI_Count lb, extent, size;
    if (PMPI_Type_size_c(datatype, &size) || PMPI_Type_get_extent_c(datatype, &lb, &extent)) return 0;
    if (size != extent || lb != 0 || size <= 0) return 0;
    return (int64_t)c->elem_len % size ? 0 : (int64_t)c->elem_len / size;
}

struct section impi_fortran_section(const struct descriptor *c, int64_t count, MPI_Datatype datatype)
{
    struct section s = {c->base, count, datatype, 0, MPI_SUCCESS};
    int64_t each = items(c, datatype);
    if (count <= 0 || datatype == MPI_DATATYPE_NULL) return s; /* C refuses what is wrong */
    if (!each || count % each) {
        s.error = impi_fortran_refuse("");
        return s;
    }
    MPI_Datatype element = datatype;
    if (each > 1) s.error = PMPI_Type_contiguous_c(each, datatype, &element);
    if (!s.error) s.error = over(c, c->rank - 1, count / each, element, &s.datatype, &s.made);
    if (each > 1 && !s.error) PMPI_Type_free(&element);
    if (!s.error) s.error = PMPI_Type_commit(&s.datatype);
    s.count = 1;
    return s;
}

/* Copies of elements in the order of Fortran. */
struct walk {
    int64_t at[MAX_RANK];
    char *p;
};

static int next(const struct descriptor *c, struct walk *w)
{
    for (int i = 0; i < c->rank; i++) {
        w->p += stride(c, i);
        if (++w->at[i] < extent(c, i)) return 1;
        w->p -= stride(c, i) * extent(c, i);
        w->at[i] = 0;
    }
    return 0;
}

void *impi_fortran_copy(struct room *r, const struct descriptor *c)
{
    int64_t n = 1;
    for (int i = 0; i < c->rank; i++) n *= extent(c, i);
    char *copy = (char *)allocate(r, n, c->elem_len), *to = copy;
    struct walk w = {.p = (char *)c->base};
    if (copy) do {
            memcpy(to, w.p, c->elem_len);
            to += c->elem_len;
        } while (next(c, &w));
    return copy;
}

void impi_fortran_copy_out(const struct descriptor *c, const void *copy)
{
    const char *from = (const char *)copy;
    struct walk w = {.p = (char *)c->base};
    do {
        memcpy(w.p, from, c->elem_len);
        from += c->elem_len;
    } while (next(c, &w));
}
