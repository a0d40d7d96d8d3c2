/* differ.h - calls of which one rank makes another one than the rest (IMPI_CHECK=1). The odd rank is the last one. */
#ifndef DIFFER_H
#define DIFFER_H

#include "../check.h"

#define ODD (check_rank == check_size - 1)

static inline void differ_start(int *argc, char ***argv) __attribute__((unused));
static inline void differ_start(int *argc, char ***argv)
{
    setenv("IMPI_CHECK", "1", 1);
    check_start(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* An error of this class, whose text names these two. */
static inline void differ_is(const char *file, int line, const char *call, int code, int want, const char *one,
                             const char *other) __attribute__((unused));
static inline void differ_is(const char *file, int line, const char *call, int code, int want, const char *one,
                             const char *other)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != want) check_fail(file, line, "%.200s gives class %s: %.200s", call, check_class_name(class), text);
    if (!strstr(text, one) || !strstr(text, other))
        check_fail(file, line, "%.100s does not name %s and %s: %.200s", call, one, other, text);
}

#define DIFFERS(call, class, one, other) differ_is(__FILE__, __LINE__, #call, call, class, one, other)

/* The last rank calls one, the others call the other. Both functions are named. */
#define OTHER_CALL(odd, rest, class, name_of_odd, name_of_rest) \
    DIFFERS(ODD ? (odd) : (rest), class, name_of_odd, name_of_rest)

/* "rank N" for the last rank. */
static inline const char *differ_odd(void) __attribute__((unused));
static inline const char *differ_odd(void)
{
    static char text[32];
    snprintf(text, sizeof text, "rank %d", check_size - 1);
    return text;
}

#endif
