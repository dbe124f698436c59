package seccomp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends/landlock"
)

// TestEveryCallIsInOneGroup: a system call that golang.org/x/sys knows on any architecture
// is either allowed or refused with a reason, so that a new release of the module brings
// its calls to a decision.
func TestEveryCallIsInOneGroup(t *testing.T) {
	groups := map[string]int{}
	for _, g := range slices.Concat(landlock.Allowed(), landlock.Refused()) {
		if g.Why == "" || !slices.IsSorted(g.Calls) {
			t.Errorf("%s has no reason, or its calls are not sorted", g.Name)
		}
		for _, name := range g.Calls {
			groups[name]++
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, name := range knownCalls(t, arch) {
			if groups[name] != 1 {
				t.Errorf("%s (%s) is in %d groups of the closed list, expected 1", name, arch, groups[name])
			}
		}
	}
}

// TestNumbersAreGenerated: the generated table has all calls and agrees with the groups.
func TestNumbersAreGenerated(t *testing.T) {
	for _, n := range sysno {
		named := slices.ContainsFunc(landlock.Allowed(), func(g landlock.CallGroup) bool { return slices.Contains(g.Calls, n.name) })
		if named != isAllowed(n.nr) {
			t.Errorf("%s is allowed: %v in the table, %v in its group; run go generate", n.name, isAllowed(n.nr), named)
		}
	}
	if isAllowed(1 << 20) {
		t.Error("a number behind all calls is allowed")
	}
}

var definition = regexp.MustCompile(`(?m)^\s*SYS_([A-Z0-9_]+)\s*=`)

// knownCalls reads the names of system calls from the module that is built with.
func knownCalls(t *testing.T, arch string) []string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skipf("the source of golang.org/x/sys is not at hand: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "unix", "zsysnum_linux_"+arch+".go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range definition.FindAllStringSubmatch(string(text), -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	if len(names) < 300 {
		t.Fatalf("%d calls for %s, expected more", len(names), arch)
	}
	return names
}
