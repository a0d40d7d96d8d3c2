package launcher

import "testing"

// A tool hears of a lost peer before the program does.
func TestTheLossOfAPeerIsAnEvent(t *testing.T) {
	file := program(t, "hears")
	for how, want := range map[string]string{
		"-with-ft ulfm -n 2": "1 1 1\n",
		"-with-ft ulfm -n 3": "1 1 2\n",
	} {
		if r := run(t, words(how, file)...); r.stdout != want || r.code != 0 {
			t.Errorf("%s: code %d, %q, want %q (%s)", how, r.code, r.stdout, want, r.stderr)
		}
	}
}
