package options

import (
	"fmt"
	"strings"
)

// HelpText is what --help prints: how to start, the options of the table, and the rule of exit codes.
func HelpText() string {
	var b strings.Builder
	b.WriteString(`usage: impirun [options] program [arguments] [: [options] program [arguments]] ...
       impirun -server N [-port PORT] [-auth LIST] [-host ADDRESS] [-file FILE]
       impirun -client RANK HOST:PORT [options] program [arguments] ...

One dash or two, "=" or a space before a value: all the same. "--" ends the options.

`)
	for i := range table {
		o := &table[i]
		if o.help == "" {
			continue
		}
		names := make([]string, len(o.names))
		for j, n := range o.names {
			names[j] = "-" + n
		}
		left := strings.Join(append([]string{strings.Join(names, ", ")}, o.values...), " ")
		if len(left) > 26 {
			fmt.Fprintf(&b, "  %s\n  %26s  %s\n", left, "", o.help)
		} else {
			fmt.Fprintf(&b, "  %-26s  %s\n", left, o.help)
		}
	}
	b.WriteString(`
Exit code: 0 if every rank ended well. Otherwise that of the first rank that did not: its own code, 128+S
if signal S killed it, C modulo 256 (or 1) after MPI_Abort(C), 1 if it left without MPI_Finalize. 2: a
mistake in the command line. 126, 127: the program cannot be run, or does not exist. 124: --timeout.

Environment of a rank: IMPI_RANK, IMPI_SIZE, IMPI_LOCAL_RANK, IMPI_LOCAL_SIZE; for scripts also
MPI_LOCALRANKID, MPI_LOCALNRANKS, PMI_RANK, PMI_SIZE. With -server, -client and -clients, the strongest
method that server and client both have lets a client in:
  IMPI_AUTH_TLS       present: TLS 1.3, between hosts too, with the secret, or with the PEM files
                      IMPI_TLS_CERT, IMPI_TLS_KEY and IMPI_TLS_CA
  IMPI_AUTH_SECRET    any text, or IMPI_AUTH_SECRET_FILE its file: proved by HMAC-SHA-256, never sent
  IMPI_AUTH_KEY       a decimal number below 2^64, sent as it is (IMPI 0.0)
  IMPI_AUTH_NONE      present: anybody may join
`)
	return b.String()
}
