// Package work has the scripts in which users let accessc propose rules, ask them and start many tools.
package work

import (
	"testing"

	"github.com/accessc/accessc/test/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, nil, nil) }

// TestScripts runs the scripts of this directory, which no other kernel runs: in an emulator they outlast their limits.
func TestScripts(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("cmd/accessc runs them with its counters")
	}
	scripts.Run(t, "testdata")
}
