package hook

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// TestLongReason: a model does not get its own line back in full.
func TestLongReason(t *testing.T) {
	a, _ := Find("claude-code")
	ans := a.Settle(&Event{Asks: true}, Answer{Outcome: Ask, Reason: strings.Repeat("é", 1<<20) + "end"})
	if len(ans.Reason) > longest+8 || !strings.HasSuffix(ans.Reason, "end") {
		t.Errorf("got %d bytes", len(ans.Reason))
	}
}

// TestPatchMoves: a patch that moves a file deletes it at the one place and makes it at the other.
func TestPatchMoves(t *testing.T) {
	c, err := Call{}.Patch("*** Begin Patch\n*** Update File: a/old\n*** Move to: b/new\n*** End Patch\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Touch{{Kind: ruleset.Edit, Path: "a/old"}, {Kind: ruleset.Delete, Path: "a/old"}, {Kind: ruleset.Edit, Path: "b/new"}} {
		found := false
		for _, got := range c.Touches {
			found = found || got == want
		}
		if !found {
			t.Errorf("%+v is missing in %+v", want, c.Touches)
		}
	}
}

// TestDirectories: a command has one directory, by whichever member; two that differ are an error.
func TestDirectories(t *testing.T) {
	for input, want := range map[string]string{
		`{"line": "ls"}`: "", `{"line": "ls", "dir": "a"}`: "a", `{"line": "ls", "cwd": "a"}`: "a", `{"line": "ls", "dir": "a", "cwd": "a"}`: "a",
		`{"line": "ls", "dir": "a", "cwd": "b"}`: "error", `{"line": "ls", "dir": null, "cwd": "b"}`: "b", `{"line": "ls", "dir": "", "cwd": "b"}`: "error",
	} {
		c, err := Call{}.shell(ShellTool("line", "dir", "cwd"), strictjson.Raw(input).Value().Map())
		if got := map[bool]string{true: "error", false: c.Dir}[err != nil]; got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// TestLeavingPatterns: a pattern whose alternatives are not below its first words is told by any of them.
func TestLeavingPatterns(t *testing.T) {
	for pattern, want := range map[string]bool{
		"src/**/*.go": false, "src/{a,b}": false, "src/{a,~/x}": true, "src/{a,/etc}": true, `src/{a,\\x}`: true, "src/{a,c:x}": true,
		"src/*/../../x": true, "src/{a,../x}": true, "src": false, "src/[.]./x": true,
	} {
		if leaves(pattern) != want {
			t.Errorf("%s: want %v", pattern, want)
		}
	}
}

// TestUnknownTool: a person is asked about a tool that is not known.
func TestUnknownTool(t *testing.T) {
	p := &Policy{Judge: &action.Judge{}, Refuses: func(*Call) (string, string) { return "", "" }}
	if got := p.Answer(&Agent{}, &Event{Call: Call{Tool: "new", What: Unknown}}); got.Outcome != Ask {
		t.Errorf("got %+v", got)
	}
}
