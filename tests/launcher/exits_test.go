package launcher

import (
	"strings"
	"testing"
)

// How each rank has ended, here, on several machines, and in a tree of them.
func TestTheEndsOfAllRanksAreSaidOnRequest(t *testing.T) {
	const all = "-print-all-exitcodes "
	r := run(t, words(all, "-n 3 true")...)
	r.expect(t, 0, "impirun: ranks 0-2 exited with code 0\n")
	r = run(t, words(all, "-n 1 true")...)
	r.expect(t, 0, "impirun: rank 0 exited with code 0\n")
	if r = run(t, words("-n 3 true")...); r.stderr != "" {
		t.Errorf("%q, and nobody has asked", r.stderr)
	}
	r = run(t, words(all, "-enable-recovery -n 5", sh(`case $IMPI_RANK in 1) exit 3 ;; 4) kill -9 $$ ;; esac`))...)
	want := "impirun: ranks 0,2-3 exited with code 0\nimpirun: rank 1 exited with code 3\n" +
		"impirun: rank 4 was killed by signal 9 (SIGKILL)\nimpirun: rank "
	if r.code == 0 || !strings.HasPrefix(r.stderr, want) || strings.Count(r.stderr, "\n") != 4 {
		t.Errorf("code %d, %q does not begin with %q", r.code, r.stderr, want)
	}
	// Elsewhere rank 4 ends when launchers have seen the ends of all others: none of them is there any more.
	last := func() []string {
		return sh(`cd ` + t.TempDir() + ` && echo $$ >$IMPI_RANK.new && mv $IMPI_RANK.new $IMPI_RANK
[ $IMPI_RANK = 4 ] || exit 0
for i in 0 1 2 3; do
  until [ -e $i ]; do sleep 0.01; done
  while kill -0 $(cat $i) 2>/dev/null; do sleep 0.01; done
done
kill -9 $$`)
	}
	s := newSite(t)
	want = "impirun: ranks 0-3 exited with code 0\nimpirun: rank 4 was killed by signal 9 (SIGKILL)\nimpirun: rank 4 "
	far := run(t, words(all, machines(t), last())...)
	tree := s.run(nil, words(all, s.many(5), "-branch-count 2 -n 5", last())...)
	for how, r := range map[string]result{"on three machines": far, "in a tree": tree} {
		if r.code != 137 || !strings.HasPrefix(r.stderr, want) || strings.Count(r.stderr, "\n") != 3 {
			t.Errorf("%s: code %d, %q does not begin with %q", how, r.code, r.stderr, want)
		}
	}
}
