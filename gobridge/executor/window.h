/* One-sided communication without entering Go, on windows all of whose memory this process maps. Go makes a window,
 * and publishes its epoch, and where the memory and the locks of each target are (onesided.View, onesided.Target). C
 * moves what is one run of bytes on both sides, accumulates vectors of up to IMPI_WINDOW_PIECE bytes, takes free locks,
 * and fences. On the first doubt nothing has been done, and Go does everything: it alone says what is wrong. */
#ifndef IMPI_WINDOW_H
#define IMPI_WINDOW_H

#include "board.h"

enum { IMPI_WINDOWS = 1024, IMPI_WINDOW_PIECE = 16 << 10, IMPI_WINDOW_TURN = 1024 };

struct impi_windows {
    struct impi_window *of[IMPI_WINDOWS]; /* by slot of the handle; NULL: C has nothing to do with it */
    uint8_t swappable[IMPI_FAST_TYPES]; /* by handle of a predefined type: MPI_Compare_and_swap takes it */
};

__attribute__((visibility("hidden"))) extern struct impi_windows impi_windows;

#endif
