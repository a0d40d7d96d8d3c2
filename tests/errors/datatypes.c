/* Wrong arguments of constructors, queries and packing that other tests do not try: arrays, numbers within arrays,
 * packed buffers, types that exceed 64 bits, types in collectives. Each gives its class, and a text with the
 * function, the argument and its value; nothing is made. */
/* ranks: 1 2 */
#include "../check.h"

static MPI_Datatype t;

static void wrong(int code, int class_, const char *call, const char *argument, const char *value, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "", function[64];
    int got = -1, n;
    MPI_Error_class(code, &got);
    CHECK_SAY(got == class_, "line %d: %s gives class %s, not %d", line, call, check_class_name(got), class_);
    CHECK_SAY(t == MPI_DATATYPE_NULL, "line %d: %s makes a type", line, call);
    if (!check_library("libimpi")) return;
    snprintf(function, sizeof function, "%.*s", (int)strcspn(call, "("), call);
    n = (int)strlen(function);
    if (n > 2 && !strcmp(function + n - 2, "_c")) function[n - 2] = 0;
    MPI_Error_string(code, text, &n);
    CHECK_SAY(!strncmp(text, function, strlen(function)), "line %d: \"%s\" does not name %s", line, text, function);
    CHECK_SAY(strstr(text, argument) && strstr(text, value), "line %d: \"%s\" does not tell %s and %s", line, text,
              argument, value);
}

#define WRONG(call, class_, argument, value) wrong(call, class_, #call, argument, value, __LINE__)

static const int minus[2] = {1, -4}, one[2] = {1, 1}, at[2] = {0, 5};
static const MPI_Aint bytes[2] = {0, 40};
#ifdef MPI_ABI_VERSION
static const MPI_Aint ends[2] = {INT64_MIN, INT64_MAX - 100};
#endif

static void constructors(void)
{
    const MPI_Datatype of[2] = {MPI_INT, MPI_INT}, not_of[2] = {MPI_INT, MPI_DATATYPE_NULL};
    WRONG(MPI_Type_contiguous(-3, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_vector(-3, 1, 1, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_hvector(-3, 1, 1, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_indexed(-3, one, at, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_hindexed(-3, one, bytes, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_indexed_block(-3, 1, at, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_hindexed_block(-3, 1, bytes, MPI_INT, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_struct(-3, one, bytes, of, &t), MPI_ERR_COUNT, "count", "-3");
    WRONG(MPI_Type_create_struct(2, one, bytes, not_of, &t), MPI_ERR_TYPE, "array_of_types[1]", "MPI_DATATYPE_NULL");
    if (!check_library("libimpi")) return; /* the peers have other classes, or none, for what follows */
    WRONG(MPI_Type_vector(3, -7, 1, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-7");
    WRONG(MPI_Type_create_hvector(3, -7, 1, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-7");
    WRONG(MPI_Type_create_indexed_block(2, -7, at, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-7");
    WRONG(MPI_Type_create_hindexed_block(2, -7, bytes, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-7");
    WRONG(MPI_Type_indexed(2, minus, at, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths[1]", "-4");
    WRONG(MPI_Type_create_hindexed(2, minus, bytes, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths[1]", "-4");
    WRONG(MPI_Type_create_struct(2, minus, bytes, of, &t), MPI_ERR_ARG, "array_of_blocklengths[1]", "-4");
    WRONG(MPI_Type_indexed(2, NULL, at, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths", "NULL");
    WRONG(MPI_Type_indexed(2, one, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_hindexed(2, NULL, bytes, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths", "NULL");
    WRONG(MPI_Type_create_hindexed(2, one, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_indexed_block(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_struct(2, NULL, bytes, of, &t), MPI_ERR_ARG, "array_of_blocklengths", "NULL");
    WRONG(MPI_Type_create_struct(2, one, NULL, of, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_struct(2, one, bytes, NULL, &t), MPI_ERR_ARG, "array_of_types", "NULL");
}

#ifdef MPI_ABI_VERSION

static void large_constructors(void)
{
    const MPI_Datatype not_of[2] = {MPI_INT, MPI_DATATYPE_NULL}, of[2] = {MPI_INT, MPI_INT};
    const MPI_Count lens[2] = {1, 1}, away[2] = {0, 5}, less[2] = {1, -(1LL << 40)};
    WRONG(MPI_Type_contiguous_c(-(1LL << 40), MPI_INT, &t), MPI_ERR_COUNT, "count", "-1099511627776");
    WRONG(MPI_Type_vector_c(-(1LL << 40), 1, 1, MPI_INT, &t), MPI_ERR_COUNT, "count", "-1099511627776");
    WRONG(MPI_Type_vector_c(3, -(1LL << 40), 1, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-1099511627776");
    WRONG(MPI_Type_create_hvector_c(3, -(1LL << 40), 1, MPI_INT, &t), MPI_ERR_COUNT, "blocklength", "-1099511627776");
    WRONG(MPI_Type_indexed_c(-(1LL << 40), lens, away, MPI_INT, &t), MPI_ERR_COUNT, "count", "-1099511627776");
    WRONG(MPI_Type_indexed_c(2, less, away, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths[1]", "-1099511627776");
    WRONG(MPI_Type_indexed_c(2, NULL, away, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths", "NULL");
    WRONG(MPI_Type_create_hindexed_c(2, less, away, MPI_INT, &t), MPI_ERR_ARG, "array_of_blocklengths[1]",
          "-1099511627776");
    WRONG(MPI_Type_create_hindexed_c(2, lens, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_indexed_block_c(2, -(1LL << 40), away, MPI_INT, &t), MPI_ERR_COUNT, "blocklength",
          "-1099511627776");
    WRONG(MPI_Type_create_indexed_block_c(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG, "array_of_displacements", "NULL");
    WRONG(MPI_Type_create_hindexed_block_c(2, -(1LL << 40), away, MPI_INT, &t), MPI_ERR_COUNT, "blocklength",
          "-1099511627776");
    WRONG(MPI_Type_create_struct_c(2, less, away, of, &t), MPI_ERR_ARG, "array_of_blocklengths[1]", "-1099511627776");
    WRONG(MPI_Type_create_struct_c(2, lens, away, not_of, &t), MPI_ERR_TYPE, "array_of_types[1]", "MPI_DATATYPE_NULL");
    WRONG(MPI_Type_create_struct_c(2, lens, away, NULL, &t), MPI_ERR_ARG, "array_of_types", "NULL");
    WRONG(MPI_Type_contiguous_c(1LL << 61, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "2305843009213693952");
    WRONG(MPI_Type_vector_c(2, 1, 1LL << 61, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "stride", "2305843009213693952");
    WRONG(MPI_Type_vector_c(9, 1LL << 60, 1, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "9");
    WRONG(MPI_Type_create_hvector(3, 1, INT64_MIN, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "3");
    WRONG(MPI_Type_create_hindexed_block(2, 1, ends, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "2");
    WRONG(MPI_Type_create_hindexed(2, one, ends, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "2");
    WRONG(MPI_Type_create_struct(2, one, ends, of, &t), MPI_ERR_VALUE_TOO_LARGE, "count", "2");
    WRONG(MPI_Type_create_resized(MPI_INT, INT64_MAX, 1, &t), MPI_ERR_VALUE_TOO_LARGE, "extent", "1");
    WRONG(MPI_Type_create_resized_c(MPI_INT, INT64_MIN, -1, &t), MPI_ERR_VALUE_TOO_LARGE, "extent", "-1");
}

static void arrays(void)
{
    const int sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2}, big[2] = {2, 7}, empty[2] = {2, 0},
              none[2] = {4, 0}, beyond[2] = {1, 4};
    const MPI_Count wide[2] = {4, 1LL << 40}, part[2] = {2, 3}, off[2] = {1, (1LL << 40) - 2},
                    huge[2] = {1LL << 40, 1LL << 40};
    WRONG(MPI_Type_create_subarray(0, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_DIMS, "ndims", "0");
    WRONG(MPI_Type_create_subarray(-1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_DIMS, "ndims", "-1");
    WRONG(MPI_Type_create_subarray(2, NULL, parts, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_sizes",
          "NULL");
    WRONG(MPI_Type_create_subarray(2, sizes, NULL, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_subsizes",
          "NULL");
    WRONG(MPI_Type_create_subarray(2, sizes, parts, NULL, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_starts",
          "NULL");
    WRONG(MPI_Type_create_subarray(2, none, parts, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_sizes[1]",
          "0");
    WRONG(MPI_Type_create_subarray(2, sizes, big, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_subsizes[1]", "7");
    WRONG(MPI_Type_create_subarray(2, sizes, empty, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_subsizes[1]", "0");
    WRONG(MPI_Type_create_subarray(2, sizes, parts, beyond, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_starts[1]", "4");
    WRONG(MPI_Type_create_subarray(2, sizes, parts, minus, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_starts[1]",
          "-4");
    WRONG(MPI_Type_create_subarray(2, sizes, parts, starts, 77, MPI_INT, &t), MPI_ERR_ARG, "order", "77");
    WRONG(MPI_Type_create_subarray_c(2, wide, part, off, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "array_of_starts[1]",
          "1099511627774");
    WRONG(MPI_Type_create_subarray_c(2, huge, part, part, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_VALUE_TOO_LARGE,
          "array_of_sizes", "1099511627776");

    const int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, odd[2] = {MPI_DISTRIBUTE_BLOCK, 5};
    const int free_args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
              narrow[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2}, flat[2] = {2, 0};
    const int cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, zero[2] = {1, 0},
              undivided[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    WRONG(MPI_Type_create_darray(4, 0, 0, sizes, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_DIMS,
          "ndims", "0");
    WRONG(MPI_Type_create_darray(5, 0, 2, sizes, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "size",
          "5");
    WRONG(MPI_Type_create_darray(4, 4, 2, sizes, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG, "rank",
          "4");
    WRONG(MPI_Type_create_darray(4, -1, 2, sizes, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "rank", "-1");
    WRONG(MPI_Type_create_darray(4, 0, 2, none, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_gsizes[1]", "0");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, odd, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_distribs[1]", "5");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, block, narrow, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_dargs[1]", "2");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, cyclic, zero, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_dargs[1]", "0");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, block, free_args, flat, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_psizes[1]", "0");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, undivided, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_psizes[1]", "2");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, block, free_args, grid, 77, MPI_INT, &t), MPI_ERR_ARG, "order", "77");
    WRONG(MPI_Type_create_darray(4, 0, 2, NULL, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_gsizes", "NULL");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, NULL, free_args, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_distribs", "NULL");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, block, NULL, grid, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_dargs", "NULL");
    WRONG(MPI_Type_create_darray(4, 0, 2, sizes, block, free_args, NULL, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG,
          "array_of_psizes", "NULL");
    WRONG(MPI_Type_create_darray_c(4, 0, 2, huge, block, free_args, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_VALUE_TOO_LARGE, "array_of_gsizes", "1099511627776");
}

/* Too little room, or none at all, for what a type was made of. */
static void contents(void)
{
    int i[8], ni, na, nd, combiner;
    MPI_Aint a[8];
    MPI_Count n[8];
    MPI_Datatype d[8], small, large;
    MPI_Type_create_hindexed(2, one, bytes, MPI_INT, &small);
    MPI_Count lens[2] = {1, 1}, away[2] = {0, 40};
    MPI_Type_create_hindexed_c(2, lens, away, MPI_INT, &large);
    WRONG(MPI_Type_get_contents(small, 2, 2, 1, i, a, d), MPI_ERR_ARG, "2 integers", "3, 2, 0 and 1");
    WRONG(MPI_Type_get_contents(small, 3, 1, 1, i, a, d), MPI_ERR_ARG, "1 addresses", "3, 2, 0 and 1");
    WRONG(MPI_Type_get_contents(small, 3, 2, 0, i, a, d), MPI_ERR_ARG, "0 datatypes", "3, 2, 0 and 1");
    WRONG(MPI_Type_get_contents(small, -1, 2, 1, i, a, d), MPI_ERR_ARG, "-1 integers", "3, 2, 0 and 1");
    WRONG(MPI_Type_get_contents(small, 3, 2, 1, NULL, a, d), MPI_ERR_ARG, "array_of_integers", "NULL");
    WRONG(MPI_Type_get_contents(small, 3, 2, 1, i, NULL, d), MPI_ERR_ARG, "array_of_addresses", "NULL");
    WRONG(MPI_Type_get_contents(small, 3, 2, 1, i, a, NULL), MPI_ERR_ARG, "array_of_datatypes", "NULL");
    WRONG(MPI_Type_get_contents(large, 8, 8, 8, i, a, d), MPI_ERR_TYPE, "large counts", "MPI_Type_get_contents_c");
    WRONG(MPI_Type_get_contents_c(large, 8, 8, 4, 1, i, a, n, d), MPI_ERR_ARG, "4 large counts", "0, 0, 5 and 1");
    WRONG(MPI_Type_get_contents_c(large, 0, 0, 5, 1, NULL, NULL, NULL, d), MPI_ERR_ARG, "array_of_large_counts",
          "NULL");
    WRONG(MPI_Type_get_contents(MPI_INT, 8, 8, 8, i, a, d), MPI_ERR_TYPE, "datatype", "predefined");
    WRONG(MPI_Type_get_envelope(large, &ni, &na, &nd, &combiner), MPI_ERR_TYPE, "large counts",
          "MPI_Type_get_envelope_c");
    CHECK_EQ(MPI_Type_get_contents_c(large, 0, 0, 5, 1, NULL, NULL, n, d), MPI_SUCCESS);
    CHECK(n[0] == 2 && n[4] == 40 && d[0] == MPI_INT);
    CHECK_EQ(MPI_Type_get_contents_c(small, 3, 2, 0, 1, i, a, NULL, d), MPI_SUCCESS);
    CHECK(i[0] == 2 && a[1] == 40);
    MPI_Type_free(&small);
    MPI_Type_free(&large);
}

static void packing(void)
{
    int in[8] = {0}, position = 0;
    MPI_Aint place = 0;
    MPI_Count wide = 4;
    char buf[64];
    MPI_Datatype raw, gaps;
    MPI_Type_vector(2, 1, 3, MPI_INT, &raw);
    MPI_Type_dup(raw, &gaps);
    MPI_Type_commit(&gaps);
    WRONG(MPI_Pack(in, 4, MPI_INT, NULL, 32, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER, "outbuf", "NULL");
    WRONG(MPI_Unpack(NULL, 32, &position, in, 4, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER, "inbuf", "NULL");
    WRONG(MPI_Pack_c(in, 2, gaps, NULL, 32, &wide, MPI_COMM_SELF), MPI_ERR_BUFFER, "outbuf", "NULL");
    WRONG(MPI_Unpack_c(NULL, 32, &wide, in, 2, gaps, MPI_COMM_SELF), MPI_ERR_BUFFER, "inbuf", "NULL");
    WRONG(MPI_Pack_external("external32", in, 1, gaps, NULL, 32, &place), MPI_ERR_BUFFER, "outbuf", "NULL");
    WRONG(MPI_Unpack_external("external32", NULL, 32, &place, in, 1, gaps), MPI_ERR_BUFFER, "inbuf", "NULL");
    WRONG(MPI_Pack_external_c("external32", in, 4, MPI_INT, NULL, 32, &wide), MPI_ERR_BUFFER, "outbuf", "NULL");
    WRONG(MPI_Unpack_external_c("external32", NULL, 32, &wide, in, 4, MPI_INT), MPI_ERR_BUFFER, "inbuf", "NULL");
    WRONG(MPI_Pack_external("external32", NULL, 4, MPI_INT, buf, 32, &place), MPI_ERR_BUFFER, "inbuf", "NULL");
    WRONG(MPI_Pack_external("external64", in, 4, MPI_INT, buf, 32, &place), MPI_ERR_ARG, "datarep", "external64");
    WRONG(MPI_Pack_external(NULL, in, 4, MPI_INT, buf, 32, &place), MPI_ERR_ARG, "datarep", "NULL");
    WRONG(MPI_Unpack_external("native", buf, 32, &place, in, 4, MPI_INT), MPI_ERR_ARG, "datarep", "native");
    WRONG(MPI_Pack_external_size("", 4, MPI_INT, &place), MPI_ERR_ARG, "datarep", "\"\"");
    WRONG(MPI_Pack_external("external32", in, -4, MPI_INT, buf, 32, &place), MPI_ERR_COUNT, "incount", "-4");
    WRONG(MPI_Pack_external("external32", in, 4, MPI_INT, buf, -32, &place), MPI_ERR_COUNT, "outsize", "-32");
    WRONG(MPI_Unpack_external("external32", buf, 32, &place, in, -4, MPI_INT), MPI_ERR_COUNT, "outcount", "-4");
    WRONG(MPI_Pack_external("external32", in, 4, MPI_INT, buf, 32, NULL), MPI_ERR_ARG, "position", "NULL");
    WRONG(MPI_Pack_external_size("external32", -4, MPI_INT, &place), MPI_ERR_COUNT, "incount", "-4");
    WRONG(MPI_Pack_external_size("external32", 4, MPI_INT, NULL), MPI_ERR_ARG, "size", "NULL");
    WRONG(MPI_Pack(in, 1, raw, buf, 64, &position, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Unpack(buf, 64, &position, in, 1, raw, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Pack_external("external32", in, 1, raw, buf, 64, &place), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Unpack_external("external32", buf, 64, &place, in, 1, raw), MPI_ERR_TYPE, "datatype", "committed");
    place = 57;
    WRONG(MPI_Pack_external("external32", in, 1, gaps, buf, 64, &place), MPI_ERR_TRUNCATE, "8 bytes", "57");
    WRONG(MPI_Unpack_external("external32", buf, 64, &place, in, 1, gaps), MPI_ERR_TRUNCATE, "8 bytes", "57");
    CHECK_EQ(place, 57);
    place = -1;
    WRONG(MPI_Pack_external("external32", in, 1, MPI_INT, buf, 64, &place), MPI_ERR_TRUNCATE, "position", "-1");
    wide = INT64_MAX;
    WRONG(MPI_Pack_c(in, 1, MPI_INT, buf, INT64_MAX, &wide, MPI_COMM_SELF), MPI_ERR_TRUNCATE, "position",
          "9223372036854775807");
    WRONG(MPI_Pack_external_c("external32", in, INT64_MAX, MPI_INT, buf, 64, &(MPI_Count){0}), MPI_ERR_COUNT, "inbuf",
          "9223372036854775807");
    CHECK_EQ(MPI_Pack_size(1, raw, MPI_COMM_SELF, &position), MPI_SUCCESS); /* which moves nothing */
    CHECK_EQ(position, 8);
    MPI_Type_free(&raw);
    MPI_Type_free(&gaps);
}

/* Types that are not committed, or none, in collectives; predefined operations on types of the program's. No rank
 * gets as far as to wait for another. */
static void collectives(void)
{
    int in[64] = {0}, out[64] = {0}, ones[8], zeros[8] = {0}, me = check_rank;
    MPI_Datatype raw, good, raws[8], goods[8], nulls[8];
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Type_vector(2, 1, 2, MPI_INT, &raw);
    MPI_Type_dup(raw, &good);
    MPI_Type_commit(&good);
    for (int i = 0; i < 8; i++) ones[i] = 1, raws[i] = raw, goods[i] = good, nulls[i] = MPI_DATATYPE_NULL;
    CHECK(check_size <= 8);
    WRONG(MPI_Bcast(in, 1, raw, me, all), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, me, all), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    WRONG(MPI_Bcast(in, -1, good, me, all), MPI_ERR_COUNT, "count", "-1");
    WRONG(MPI_Gather(in, 1, raw, out, 1, good, me, all), MPI_ERR_TYPE, "sendtype", "committed");
    WRONG(MPI_Gather(in, 1, good, out, 1, raw, me, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Gatherv(in, 1, good, out, ones, zeros, raw, me, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Scatter(in, 1, raw, out, 1, good, me, all), MPI_ERR_TYPE, "sendtype", "committed");
    WRONG(MPI_Scatter(in, 1, good, out, 1, raw, me, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Scatterv(in, ones, zeros, raw, out, 1, good, me, all), MPI_ERR_TYPE, "sendtype", "committed");
    WRONG(MPI_Allgather(in, 1, raw, out, 1, good, all), MPI_ERR_TYPE, "sendtype", "committed");
    WRONG(MPI_Allgather(in, 1, good, out, 1, raw, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Allgatherv(in, 1, good, out, ones, zeros, raw, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Alltoall(in, 1, raw, out, 1, good, all), MPI_ERR_TYPE, "sendtype", "committed");
    WRONG(MPI_Alltoall(in, 1, good, out, 1, raw, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Alltoallv(in, ones, zeros, good, out, ones, zeros, raw, all), MPI_ERR_TYPE, "recvtype", "committed");
    WRONG(MPI_Alltoallv(in, NULL, zeros, good, out, ones, zeros, good, all), MPI_ERR_ARG, "sendcounts", "NULL");
    WRONG(MPI_Alltoallw(in, ones, zeros, raws, out, ones, zeros, goods, all), MPI_ERR_TYPE, "sendtypes", "committed");
    WRONG(MPI_Alltoallw(in, ones, zeros, goods, out, ones, zeros, raws, all), MPI_ERR_TYPE, "recvtypes", "committed");
    WRONG(MPI_Alltoallw(in, ones, zeros, goods, out, ones, zeros, nulls, all), MPI_ERR_TYPE, "recvtypes",
          "MPI_DATATYPE_NULL");
    WRONG(MPI_Alltoallw(in, ones, zeros, NULL, out, ones, zeros, goods, all), MPI_ERR_ARG, "sendtypes", "NULL");
    WRONG(MPI_Reduce(in, out, 1, raw, MPI_SUM, me, all), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Reduce(in, out, 1, good, MPI_SUM, me, all), MPI_ERR_OP, "MPI_SUM", "derived");
    WRONG(MPI_Allreduce(in, out, 1, good, MPI_MAX, all), MPI_ERR_OP, "MPI_MAX", "derived");
    WRONG(MPI_Scan(in, out, 1, good, MPI_BAND, all), MPI_ERR_OP, "MPI_BAND", "derived");
    WRONG(MPI_Exscan(in, out, 1, good, MPI_SUM, all), MPI_ERR_OP, "MPI_SUM", "derived");
    WRONG(MPI_Reduce_scatter(in, out, ones, good, MPI_SUM, all), MPI_ERR_OP, "MPI_SUM", "derived");
    WRONG(MPI_Reduce_scatter_block(in, out, 1, good, MPI_SUM, all), MPI_ERR_OP, "MPI_SUM", "derived");
    WRONG(MPI_Reduce_local(in, out, 1, good, MPI_SUM), MPI_ERR_OP, "MPI_SUM", "derived");
    WRONG(MPI_Reduce_local(in, out, 1, raw, MPI_SUM), MPI_ERR_TYPE, "datatype", "committed");
    WRONG(MPI_Allreduce(in, out, 1, MPI_INT, MPI_MINLOC, all), MPI_ERR_OP, "MPI_MINLOC", "MPI_INT");
    WRONG(MPI_Allreduce(in, out, 1, MPI_DOUBLE_INT, MPI_SUM, all), MPI_ERR_OP, "MPI_SUM", "MPI_DOUBLE_INT");
    MPI_Type_free(&raw);
    MPI_Type_free(&good);
}

#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    t = MPI_DATATYPE_NULL;
    constructors();
#ifdef MPI_ABI_VERSION
    large_constructors();
    arrays();
    contents();
    packing();
    collectives();
#endif
    return check_end();
}
