/* Random types by every constructor in both forms, of basic types of all sizes, with empty blocks, blocks in any order
 * and on top of each other, strides and extents of either sign, against a list of their elements (MPI 5.0, 5.1). What
 * is first asked of a type, and so who makes it, varies: bounds, packing, external32, a message, how it was made,
 * absolute addresses, parts of it in a status.
 *
 *   any_type [seed [types]]
 */
/* ranks: 1 2 */
#include "../check.h"

#ifdef MPI_ABI_VERSION

enum { MOST = 600, SPAN = 1 << 18, ROOM = 2 * SPAN, TYPES = 1000, LONG = 36, DIMS = 8 };

/* One basic element. unit: bytes that external32 turns round; so many of them. */
typedef struct { MPI_Aint at; int basic; } element;
static const struct { MPI_Datatype type; int size, unit, align; } basics[] = {
    {MPI_CHAR, 1, 1, 1}, {MPI_SHORT, 2, 2, 2}, {MPI_INT, 4, 4, 4}, {MPI_DOUBLE, 8, 8, 8},
    {MPI_C_DOUBLE_COMPLEX, 16, 8, 8}, {MPI_C_FLOAT_COMPLEX, 8, 4, 4}, {MPI_INTEGER16, 16, 16, 16},
    {MPI_INT64_T, 8, 8, 8}, {MPI_BYTE, 1, 1, 1}, {MPI_FLOAT, 4, 4, 4}};
enum { BASICS = 10 };

/* A type and what is known of it. set: a constructor has set the bounds; end: of its last part, padding included. */
typedef struct {
    MPI_Datatype type;
    int n, predefined, align, set, any;
    element e[MOST];
    MPI_Aint lb, ub, end;
} model;

static check_stream s;
static unsigned char *memory, *copy, *want, *packed, *stream;

static MPI_Aint extent(const model *m) { return m->ub - m->lb; }

static void basic(model *m, int b)
{
    *m = (model){.type = basics[b].type, .n = 1, .predefined = 1, .align = basics[b].align, .any = 1, .e = {{0, b}},
        .ub = basics[b].size};
}

/* Appends n elements of o, the first at byte `at`; 0 if there are too many. */
static int place(model *m, const model *o, MPI_Aint at, MPI_Aint n)
{
    if (n == 0) return 1;
    if (m->n + n * o->n > MOST || n > MOST) return 0;
    for (MPI_Aint k = 0; k < n; k++, at += extent(o)) {
        for (int i = 0; i < o->n; i++) m->e[m->n++] = (element){o->e[i].at + at, o->e[i].basic};
        if (!o->set && o->n && (m->n == o->n || o->ub + at > m->end)) m->end = o->ub + at;
        if (!o->set) continue;
        if (!m->set || o->lb + at < m->lb) m->lb = o->lb + at;
        if (!m->set || o->ub + at > m->ub) m->ub = o->ub + at;
        m->set = 1;
    }
    if (o->align > m->align) m->align = o->align;
    return 1;
}

static void true_bounds(const model *m, MPI_Aint *lo, MPI_Aint *hi)
{
    *lo = *hi = 0;
    for (int i = 0; i < m->n; i++) {
        MPI_Aint end = m->e[i].at + basics[m->e[i].basic].size;
        if (i == 0 || m->e[i].at < *lo) *lo = m->e[i].at;
        if (i == 0 || end > *hi) *hi = end;
    }
}

/* The bounds that nobody set: those of the data, the upper one padded, and behind all parts (docs/decisions/46). */
static int seal(model *m)
{
    MPI_Aint lo, hi;
    true_bounds(m, &lo, &hi);
    if (!m->set) {
        if (m->end > hi) hi = m->end;
        m->lb = lo;
        m->ub = m->n ? lo + (hi - lo + m->align - 1) / m->align * m->align : lo;
    }
    return lo > -SPAN / 8 && hi < SPAN / 8 && m->lb > -SPAN / 8 && m->ub < SPAN / 8;
}

/* Draws a type over old, or over old and others. */
static int draw(const model *old, model *m)
{
    /* long lists are treated in other ways */
    int n = old->n <= 3 && check_below(&s, 5) == 0 ? check_below(&s, LONG) : check_below(&s, 5);
    int large = check_below(&s, 2), lens[LONG], at[LONG], b = check_below(&s, 4), ok = 1, stride = check_below(&s, 13) -
        6;
    MPI_Aint bytes[LONG], ext = extent(old);
    MPI_Count wide_lens[LONG], wide_at[LONG], wide_bytes[LONG];
    MPI_Datatype of[LONG];
    static model other;
    *m = (model){.align = 1};
    for (int i = 0; i < LONG; i++) {
        wide_lens[i] = lens[i] = check_below(&s, 4);
        wide_at[i] = at[i] = check_below(&s, 3) ? 3 * i : check_below(&s, 12) - 4;
        wide_bytes[i] = bytes[i] = check_below(&s, 3) ? i * 3 * ext : check_below(&s, 200) - 60;
    }
    if (check_below(&s, 4) == 0) /* neighbors */
        for (int i = 1; i < LONG; i++) {
            wide_at[i] = at[i] = at[i - 1] + lens[i - 1], wide_bytes[i] = bytes[i] = bytes[i - 1] + lens[i - 1] * ext;
        }
    if (check_below(&s, 4) == 0)
        for (int i = 1; i < LONG; i++) wide_lens[i] = lens[i] = lens[0];
    switch (check_below(&s, 12)) {
    case 0:
        if (large) MPI_Type_contiguous_c(n, old->type, &m->type);
        else MPI_Type_contiguous(n, old->type, &m->type);
        ok = place(m, old, 0, n);
        break;
    case 1:
        if (large) MPI_Type_vector_c(n, b, stride, old->type, &m->type);
        else MPI_Type_vector(n, b, stride, old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, i * stride * ext, b);
        break;
    case 2:
        if (large) MPI_Type_create_hvector_c(n, b, bytes[0], old->type, &m->type);
        else MPI_Type_create_hvector(n, b, bytes[0], old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, i * bytes[0], b);
        break;
    case 3:
        if (large) MPI_Type_indexed_c(n, wide_lens, wide_at, old->type, &m->type);
        else MPI_Type_indexed(n, lens, at, old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, at[i] * ext, lens[i]);
        break;
    case 4:
        if (large) MPI_Type_create_hindexed_c(n, wide_lens, wide_bytes, old->type, &m->type);
        else MPI_Type_create_hindexed(n, lens, bytes, old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, bytes[i], lens[i]);
        break;
    case 5:
        if (large) MPI_Type_create_indexed_block_c(n, b, wide_at, old->type, &m->type);
        else MPI_Type_create_indexed_block(n, b, at, old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, at[i] * ext, b);
        break;
    case 6:
        if (large) MPI_Type_create_hindexed_block_c(n, b, wide_bytes, old->type, &m->type);
        else MPI_Type_create_hindexed_block(n, b, bytes, old->type, &m->type);
        for (int i = 0; i < n; i++) ok = ok && place(m, old, bytes[i], b);
        break;
    case 7:
    case 8:
        for (int i = 0; i < n; i++) {
            const model *o = old;
            if (check_below(&s, 2)) basic(&other, check_below(&s, BASICS)), o = &other;
            of[i] = o->type;
            ok = ok && place(m, o, bytes[i], lens[i]);
        }
        if (large) MPI_Type_create_struct_c(n, wide_lens, wide_bytes, of, &m->type);
        else MPI_Type_create_struct(n, lens, bytes, of, &m->type);
        break;
    case 9: {
        int sizes[DIMS], part[DIMS], start[DIMS], order = check_below(&s, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        int dims = check_below(&s, 6) ? 1 + check_below(&s, 3) : DIMS, most = dims == DIMS ? 3 : 4;
        MPI_Count wide[3][DIMS];
        MPI_Aint pitch[DIMS], whole = ext;
        for (int i = 0; i < dims; i++) {
            wide[0][i] = sizes[i] = 1 + check_below(&s, most);
            int bound = sizes[i] >= 2 && most - 1 < sizes[i] ? most - 1 : sizes[i];
            wide[1][i] = part[i] = 1 + check_below(&s, bound);
            wide[2][i] = start[i] = check_below(&s, sizes[i] - part[i] + 1);
        }
        if (large) MPI_Type_create_subarray_c(dims, wide[0], wide[1], wide[2], order, old->type, &m->type);
        else MPI_Type_create_subarray(dims, sizes, part, start, order, old->type, &m->type);
        for (int i = 0; i < dims; i++) { /* from the fastest on */
            int d = order == MPI_ORDER_C ? dims - 1 - i : i;
            pitch[d] = whole;
            whole *= sizes[d];
        }
        int total = 1;
        for (int i = 0; i < dims; i++) total *= part[i];
        for (int k = 0; k < total; k++) {
            MPI_Aint where = 0;
            for (int i = 0, rest = k; i < dims; i++) {
                int d = order == MPI_ORDER_C ? dims - 1 - i : i;
                where += (start[d] + rest % part[d]) * pitch[d];
                rest /= part[d];
            }
            ok = ok && place(m, old, where, 1);
        }
        m->set = 1;
        m->lb = 0;
        m->ub = whole;
        break;
    }
    case 10: {
        MPI_Aint lb = check_below(&s, 64) - 32;
        MPI_Aint wider = check_below(&s, 4) ? ext + check_below(&s, 40) : check_below(&s, 128) - 64;
        if (large) MPI_Type_create_resized_c(old->type, lb, wider, &m->type);
        else MPI_Type_create_resized(old->type, lb, wider, &m->type);
        ok = place(m, old, 0, 1);
        m->set = 1;
        m->lb = lb;
        m->ub = lb + wider;
        break;
    }
    case 11:
        MPI_Type_dup(old->type, &m->type);
        ok = place(m, old, 0, 1);
        break;
    }
    if (ok && seal(m)) return 1;
    MPI_Type_free(&m->type);
    return 0;
}

static int size_of(const model *m)
{
    int size = 0;
    for (int i = 0; i < m->n; i++) size += basics[m->e[i].basic].size;
    return size;
}

/* Moves count elements between memory and a stream, slowly; turned: the stream is external32. */
static int walk(const model *m, int count, unsigned char *mem, unsigned char *to, int unpack, int turned)
{
    int n = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->n; i++) {
            int size = basics[m->e[i].basic].size, unit = turned ? basics[m->e[i].basic].unit : 1;
            unsigned char *p = mem + m->e[i].at + k * extent(m);
            for (int u = 0; u < size; u += unit)
                for (int j = 0; j < unit; j++, n++) {
                    unsigned char *b = p + u + unit - 1 - j;
                    if (unpack) *b = to[n];
                    else to[n] = *b;
                }
        }
    return n;
}

static int overlaps(const model *m, int count)
{
    int found = 0;
    memset(copy, 0, ROOM);
    for (int k = 0; k < count && !found; k++)
        for (int i = 0; i < m->n && !found; i++)
            for (int j = 0; j < basics[m->e[i].basic].size; j++) found |= copy[SPAN + m->e[i].at + k * extent(m) + j]++;
    return found;
}

static void bounds(const model *m)
{
    int size = -1;
    MPI_Aint lb, ext, lo, hi;
    MPI_Count n, wide_lb, wide;
    true_bounds(m, &lo, &hi);
    MPI_Type_size(m->type, &size);
    MPI_Type_size_c(m->type, &n);
    CHECK(size == size_of(m) && n == size);
    MPI_Type_get_extent(m->type, &lb, &ext);
    CHECK_EQ(lb, m->lb);
    CHECK_EQ(ext, extent(m));
    MPI_Type_get_true_extent(m->type, &lb, &ext);
    MPI_Type_get_true_extent_c(m->type, &wide_lb, &wide);
    CHECK_EQ(lb, lo);
    CHECK_EQ(ext, hi - lo);
    CHECK(wide_lb == lb && wide == ext);
}

static void packing(const model *m, int count)
{
    int n = walk(m, count, memory + SPAN, stream, 0, 0), at = 3, room = -1;
    MPI_Pack_size(count, m->type, MPI_COMM_SELF, &room);
    CHECK_EQ(room, n);
    memset(packed, 0x77, (size_t)n + 8);
    CHECK_EQ(MPI_Pack(memory + SPAN, count, m->type, packed, n + 3, &at, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(at, n + 3);
    for (int i = 0; i < 3; i++) CHECK(packed[i] == 0x77 && packed[n + 3 + i] == 0x77);
    CHECK(!memcmp(packed + 3, stream, (size_t)n));
}

static void unpacking(const model *m, int count)
{
    MPI_Count at = 1;
    if (overlaps(m, count)) return;
    int n = walk(m, count, memory + SPAN, stream + 1, 0, 0);
    check_fill(stream + 1, (size_t)n, (uint64_t)n);
    memset(want, 0x5A, ROOM);
    memset(copy, 0x5A, ROOM);
    walk(m, count, want + SPAN, stream + 1, 1, 0);
    CHECK_EQ(MPI_Unpack_c(stream, n + 1, &at, copy + SPAN, count, m->type, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_EQ(at, n + 1);
    CHECK(!memcmp(copy, want, ROOM));
}

static void external(const model *m, int count)
{
    MPI_Aint at = 0;
    int n = walk(m, count, memory + SPAN, stream, 0, 1);
    MPI_Pack_external_size("external32", count, m->type, &at);
    CHECK_EQ(at, n);
    at = 0;
    CHECK_EQ(MPI_Pack_external("external32", memory + SPAN, count, m->type, packed, n, &at), MPI_SUCCESS);
    CHECK(at == n && !memcmp(packed, stream, (size_t)n));
    if (overlaps(m, count)) return;
    memset(want, 0x5A, ROOM);
    memset(copy, 0x5A, ROOM);
    walk(m, count, want + SPAN, stream, 1, 1);
    at = 0;
    CHECK_EQ(MPI_Unpack_external("external32", stream, n, &at, copy + SPAN, count, m->type), MPI_SUCCESS);
    CHECK(at == n && !memcmp(copy, want, ROOM));
}

/* To myself or the next, in blocking or nonblocking calls: typed to bytes, bytes to typed, by absolute addresses,
 * too. */
static void messages(const model *m, int count)
{
    int n = size_of(m) * count, next = (check_rank + 1) % check_size,
        previous = (check_rank + check_size - 1) % check_size, got = -1;
    MPI_Comm comm = check_below(&s, 2) ? MPI_COMM_SELF : MPI_COMM_WORLD;
    int to = comm == MPI_COMM_SELF ? 0 : next, from = comm == MPI_COMM_SELF ? 0 : previous,
        absolute = check_below(&s, 3) == 0;
    int key = comm == MPI_COMM_SELF ? check_rank : previous;
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype placed = m->type;
    if (check_spans() && comm == MPI_COMM_WORLD) return; /* bytes are not elements there */
    void *base = memory + SPAN;
    if (absolute) {
        MPI_Aint at;
        MPI_Get_address(memory + SPAN, &at);
        MPI_Type_create_hindexed_block(1, 1, &at, m->type, &placed);
        MPI_Datatype bounded;
        MPI_Type_create_resized(placed, m->lb, extent(m), &bounded);
        MPI_Type_free(&placed);
        placed = bounded;
        MPI_Type_commit(&placed);
        base = MPI_BOTTOM;
    }
    check_fill(memory, ROOM, (uint64_t)check_rank);
    memset(packed, 0x66, (size_t)n + 4);
    if (check_below(&s, 2)) {
        MPI_Irecv(packed, n + 2, MPI_BYTE, from, 5, comm, &request);
        MPI_Send(base, count, placed, to, 5, comm);
        MPI_Wait(&request, &status);
    } else {
        MPI_Sendrecv(base, count, placed, to, 5, packed, n + 2, MPI_BYTE, from, 5, comm, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    check_fill(copy, ROOM, (uint64_t)key);
    walk(m, count, copy + SPAN, stream, 0, 0);
    CHECK(!memcmp(packed, stream, (size_t)n));
    CHECK(packed[n] == 0x66);
    if (!overlaps(m, count)) {
        memset(memory, 0x5A, ROOM);
        memset(want, 0x5A, ROOM);
        check_fill(copy, ROOM, (uint64_t)check_rank);
        walk(m, count, copy + SPAN, packed, 0, 0);
        walk(m, count, want + SPAN, packed, 1, 0); /* what I have sent comes back */
        if (check_below(&s, 2)) {
            MPI_Isend(stream, n, MPI_BYTE, from, 6, comm, &request);
            MPI_Recv(base, count, placed, to, 6, comm, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Sendrecv(stream, n, MPI_BYTE, from, 6, base, count, placed, to, 6, comm, &status);
        }
        MPI_Get_count(&status, placed, &got);
        CHECK_EQ(got, n ? count : 0);
        CHECK(!memcmp(memory, want, ROOM));
    }
    if (absolute) MPI_Type_free(&placed);
    check_fill(memory, ROOM, 11);
}

/* The first elements of a message: as many as there are bytes of, and whole types. */
static void parts(const model *m)
{
    MPI_Status status;
    int n = m->n ? check_below(&s, 2 * m->n + 1) : 0, got, bytes = 0, count;
    MPI_Count wide;
    if (m->n == 0) return;
    memset(&status, 0, sizeof status);
    for (int i = 0; i < n; i++) bytes += basics[m->e[i % m->n].basic].size;
    MPI_Sendrecv(memory, bytes, MPI_BYTE, 0, 1, copy, ROOM, MPI_BYTE, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, m->type, &got);
    CHECK_EQ(got, n);
    MPI_Get_elements_c(&status, m->type, &wide);
    CHECK_EQ(wide, n);
    MPI_Get_count(&status, m->type, &count);
    CHECK_EQ(count, n % m->n ? MPI_UNDEFINED : n / m->n);
    MPI_Status_set_elements_c(&status, m->type, n);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, bytes);
    if (basics[m->e[n % m->n].basic].size == 1) return;
    MPI_Status_set_elements(&status, MPI_BYTE, bytes + 1);
    MPI_Get_elements(&status, m->type, &got);
    CHECK_EQ(got, MPI_UNDEFINED);
    MPI_Get_elements_x(&status, m->type, &wide);
    CHECK_EQ(wide, MPI_UNDEFINED);
    MPI_Get_count(&status, m->type, &count);
    CHECK_EQ(count, MPI_UNDEFINED);
}

/* Makes a type again from what it says of itself. */
static MPI_Datatype again(MPI_Datatype t)
{
    MPI_Count ni, na, nc, nd, nd_of, c[2 * LONG + 2];
    int combiner, i[2 * LONG + 2], large;
    MPI_Aint a[LONG];
    MPI_Datatype d[LONG], made = MPI_DATATYPE_NULL, part[LONG];
    MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nd, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return t;
    CHECK(ni <= 2 * LONG + 2 && na <= LONG && nc <= 2 * LONG + 2 && nd <= LONG);
    CHECK_EQ(MPI_Type_get_contents_c(t, ni, na, nc, nd, i, a, c, d), MPI_SUCCESS);
    large = nc > 0;
    for (int k = 0; k < nd; k++) part[k] = again(d[k]);
    switch (combiner) {
    case MPI_COMBINER_DUP: MPI_Type_dup(part[0], &made); break;
    case MPI_COMBINER_CONTIGUOUS:
        if (large) MPI_Type_contiguous_c(c[0], part[0], &made);
        else MPI_Type_contiguous(i[0], part[0], &made);
        break;
    case MPI_COMBINER_VECTOR:
        if (large) MPI_Type_vector_c(c[0], c[1], c[2], part[0], &made);
        else MPI_Type_vector(i[0], i[1], i[2], part[0], &made);
        break;
    case MPI_COMBINER_HVECTOR:
        if (large) MPI_Type_create_hvector_c(c[0], c[1], c[2], part[0], &made);
        else MPI_Type_create_hvector(i[0], i[1], a[0], part[0], &made);
        break;
    case MPI_COMBINER_INDEXED:
        if (large) MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], part[0], &made);
        else MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], part[0], &made);
        break;
    case MPI_COMBINER_HINDEXED:
        if (large) MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], part[0], &made);
        else MPI_Type_create_hindexed(i[0], i + 1, a, part[0], &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        if (large) MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, part[0], &made);
        else MPI_Type_create_indexed_block(i[0], i[1], i + 2, part[0], &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        if (large) MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, part[0], &made);
        else MPI_Type_create_hindexed_block(i[0], i[1], a, part[0], &made);
        break;
    case MPI_COMBINER_STRUCT:
        if (large) MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], part, &made);
        else MPI_Type_create_struct(i[0], i + 1, a, part, &made);
        break;
    case MPI_COMBINER_SUBARRAY:
        if (large) MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], part[0], &made);
        else MPI_Type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0], i[1 + 3 * i[0]], part[0], &made);
        break;
    case MPI_COMBINER_RESIZED:
        if (large) MPI_Type_create_resized_c(part[0], c[0], c[1], &made);
        else MPI_Type_create_resized(part[0], a[0], a[1], &made);
        break;
    }
    CHECK(made != MPI_DATATYPE_NULL);
    for (int k = 0; k < nd; k++) {
        MPI_Type_get_envelope_c(d[k], &ni, &na, &nc, &nd_of, &combiner);
        if (combiner == MPI_COMBINER_NAMED) continue;
        MPI_Type_free(&d[k]);
        MPI_Type_free(&part[k]);
    }
    return made;
}

static void remade(const model *m, int count)
{
    model r = *m;
    r.type = again(m->type);
    if (m->predefined) return;
    MPI_Type_commit(&r.type);
    bounds(&r);
    packing(&r, count);
    MPI_Type_free(&r.type);
}

static void try_all(const model *m)
{
    MPI_Aint lo, hi;
    true_bounds(m, &lo, &hi);
    int count = check_below(&s, check_below(&s, 6) ? 5 : 45);
    while (count > 1 && ((extent(m) + hi - lo) * count > SPAN / 2 || -(extent(m) - (hi - lo)) * count > SPAN / 2)) {
        count--;
    }
    for (int k = 0, first = check_below(&s, 7); k < 7; k++)
        switch ((first + k) % 7) {
        case 0: bounds(m); break;
        case 1: packing(m, count); break;
        case 2: unpacking(m, count); break;
        case 3: external(m, count); break;
        case 4: messages(m, count); break;
        case 5: parts(m); break;
        case 6: remade(m, count); break;
        }
}

int main(int argc, char **argv)
{
    static model m, outer;
    check_start(&argc, &argv);
    s = check_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    int types = argc > 2 ? (int)strtol(argv[2], NULL, 10) : TYPES / check_size;
    memory = malloc(ROOM), copy = malloc(ROOM), want = malloc(ROOM), packed = malloc(ROOM), stream = malloc(ROOM);
    check_fill(memory, ROOM, 11);
    for (int k = 0; k < types; k++) {
        int depth = 1 + check_below(&s, 4);
        basic(&m, check_below(&s, BASICS));
        for (int d = 0; d < depth; d++) {
            if (!draw(&m, &outer)) continue;
            if (!m.predefined) MPI_Type_free(&m.type); /* the outer type lives on without it */
            m = outer;
            if (check_below(&s, 3) == 0) bounds(&m);
        }
        if (m.predefined) continue;
        MPI_Type_commit(&m.type);
        try_all(&m);
        MPI_Type_free(&m.type);
    }
    free(memory), free(copy), free(want), free(packed), free(stream);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}

#endif
