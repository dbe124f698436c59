package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestForeignHooks: hooks that install does not write stay, for any command.
func TestForeignHooks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	for _, line := range []string{
		"accessc-audit hook claude-code --to /log", "/usr/bin/accessc2 hook claude-code", "/usr/bin/accessc.sh hook claude-code", "/opt/accessc-1.2 hook claude-code",
		"accessc hook claude-code --tool strict", "./accessc hook claude-code", "/opt/ACCESSC hook claude-code", "/opt/accessc hook claude-code --level 3",
		"/opt/accessc hook claude-code --tool a --tool b", "/opt/accessc hook claude-code --tool", "/opt/accessc hook run claude-code", "/opt/accessc -C /w hook claude-code",
	} {
		text := fmt.Sprintf("{\n  \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"command\": %q}]}]}\n}\n", line)
		path := put(t, text)
		if r, err := claude.Install(path, own); err != nil || r.Backup == "" {
			t.Fatalf("%s: got %+v, %v", line, r, err)
		}
		if now, _ := os.ReadFile(path); !strings.Contains(string(now), line) {
			t.Errorf("%s is gone: %s", line, now)
		}
		if was, _ := os.ReadFile(path + backupSuffix); string(was) != text {
			t.Errorf("%s: the copy is %q", line, was)
		}
		if _, err := claude.Uninstall(path); err != nil {
			t.Fatal(err)
		}
		kept(t, path, text)
	}
	text := `{"hooks": {"Stop": [{"hooks": [{"command": "/opt/accessc hook claude-code"}]}]}}`
	path := put(t, text)
	if r, err := claude.Uninstall(path); err != nil || r.Changed {
		t.Errorf("a hook of another event: got %+v, %v", r, err)
	}
	kept(t, path, text)
}

// TestRemovedHooksAreKept: a hook that could be of an earlier installation is replaced and removed, and the file
// with it is beside the settings, also where another program left a copy or a note.
func TestRemovedHooksAreKept(t *testing.T) {
	text := strings.Replace(string(claude.New(own)), "{\n", "{\n  \"model\": \"x\",\n", 1)
	for _, beside := range []map[string]string{
		{}, {backupSuffix: "{}"}, {backupSuffix: text}, {madeSuffix: "1\n"}, {backupSuffix: "x", madeSuffix: "1\n", againSuffix: "old"},
	} {
		for name, act := range map[string]func(path string) (Result, error){
			"install":   func(path string) (Result, error) { return claude.Install(path, Entry{own.Program, nil}) },
			"uninstall": claude.Uninstall,
		} {
			path := put(t, text)
			for suffix, text := range beside {
				if err := os.WriteFile(path+suffix, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := act(path)
			was, _ := os.ReadFile(r.Backup)
			if err != nil || !r.Changed || string(was) != text {
				t.Errorf("%s beside %v: got %+v, %v, the copy %q", name, beside, r, err, was)
			}
			if old, _ := os.ReadFile(path + backupSuffix); beside[backupSuffix] != "" && string(old) != beside[backupSuffix] {
				t.Errorf("%s beside %v: the copy of the first installation is %q", name, beside, old)
			}
		}
	}
}

// TestFormattedUpdate: the copy with an entry that a second installation makes does not bring that entry's lists back.
func TestFormattedUpdate(t *testing.T) {
	path := put(t, strings.Replace(string(claude.New(own)), "{\n", "{\n  \"model\": \"x\",\n", 1))
	if _, err := claude.Install(path, Entry{own.Program, nil}); err != nil {
		t.Fatal(err)
	}
	if _, err := claude.Uninstall(path); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "{\n  \"model\": \"x\"\n}\n" {
		t.Errorf("got %s", got)
	}
}

// TestEditedPlugin: a plugin with a text of the user's is kept when another one takes its place, and when it goes.
func TestEditedPlugin(t *testing.T) {
	a := agentOf(t, "opencode")
	for name, act := range map[string]func(path string) (Result, error){
		"install":   func(path string) (Result, error) { return a.Install(path, Entry{own.Program, nil}) },
		"uninstall": a.Uninstall,
	} {
		path := filepath.Join(t.TempDir(), "plugins", "accessc.js")
		if _, err := a.Install(path, own); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		text = append(text, "// mine\n"...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := act(path)
		was, _ := os.ReadFile(r.Backup)
		if err != nil || !r.Changed || string(was) != string(text) {
			t.Errorf("%s: got %+v, %v, the copy %q", name, r, err, was)
		}
	}
}

// TestForgedNote: a note counts for the directories of the agent alone.
func TestForgedNote(t *testing.T) {
	for _, a := range agents {
		dir := filepath.Join(t.TempDir(), "p", "q", "r")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := Places{Workspace: dir}.Project(a)
		if _, err := a.Install(path, own); err != nil {
			t.Fatal(err)
		}
		note, _ := os.ReadFile(path + madeSuffix)
		_, rest, _ := strings.Cut(string(note), "\n")
		if err := os.WriteFile(path+madeSuffix, []byte("9\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := a.Uninstall(path); err != nil || !r.Removed {
			t.Fatal(r, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: got %v, %v", a.Name, left, err)
		}
	}
}
