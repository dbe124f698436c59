package landlock_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// TestConstants compares with the headers of the architecture that the test runs on.
func TestConstants(t *testing.T) {
	for name, want := range map[string]uint32{
		"O_DIRECTORY": unix.O_DIRECTORY, "O_TRUNC": unix.O_TRUNC, "AF_UNIX": unix.AF_UNIX, "SOCK_STREAM": unix.SOCK_STREAM,
	} {
		if got, ok := landlock.Constant(name); ok && got != want || !ok && name == "O_DIRECTORY" {
			t.Errorf("%s: got %#x, %v, want %#x", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "A", "O_DIRECTORZ", "ZZZ"} {
		if got, ok := landlock.Constant(name); ok {
			t.Errorf("%q is %#x", name, got)
		}
	}
}
