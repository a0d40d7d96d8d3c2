/* The values of every predefined C type arrive as they were, extremes and special numbers included. */
#include "../check.h"
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <wchar.h>

static int next, previous;

/* Compares element by element: long double and pairs have bytes that mean nothing. */
#define TYPE(ctype, mpitype, same, ...) \
    do { \
        ctype out_[] = {__VA_ARGS__}; \
        enum { n_ = sizeof out_ / sizeof *out_ }; \
        ctype in_[n_]; \
        int size_ = -1; \
        memset(in_, 0x5a, sizeof in_); \
        MPI_Sendrecv(out_, n_, mpitype, next, 1, in_, n_, mpitype, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
        for (int i_ = 0; i_ < n_; i_++) CHECK_SAY(same(in_[i_], out_[i_]), "element %d of %s", i_, #mpitype); \
        MPI_Type_size(mpitype, &size_); \
        CHECK_SAY(size_ <= (int)sizeof(ctype), "size of %s is %d", #mpitype, size_); \
    } while (0)

#define EQUAL(a, b) ((a) == (b))
#define FLOAT(a, b) ((isnan(a) && isnan(b)) || ((a) == (b) && !signbit(a) == !signbit(b)))
#define COMPLEX(a, b) (FLOAT(creall(a), creall(b)) && FLOAT(cimagl(a), cimagl(b)))
#define PAIR(a, b) ((a).value == (b).value && (a).index == (b).index)

typedef struct { float value; int index; } float_int;
typedef struct { double value; int index; } double_int;
typedef struct { long value; int index; } long_int;
typedef struct { short value; int index; } short_int;
typedef struct { int value; int index; } two_int;
typedef struct { long double value; int index; } long_double_int;

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    TYPE(char, MPI_CHAR, EQUAL, 0, 'a', 127, CHAR_MIN);
    TYPE(signed char, MPI_SIGNED_CHAR, EQUAL, 0, -1, 127, -128);
    TYPE(unsigned char, MPI_UNSIGNED_CHAR, EQUAL, 0, 1, 255);
    TYPE(unsigned char, MPI_BYTE, EQUAL, 0, 1, 255);
    TYPE(wchar_t, MPI_WCHAR, EQUAL, L'a', 0x20ac, 0x7fff, 0);
    TYPE(short, MPI_SHORT, EQUAL, 0, -1, SHRT_MIN, SHRT_MAX, 0x1234);
    TYPE(unsigned short, MPI_UNSIGNED_SHORT, EQUAL, 0, 1, USHRT_MAX, 0x1234);
    TYPE(int, MPI_INT, EQUAL, 0, -1, INT_MIN, INT_MAX, 0x12345678);
    TYPE(unsigned, MPI_UNSIGNED, EQUAL, 0, 1, UINT_MAX, 0x12345678);
    TYPE(long, MPI_LONG, EQUAL, 0, -1, INT32_MIN, INT32_MAX, 0x12345678);
    TYPE(unsigned long, MPI_UNSIGNED_LONG, EQUAL, 0, 1, UINT32_MAX, 0x12345678);
    TYPE(long long, MPI_LONG_LONG, EQUAL, 0, -1, LLONG_MIN, LLONG_MAX, 0x123456789abcdef0);
    TYPE(long long, MPI_LONG_LONG_INT, EQUAL, 0, -1, LLONG_MIN, LLONG_MAX, 0x123456789abcdef0);
    TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG, EQUAL, 0, 1, ULLONG_MAX, 0x123456789abcdef0);
    TYPE(int8_t, MPI_INT8_T, EQUAL, INT8_MIN, -1, INT8_MAX);
    TYPE(int16_t, MPI_INT16_T, EQUAL, INT16_MIN, -1, INT16_MAX);
    TYPE(int32_t, MPI_INT32_T, EQUAL, INT32_MIN, -1, INT32_MAX);
    TYPE(int64_t, MPI_INT64_T, EQUAL, INT64_MIN, -1, INT64_MAX);
    TYPE(uint8_t, MPI_UINT8_T, EQUAL, 1, UINT8_MAX);
    TYPE(uint16_t, MPI_UINT16_T, EQUAL, 1, UINT16_MAX);
    TYPE(uint32_t, MPI_UINT32_T, EQUAL, 1, UINT32_MAX);
    TYPE(uint64_t, MPI_UINT64_T, EQUAL, 1, UINT64_MAX);
    TYPE(MPI_Aint, MPI_AINT, EQUAL, 0, -1, 0x123456789a);
    TYPE(MPI_Offset, MPI_OFFSET, EQUAL, 0, -1, 0x123456789a);
    TYPE(MPI_Count, MPI_COUNT, EQUAL, 0, -1, 0x123456789a);
    TYPE(bool, MPI_C_BOOL, EQUAL, true, false, true);
    TYPE(float, MPI_FLOAT, FLOAT, 0.0f, -0.0f, 1.5f, FLT_MAX, FLT_MIN, FLT_MIN / 8, INFINITY, -INFINITY, NAN);
    TYPE(double, MPI_DOUBLE, FLOAT, 0.0, -0.0, 1.0 / 3, DBL_MAX, -DBL_MIN, DBL_MIN / 8, INFINITY, -INFINITY, NAN);
    TYPE(long double, MPI_LONG_DOUBLE, FLOAT, 0.0L, -0.0L, 1.0L / 3, LDBL_MAX, -LDBL_MIN, INFINITY, -INFINITY, NAN);
    TYPE(float _Complex, MPI_C_FLOAT_COMPLEX, COMPLEX, 1.5f - 2.5f * I, FLT_MAX);
    TYPE(double _Complex, MPI_C_DOUBLE_COMPLEX, COMPLEX, 1.0 / 3 - 2.5 * I, DBL_MIN);
    TYPE(long double _Complex, MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, 1.0L / 3 - 2.5L * I, LDBL_MAX);
    TYPE(float_int, MPI_FLOAT_INT, PAIR, {1.5f, 7}, {-2.5f, INT_MIN});
    TYPE(double_int, MPI_DOUBLE_INT, PAIR, {1.5, 7}, {-1.0 / 3, INT_MAX});
    TYPE(long_int, MPI_LONG_INT, PAIR, {15, 7}, {INT32_MIN, -1});
    TYPE(short_int, MPI_SHORT_INT, PAIR, {15, 7}, {SHRT_MIN, -1});
    TYPE(two_int, MPI_2INT, PAIR, {15, 7}, {INT_MIN, -1});
    TYPE(long_double_int, MPI_LONG_DOUBLE_INT, PAIR, {1.0L / 3, 7}, {-2, -1});
    return check_end();
}
