/* The front of MPICH: libmpifort.so.12. Handles and statuses are those of C. */

#define HANDLE(kind, Name) \
    static inline MPI_##kind kind##_in(Fint f) { return f; } \
    static inline Fint kind##_out(MPI_##kind h) { return h; }
#define FILE_HANDLE /* pointers in C */ \
    static inline MPI_File File_in(Fint f) { return f ? C_(File_f2c)(f) : MPI_FILE_NULL; } \
    static inline Fint File_out(MPI_File h) { return h == MPI_FILE_NULL ? 0 : C_(File_c2f)(h); }

enum { STATUS_INTEGERS = 5 };
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void);
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c(void);
#define is_conversion_null(f) \
    ((f) == (procedure)mpi_conversion_fn_null_ || (f) == (procedure)__mpi_f08_callbacks_MOD_mpi_conversion_fn_null || \
     (f) == (procedure)__mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c)

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
