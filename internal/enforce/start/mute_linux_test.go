package start_test

import (
	"os"
	"testing"
)

// stderr is standard error for messages of a part of the test binary.
var stderr = os.Stderr

// muteCoverage is for the parts other than the test. Under go test -cover os.Exit writes counters,
// and says on os.Stderr that it cannot where a sandbox or a tool's environment leaves it no
// directory; the tests would take that for words of the loader or the tool.
func muteCoverage() {
	if testing.CoverMode() != "" {
		os.Stderr = nil
	}
}
