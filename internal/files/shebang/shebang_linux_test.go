package shebang_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/files/shebang"
	"github.com/accessc/accessc/test/testbuild"
)

// TestAsTheKernel compares the parser with the kernel: the interpreter that the kernel starts
// prints its arguments. Three parsers had three rules, and none of them the kernel's: one dropped
// a carriage return from the name, one took a name that is cut off, one lost the empty argument
// that a blank at the end of a short file begins (zeros follow it).
func TestAsTheKernel(t *testing.T) {
	dir := t.TempDir()
	printer := filepath.Join(dir, "printer")
	if err := testbuild.WriteFile(printer, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// padded names the printer in so many bytes.
	padded := func(n int) string {
		n -= len(dir) + len("/printer")
		return dir + strings.Repeat("/.", n/2) + strings.Repeat("/", n%2) + "/printer"
	}
	most := shebang.Size - len("#!")
	for _, head := range []string{
		"#!" + printer + "\n", "#! \t" + printer + "  a  b \t\n", "#!" + printer + "\ta\n", "#!" + printer, "#!" + printer + " x",
		"#!" + printer + " -S a b\nmore\n", "#!" + printer + "\r\n", "#!\n", "#! \n", "#!", "", "text\n", " #!" + printer + "\n",
		"#!" + printer + " a\x00b\n", "#!" + printer + "\x00b\n", "#!" + printer + " ", "#!" + printer + " \x00b\n", "#!" + printer + " \n",
		"#!" + printer + " a ", "#!\x00\n", "#! \x00" + printer + "\n",
		"#!" + padded(most-1) + "\n", "#!" + padded(most) + "\n", "#!" + padded(most), "#!" + padded(most-1), "#!" + padded(most-1) + " x\n",
		"#!" + padded(most-2) + " argument-that-is-cut\n", "#!" + padded(most-9) + " argument-that-is-cut\n", "#!" + padded(most-3) + " a\n",
	} {
		file := filepath.Join(dir, "script")
		if err := testbuild.WriteFile(file, []byte(head), 0o755); err != nil {
			t.Fatal(err)
		}
		name, args := shebang.Parse([]byte(head)[:min(len(head), shebang.Size)])
		out, err := exec.Command(file, "last").Output()
		if err != nil {
			if _, missing := os.Stat(name); name != "" && missing == nil {
				t.Errorf("%q: the kernel says %v, the parser %q", head, err, name)
			}
			continue
		}
		want := append(slices.Clone(args), file, "last")
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); filepath.Clean(name) != printer || !slices.Equal(got, want) {
			t.Errorf("%q: the parser says %q with %q, the kernel starts it with %q", head, name, want, got)
		}
	}
}

func TestParse(t *testing.T) {
	for head, want := range map[string]string{
		"#!/bin/sh\nx": "/bin/sh", "#! /usr/bin/env python3 -u\n": "/usr/bin/env", "#!/bin/sh": "/bin/sh", "#!\n": "", "": "", "#": "",
		"x#!/bin/sh\n": "", "\x7fELF": "", "#!/bin/sh\r\n": "/bin/sh\r",
	} {
		if got, _ := shebang.Parse([]byte(head)); got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
}
