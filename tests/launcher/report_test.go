package launcher

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What rank 0 says of the way in which ranks talk, if the user asks.

const reportHead = ` ranks, by machine, and by what they talk\. Line 0 is what rank 0 has found out, the others are ` +
	`what the tables of the job say:\n`

func TestAReportSaysByWhatTheRanksOfAJobTalk(t *testing.T) {
	file := program(t, "negotiate")
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here, shared := regexp.QuoteMeta(name), "shared memory, and (do not )?read each other's memory"
	for _, tt := range []struct {
		how, want string
	}{
		{"-n 1", "libimpi: 1 rank on " + here + ", which has nobody to talk to\n"},
		{"-n 3", "libimpi: 3 ranks on " + here + " talk by " + shared + "\n"},
		{"-n 3 -x IMPI_SINGLE_COPY=0", "libimpi: 3 ranks on " + here + " talk by shared memory, and do not read each " +
			"other's memory\n"},
		{"-clients 2 -n 3", "libimpi: 3" + reportHead +
			"libimpi:   0: ranks 0-1 on " + here + ", client 0: " + shared + "; tcp with 1\n" +
			"libimpi:   1: rank 2 on " + here + ", client 1: tcp with 0\n"},
		{"-clients 2 -n 4 -via agent -streams 2", "libimpi: 4" + reportHead +
			"libimpi:   0: ranks 0-1 on " + here + ", client 0: " + shared + `; tcp by an agent \(2 connections\) with 1\n` +
			"libimpi:   1: ranks 2-3 on " + here + `, client 1: shared memory; tcp by an agent \(2 connections\) with 0\n`},
		{machines(t), "libimpi: 5" + reportHead +
			"libimpi:   0: ranks 0-1 on " + here + ": " + shared + "; tcp with 1-2\n" +
			"libimpi:   1: rank 2 on [^:]*: tcp with 0,2\n" +
			"libimpi:   2: ranks 3-4 on [^:]*: shared memory; tcp with 0-1\n"},
	} {
		r := run(t, words(tt.how, "-x IMPI_REPORT=1", file)...)
		if r.code != 0 || !regexp.MustCompile("^"+tt.want+"$").MatchString(r.stderr) {
			t.Errorf("%s: code %d, %s, want %s", tt.how, r.code, r.stderr, tt.want)
		}
	}
	r := run(t, words("-clients 2 -n 2 -via direct -x IMPI_REPORT=1", file)...)
	if strings.Count(r.stderr, "\n") != 3 {
		t.Errorf("%q", r.stderr)
	}
	r = startWith(t, with("IMPI_AUTH_TLS=1"), words("-clients 2 -n 2 -v", file)...).wait()
	if r.code != 0 || !strings.Contains(r.stderr, ": tcp with TLS with 0\n") {
		t.Errorf("%q", r.stderr)
	}
	r = run(t, words("-n 2 -x IMPI_REPORT=yes", file)...)
	if r.code == 0 || !strings.Contains(r.stderr, "IMPI_REPORT=yes: it is 0, 1 or unset") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}
