/* The front of MPICH: libmpifort.so.12. Handles and statuses are those of C. */

#define F_(name) mpi_##name##_
#define C_(name) MPI_##name
#define F08_(name) mpi_##name##_f08_
#define F08TS_(name) mpi_##name##_f08ts_
#define LARGE_(name) mpi_##name##_f08_large_
#define LARGETS_(name) mpi_##name##_f08ts_large_
#define NAMES(lower, UPPER) \
    ALIAS(F_(lower), mpi_##lower##__) \
    ALIAS(F_(lower), mpi_##lower) \
    ALIAS(F_(lower), MPI_##UPPER)
#define ALSO(lower, name) ALIAS(F_(lower), mpi_##name##_)
#define ALSO_F08(name) ALIAS(F_(name), F08_(name))
#define CPTR(lower, UPPER) ALSO(lower, lower##_cptr)
#define HAVE_LARGE

#define HANDLE(kind, Name) \
    static inline MPI_##kind kind##_in(Fint f) { return f; } \
    static inline Fint kind##_out(MPI_##kind h) { return h; }
#define FILE_HANDLE /* pointers in C */ \
    static inline MPI_File File_in(Fint f) { return f ? C_(File_f2c)(f) : MPI_FILE_NULL; } \
    static inline Fint File_out(MPI_File h) { return h == MPI_FILE_NULL ? 0 : C_(File_c2f)(h); }

/* Common blocks of mpif.h and of module mpi, variables of module mpi_f08. */
enum { STATUS_INTEGERS = 5 };
extern struct mpich_private1 {
    Fint bottom, in_place, status_ignore[STATUS_INTEGERS];
} mpipriv1_;
extern struct mpich_private2 {
    Fint statuses_ignore[STATUS_INTEGERS], errcodes_ignore[1];
} mpipriv2_;
extern struct mpich_private_characters {
    char argvs_null, argv_null;
} mpiprivc_;
extern Fint mpifcmb5_, mpifcmb9_, MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE,
    MPIR_F08_MPI_STATUS_IGNORE_OBJ[STATUS_INTEGERS], MPIR_F08_MPI_STATUSES_IGNORE_OBJ[STATUS_INTEGERS];
#define LINKED(name) __mpi_f08_link_constants_MOD_mpi_##name
extern Fint LINKED(errcodes_ignore), LINKED(unweighted), LINKED(weights_empty);
extern char LINKED(argv_null), LINKED(argvs_null);
#define is_bottom(p) ((p) == &mpipriv1_.bottom || (p) == &MPIR_F08_MPI_BOTTOM)
#define is_in_place(p) ((p) == &mpipriv1_.in_place || (p) == &MPIR_F08_MPI_IN_PLACE)
#define is_buffer_automatic(p) 0
#define is_unweighted(a) ((a) == &mpifcmb5_ || (a) == &LINKED(unweighted))
#define is_weights_empty(a) ((a) == &mpifcmb9_ || (a) == &LINKED(weights_empty))
#define is_status_ignore(a) ((a) == mpipriv1_.status_ignore || (a) == MPIR_F08_MPI_STATUS_IGNORE_OBJ)
#define is_statuses_ignore(a) ((a) == mpipriv2_.statuses_ignore || (a) == MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
#define is_errcodes_ignore(a) ((a) == mpipriv2_.errcodes_ignore || (a) == &LINKED(errcodes_ignore))
#define is_argv_null(a) ((a) == &mpiprivc_.argv_null || (a) == &LINKED(argv_null))
#define is_argvs_null(a) ((a) == &mpiprivc_.argvs_null || (a) == &LINKED(argvs_null))
#define is_ignored(status) ((status) == MPI_STATUS_IGNORE)
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
