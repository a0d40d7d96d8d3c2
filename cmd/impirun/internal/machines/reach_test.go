package machines

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestAllThatAreMissingAreNamed(t *testing.T) {
	list := []missedNode{{0, "a", "gone"}, {2, "c", "other"}, {3, "d", "gone"}}
	for _, tt := range []struct {
		late []string
		want string
	}{
		{nil, "machines a, d: gone; machine c: other"},
		{[]string{"e", "f"}, "machines a, d: gone; machine c: other; machines e, f: no answer yet"},
	} {
		if d := cmp.Diff(tt.want, missingText(slices.Clone(list), tt.late)); d != "" {
			t.Error(d)
		}
	}
}

func TestTheTimeForStarting(t *testing.T) {
	none := func(string) string { return "" }
	pod := func(name string) string { return map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}[name] }
	for _, tt := range []struct {
		said, want time.Duration
		getenv     func(string) string
	}{
		{0, usualLimit, none}, {time.Second, time.Second, none},
		{0, kubernetesLimit, pod},
	} {
		plan := &options.Plan{Limits: options.Limits{Start: tt.said}}
		if got := startLimit(plan, tt.getenv); got != tt.want {
			t.Errorf("%v: %v", tt.said, got)
		}
	}
}
