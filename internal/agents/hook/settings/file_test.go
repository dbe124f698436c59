package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// put makes a file below a new directory and returns its path.
func put(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// kept is an error unless a file has a text and is alone in its directory.
func kept(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || string(got) != text || len(left)+len(hidden) != 1 {
		t.Errorf("got %q, %v, among %v %v", got, err, left, hidden)
	}
}

// TestInstallRefused: settings that cannot be edited stay as they are, and nothing is left beside
// them.
func TestInstallRefused(t *testing.T) {
	for _, text := range []string{`{"hooks":`, `[]`, `{"hooks":[]}`, `{"hooks":{"PreToolUse":7}}`, "\xff", `{"a":{"b":1,"b":2}}`} {
		path := put(t, text)
		if r, err := claude.Install(path, own); err == nil || r.Changed {
			t.Errorf("%q: got %+v, %v", text, r, err)
		}
		if _, err := claude.Uninstall(path); err == nil && text != `[]` && !strings.HasPrefix(text, `{"hooks":[`) && !strings.HasPrefix(text, `{"hooks":{`) {
			t.Errorf("%q: uninstalled", text)
		}
		kept(t, path, text)
	}
	path := put(t, "{}")
	for _, e := range []Entry{{"accessc", nil}, {"/opt/a\nb/accessc", nil}, {"/opt/accessc", []string{"--tool", "a\x1bb"}}} {
		if _, err := claude.Install(path, e); err == nil {
			t.Errorf("%+v is installed", e)
		}
	}
	kept(t, path, "{}")
	if _, err := claude.Install(filepath.Dir(path), own); err == nil {
		t.Error("a directory is edited")
	}
}

// TestInstallSymlink: no file behind a symlink is edited, whichever way it leads there.
func TestInstallSymlink(t *testing.T) {
	path := put(t, "{}")
	link := filepath.Join(t.TempDir(), "settings.json")
	for _, to := range []string{path, path + ".none"} {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		for _, act := range []func() (Result, error){
			func() (Result, error) { return claude.Install(link, own) }, func() (Result, error) { return claude.Uninstall(link) },
		} {
			if r, err := act(); err == nil || !strings.Contains(err.Error(), "symlink to "+to) || r.Changed {
				t.Errorf("%s: got %+v, %v", to, r, err)
			}
		}
	}
	kept(t, path, "{}")
}

// TestInstallUnwritable: a directory that cannot be written stays as it is, and so do those that
// an installation would have made.
func TestInstallUnwritable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("permissions do not hold for this user")
	}
	path := put(t, "{}")
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	for _, at := range []string{path, filepath.Join(dir, "a", "b", "settings.json")} {
		if _, err := claude.Install(at, own); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: got %v", at, err)
		}
	}
	kept(t, path, "{}")
}

// TestInstallLeavesNoDirectories: directories that were made for a file that cannot be made go again.
func TestInstallLeavesNoDirectories(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", strings.Repeat("x", 250))
	if _, err := claude.Install(path, own); err == nil {
		t.Fatal("a file of such a name was made")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("got %v", left)
	}
}

// TestSwapMeanwhile: a file that another program changes in between keeps that change.
func TestSwapMeanwhile(t *testing.T) {
	path := put(t, "{}")
	if err := swap(path, []byte(`{"older":1}`), []byte("new")); !errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
	kept(t, path, "{}")
}

// TestUninstallAfterChanges: changes after an installation stay, and the hook goes all the same.
func TestUninstallAfterChanges(t *testing.T) {
	for _, c := range []struct{ name, in, from, to, want string }{
		{"a member more", "{\n  \"a\": 1\n}", "\n}", ",\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"a hook more", "{\n  \"a\": 1\n}", `"PreToolUse": [`, `"PreToolUse": [{"hooks": [{"command": "x"}]},`, "{\n  \"a\": 1,\n  \"hooks\": {\n    \"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}]}\n    ]\n  }\n}"},
		{"a hook of the user's is gone", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}]}}`, `{"hooks": [{"command": "x"}]}, `, "", `{"hooks": {"PreToolUse": []}}`},
	} {
		path := put(t, c.in)
		if _, err := claude.Install(path, own); err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(path)
		if !strings.Contains(string(now), c.from) {
			t.Fatalf("%s: %s has no %s", c.name, now, c.from)
		}
		last := strings.LastIndex(string(now), c.from)
		edited := string(now[:last]) + c.to + string(now[last+len(c.from):])
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := claude.Uninstall(path)
		got, _ := os.ReadFile(path)
		if err != nil || string(got) != c.want || r.Backup == "" {
			t.Errorf("%s: got %s, %+v, %v", c.name, got, r, err)
		}
	}
}

// TestUninstallForged: a copy and a note that a repository brings put nothing into the settings, and
// remove nothing of the user's.
func TestUninstallForged(t *testing.T) {
	path := put(t, string(claude.New(own)))
	dir := filepath.Dir(path)
	if err := os.WriteFile(path+backupSuffix, []byte(`{"env":{"PATH":"/evil"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := claude.Uninstall(path); err != nil || r.Removed {
		t.Fatal(r, err)
	}
	if got, _ := os.ReadFile(path); string(got) != "{}\n" {
		t.Errorf("got %s", got)
	}
	text := strings.Replace(string(claude.New(own)), "{\n", "{\n  \"model\": \"x\",\n", 1)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.WriteFile(path+madeSuffix, []byte("99\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r, err := claude.Uninstall(path); err != nil || r.Removed {
		t.Error(r, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestWindowsLines: a line for a shell of Windows is read back as it was written.
func TestWindowsLines(t *testing.T) {
	words := []string{`C:\Program Files\accessc.exe`, "hook", "codex", "--tool", "a b"}
	for on, want := range map[shell]string{
		CommandShell: `"C:\Program Files\accessc.exe" hook codex --tool "a b"`,
		PowerShell:   `& 'C:\Program Files\accessc.exe' hook codex --tool 'a b'`,
	} {
		got := windowsLine(words, on)
		if got != want || strings.Join(quoted(strings.TrimPrefix(got, "& ")), "|") != strings.Join(words, "|") {
			t.Errorf("got %s", got)
		}
	}
}
