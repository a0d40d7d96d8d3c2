/* What cgo would write: the types and declarations by which the bridge's C calls Go. Here engine.c answers. */
#ifndef CGO_EXPORT_H
#define CGO_EXPORT_H

#include <stddef.h>
#include <stdint.h>
#include "../../mpi.h"
#include "../../gobridge/shim.h"

typedef int32_t GoInt32;
typedef int64_t GoInt64;
typedef uintptr_t GoUintptr;
typedef double GoFloat64;
#include "../../gobridge/z_exports.h"

void impi_error_action(GoInt32 code, struct impi_action *action);
void impi_error_fatal(GoInt32 code);
GoInt32 impi_missing(char *function, GoInt32 kind, GoUintptr handle);
GoInt32 impi_call_errhandler(GoUintptr comm, GoInt32 code, struct impi_action *action);
GoInt32 impi_call_session_errhandler(GoUintptr session, GoInt32 code, struct impi_action *action);
GoInt32 impi_call_file_errhandler(GoUintptr file, GoInt32 code, struct impi_action *action);
void impi_process_ends(uintptr_t exit);
void impi_ring(GoInt32 local);
GoInt32 impi_board_open(GoUintptr comm, GoInt32 root, char *function, GoUintptr out);
GoInt32 impi_board_wait(GoUintptr word, GoInt64 least, GoUintptr comm, char *function);
void impi_board_turn(void);
GoInt32 impi_board_truncated(GoUintptr comm, char *function, GoInt32 rank, GoInt32 got, GoInt32 want);
GoInt32 impi_bcast_part(GoUintptr buffer, GoInt64 count, GoUintptr datatype, GoInt32 root, GoUintptr comm, GoUintptr part,
                        GoInt32 pack);
GoInt32 impi_bcast_rest(GoUintptr buffer, GoInt64 count, GoUintptr datatype, GoUintptr comm, GoUintptr part);
GoInt32 impi_sendrecv_rest(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 source, GoInt32 tag, GoUintptr comm, GoUintptr status,
                           GoInt32 replace);

GoInt32 impi_startall_rest(GoInt32 count, GoUintptr requests, GoInt32 first);

#endif
