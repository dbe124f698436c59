package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeadsOfScripts compares the parsing of first lines with the kernel's: the program that
// the kernel starts prints its arguments.
func TestHeadsOfScripts(t *testing.T) {
	dir := t.TempDir()
	printer := filepath.Join(dir, "printer")
	if err := os.WriteFile(printer, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// One path that the kernel reads in full, and one that it cuts off.
	long := dir + strings.Repeat("/.", (scriptHead-10-len(dir)-len("/printer"))/2) + "/printer"
	for _, head := range []string{
		"#!" + printer + "\n", "#! \t" + printer + "  a  b \t\n", "#!" + printer + "\ta\n", "#!" + printer, "#!" + printer + " x",
		"#!" + printer + " -S a b\nmore\n", "#!" + printer + "\r\n", "#!\n", "#! \n", "#!", "", "text\n",
		"#!" + long + " argument-that-is-cut\n", "#!" + long + strings.Repeat("r", 20) + "\n", "#!" + printer + " a\x00b\n", "#!" + printer + "\x00b\n",
	} {
		file := filepath.Join(dir, "script")
		if err := os.WriteFile(file, []byte(head), 0o755); err != nil {
			t.Fatal(err)
		}
		obj, err := unix.Open(file, unix.O_PATH, 0)
		if err != nil {
			t.Fatal(err)
		}
		k, e := formatOf(obj)
		_ = unix.Close(obj)
		out, err := exec.Command(file, "last").Output()
		if e != 0 || k.elf {
			t.Errorf("%q: %v, %v", head, k, e)
		}
		if err != nil {
			if _, missing := os.Stat(k.interpreter); k.interpreter != "" && missing == nil {
				t.Errorf("%q: the kernel says %v, the supervisor starts %q", head, err, k.interpreter)
			}
			continue
		}
		var want []string
		if k.argument != "" {
			want = append(want, k.argument)
		}
		want = append(want, file, "last")
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); filepath.Clean(k.interpreter) != printer || !slices.Equal(got, want) {
			t.Errorf("%q: the supervisor starts %q with %q, the kernel %q", head, k.interpreter, want, got)
		}
	}
}
