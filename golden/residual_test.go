package golden_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/backends"
	words "github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/ir"
)

const (
	residualFile  = "../docs/residual.md"
	residualBegin = "<!-- From the ledger: go test ./golden -run TestResidual -update -->\n"
	residualEnd   = "<!-- The end of the text from the ledger. -->\n"
)

// remedies say of each gap what a user can do about it.
var remedies = map[ir.Gap]string{
	ir.GapCommandsArgs:    "Rely on the rules about files and hosts.",
	ir.GapCommandsEnvs:    "Forward no variable that one of the programs must not see.",
	ir.GapCommandsProgram: "Take `read` from the programs that must not run, and list no interpreter.",
	ir.GapFSCreate:        "Grant a directory in which the tool makes files as a whole.",
	ir.GapFSDefault:       "Keep secrets out of files that every program can read.",
	ir.GapFSExecute:       "Take `read` from the files that must not start.",
	ir.GapFSLate:          "Make the place before the start.",
	ir.GapFSMetadata:      "Use a host with a supervisor, or grant no `update`.",
	ir.GapFSMove:          "Grant the same wherever the tool can move files to.",
	ir.GapFSNames:         "Write rules by path for what must hold.",
	ir.GapFSPaths:         "Use another system or target.",
	ir.GapFSProtected:     "Use a host with a supervisor; elsewhere look at the protected paths after a run.",
	ir.GapFSReplaced:      "Start the tool anew after another program has saved the file.",
	ir.GapFSRevoke:        "Start the tool anew: nothing more is open.",
	ir.GapFSSocket:        "Keep the sockets of services out of places that the tool may read.",
	ir.GapFSWrite:         "Grant create, update and delete together or not at all.",
	ir.GapLimitCPUTime:    "Set `wall_time` as well.",
	ir.GapLimitFileSize:   "Give the tool a file system with a quota.",
	ir.GapLimitMemory:     "On Linux delegate a cgroup; elsewhere limit the container.",
	ir.GapLimitOpenFiles:  "Set the limit in the program that starts the tool (`ulimit -n`).",
	ir.GapLimitProcesses:  "On Linux delegate a cgroup; elsewhere count the user's other processes in.",
	ir.GapLimitWallTime:   "Have the program that starts the tool end it (`timeout`).",
	ir.GapNetAddress:      "Use a supervisor; on macOS count the Mac's addresses as one host.",
	ir.GapNetDefault:      "Start the tool where there is no network, or behind a firewall.",
	ir.GapNetHost:         "Use a host with a supervisor, or a firewall that knows hosts.",
	ir.GapNetListen:       "Close the ports by the host's firewall.",
	ir.GapNetPath:         "Set `inspect = true` in the rule, and neither `opaque` nor `scheme = \"tcp\"`.",
	ir.GapProcessSignal:   "Use Linux 6.12 or newer, or start the tool as a user of its own.",
}

// wrapped breaks a line of a list at 120 columns.
func wrapped(line string) string {
	const columns = 120
	out, at := "", 0
	for i, word := range strings.Fields(line) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case at+1+n > columns:
			out, at = out+"\n ", 1
			fallthrough
		default:
			out, at = out+" ", at+1
		}
		out, at = out+word, at+n
	}
	return out + "\n"
}

// byBytes has names that expressions of bytes match differently, which no policy of policy/ has.
const byBytes = `-- accessc.toml --
[tools.x]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true, write = true }, { path = ".", names = ["?.key"] }]
`

// ledgers returns the rows of every target for every policy of policy/, which has every construct,
// and for byBytes.
func ledgers(t *testing.T) map[string]ir.Ledger {
	t.Helper()
	paths, err := filepath.Glob("policy/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	all := map[string]ir.Ledger{}
	archives := map[string]*txtar.Archive{"byBytes": txtar.Parse([]byte(byBytes))}
	for _, path := range paths {
		if archives[filepath.Base(path)], err = txtar.ParseFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		t.Run(name, func(t *testing.T) {
			c := golden.Lay(t, archives[name])
			out := c.Run(t)
			if out.Result.Program == nil {
				return // a mistake
			}
			for _, tool := range out.Result.Program.Tools {
				for _, b := range registry.Every {
					made, err := b.Compile(tool, backends.Target{Form: backends.Portable})
					if err != nil {
						t.Fatalf("%s: %v", b.Name(), err)
					}
					all[b.Name()] = slices.Concat(all[b.Name()], made.Ledger, made.Elsewhere)
				}
			}
		})
	}
	return all
}

// TestResidual compares what the ledgers of all targets say is not held with docs/residual.md.
func TestResidual(t *testing.T) {
	settings, assumed := "", ""
	rows := ledgers(t)
	if !reflect.DeepEqual(rows["kubernetes"], rows["agent-sandbox"]) {
		t.Error("the targets kubernetes and agent-sandbox differ")
	}
	for _, b := range registry.Every {
		settings += unheld(b, rows[b.Name()])
		if slices.Contains(registry.All, b) {
			assumed += assumptions(b, rows[b.Name()])
		}
	}
	var text strings.Builder
	text.WriteString("| gap | what is then not held | where | what to do |\n|---|---|---|---|\n")
	for _, g := range ir.Gaps() {
		where := everyWhere(rows, g)
		if where == "" || remedies[g] == "" {
			t.Errorf("%s is in no golden policy, or nothing says what to do about it", g)
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", g, g.Effect(), where, remedies[g])
	}
	fmt.Fprintf(&text, "\naccessc starts nothing by these targets, so these have no gaps:\n\n%s", settings)
	fmt.Fprintf(&text, "\nThe systems assume:\n\n%s", assumed)
	data, err := os.ReadFile(residualFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(data), residualBegin)
	was, tail, ends := strings.Cut(rest, residualEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the text from the ledger", residualFile)
	}
	if *update {
		if err := os.WriteFile(residualFile, []byte(head+residualBegin+text.String()+residualEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(was, text.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", residualFile, d)
	}
}

// having names a target whose ledger has a gap, with the hosts on which it has it. It is empty for
// other targets, and for those whose supervisor closes the gap.
func having(b backends.Backend, l ir.Ledger, g ir.Gap) string {
	has, to, top := false, 0, 0
	for _, r := range l {
		top = max(top, r.Levels.To)
		if r.Gap == g && !r.Is.Held() {
			has, to = true, max(to, r.Levels.To)
		}
	}
	switch {
	case !has:
		return ""
	case to == top:
		return targetName(b)
	case b.Platform() == ir.Windows:
		return targetName(b) + " tier 0"
	default:
		return targetName(b) + " below level " + strconv.Itoa(to+1)
	}
}

// everyWhere lists the targets that have a gap.
func everyWhere(rows map[string]ir.Ledger, g ir.Gap) string {
	var supervised, always []string
	for _, b := range registry.Every {
		if b.Name() == "agent-sandbox" {
			continue // the same as kubernetes
		}
		if has := having(b, rows[b.Name()], g); has != "" {
			always = append(always, has)
		} else if slices.ContainsFunc(rows[b.Name()], func(r ir.Row) bool { return r.Gap == g }) {
			supervised = append(supervised, targetName(b))
		}
	}
	if supervised != nil {
		always = slices.Insert(always, 0, strings.Join(supervised, " and ")+" without a supervisor")
	}
	return strings.Join(always, ", ")
}

// unheld names a target with the resources of its rows that are not held and have no gap; it is
// empty where there are none. accessc starts nothing by these rows.
func unheld(b backends.Backend, l ir.Ledger) string {
	noLandlock := ir.Levels{}
	var out []string
	for _, r := range ir.Resources {
		if slices.ContainsFunc(l, func(row ir.Row) bool {
			return row.Resource == r && row.Gap == "" && !row.Is.Held() && (b.Platform() == 0 || row.Levels != noLandlock)
		}) {
			out = append(out, r.String())
		}
	}
	if out == nil {
		return ""
	}
	return "- " + targetName(b) + ": " + strings.Join(out, ", ") + "\n"
}

// assumptions are what the rows of a system assume.
func assumptions(b backends.Backend, l ir.Ledger) string {
	var out []string
	for _, row := range l {
		for _, c := range row.Causes {
			why, assumes := strings.CutPrefix(words.Why([]ir.Cause{c}), "assumes ")
			if assumes && !slices.Contains(out, why) {
				out = append(out, why)
			}
		}
	}
	if out == nil {
		return ""
	}
	return wrapped("- " + targetName(b) + ": " + strings.Join(out, "; ") + ".")
}

// targetName is a system, or the name of another target.
func targetName(b backends.Backend) string {
	switch b.Name() {
	case "landlock":
		return "Linux"
	case "seatbelt":
		return "macOS"
	case "winjob":
		return "Windows"
	default:
		return "`" + b.Name() + "`"
	}
}
