package bounds

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// world is a workspace in which texts are compiled.
type world struct{ root string }

func (w world) options() compiler.Options {
	return compiler.Options{Root: w.root, Host: hostview.New(), Platforms: []ir.Platform{ir.Linux}, Apart: true,
		Approved: func(string, string) (bool, string) { return true, "" }}
}

// tool compiles the access of a tool.
func (w world) tool(access string) (*ir.Tool, *compiler.Result, error) {
	file, root, bad := source.ParseFile("accessc.toml", []byte("[tools.t]\nsource = \"local\"\ncommand = \"x\"\n"+access))
	if bad != nil {
		return nil, nil, fmt.Errorf("%+v in %s", bad, access)
	}
	opts := w.options()
	opts.Layers.Only = &source.Layer{Kind: ir.LayerUser, File: file, Root: root}
	res, err := compiler.Compile(opts)
	if err != nil {
		return nil, nil, err
	}
	t, ok := res.Program.Tool("t")
	if !ok {
		return nil, nil, fmt.Errorf("%+v in %s", res.Findings, access)
	}
	return t, res, nil
}

// bounds compiles a maximum.
func (w world) bounds(text string) (*Bounds, error) {
	m, found := Read("maximum.toml", []byte(text), "stamp")
	if found.Failed() {
		return nil, fmt.Errorf("%+v in %s", found, text)
	}
	b, found, err := m.In(w.options(), nil)
	if found.Failed() {
		err = fmt.Errorf("%+v in %s", found, text)
	}
	return b, err
}

func (w world) above(t *testing.T, maximum, access string, accept ...string) []Excess {
	t.Helper()
	b, err := w.bounds(maximum)
	if err != nil {
		t.Fatal(err)
	}
	tool, res, err := w.tool(access)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]string{}
	for _, x := range res.Bindings {
		targets[x.RulePath] = x.Target
	}
	return b.Above(tool, accept, targets)
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// The rules of random policies, and all places, hosts and variables that these tell apart.
var (
	ruled = []string{".", "a", "b", "a/a", "a/b"}
	seen  = []string{"", "a", "b", "c", "a/a", "a/b", "a/c", "b/c", "a/a/c", "a/b/c"}
	hosts = []string{"*", "*.t", "a.t", "b.t"}
	asked = []string{"a.t", "b.t", "c.t", "o"}
	names = []string{"A", "AB", "B"}
	words = []string{"read", "create", "update", "delete", "execute"}
)

// policy is a random policy, by the words that it has in a layer.
type policy struct {
	files []fileRule
	hosts []hostRule
	env   []envRule
	gaps  []string
	// open is a policy without protected paths, which take most of the time of a comparison of moves.
	open bool
}

type fileRule struct {
	path string
	caps [5]bool
}

type hostRule struct {
	host  string
	allow bool
}

type envRule struct {
	name string
	read bool
}

func (p policy) draw(r *rand.Rand) policy {
	p = policy{slices.Clone(p.files), slices.Clone(p.hosts), slices.Clone(p.env), slices.Clone(p.gaps), p.open}
	for range 1 + r.IntN(3) {
		switch r.IntN(5) {
		case 0, 1:
			f := fileRule{path: pick(r, ruled)}
			if r.IntN(3) > 0 {
				for i := range f.caps {
					f.caps[i] = r.IntN(2) == 0
				}
			}
			p.files = slices.Insert(p.files, r.IntN(len(p.files)+1), f)
		case 2:
			p.hosts = slices.Insert(p.hosts, r.IntN(len(p.hosts)+1), hostRule{pick(r, hosts), r.IntN(3) > 0})
		case 3:
			p.env = slices.Insert(p.env, r.IntN(len(p.env)+1), envRule{pick(r, names), r.IntN(3) > 0})
		case 4:
			p.gaps = append(p.gaps, pick(r, []string{"net.host", "fs.late"}))
		}
	}
	return p
}

// access is the policy as access of a tool; of a maximum without the gaps.
func (p policy) access(gaps bool) string {
	var b strings.Builder
	if len(p.files) > 0 {
		b.WriteString("access.fs = [")
		for _, f := range p.files {
			fmt.Fprintf(&b, "{ path = %q", f.path)
			for i, w := range words {
				fmt.Fprintf(&b, ", %s = %v", w, f.caps[i])
			}
			b.WriteString(" }, ")
		}
		b.WriteString("]\n")
	}
	if len(p.hosts) > 0 {
		b.WriteString("access.net = [")
		for _, h := range p.hosts {
			fmt.Fprintf(&b, "{ host = %q, scheme = \"https\", allow = %v }, ", h.host, h.allow)
		}
		b.WriteString("]\n")
	}
	if len(p.env) > 0 {
		b.WriteString("access.env = [")
		for _, e := range p.env {
			fmt.Fprintf(&b, "{ name = %q, read = %v }, ", e.name, e.read)
		}
		b.WriteString("]\n")
	}
	if p.open {
		b.WriteString("access.protected = \"none\"\n")
	}
	key := "accept"
	if gaps {
		key = "access.accept"
	}
	if len(p.gaps) > 0 {
		fmt.Fprintf(&b, "%s = [\"%s\"]\n", key, strings.Join(p.gaps, `", "`))
	}
	return b.String()
}

// decided is the last of the rules that match best: the naive evaluator, which knows nothing of packages ir and compare.
func decided[T any](rules []T, match func(T) int) (best T, ok bool) {
	most := -1
	for _, r := range rules {
		if n := match(r); n >= 0 && n >= most {
			best, most, ok = r, n, true
		}
	}
	return best, ok
}

func (p policy) file(path string, i int) bool {
	if len(p.files) == 0 {
		return true // the default of 1.4, whose protected paths are not among the questions
	}
	r, ok := decided(p.files, func(f fileRule) int {
		switch {
		case f.path == ".":
			return 0
		case path == f.path || strings.HasPrefix(path, f.path+"/"):
			return 1 + strings.Count(f.path, "/")
		}
		return -1
	})
	return ok && r.caps[i]
}

func (p policy) host(name string) bool {
	r, ok := decided(p.hosts, func(h hostRule) int {
		switch suffix, wild := strings.CutPrefix(h.host, "*"); {
		case h.host == name:
			return 3
		case wild && suffix == "":
			return 1
		case wild && strings.HasSuffix(name, suffix):
			return 2
		}
		return -1
	})
	return ok && r.allow
}

func (p policy) variable(name string) bool {
	r, ok := decided(p.env, func(e envRule) int {
		if e.name == name {
			return 0
		}
		return -1
	})
	return ok && r.read
}

// over reports whether a policy permits what another does not.
func (p policy) over(most policy) bool {
	for _, path := range seen {
		for i := range words {
			if p.file(path, i) && !most.file(path, i) {
				return true
			}
		}
	}
	return slices.ContainsFunc(asked, func(h string) bool { return p.host(h) && !most.host(h) }) ||
		slices.ContainsFunc(names, func(n string) bool { return p.variable(n) && !most.variable(n) }) ||
		slices.ContainsFunc(p.gaps, func(g string) bool { return !slices.Contains(most.gaps, g) })
}

// moves reports whether an excess is only about moves of names, which the naive evaluator does not know.
func moves(x Excess) bool { return strings.Contains(x.Where, "→") || x.What == "move or replace" }

// TestAboveExactly: a policy is within a maximum of two tables if and only if a naive evaluator finds no question that
// the policy permits and a table does not; and the order of the tables has no meaning.
func TestAboveExactly(t *testing.T) {
	w := world{t.TempDir()}
	happened := map[string]int{}
	irtest.Many(t, 100_000, func(r *rand.Rand) error {
		none := policy{open: r.IntN(16) > 0}
		is := none.draw(r)
		one, two := is.draw(r), none.draw(r)
		if r.IntN(2) == 0 {
			two = one.draw(r)
		}
		if r.IntN(4) == 0 {
			one, is = is, one
		}
		tool, _, err := w.tool(is.access(true))
		if err != nil {
			return err
		}
		tables := []string{"[maximum.tools.t]\n" + two.access(false), "[maximum.tools.'?']\n" + one.access(false)}
		var got []bool
		for range 1 + r.IntN(2) {
			b, err := w.bounds("[maximum]\n" + strings.Join(tables, ""))
			if err != nil {
				return err
			}
			all := b.Above(tool, nil, nil)
			got = append(got, len(all) > 0)
			above := slices.DeleteFunc(all, moves)
			if want := over(is, one) || over(is, two); want != (len(above) > 0) {
				return fmt.Errorf("above: %v, the naive evaluator says %v\n%s\n%s\n%s", above, want, is.access(true), tables[0],
					tables[1])
			}
			happened[fmt.Sprint(len(all) > 0)]++
			slices.Reverse(tables)
		}
		if got[0] != got[len(got)-1] {
			return fmt.Errorf("the order of %q has a meaning", tables)
		}
		return nil
	})
	irtest.Happened(t, happened, "true", "false")
}

// over compares with a table; one without anything of access and gaps bounds nothing.
func over(is, most policy) bool {
	if most.open || len(most.files)+len(most.hosts)+len(most.env) > 0 {
		return is.over(most)
	}
	return len(most.gaps) > 0 && slices.ContainsFunc(is.gaps, func(g string) bool { return !slices.Contains(most.gaps, g) })
}

// TestPlaces: external rules count by where they lead, not by the names of a policy or of the maximum: a symlink in a
// directory that the maximum permits leads elsewhere, and a symlink of the workspace into it.
func TestPlaces(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{filepath.Join(dir, "ws")}
	for _, d := range []string{"ws", "data/sub", "data/closed", "secret"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"ws/in": "data/sub", "ws/out": "secret", "data/link": "secret", "ws/no": "data/closed"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	data := filepath.ToSlash(filepath.Join(dir, "data"))
	most := fmt.Sprintf("[maximum]\naccess.fs = [{ path = %q, external = true, read = true }, { path = %q }]\n", data, data+"/closed")
	for path, above := range map[string]bool{
		"in": false, data: true, data + "/sub": false, data + "/link": true, "out": true, "no": true, data + "/closed": true,
	} {
		got := w.above(t, most, fmt.Sprintf("access.fs = [{ path = %q, external = true, read = true }]\n", path))
		if (len(got) > 0) != above {
			t.Errorf("%s: above %v, expected %v: %+v", path, !above, above, got)
		}
	}
}

// TestWhatElse: what is no rule on files is bounded as well, and what a policy is besides its permissions is not.
func TestWhatElse(t *testing.T) {
	w := world{t.TempDir()}
	const most = "[maximum]\naccept = [\"fs.late\"]\naccess.limits = { memory = \"1GiB\" }\n" +
		"access.fs = [{ path = \".\", read = true }, { path = \"a\", read = true, write = true }]\n"
	const within = "access.limits = { memory = \"1GiB\" }\naccess.fs = [{ path = \".\", read = true }]\n"
	for access, says := range map[string]string{
		within:                                  "",
		within + "constraints.forbidden = true": "",
		within + "access.may = [{ path = \"a\", write = true }]\n":                                    "",
		within + "access.may = [{ path = \"b\", write = true }]\n":                                    "be granted",
		within + "access.home = \"shared\"\n":                                                         "share",
		within + "access.accept = [\"fs.late\"]\n":                                                    "",
		within + "access.accept = [\"net.host\"]\n":                                                   "accept the gap",
		within + "access.net = [{ host = \"a.t\", allow = true }]\n":                                  "connect",
		within + "access.env = [{ name = \"TOKEN\", read = true }]\n":                                 "TOKEN",
		within + "access.base = \"none\"\n":                                                           "",
		strings.Replace(within, "1GiB", "2GiB", 1):                                                    "and the maximum is",
		"access.fs = [{ path = \".\", read = true }]\n":                                               "use any memory",
		within + "access.protected = \"none\"\n":                                                      "",
		strings.Replace(within, "}]", "}, { path = \".git/config\", read = true, write = true }]", 1): "create update delete .git/config",
	} {
		said := ""
		for _, x := range w.above(t, most, access) {
			said += x.Says() + "; "
		}
		if (says == "") != (said == "") || !strings.Contains(said, says) {
			t.Errorf("%s: above by %q, expected %q", access, said, says)
		}
	}
	if got := w.above(t, most, within, "net.host"); len(got) != 1 {
		t.Errorf("--accept: %+v", got)
	}
	// A table for some tools bounds them and no others, and never permits more.
	const some = "[maximum.tools.u]\naccess.fs = []\n[maximum]\naccess.fs = [{ path = \".\", read = true }]\n" +
		"[maximum.tools.'t*']\naccess.fs = [{ path = \".\", read = true, write = true }]\n"
	if got := w.above(t, some, "access.fs = [{ path = \".\", read = true }]\n"); len(got) > 0 {
		t.Errorf("a table for another tool, and a wider one: %+v", got)
	}
	if got := w.above(t, some, "access.fs = [{ path = \".\", write = true }]\n"); len(got) == 0 {
		t.Error("a table for the tool permits more than the maximum")
	}
}

// TestVoid: a maximum that is not understood whole says so.
func TestVoid(t *testing.T) {
	w := world{t.TempDir()}
	for text, says := range map[string]string{
		"":                                           "no [maximum]",
		"maximum = 1":                                "expected a table",
		"[maximum]\nacess = 1":                       `found "acess"`,
		"[maximum]\n[tools.t]":                       `found "tools"`,
		"[maximum]\nrequire_attestation = 1":         "expected a boolean",
		"[maximum]\naccept = [\"no\"]":               "found \"no\"",
		"[maximum]\naccept = true":                   "expected an array",
		"[maximum.tools]\n\"[\" = {}":                "pattern",
		"[maximum.tools]\nt = 1":                     "expected a table",
		"[maximum]\naccess.may = []":                 "found may",
		"[maximum]\naccess.accept = []":              "found accept",
		"[maximum]\naccess = 1":                      "access",
		"[maximum]\naccess.fs = [{ pth = 1 }]":       "pth",
		"[maximum]\naccess.fs = [{ path = \"..\" }]": "",
		"[maximum":                                   "",
	} {
		if _, err := w.bounds(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, expected %q", text, err, says)
		}
	}
	m, _ := Read("m", []byte("[maximum.tools.'d*']\nrequire_attestation = true\n"), "")
	if !m.RequiresAttestation("deploy") || m.RequiresAttestation("t") {
		t.Error("attestations are required of other tools")
	}
}
