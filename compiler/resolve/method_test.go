package resolve_test

import (
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
)

// TestMethod: methods are compared exactly, and those that no rule may grant are errors.
func TestMethod(t *testing.T) {
	for _, m := range []string{"GET", "POST", "VERSION-CONTROL", "M-SEARCH"} {
		if err := resolve.Method(m); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	for _, m := range []string{"", "get", "Get", "GET ", "GE\tT", "GÉT", "*", "TRACE", "TRACK", "CONNECT", "GET,POST"} {
		if resolve.Method(m) == nil {
			t.Errorf("%q was accepted", m)
		}
	}
}
