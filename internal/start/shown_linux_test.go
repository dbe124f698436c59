package start

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/bubblewrap"
)

// TestShown: a place that shows another file than the one that was opened, or still shows one that was to be covered,
// is refused.
func TestShown(t *testing.T) {
	place := t.TempDir() + "/place"
	for name, c := range map[string]struct {
		option  bubblewrap.Option
		replace bool
		good    bool
	}{
		"shown":             {bubblewrap.Option{Name: "--ro-bind", Values: []string{place, place}}, false, true},
		"another one":       {bubblewrap.Option{Name: "--bind", Values: []string{place, place}}, true, false},
		"covered":           {bubblewrap.Option{Name: "--tmpfs", Values: []string{place}}, true, true},
		"not covered":       {bubblewrap.Option{Name: "--tmpfs", Values: []string{place}}, false, false},
		"a file, uncovered": {bubblewrap.Option{Name: "--ro-bind", Values: []string{"/dev/null", place}}, false, false},
	} {
		if err := os.Mkdir(place, 0o755); err != nil {
			t.Fatal(err)
		}
		list, open, err := expect([]bubblewrap.Option{c.option})
		if err != nil {
			t.Fatal(err)
		}
		if c.replace {
			if err := errors.Join(os.Remove(place), os.Mkdir(place, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		text, _ := json.Marshal(list)
		f, err := inMemory(text)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkShown(uintptr(fd)); (err == nil) != c.good || err != nil && !errors.Is(err, errOther) {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range append(open, f) {
			_ = f.Close()
		}
		if err := os.Remove(place); err != nil {
			t.Fatal(err)
		}
	}
}
