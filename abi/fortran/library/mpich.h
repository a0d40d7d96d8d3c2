/* The front of MPICH: libmpifort.so.12. */

/* Keys of predefined attributes are one more than in C. */
static inline int keyval_in(Fint f)
{
    return (f & ~0xff) == (MPI_TAG_UB & ~0xff) || (f & ~0xff) == (MPI_WIN_BASE & ~0xff) ? f - 1 : f;
}

/* Descriptors as gfortran has them for its own procedures (since version 9). */
enum { MAX_RANK = 15 };
struct descriptor {
    void *base; /* the first element */
    size_t offset, elem_len;
    int version;
    int8_t rank, type;
    int16_t attribute;
    int64_t span;
    struct {
        int64_t stride, lower, upper; /* in spans */
    } dim[MAX_RANK];
};
static inline int64_t extent(const struct descriptor *d, int i) { return d->dim[i].upper - d->dim[i].lower + 1; }
static inline int64_t stride(const struct descriptor *d, int i)
{
    return d->dim[i].stride * (d->span ? d->span : (int64_t)d->elem_len);
}
