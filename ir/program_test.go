package ir_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestPlatformProgramNames: Windows looks programs up by extension, and never batch files.
func TestPlatformProgramNames(t *testing.T) {
	for name, want := range map[string][]string{
		"git": {"git.com", "git.exe", "git"}, "git.EXE": {"git.EXE"}, "more.com": {"more.com"}, "a.bat": {"a.bat.com", "a.bat.exe", "a.bat"},
		"python3.11": {"python3.11.com", "python3.11.exe", "python3.11"},
	} {
		if got := ir.Windows.ProgramNames(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if got := ir.Linux.ProgramNames(name); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
