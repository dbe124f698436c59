package irtest_test

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// TestNothingIsKept: a failure that rapid had saved was repeated by every later run, and hid
// new failures of that run.
func TestNothingIsKept(t *testing.T) {
	irtest.Check(t, 10, 1, func(*rapid.T) {})
	if f := flag.Lookup("rapid.nofailfile"); f == nil || f.Value.String() != "true" {
		t.Error("rapid saves failures")
	}
}
