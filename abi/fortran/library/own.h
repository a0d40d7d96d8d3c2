/* The library of the standard ABI: names, handles, constants, descriptors. */

#define F_(name) mpi_##name##_
#define C_(name) MPI_##name
#define NAMES(lower, UPPER) \
    ALIAS(F_(lower), mpi_##lower##__) \
    ALIAS(F_(lower), mpi_##lower) \
    ALIAS(F_(lower), MPI_##UPPER)
#define ALSO(lower, name) ALIAS(F_(lower), mpi_##name##_)
#define F08_(name) F_(name##_f08)
#define F08TS_(name) F_(name##_f08ts)
#define LARGE_(name) F_(name##_c_f08)
#define LARGETS_(name) F_(name##_c_f08ts)
#define ALSO_F08(name) ALSO(name, name##_f08)
#define CPTR(lower, UPPER) ALSO(lower, lower##_cptr)
#define HAVE_LARGE
#define HAVE_SECTIONS

/* Handles below 4096 are the same in C and in Fortran. */
#define HANDLE(kind, Name) \
    static inline MPI_##kind kind##_in(Fint f) \
    { \
        return LIKELY((uint64_t)f < 4096) ? (MPI_##kind)(intptr_t)f : C_(Name##_fromint)(int_in(f)); \
    } \
    static inline Fint kind##_out(MPI_##kind h) \
    { \
        return LIKELY((uintptr_t)h < 4096) ? (Fint)(intptr_t)h : C_(Name##_toint)(h); \
    }
#define FILE_HANDLE HANDLE(File, File)

/* Common blocks. */
extern Fint mpi_abi_bottom_, mpi_abi_in_place_, mpi_abi_buffer_automatic_, mpi_abi_status_ignore_[8],
    mpi_abi_statuses_ignore_[8], mpi_abi_errcodes_ignore_[1], mpi_abi_unweighted_[1], mpi_abi_weights_empty_[1];
extern char mpi_abi_argv_null_[1], mpi_abi_argvs_null_[1];
#define is_bottom(p) ((p) == &mpi_abi_bottom_)
#define is_in_place(p) ((p) == &mpi_abi_in_place_)
#define is_buffer_automatic(p) ((p) == &mpi_abi_buffer_automatic_)
#define is_unweighted(a) ((a) == mpi_abi_unweighted_)
#define is_weights_empty(a) ((a) == mpi_abi_weights_empty_)
#define is_status_ignore(a) ((a) == mpi_abi_status_ignore_)
#define is_statuses_ignore(a) ((a) == mpi_abi_statuses_ignore_)
#define is_errcodes_ignore(a) ((a) == mpi_abi_errcodes_ignore_)
#define is_argv_null(a) ((a) == mpi_abi_argv_null_)
#define is_argvs_null(a) ((a) == mpi_abi_argvs_null_)
#define is_ignored(status) ((status) == MPI_STATUS_IGNORE)
#define is_conversion_null(f) ((f) == (procedure)mpi_conversion_fn_null_ || (f) == (procedure)mpi_conversion_fn_null_c_)
#define STATUS_INTEGERS MPI_F_STATUS_SIZE
#define keyval_in int_in

/* Descriptors (ISO_Fortran_binding.h): of what gfortran's and flang's have in common. LLVM's base is the address of the
 * first element, and so is that of gcc's. */
enum { MAX_RANK = 15 };
struct descriptor {
    void *base;
    size_t elem_len; /* bytes of an element */
    int version;
    int8_t rank;
    int8_t kinds[3]; /* each compiler's own */
    struct {
        int64_t lower, extent, stride; /* bytes from one element to the next */
    } dim[MAX_RANK];
};
static inline int64_t extent(const struct descriptor *d, int i) { return d->dim[i].extent; }
static inline int64_t stride(const struct descriptor *d, int i) { return d->dim[i].stride; }
