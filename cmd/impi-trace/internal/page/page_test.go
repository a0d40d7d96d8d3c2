package page

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"html"
	"io"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

func written(t *testing.T, j *job.Job, events int) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, analysis.Analyze(j), events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// packed are the bytes of an element.
func packed(t *testing.T, page, name string) []byte {
	t.Helper()
	m := regexp.MustCompile(`id="packed-` + name + `">([^<]*)<`).FindStringSubmatch(page)
	raw, err := base64.StdEncoding.DecodeString(m[1])
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestThePolicyAllowsWhatThePageHas(t *testing.T) {
	page := written(t, jobtest.Uneven(2, 3, 1), 100)
	policy := html.UnescapeString(regexp.MustCompile(`Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	found := regexp.MustCompile(`(?s)<(style|script)>(.*?)</(style|script)>`).FindAllStringSubmatch(page, -1)
	if len(found) != 2 {
		t.Fatalf("%d styles and scripts", len(found))
	}
	for _, f := range found {
		sum := sha256.Sum256([]byte(f[2]))
		if !strings.Contains(policy, f[1]+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy forbids the %s: %s", f[1], policy)
		}
	}
	if bad := regexp.MustCompile(`(?i) (style|on[a-z]+)=|https?://|innerHTML|eval\(`).FindString(page); bad != "" {
		t.Errorf("the page has %q", bad)
	}
}

func TestSharesAreThoseOfASlowSum(t *testing.T) {
	for seed := range int64(4) {
		random := rand.New(rand.NewSource(seed))
		j := jobtest.Random(random, 1+random.Intn(4), 60).Job
		r := analysis.Analyze(j)
		shares := packed(t, written(t, j, 1e6), "levels")
		d := newData(r, 1e6)
		if len(shares) != len(j.Ranks)*d.buckets*len(classes) {
			t.Fatalf("%d shares", len(shares))
		}
		for range 300 { // any bucket
			rank, bucket := random.Intn(len(j.Ranks)), random.Intn(d.buckets)
			from, to := d.edge(bucket, j.Span()), d.edge(bucket+1, j.Span())
			var want [16]int64
			for i := range j.Ranks[rank].Calls {
				c := &j.Ranks[rank].Calls[i]
				start := c.Start
				for _, w := range r.Waits[rank] {
					if int(w.Call) == i {
						want[firstCause+int(w.Cause)-1] += max(0, min(to, w.End)-max(from, w.Start))
						start = w.End
					}
				}
				want[stateOf(j.Class(c))] += max(0, min(to, c.End)-max(from, start))
			}
			for state := range classes {
				got := int64(shares[(rank*d.buckets+bucket)*len(classes)+state])
				if exact := want[state] * 255 / max(1, to-from); got < exact-1 || got > exact+1 {
					t.Fatalf("job %d, rank %d, bucket %d, %s: %d, want %d", seed, rank, bucket, classes[state], got, exact)
				}
			}
		}
	}
}

func TestOfManyCallsTheLongestAreKept(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var all []int64
	for range 5000 {
		all = append(all, random.Int63n(1<<uint(1+random.Intn(40))))
	}
	for _, most := range []int{0, 1, 100, 4999, 5000} {
		shortest, left := threshold(func(yield func(int64)) {
			for _, v := range all {
				yield(v)
			}
		}, most)
		kept := 0
		for _, v := range all {
			if v >= shortest {
				kept++
			}
		}
		if kept > most || kept+left != len(all) || kept < most-most/20-20 {
			t.Errorf("of %d, %d are kept and %d are not", most, kept, left)
		}
	}
}

func TestCallsAreOneByOne(t *testing.T) {
	j := jobtest.Uneven(3, 20, 1)
	r := analysis.Analyze(j)
	b := packed(t, written(t, j, 1e6), "calls")
	number := func() int64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int64(v)
	}
	for rank := range j.Ranks {
		calls, waits := j.Ranks[rank].Calls, r.Waits[rank]
		if n := number(); n != int64(len(calls)) {
			t.Fatalf("rank %d has %d calls", rank, n)
		}
		at := int64(0)
		for i := range calls {
			c := &calls[i]
			at += number()
			length, line := number(), number()
			got := job.Call{Start: at, End: at + length, Function: r.Table[line].Function, Site: r.Table[line].Site,
				Comm: int32(number() - 1), Peer: int32(number() - 1), Tag: int32(number() - 1), Bytes: number()}
			if got != *c {
				t.Fatalf("rank %d, call %d: %+v, want %+v", rank, i, got, c)
			}
			if cause := number(); cause > 0 {
				w := waits[0]
				if length, by := number(), number(); int(w.Call) != i || length != w.Length() || by != int64(w.By) {
					t.Fatalf("rank %d, call %d waits %d for %d", rank, i, length, by)
				}
				waits = waits[1:]
			}
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes follow", len(b))
	}
}

func TestAPageOfADamagedOrEmptyTrace(t *testing.T) {
	for seed := range int64(12) {
		random := rand.New(rand.NewSource(seed))
		j := jobtest.Random(random, 1+random.Intn(5), random.Intn(60)).Job
		jobtest.Damage(random, j)
		if page := written(t, j, random.Intn(200)); !strings.HasSuffix(page, "</html>\n") {
			t.Fatalf("job %d has no whole page", seed)
		}
	}
	if page := written(t, &job.Job{Ranks: []job.Rank{{Missing: true}}}, 10); !strings.Contains(page, "No rank waited") {
		t.Error("nothing was waited for")
	}
}
