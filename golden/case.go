// Package golden runs inputs through the compiler and compares the results with the expected
// ones. Its files are txtar archives, one directory per theme; the examples in the
// documentation run through it, too. Only tests import it.
//
// An archive's comment describes the case. Its files make up a workspace, but for these:
//
//	options    flags of the run, one per line: resolve, target NAME, config FILE, untrusted FILE,
//	           set KEY=VALUE, user FILE, attestation FILE, maximum FILE, sign KEY, found (the workspace was not named)
//	setup      more than plain files, one per line: symlink LINK TARGET, fifo PATH, dir PATH,
//	           home PATH, layers-home PATH (~/ in rules), size PATH BYTES, hex PATH BYTES, unreadable PATH, rules PATH TOOL COUNT,
//	           approve RULE TARGET, tracked PATH (in the index of a git repository)
//	ask        questions to put to the policies, one per line: TOOL QUESTION
//	want.txt   the findings as text
//	want.ask   the answers
//	want/…     artifacts, as TOOL/FILE
//
// $OUTSIDE stands for a directory beside the workspace, $ROOT for the workspace and $STATE for
// the state directory, in inputs and in expected outputs.
package golden

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// Case is an archive that was laid out on the disk.
type Case struct {
	Archive *txtar.Archive
	result  *hostfacts.Result
	Root    string
	Outside string
	Options hostfacts.Options
	// Attestations are the files that say who may sign.
	Attestations []userdir.Attestation
	// Keys are the files of keys that sign.
	Keys []string
	// Found is true where the workspace was found, not named.
	Found bool
}

// rootLength is the length of every case's directory.
const rootLength = 160

// Lay writes an archive's workspace below a temporary directory of the test.
func Lay(t testing.TB, a *txtar.Archive) *Case {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Artifacts break lines by their length, and that of a temporary directory differs.
	dir = filepath.Join(dir, strings.Repeat("_", max(rootLength-len(dir), 1)))
	c := &Case{Archive: a, Root: filepath.Join(dir, "ws"), Outside: filepath.Join(dir, "outside")}
	c.Options = hostfacts.Options{Options: compiler.Options{Root: c.Root}, Sensitive: true, State: userdir.Dir(filepath.Join(dir, "state"))}
	for _, d := range []string{c.Root, c.Outside, string(c.Options.State)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range a.Files {
		if f.Name == "options" || f.Name == "setup" || f.Name == "ask" || strings.HasPrefix(f.Name, "want") {
			continue
		}
		write(t, c.place(f.Name), []byte(c.expand(string(f.Data))))
	}
	c.setup(t, c.lines("setup"))
	c.options(t, c.lines("options"))
	return c
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// place returns the absolute path of a name in an archive.
func (c *Case) place(name string) string {
	name = c.expand(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Root, filepath.FromSlash(name))
}

func (c *Case) expand(s string) string {
	return strings.NewReplacer("$OUTSIDE", c.Outside, "$ROOT", c.Root, "$STATE", string(c.Options.State)).Replace(s)
}

// Fold reverses the expansion of inputs, for comparing outputs. The directories that lead to
// the case's own differ by machine, so lines of a profile that name one of them are removed.
func (c *Case) Fold(s string) string {
	dir := filepath.Dir(c.Root)
	pairs := []string{c.Outside, "$OUTSIDE", c.Root, "$ROOT", string(c.Options.State), "$STATE"}
	for d := filepath.Dir(dir); d != filepath.Dir(d); d = filepath.Dir(d) {
		pairs = append(pairs, "\n  (literal \""+d+"\")", "")
	}
	return strings.NewReplacer(append(pairs, dir, "$TMP")...).Replace(s)
}

// File returns the contents of a file of the archive.
func (c *Case) File(name string) (string, bool) {
	for _, f := range c.Archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

func (c *Case) lines(name string) [][]string {
	text, _ := c.File(name)
	var out [][]string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

func (c *Case) setup(t testing.TB, lines [][]string) {
	t.Helper()
	var mounts []map[string]string
	for _, w := range lines {
		var err error
		path := c.place(w[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch w[0] {
		case "symlink":
			err = os.Symlink(c.expand(w[2]), path)
		case "fifo":
			err = mkfifo(path)
		case "dir":
			err = os.MkdirAll(path, 0o755)
		case "home":
			t.Setenv("HOME", path)
		case "layers-home":
			c.Options.Layers.Home = path
			err = os.MkdirAll(path, 0o755)
		case "size":
			var n int64
			if n, err = strconv.ParseInt(w[2], 10, 64); err == nil {
				write(t, path, nil)
				err = os.Truncate(path, n)
			}
		case "hex":
			var data []byte
			if data, err = hex.DecodeString(strings.Join(w[2:], "")); err == nil {
				write(t, path, data)
			}
		case "rules":
			write(t, path, manyRules(w[2], w[3]))
		case "unreadable":
			write(t, path, []byte("# nobody reads this\n"))
			err = os.Chmod(path, 0)
		case "tracked":
			write(t, c.place(".git/HEAD"), []byte("ref: refs/heads/main\n"))
			write(t, c.place(".git/index"), index(w[1]))
		case "approve":
			mounts = append(mounts, map[string]string{"rule_path": c.expand(w[1]), "canonical_target": c.expand(w[2])})
		default:
			err = fmt.Errorf("unknown setup line %q", w)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if mounts != nil {
		data, _ := json.Marshal(map[string]any{"mounts": mounts})
		write(t, c.Options.State.Approvals(), data)
	}
}

// index is an index of git with one file (gitformat-index(5)), without the checksum, which is not looked at.
func index(name string) []byte {
	entry := append(make([]byte, 62), name...)
	binary.BigEndian.PutUint32(entry[24:], 0o100644)
	entry = append(entry, make([]byte, 8-len(entry)%8)...)
	return slices.Concat([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), entry, make([]byte, 20))
}

// manyRules returns a layer with more fs rules than one writes by hand.
func manyRules(tool, count string) []byte {
	n, _ := strconv.Atoi(count)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[tools.%s.access.fs]]\npath = \"dir%d\"\nread = true\n\n", tool, i)
	}
	return []byte(b.String())
}

func (c *Case) options(t testing.TB, lines [][]string) {
	t.Helper()
	for _, w := range lines {
		switch w[0] {
		case "resolve":
			c.Options.Resolve = true
		case "places":
			c.Options.Places = true
		case "found":
			c.Found = true
		case "target":
			p, ok := ir.ParsePlatform(w[1])
			if !ok {
				t.Fatalf("unknown target %q", w[1])
			}
			c.Options.Platforms = append(c.Options.Platforms, p)
		case "config":
			c.Options.Layers.Configs = append(c.Options.Layers.Configs, c.place(w[1]))
		case "user":
			c.Options.Layers.User = c.place(w[1])
		case "attestation":
			c.Attestations = append(c.Attestations, userdir.Attestation{Path: c.place(w[1])})
		case "maximum":
			c.Options.Maximum = c.place(w[1])
		case "sign":
			c.Keys = append(c.Keys, c.place(w[1]))
		case "untrusted":
			c.Options.Layers.Untrusted = append(c.Options.Layers.Untrusted, c.place(w[1]))
		case "set":
			c.Options.Layers.Sets = append(c.Options.Layers.Sets, strings.Join(w[1:], " "))
		default:
			t.Fatalf("unknown option %q", w)
		}
	}
}

// Output is the result of a case.
type Output struct {
	Result *hostfacts.Result
	// Findings is the text of all findings, ending in the summary line.
	Findings string
	Failed   bool
	// Answers are those to the case's questions.
	Answers string
	// Built are the artifacts by tool and name, nil when a finding stopped the run.
	Built map[string][]byte
}

// Run compiles the case and builds its artifacts with every backend of its targets.
func (c *Case) Run(t testing.TB) Output {
	t.Helper()
	res, err := hostfacts.Compile(c.Options)
	if err != nil {
		t.Fatal(err)
	}
	c.result = res
	out := Output{Result: res}
	findings := res.Findings
	var no *workspace.Refused
	if _, err := workspace.Find(c.Root, string(c.Options.State), source.Lists(hostview.Now)); c.Found && errors.As(err, &no) {
		findings, res.Program = diag.List{hostfacts.NotWorkspace(no)}, nil
	}
	if res.Program != nil {
		req := build.Request{Program: res.Program, Backends: c.backends(), Form: backends.Portable}
		if c.Options.Resolve {
			req.Form, req.Facts = backends.Resolved, c.facts(res)
		}
		var refused diag.List
		out.Built, refused = Build(t, req)
		findings = append(findings, refused...)
		out.Answers = c.ask(t, res)
	}
	_, texts, more := signers.Read(c.Attestations, c.Root, "", nil)
	findings = slices.Concat(findings, more, signers.Misplaced(c.Keys, c.Root, nil))
	maps.Copy(res.Files, texts)
	out.Failed = findings.Failed()
	out.Findings = c.Fold(Text(findings, res.Files))
	return out
}

// Build returns the artifacts of a build by tool and name, nil with findings.
func Build(t testing.TB, req build.Request) (map[string][]byte, diag.List) {
	t.Helper()
	var mu sync.Mutex
	out := map[string][]byte{}
	x, findings, err := build.Build(req, func(tool string, files map[string][]byte) error {
		mu.Lock()
		defer mu.Unlock()
		for name, data := range files {
			out[tool+"/"+name] = data
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if x == nil {
		return nil, findings
	}
	return out, findings
}

// ask puts the case's questions to the policies, as on Linux.
func (c *Case) ask(t testing.TB, res *hostfacts.Result) string {
	var b strings.Builder
	for _, w := range c.lines("ask") {
		tool, ok := res.Program.Tool(w[0])
		if !ok {
			t.Fatalf("there is no tool %q", w[0])
		}
		words := strings.Fields(c.expand(strings.Join(w[1:], " ")))
		q, err := resolve.ParseQuestion(words)
		if err != nil {
			t.Fatal(err)
		}
		facts := c.facts(res)(tool)
		op, err := resolve.Asker{Resolver: res.Resolver, Bindings: facts.Bindings}.Operation(q)
		if err != nil {
			fmt.Fprintf(&b, "error  %-14s %-20s %s: %v\n", "", "", strings.Join(w, " "), err)
			continue
		}
		v := ir.NewView(tool, ir.Linux, facts).Decide(op)
		by := "–"
		if v.Rule != nil {
			by = v.Rule.Subject()
		}
		fmt.Fprintf(&b, "%-6s %-14s %-20s %s\n", v.Effect, v.Reason, by, strings.Join(w, " "))
	}
	return c.Fold(b.String())
}

// facts binds the roots and leaves the host's own base and programs out, which
// differ between machines.
func (c *Case) facts(res *hostfacts.Result) func(*ir.Tool) ir.Facts {
	return func(t *ir.Tool) ir.Facts { return ir.Facts{Bindings: res.Facts(t).Bindings} }
}

// Bindings are the roots of a tool, after Run.
func (c *Case) Bindings(t *ir.Tool) *ir.Bindings { return c.facts(c.result)(t).Bindings }

// backends are those of the case's targets. The roots of a resolved build are places
// on this disk, which are none of Windows.
func (c *Case) backends() []backends.Backend {
	targets := c.Options.Platforms
	switch {
	case len(targets) > 0:
	case c.Options.Resolve:
		targets = []ir.Platform{ir.Linux, ir.Darwin}
	default:
		targets = ir.Platforms[:]
	}
	return slices.DeleteFunc(slices.Clone(registry.All), func(b backends.Backend) bool {
		return b.Platform() != 0 && !slices.Contains(targets, b.Platform())
	})
}

// Text renders findings as the command prints them, ending in the summary line.
func Text(l diag.List, files source.Files) string {
	if len(l) == 0 {
		return "no findings\n"
	}
	var b strings.Builder
	if err := (diag.Text{Lines: files}).Write(&b, l); err != nil {
		panic(err)
	}
	return b.String() + "\n" + diag.Summary(l) + "\n"
}
