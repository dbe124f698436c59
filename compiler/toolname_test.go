package compiler

import "testing"

// TestToolNames: a tool's name is a directory of the output, on the systems that other
// people build on as well.
func TestToolNames(t *testing.T) {
	for _, name := range []string{"a", "A.b-c_1", "console", "com", "COM10", ".x"} {
		if why := BadName(name); why != "" {
			t.Errorf("%q: %s", name, why)
		}
	}
	for _, name := range []string{"", ".", "..", "-x", "x.", "a/b", "ü", "CON", "con.txt", "com1", "Lpt9.x", "nul", string(make([]byte, 200))} {
		if BadName(name) == "" {
			t.Errorf("%q passes", name)
		}
	}
}
