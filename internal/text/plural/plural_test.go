package plural_test

import (
	"testing"

	"github.com/accessc/accessc/internal/text/plural"
)

func TestCount(t *testing.T) {
	for n, want := range []string{"0 tools", "1 tool", "2 tools"} {
		if got := plural.Count(n, "tool"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
