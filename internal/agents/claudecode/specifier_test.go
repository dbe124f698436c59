package claudecode

import (
	"testing"
)

// TestSpecifier: a rule counts a path from the project, from the home, or from the root directory by how it begins.
func TestSpecifier(t *testing.T) {
	for path, want := range map[string]string{
		".": "/**", "./src": "/src", "/data/x": "//data/x", "~": "~/**", "~/keys": "~/keys",
	} {
		if got := specifier(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
