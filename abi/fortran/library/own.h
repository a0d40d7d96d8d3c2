/* The library of the standard ABI: handles, descriptors. */
#include "mpix.h"
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
