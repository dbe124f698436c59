package accessc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// TestStartInitialisesLittle: packages that are initialised before a start from an artifact, which it does not need for
// the most part, make little when they are, and the large ones come later. A new page of memory takes as long as some
// ten thousand instructions.
// See decision D104.
func TestStartInitialisesLittle(t *testing.T) {
	t.Run("accessc", func(t *testing.T) { initialisesLittle(t, "cmd/accessc", "exec") })
	t.Run("accessc-exec", func(t *testing.T) { initialisesLittle(t, "cmd/accessc-exec") })
}

func initialisesLittle(t *testing.T, program string, words ...string) {
	dir := t.TempDir()
	file := filepath.Join(dir, "program")
	if err := testbuild.Program(file, program); err != nil {
		t.Fatal(err)
	}
	// It gets to the start, which does not find its artifact.
	cmd := exec.Command(file, append(words, "--artifact", filepath.Join(dir, "none"), "t")...)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not started") {
		t.Fatalf("%v: %s", err, out)
	}
	traced := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`).FindAllStringSubmatch(string(out), -1)
	if len(traced) < 20 {
		t.Fatalf("found %d packages in the trace of the runtime, expected more: %s", len(traced), out)
	}
	ours, bytes, objects := []string{}, 0, 0
	for _, m := range traced {
		b, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		bytes, objects = bytes+b, objects+n
		if name, ok := strings.CutPrefix(m[1], module); ok {
			ours = append(ours, name)
		}
		for _, late := range []string{"kong", "text/template", "net/http", "/compiler", "/internal/agents/hook", "/internal/review/explain", "/internal/artifact/build", "/internal/egress"} {
			if strings.HasSuffix(m[1], late) {
				t.Errorf("%s is initialised before a start", m[1])
			}
		}
	}
	// The loader notes the signal for the end of its parent, which only the first thread has.
	if want := []string{"ir", "backends/landlock", "internal/enforce/supervisor", "internal/enforce/start"}; !slices.Equal(ours, want) {
		t.Errorf("of our packages %v are initialised, not %v; lay out what they know as constants, and make it by internal/process/once otherwise", ours, want)
	}
	if bytes > 110<<10 || objects > 650 {
		t.Errorf("%d packages make %d objects of %d bytes before a start, more than 650 of 110 KB", len(traced), objects, bytes)
	}
}
