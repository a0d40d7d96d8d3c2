package options

import (
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// HelpText is what --help prints: how to start, the options of the table, and the rule of exit codes.
func HelpText() string {
	c := Command()
	return c.Help()
}

// Command describes impirun: the options are those of the table, the text is that of usageText and endText.
func Command() usage.Command {
	lines, about, _ := strings.Cut(strings.TrimPrefix(usageText, "usage: "), "\n\n")
	c := usage.Command{Name: "impirun", Also: []string{"mpirun", "mpiexec"}, Purpose: "run MPI programs",
		About: strings.TrimSpace(about), Words: usage.Programs, See: []string{"mpicc(1)", "impi-info(1)"}}
	for line := range strings.SplitSeq(lines, "\n") {
		c.Usage = append(c.Usage, strings.TrimSpace(line))
	}
	for i := range table {
		o := &table[i]
		c.Options = append(c.Options, usage.Option{Names: o.names, Values: o.values, Choices: o.choices, Pair: o.pair,
			Optional: o.optional,
			Help:     o.help})
	}
	for note := range strings.SplitSeq(strings.TrimSpace(endText), "\n\n") {
		title, text, _ := strings.Cut(note, ": ")
		c.Notes = append(c.Notes, usage.Note{Title: title, Text: text})
	}
	return c
}

const usageText = `usage: impirun [options] program [arguments] [: [options] program [arguments]] ...
       impirun -server N [-port PORT] [-auth LIST] [-host ADDRESS] [-file FILE]
               [-web[=ADDRESS] [-web-token FILE]]
       impirun -client RANK HOST:PORT [options] program [arguments] ...
       impirun -names [-names-port PORT] [-host ADDRESS]

Options may begin with one dash or two; "=" or a space precedes a value. "--" ends the options.

`

// endText is what follows the options: blocks that begin with a title and a colon.
const endText = `
Exit code: 0 if every rank ended well. Otherwise that of the first rank that did not: its own code, 128+S
if signal S killed it, C modulo 256 (or 1) after MPI_Abort(C), 1 if it ended without MPI_Finalize. 2: a
mistake in the command line. 126, 127: the program cannot be run, or does not exist. 124: --timeout.
Processes that ranks spawn count like ranks, and the job lasts until the last of them has ended.

Environment of a rank: IMPI_RANK, IMPI_SIZE, IMPI_LOCAL_RANK, IMPI_LOCAL_SIZE; for scripts also
MPI_LOCALRANKID, MPI_LOCALNRANKS, PMI_RANK, PMI_SIZE. With -server, -client and -clients, the strongest
method that server and client both have lets a client in:
  IMPI_AUTH_TLS       present: TLS 1.3, between hosts too, with the secret, or with the PEM files
                      IMPI_TLS_CERT, IMPI_TLS_KEY and IMPI_TLS_CA
  IMPI_AUTH_SECRET    any text, or IMPI_AUTH_SECRET_FILE its file: proved by HMAC-SHA-256, never sent
  IMPI_AUTH_KEY       a decimal number below 2^64, sent as it is (IMPI 0.0)
  IMPI_AUTH_NONE      present: anybody may join
`
