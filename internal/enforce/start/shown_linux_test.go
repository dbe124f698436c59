package start

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/bubblewrap"
)

// sandboxed has bwrap make a sandbox with some mounts on the host's own tree, and checks in it whether those of the options
// are there. The error is the check's.
func sandboxed(t *testing.T, bwrap string, options []bubblewrap.Option, made ...string) error {
	t.Helper()
	list, open, err := expect(options)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(list)
	places, err := inMemory(text)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	report, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--unshare-user", "--bind", "/", "/", "--proc", "/proc"}, made...)
	cmd := exec.Command(bwrap, append(args, "--", "/proc/self/fd/6", EnterCommand, "", "/", "false", "null", "/bin/true", "true")...)
	cmd.ExtraFiles = []*os.File{places, places, places, self, end, places}
	out, err := cmd.CombinedOutput()
	_ = end.Close()
	said, _ := io.ReadAll(report)
	for _, f := range append(slices.Collect(maps.Values(open)), places, self, report) {
		_ = f.Close()
	}
	if err := entered(string(said)); err != nil {
		return err
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return nil
}

// TestShown: a place that shows another file than the one that was opened, as it must not be opened, or through another mount
// than its own, is refused. So no mount is left over for a file that another process has put in the way.
func TestShown(t *testing.T) {
	bwrap, err := findWrapper(wrapperPaths)
	if f := wrapperFinding(); err != nil || f.State != Partial {
		t.Skip("bubblewrap: " + f.Detail)
	}
	base := t.TempDir()
	place, other := base+"/place", base+"/other"
	if err := errors.Join(os.Mkdir(place, 0o755), os.Mkdir(other, 0o755), os.WriteFile(base+"/file", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want, made string
		good       bool
	}{
		{"--ro-bind P P", "--ro-bind P P", true},
		{"--bind P P", "--bind P P", true},
		{"--bind P P", "--ro-bind P P", true},
		{"--dev-bind P P", "--dev-bind P P", true},
		{"--ro-bind /dev/null F", "--ro-bind /dev/null F", true},
		{"--tmpfs P --remount-ro P", "--tmpfs P --remount-ro P", true},
		{"--bind P P --ro-bind O O", "--ro-bind O O --bind P P", true},
		// The mount for the place is elsewhere, and shows something else.
		{"--bind P P", "", false},
		{"--ro-bind P P", "--ro-bind /etc O", false},
		{"--ro-bind P P", "--ro-bind O P", false},
		{"--ro-bind P P", "--tmpfs P", false},
		{"--ro-bind P P", "--bind P P", false},
		{"--bind P P", "--dev-bind P P", false},
		{"--bind P P --bind P P", "--bind P P", false},
		{"--ro-bind /dev/null F", "", false},
		{"--ro-bind /dev/null F", "--ro-bind F F", false},
		{"--tmpfs P --remount-ro P", "", false},
		{"--tmpfs P --remount-ro P", "--tmpfs P", false},
		{"--tmpfs P", "--bind P P", false},
	} {
		words := func(text string) []string {
			return strings.Fields(strings.NewReplacer("P", place, "O", other, "F", base+"/file").Replace(text))
		}
		options, err := (&bubblewrap.Spec{Args: append(words(c.want), "--chdir", "/")}).Options()
		if err != nil {
			t.Fatal(err)
		}
		if err := sandboxed(t, bwrap.file, options, words(c.made)...); (err == nil) != c.good || err != nil && !strings.Contains(err.Error(), errOther.Error()) {
			t.Errorf("%s, made %s: %v", c.want, c.made, err)
		}
	}
}
