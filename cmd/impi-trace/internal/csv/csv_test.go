package csv

import (
	"encoding/csv"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// read reads a table by the names of its columns.
func read(t *testing.T, dir, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, v := range line {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

func sum(t *testing.T, rows []map[string]string, from, to string) (sum int64) {
	t.Helper()
	for _, row := range rows {
		a, err := strconv.ParseInt(row[from], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		b, err := strconv.ParseInt(row[to], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += b - a
	}
	return sum
}

func TestTablesHaveAllCallsMessagesAndWaits(t *testing.T) {
	j := jobtest.Random(rand.New(rand.NewSource(2)), 5, 200).Job
	for i, name := range []string{`=cmd|'/c calc'!A0`, "a,b\"c\nd"} {
		j.Comms[i].Name = name
	}
	r := analysis.Analyze(j)
	dir := filepath.Join(t.TempDir(), "new")
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	calls, messages, waits := read(t, dir, "calls"), read(t, dir, "messages"), read(t, dir, "waits")
	var inside, waited int64
	for i := range r.Ranks {
		inside += r.Ranks[i].MPI
		waited += r.Ranks[i].Waited()
	}
	if len(calls) != j.Count() || sum(t, calls, "start_ns", "end_ns") != inside {
		t.Errorf("%d calls, %d ns", len(calls), sum(t, calls, "start_ns", "end_ns"))
	}
	if len(messages) != len(r.Messages) || sum(t, waits, "start_ns", "end_ns") != waited {
		t.Errorf("%d messages, %d ns waited", len(messages), sum(t, waits, "start_ns", "end_ns"))
	}
	names := map[string]bool{}
	for _, c := range calls {
		names[c["communicator"]] = true
	}
	if !names[`'=cmd|'/c calc'!A0`] || !names["a,b\"c\nd"] {
		t.Errorf("communicators are %v", names)
	}
	if i := slices.IndexFunc(calls, func(c map[string]string) bool { return c["cause"] == "late sender" }); i < 0 ||
		calls[i]["waited_ns"] == "0" || calls[i]["site"] == "" {
		t.Errorf("no late sender")
	}
}

func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	os.WriteFile(file, nil, 0o644)
	if err := Write(filepath.Join(file, "x"), analysis.Analyze(jobtest.New(1).Finish())); err == nil {
		t.Error("no error")
	}
}
