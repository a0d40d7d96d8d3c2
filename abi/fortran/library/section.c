/* Buffers of mpi_f08 that are not contiguous: a datatype over their elements. libimpi lays any datatype over any
 * section; of other libraries a nest of vectors describes simple ones, and others are copied for the time of a call. */
#include <pthread.h>
#include <stdlib.h>

#include "fortran.h"

#ifdef HAVE_SECTIONS /* gobridge/section.go, if the library is libimpi */
extern __attribute__((weak)) uintptr_t impi_section(int64_t *layout, int64_t count, uintptr_t datatype);
#else
static uintptr_t (*const impi_section)(int64_t *layout, int64_t count, uintptr_t datatype) = NULL;
#endif

/* What each thread has made last, by count, datatype and layout: a program sends the same sections over and over. */
enum { RECENT = 8, WORDS = 3 + 2 * (2 + 2 * MAX_RANK) };
struct recent {
    unsigned next;
    struct made {
        size_t bytes; /* of the words that are used */
        int64_t words[WORDS];
        MPI_Datatype type;
    } made[RECENT];
};
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void *recent)
{
    struct recent *r = (struct recent *)recent;
    int finalized;
    for (int i = 0; !PMPI_Finalized(&finalized) && !finalized && i < RECENT; i++)
        if (r->made[i].bytes) PMPI_Type_free(&r->made[i].type);
    free(r);
}
static void make_key(void) { pthread_key_create(&key, forget); }

/* A child of fork() must not enter the library. */
static int ours(void)
{
    int size;
    return !PMPI_Type_size(MPI_BYTE, &size);
}

static int64_t *describe(int64_t *w, const struct descriptor *d)
{
    *w++ = (int64_t)d->elem_len;
    if (contiguous(d)) return *w = 0, w + 1;
    *w++ = d->rank;
    for (int i = 0; i < d->rank; i++) *w++ = extent(d, i), *w++ = stride(d, i);
    return w;
}

static MPI_Datatype made(int64_t *words, size_t bytes)
{
    pthread_once(&once, make_key);
    struct recent *r = (struct recent *)pthread_getspecific(key);
    if (!r && (!(r = (struct recent *)calloc(1, sizeof *r)) || pthread_setspecific(key, r)))
        return free(r), MPI_DATATYPE_NULL;
    for (struct made *m = r->made; m < r->made + RECENT; m++)
        if (m->bytes == bytes && !memcmp(m->words, words, bytes)) return m->type;
    uintptr_t old = (uintptr_t)words[1], type = ours() ? impi_section(words + 2, words[0], old) : old;
    if (type == old) return (MPI_Datatype)old; /* the call finds what is wrong with it */
    struct made *m = &r->made[r->next++ % RECENT];
    if (m->bytes) PMPI_Type_free(&m->type);
    memcpy(m->words, words, m->bytes = bytes);
    return m->type = (MPI_Datatype)type;
}

static int64_t bytes(const struct descriptor *d)
{
    int64_t n = (int64_t)d->elem_len;
    for (int i = 0; i < d->rank; i++) n *= extent(d, i);
    return n;
}

/* All elements as so many items of a datatype without gaps; MPI_ERR_BUFFER if they are not as simple. */
static int nest(const struct descriptor *d, int64_t count, MPI_Datatype datatype, MPI_Datatype *type)
{
    MPI_Count lb, ends, size;
    MPI_Datatype one;
    int e = PMPI_Type_size_c(datatype, &size);
    if (e || (e = PMPI_Type_get_extent_c(datatype, &lb, &ends))) return e;
    if (!size || size != ends || lb || (int64_t)d->elem_len % size || count * size != bytes(d)) return MPI_ERR_BUFFER;
    if ((e = PMPI_Type_contiguous_c((int64_t)d->elem_len / size, datatype, type))) return e;
    for (int i = 0; i < d->rank && !e; i++) {
        one = *type;
        e = PMPI_Type_create_hvector_c(extent(d, i), 1, stride(d, i), one, type);
        PMPI_Type_free(&one);
    }
    return e ? e : PMPI_Type_commit(type);
}

/* Copies all elements to memory, or back. */
static int copy(const struct descriptor *d, void *memory, int out)
{
    MPI_Datatype all;
    MPI_Count at = 0, n = bytes(d);
    int e = memory ? nest(d, n, MPI_BYTE, &all) : no_room();
    if (e) return e;
    e = out ? PMPI_Unpack_c(memory, n, &at, d->base, 1, all, MPI_COMM_SELF)
            : PMPI_Pack_c(d->base, 1, all, memory, n, &at, MPI_COMM_SELF);
    return PMPI_Type_free(&all), e;
}

struct section impi_fortran_section(const struct descriptor *a, const struct descriptor *b, int64_t count,
                                    MPI_Datatype datatype, int copies)
{
    struct section s = { .base = { buffer_in(a->base), b ? buffer_in(b->base) : NULL }, .count = count,
                         .datatype = datatype };
    int64_t words[WORDS] = { count, (int64_t)datatype, b ? 2 : 1 }, *end = describe(words + 3, a);
    if (count == 0) return s;
    if (b) end = describe(end, b);
    if (impi_section && copies != ALWAYS) {
        s.datatype = made(words, (size_t)((char *)end - (char *)words));
        if (s.datatype == MPI_DATATYPE_NULL && datatype != MPI_DATATYPE_NULL) s.error = no_room();
        if (count > 0 && s.datatype != datatype) s.count = 1;
        return s;
    }
    if (count > 0 && !(s.error = nest(a, count, datatype, &s.datatype))) return s.made = s.count = 1, s;
    if (!copies) return s.error = impi_fortran_refuse(), s;
    s.error = 0;
    for (int i = 0; i < 2 && !s.error; i++) {
        const struct descriptor *d = i ? b : a;
        if (!d || contiguous(d)) continue;
        s.base[i] = malloc((size_t)bytes(d));
        s.copied[i] = d;
        s.error = copy(d, s.base[i], 0);
    }
    return s;
}

void impi_fortran_section_end(struct section *s)
{
    for (int i = 0; i < 2; i++) {
        if (!s->copied[i]) continue;
        if (!s->error) copy(s->copied[i], s->base[i], 1);
        free(s->base[i]);
    }
    if (s->made) PMPI_Type_free(&s->datatype);
}

/* Datatypes of the blocks of a buffer, which end with the call. */
void impi_fortran_types(const struct descriptor *d, MPI_Datatype *types, int64_t n)
{
    int64_t words[WORDS] = { 1 };
    describe(words + 1, d);
    for (int64_t i = 0; i < n && ours(); i++) types[i] = (MPI_Datatype)impi_section(words, -1, (uintptr_t)types[i]);
}

int impi_fortran_lays(void) { return impi_section != NULL; }
