package shell

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// TestTables: each program stands in one table, each option once in its row, and every row says
// why it is there.
func TestTables(t *testing.T) {
	where := map[string]string{}
	add := func(name, table string) {
		if other := where[name]; other != "" && !(other == "shells" && table == "interpreters") {
			t.Errorf("%s stands in %s and in %s", name, other, table)
		}
		where[name] = table
	}
	for name := range shells() {
		add(name, "shells")
	}
	for name := range interpreters() {
		add(name, "interpreters")
	}
	for name, why := range starters() {
		add(name, "starters")
		if why == "" {
			t.Errorf("%s has no reason", name)
		}
	}
	for name := range acting() {
		add(name, "acting")
	}
	for _, r := range slices.Concat([]row{git()}, wrappers(), writers(), builders(), checkers(), compilers(), operators()) {
		for _, name := range strings.Fields(r.names) {
			add(name, "rows")
		}
		if r.why == "" {
			t.Errorf("%s has no reason", r.names)
		}
		if strings.Contains(r.why, "writes its operands") && !r.compile().writes() {
			t.Errorf("%s %s, and none is judged as a file", r.names, r.why)
		}
		onceIn(t, r.names, r.options)
		for names, options := range r.sub {
			onceIn(t, r.names+" "+names, options)
		}
	}
}

// writes reports whether operands of a program, or of a subcommand, are files that it writes.
func (e *entry) writes() bool {
	found := e.output || e.target || e.access != Read
	for _, sub := range e.sub {
		found = found || sub.writes()
	}
	return found
}

// helped is a long option in a program's help, with its short form and the beginning of its value.
var helped = regexp.MustCompile(`(?m)^ +(?:(-\w)(?:,| \|) +)?(--[a-z0-9-]+)(\[=|=| <|)`)

// TestHelp: options have the form that the programs of this host say they have. A word is a value
// for the one and the command or a file for the other otherwise.
func TestHelp(t *testing.T) {
	// The help of these says something else than the program does, or speaks about options in its prose.
	loose := []string{"xargs --max-lines", "sort -C", "sort --check", "curl --help", "rg --color", "rg --max-filesize"}
	prose := []string{"top"} // the values of its options stand in brackets
	asked := 0
	for _, r := range append(wrappers(), writers()...) {
		for name := range strings.FieldsSeq(r.names) {
			file, err := exec.LookPath(name)
			if err != nil || name == "busybox" || slices.Contains(prose, name) {
				continue
			}
			cmd := exec.CommandContext(await.Context(t), file, "--help")
			cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
			help, _ := cmd.CombinedOutput()
			g := r.compile().grammar
			for _, m := range helped.FindAllStringSubmatch(string(help), -1) {
				for _, option := range m[1:3] {
					have, listed := g.roles[option]
					if !listed || slices.Contains(loose, name+" "+option) {
						continue
					}
					asked++
					if form := [...]role{takes, takes, may, plain}[slices.Index([]string{"=", " <", "[=", ""}, m[3])]; form != have && (form != takes || have == plain || have == may) {
						t.Errorf("%s %s is %v: %s", name, option, have, m[0])
					}
				}
			}
		}
	}
	t.Logf("%d options", asked)
}

// once checks that a table lists no option twice.
func onceIn(t *testing.T, names, options string) {
	seen := map[string]bool{}
	for _, o := range strings.Fields(options) {
		if o == "--" {
			clear(seen) // options of another program
			continue
		}
		name := strings.TrimRight(o, "=?><@!%^/")
		if seen[name] {
			t.Errorf("%s: %s stands twice", names, name)
		}
		seen[name] = true
	}
}
