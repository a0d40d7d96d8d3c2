/* What C answers without entering Go: attributes of communicators, ranks and sizes of groups.
 * Go fills the tables; an entry is valid while its handle is the one asked for. On the first doubt Go is asked. */
#ifndef IMPI_ATTR_FAST_H
#define IMPI_ATTR_FAST_H

#include <stdint.h>

enum {
    IMPI_ATTR_COMMS = 1024,  /* MPI_COMM_WORLD, then by slot of the handle; MPI_COMM_SELF last */
    IMPI_ATTR_VALUES = 8,    /* of a communicator */
    IMPI_ATTR_KEYS = 256,    /* of the program */
    IMPI_ATTR_GROUPS = 1024  /* by slot */
};

struct impi_attr_value {
    int32_t key;
    uintptr_t value;
};

struct impi_attr_comm {
    uintptr_t handle;
    uint32_t version; /* odd while the values change */
    int32_t count;    /* of values; -1: there are more than fit */
    struct impi_attr_value values[IMPI_ATTR_VALUES];
    int32_t colors[4]; /* IMPI's attributes; clients are counted from 1, so 0 means that nobody has asked yet */
};

struct impi_attr_group {
    uintptr_t handle;
    int32_t rank, size;
};

struct impi_attr {
    uint32_t open;         /* something of MPI is in use */
    int32_t *predefined[7]; /* values of the attributes from MPI_TAG_UB on */
    uint8_t keys[IMPI_ATTR_KEYS]; /* 1: a key for communicators */
    struct impi_attr_comm comms[IMPI_ATTR_COMMS + 1];
    struct impi_attr_group groups[IMPI_ATTR_GROUPS];
};

__attribute__((visibility("hidden")))
extern struct impi_attr impi_attr;

#endif
