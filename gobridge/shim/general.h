/* The functions of generalized requests, called from Go. They answer the program's codes. */
#ifndef IMPI_GENERAL_H
#define IMPI_GENERAL_H

#include <stdint.h>

/* status may be 0: the program wants none, but the function expects one. */
int impi_call_query(uintptr_t fn, uintptr_t extra, uintptr_t status);
int impi_call_free(uintptr_t fn, uintptr_t extra);
int impi_call_cancel(uintptr_t fn, uintptr_t extra, int complete);

#endif
