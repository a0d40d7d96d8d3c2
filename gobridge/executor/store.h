/* Payloads of some kilobytes on their way to a core that shares no cache with this one (transport/shm/past_unsafe.go).
 * */
#ifndef IMPI_STORE_H
#define IMPI_STORE_H

#include <stdint.h>
#include "../../transport/shm/z_layout.h"

/* Stores a payload of at least IMPI_SHM_PAST_BYTES into a ring. Lock held. */
__attribute__((visibility("hidden")))
void impi_store_payload(struct impi_shm_outbound *o, unsigned char *to, const unsigned char *from, uint64_t n);

#endif
