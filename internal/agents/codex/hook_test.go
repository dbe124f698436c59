package codex

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPatchCommand: a command is a patch if no shell has anything else to do.
func TestPatchCommand(t *testing.T) {
	for _, c := range []struct {
		line, want string
		is         bool
	}{
		{"apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n", "\n*** Begin Patch\n*** End Patch", true},
		{"apply_patch <<'PATCH'\n*** Begin Patch\nEOF\nPATCH", "\n*** Begin Patch\nEOF", true},
		{"apply_patch <<EOF\n$(rm x)\nEOF\n", "", false},
		{"apply_patch <<'EOF'\nx\nEOF\nrm x\n", "", false},
		{"apply_patch <<'EOF'\nx\nEOF\nrm x\nEOF\n", "", false},
		{"apply_patch <<'EOF'\nEOF\nrm x\nEOF\n", "", false},
		{"apply_patch <<'EOF'; rm x\nx\nEOF\n", "", false},
		{"apply_patch <<'EOF' && rm x\nx\nEOF\n", "", false},
		{"apply_patch <<'E'O'F'\nx\nEOF\n", "", false},
		{"apply_patch <<''\nx\n\n", "", false},
		{"apply_patch <<'EOF'\nx\nEOF", "\nx", true},
		{"apply_patch <<'EOF'\nx\n", "", false},
		{"cd a && apply_patch <<'EOF'\nx\nEOF\n", "", false},
		{"", "", false},
	} {
		if got, is := patchCommand(c.line); is != c.is || is && got != c.want {
			t.Errorf("%q: got %q, %v", c.line, got, is)
		}
	}
}

// TestCodexProject: the directory of a session is that of its record, not the one of a command.
func TestCodexProject(t *testing.T) {
	record := filepath.Join(t.TempDir(), "rollout.jsonl")
	for text, want := range map[string]string{
		`{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}` + "\n" + `{"type":"x"}` + "\n": "/w",
		`{"type":"turn_context","payload":{"cwd":"/w"}}` + "\n":                                  "", "": "", "{\n": "",
	} {
		if err := os.WriteFile(record, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := sessionDir(record); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got := sessionDir(""); got != "" {
		t.Errorf("got %q", got)
	}
}
