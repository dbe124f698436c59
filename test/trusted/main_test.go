package main

import "testing"

// TestGrowth: two percent more lines than committed pass, and more do not, nor a form without a figure.
func TestGrowth(t *testing.T) {
	for lines, fits := range map[int]bool{900: true, 1000: true, 1020: true, 1021: false} {
		if err := compare("egress 5\nnoegress 1000\n", base{name: "noegress", lines: lines}); (err == nil) != fits {
			t.Errorf("%d lines: %v", lines, err)
		}
	}
	if compare("egress 1000\n", base{name: "noegress", lines: 1}) == nil || compare("x\n", base{name: "x"}) == nil {
		t.Error("a form without a figure passes")
	}
	if n := code([]byte("package a\n\n// b\n\tc() // d\n")); n != 2 {
		t.Errorf("%d lines of code, not 2", n)
	}
}
