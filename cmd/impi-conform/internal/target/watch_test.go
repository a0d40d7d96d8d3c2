package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAWatcherSeesLinesAndTheEndWheneverItBegins(t *testing.T) {
	script := "echo one; printf 'tw' >&2; printf 'o\\n' >&2; printf %03000d 0; exit 3"
	for _, late := range []bool{false, true} {
		at := &Target{server: []string{"sh", "-c", script}}
		p, err := at.Server("1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if late {
			<-p.Ended()
		}
		var lines []string
		code := make(chan int, 1)
		p.Watch(Watcher{
			Line: func(stream, line string, length int) {
				lines = append(lines, fmt.Sprintf("%s %s %d", stream, strings.TrimRight(line, "0"), length))
			},
			Ended: func(c int) { code <- c },
		})
		if got := <-code; got != 3 {
			t.Errorf("the exit code is %d", got)
		}
		slices.Sort(lines)
		if want := []string{"stderr two 3", "stdout  3000", "stdout one 3"}; !slices.Equal(lines, want) {
			t.Errorf("late %v: got %q", late, lines)
		}
		if _, err := p.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
