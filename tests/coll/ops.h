/* ops.h - every predefined type with every predefined operation that MPI allows on it (MPI 5.0, 6.9.2), and the
 * expected results, computed element by element in rank order. Values are small whole numbers, so that sums and
 * products are exact in every type and any order of evaluation.
 *
 * Usage: ops_each(f) calls f once for every pair (type, operation).
 */
#ifndef OPS_H
#define OPS_H

#include "../check.h"
#include <complex.h>
#include <stdbool.h>

enum { OPS_LONGEST = 5000 };

typedef enum { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, OPS } ops_kind;

typedef struct {
    const char *type_name, *op_name;
    MPI_Datatype type;
    MPI_Op op;
    ops_kind kind;
    size_t size;                                       /* bytes of an element in C */
    void (*store)(void *at, int index, long long v);   /* element index := v */
    int (*is)(const void *at, int index, long long v); /* element index == v? */
} ops_case;

/* What rank contributes as element i. Booleans and bits must differ; products of eight ranks must fit a byte. */
static inline long long ops_value(ops_kind kind, int rank, int i)
{
    unsigned mix = (unsigned)rank * 2654435761u ^ (unsigned)i * 40503u;
    mix ^= mix >> 13;
    switch (kind) {
    case PROD: return (rank + i) % 8 == 0 ? 3 : (rank + i) % 5 == 0 ? 2 : 1;
    case LAND: return (mix % 8) != 0;
    case LOR: case LXOR: return (mix % 3) == 0;
    case SUM: return (long long)(mix % 7) + 1;
    default: return (long long)(mix % 100);
    }
}

static inline long long ops_apply(ops_kind kind, long long a, long long b)
{
    switch (kind) {
    case SUM: return a + b;
    case PROD: return a * b;
    case MAX: return a > b ? a : b;
    case MIN: return a < b ? a : b;
    case LAND: return a && b;
    case LOR: return a || b;
    case LXOR: return !a != !b;
    case BAND: return a & b;
    case BOR: return a | b;
    default: return a ^ b;
    }
}

/* The result over ranks 0 .. last for element i. */
static inline long long ops_expected(ops_kind kind, int last, int i)
{
    long long v = ops_value(kind, 0, i);
    for (int r = 1; r <= last; r++) v = ops_apply(kind, v, ops_value(kind, r, i));
    return v;
}

static inline void ops_fill(const ops_case *c, void *buf, int n, int rank)
{
    for (int i = 0; i < n; i++) c->store(buf, i, ops_value(c->kind, rank, i));
}

/* Elements from .. from+n-1 of the result over ranks 0 .. last are in buf. */
static inline void ops_check(const ops_case *c, const void *buf, int from, int n, int last, const char *who)
{
    for (int i = 0; i < n; i++)
        CHECK_SAY(c->is(buf, i, ops_expected(c->kind, last, from + i)),
                  "%s of %s with %s: element %d of %d is not %lld", who, c->type_name, c->op_name, i, n,
                  ops_expected(c->kind, last, from + i));
}

#define OPS_TYPE(name, ctype) \
    static void store_##name(void *at, int i, long long v) { ((ctype *)at)[i] = (ctype)v; } \
    static int is_##name(const void *at, int i, long long v) { return ((const ctype *)at)[i] == (ctype)v; }

OPS_TYPE(schar, signed char) OPS_TYPE(uchar, unsigned char) OPS_TYPE(short, short) OPS_TYPE(ushort, unsigned short)
OPS_TYPE(int, int) OPS_TYPE(unsigned, unsigned) OPS_TYPE(long, long) OPS_TYPE(ulong, unsigned long)
OPS_TYPE(llong, long long) OPS_TYPE(ullong, unsigned long long) OPS_TYPE(i8, int8_t) OPS_TYPE(i16, int16_t)
OPS_TYPE(i32, int32_t) OPS_TYPE(i64, int64_t) OPS_TYPE(u8, uint8_t) OPS_TYPE(u16, uint16_t) OPS_TYPE(u32, uint32_t)
OPS_TYPE(u64, uint64_t) OPS_TYPE(aint, MPI_Aint) OPS_TYPE(offset, MPI_Offset) OPS_TYPE(count, MPI_Count)
OPS_TYPE(float, float) OPS_TYPE(double, double) OPS_TYPE(ldouble, long double) OPS_TYPE(bool, bool)
OPS_TYPE(cfloat, float _Complex) OPS_TYPE(cdouble, double _Complex) OPS_TYPE(cldouble, long double _Complex)

static void ops_each(void (*f)(const ops_case *))
{
    enum { ARITHMETIC = 1 << SUM | 1 << PROD, ORDER = 1 << MAX | 1 << MIN, LOGICAL = 1 << LAND | 1 << LOR | 1 << LXOR,
           BITS = 1 << BAND | 1 << BOR | 1 << BXOR, INTEGER = ARITHMETIC | ORDER | LOGICAL | BITS };
    const struct {
        const char *name;
        MPI_Datatype type;
        size_t size;
        int ops;
        void (*store)(void *, int, long long);
        int (*is)(const void *, int, long long);
    } type[] = {
#define OPS_ROW(mpi, name, ctype, ops) {#mpi, mpi, sizeof(ctype), ops, store_##name, is_##name},
        OPS_ROW(MPI_SIGNED_CHAR, schar, signed char, INTEGER)
        OPS_ROW(MPI_UNSIGNED_CHAR, uchar, unsigned char, INTEGER)
        OPS_ROW(MPI_SHORT, short, short, INTEGER)
        OPS_ROW(MPI_UNSIGNED_SHORT, ushort, unsigned short, INTEGER)
        OPS_ROW(MPI_INT, int, int, INTEGER)
        OPS_ROW(MPI_UNSIGNED, unsigned, unsigned, INTEGER)
        OPS_ROW(MPI_LONG, long, long, INTEGER)
        OPS_ROW(MPI_UNSIGNED_LONG, ulong, unsigned long, INTEGER)
        OPS_ROW(MPI_LONG_LONG, llong, long long, INTEGER)
        OPS_ROW(MPI_UNSIGNED_LONG_LONG, ullong, unsigned long long, INTEGER)
        OPS_ROW(MPI_INT8_T, i8, int8_t, INTEGER)
        OPS_ROW(MPI_INT16_T, i16, int16_t, INTEGER)
        OPS_ROW(MPI_INT32_T, i32, int32_t, INTEGER)
        OPS_ROW(MPI_INT64_T, i64, int64_t, INTEGER)
        OPS_ROW(MPI_UINT8_T, u8, uint8_t, INTEGER)
        OPS_ROW(MPI_UINT16_T, u16, uint16_t, INTEGER)
        OPS_ROW(MPI_UINT32_T, u32, uint32_t, INTEGER)
        OPS_ROW(MPI_UINT64_T, u64, uint64_t, INTEGER)
        OPS_ROW(MPI_AINT, aint, MPI_Aint, ARITHMETIC | ORDER | BITS)
        OPS_ROW(MPI_OFFSET, offset, MPI_Offset, ARITHMETIC | ORDER | BITS)
        OPS_ROW(MPI_COUNT, count, MPI_Count, ARITHMETIC | ORDER | BITS)
        OPS_ROW(MPI_FLOAT, float, float, ARITHMETIC | ORDER)
        OPS_ROW(MPI_DOUBLE, double, double, ARITHMETIC | ORDER)
        OPS_ROW(MPI_LONG_DOUBLE, ldouble, long double, ARITHMETIC | ORDER)
        OPS_ROW(MPI_C_BOOL, bool, bool, LOGICAL)
        OPS_ROW(MPI_C_FLOAT_COMPLEX, cfloat, float _Complex, ARITHMETIC)
        OPS_ROW(MPI_C_DOUBLE_COMPLEX, cdouble, double _Complex, ARITHMETIC)
        OPS_ROW(MPI_C_LONG_DOUBLE_COMPLEX, cldouble, long double _Complex, ARITHMETIC)
        OPS_ROW(MPI_BYTE, uchar, unsigned char, BITS)
#undef OPS_ROW
    };
    const struct { const char *name; MPI_Op op; } op[OPS] = {
        {"MPI_SUM", MPI_SUM}, {"MPI_PROD", MPI_PROD}, {"MPI_MAX", MPI_MAX}, {"MPI_MIN", MPI_MIN},
        {"MPI_LAND", MPI_LAND}, {"MPI_LOR", MPI_LOR}, {"MPI_LXOR", MPI_LXOR}, {"MPI_BAND", MPI_BAND},
        {"MPI_BOR", MPI_BOR}, {"MPI_BXOR", MPI_BXOR},
    };
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (int k = 0; k < OPS; k++)
            if (type[t].ops >> k & 1) {
                ops_case c = {type[t].name, op[k].name, type[t].type, op[k].op, (ops_kind)k, type[t].size,
                              type[t].store, type[t].is};
                f(&c);
            }
}

#endif
