package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
)

// Proof says how much was compared.
type Proof struct {
	// Files, Hosts and Vars are the questions about which both agree, or the result permits less. They are
	// one of each class that either side tells apart.
	Files, Hosts, Vars int
	// Lines are command lines. They are examples: each word that a rule names, with and without more.
	Lines int
	// Calls are those of servers' tools that were asked about.
	Calls int
}

// wider is something that the result permits and the settings do not.
type wider struct {
	what string
	// system is true for a place of the base.
	system bool
}

// Error implements error.
func (w *wider) Error() string { return w.what }

// bases are the choices of a base, the widest first.
var bases = []string{"system", "minimal", "none"}

// prover compares a draft with an evaluation of the settings.
type prover struct{ *Translation }

// settle chooses the base, compiles the draft and compares it with the settings.
func (t prover) settle(out *Result, p foreign.Policy) error {
	head := "# Imported from " + out.Format + ".\n"
	var err error
	for _, base := range bases {
		t.Draft.base = base
		out.Text = t.Draft.text(head)
		if out.Proof, err = t.prove(out.Text, p); err == nil {
			if base != bases[0] {
				e := &Entry{Key: "access.base"}
				e.Become(Narrowed, "%q: the settings deny something that a larger base grants", base)
				out.Entries = append(out.Entries, e)
			}
			return nil
		}
		var w *wider
		if !errors.As(err, &w) || !w.system {
			break
		}
	}
	return fmt.Errorf("nothing was written: %w", err)
}

// Compiled compiles a text by itself.
func Compiled(text, home string) (*compiler.Result, error) {
	dir, err := os.MkdirTemp("", "accessc-import-")
	if err != nil {
		return nil, err
	}
	defer rmtree.Remove(dir)
	if err := os.WriteFile(filepath.Join(dir, "accessc.toml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir, Layers: source.Request{Shared: true, Home: home}})
	if err != nil {
		return nil, err
	}
	for _, d := range res.Findings {
		if d.Severity == diag.Error {
			return nil, fmt.Errorf("the rules do not compile: %s: %s: %s", d.Path, d.Message, d.Label)
		}
	}
	return res, nil
}

// Prove compares a text with an evaluation of settings, as an import does: a tool in it may permit no more.
func Prove(text, tool string, p foreign.Policy, host foreign.Host) (Proof, error) {
	t := prover{&Translation{req: &Request{}, Host: host, Draft: draft{tool: tool, Ruleset: tool, Confines: true}}}
	return t.prove(text, p)
}

// prove compiles a text and asks it, and the settings, about one question of every class.
// See decision D195.
func (t prover) prove(text string, p foreign.Policy) (Proof, error) {
	var out Proof
	res, err := Compiled(text, t.Host.Home)
	if err != nil {
		return out, err
	}
	for _, tool := range res.Program.Tools {
		if tool.Name != t.Draft.tool || !t.Draft.Confines {
			continue
		}
		marks := p.Marks()
		for _, platform := range []ir.Platform{ir.Linux, ir.Darwin} {
			if marks.Linux && platform != ir.Linux {
				continue
			}
			c := NewCheck(ir.NewView(tool, platform, ir.Facts{}), p, t.Host)
			c.proof = &out
			for _, one := range []func() error{c.files, c.hosts, c.vars, c.detailed, c.starts} {
				if err := one(); err != nil {
					return out, err
				}
			}
		}
	}
	for _, set := range res.Rulesets {
		if err := t.lines(set, p, &out); err != nil {
			return out, err
		}
	}
	if err := t.calls(res.Program, p, &out); err != nil {
		return out, err
	}
	return out, t.commands(res.Program)
}

// check compares one view.
type check struct {
	host   foreign.Host
	view   *ir.View
	policy foreign.Policy
	marks  foreign.Marks
	proof  *Proof
	// classes are the examples of names that some lists of patterns tell apart.
	classes map[string][]string
}

// NewCheck returns a comparison of a view with an evaluation of settings on a host.
func NewCheck(view *ir.View, p foreign.Policy, host foreign.Host) *check {
	return &check{host: host, view: view, policy: p, marks: p.Marks(), proof: &Proof{}, classes: map[string][]string{}}
}

// files asks about every path that either side names, one below each, one for every way in which a
// pattern can go on below each, and every file that the workspace has.
func (c *check) files() error {
	var nodes []string
	for _, root := range c.view.Roots() {
		region := c.view.Regions(root)
		c.regions(region, &nodes)
		if err := c.named(region); err != nil {
			return err
		}
	}
	c.regions(c.view.Regions(ir.Root{Kind: ir.System}), &nodes)
	nodes = append(nodes, c.marks.Paths...)
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for _, n := range nodes {
		asked := []string{n, path.Join(n, "zz-any-name")}
		for _, p := range c.marks.Patterns {
			asked = append(asked, p.Inside(n)...)
		}
		for _, abs := range asked {
			if err := c.place(abs); err != nil {
				return err
			}
		}
	}
	if len(c.marks.Patterns) == 0 {
		return nil
	}
	return filepath.WalkDir(c.host.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return nil // the rules are about the target of a link
		}
		return c.place(name)
	})
}

// named asks about names that rules by name and patterns tell apart, in each directory of a tree and deeper, and at the
// places that the settings name. A protected path only takes away.
func (c *check) named(root *ir.Region) error {
	dirs := map[string][]string{}
	if root == nil {
		return nil
	}
	root.Walk(func(r *ir.Region) {
		if abs, ok := c.absolute(r.At); ok && len(r.ByName) > 0 && !r.Guarded() {
			dirs[abs] = c.names(r)
		}
	})
	if base, ok := c.absolute(root.At); ok && len(dirs) > 0 {
		for _, abs := range c.marks.Paths {
			if _, again := dirs[abs]; !again && ir.Within(abs, base) {
				dirs[abs] = c.names(root)
			}
		}
	}
	for dir, names := range dirs {
		for _, name := range names {
			at := path.Join(dir, name)
			for _, abs := range []string{at, path.Join(at, "zz-any-name"), path.Join(dir, "zz-any-name", name)} {
				if err := c.place(abs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// regions lists the absolute paths at which the grants of a view change.
func (c *check) regions(r *ir.Region, out *[]string) {
	if r == nil {
		return
	}
	if abs, ok := c.absolute(r.At); ok {
		*out = append(*out, abs)
	}
	for _, b := range r.Below {
		c.regions(b, out)
	}
}

// absolute is the path of a location. The private home and the temporary directory are new ones, of
// which the settings cannot speak.
func (c *check) absolute(at ir.Location) (string, bool) {
	switch at.Root.Kind {
	case ir.Workspace:
		return path.Join(c.host.Dir, at.Path), true
	case ir.System:
		return "/" + at.Path, true
	case ir.External:
		return path.Join(c.host.Home, strings.TrimPrefix(at.Root.Name, "~"), at.Path), true
	case ir.Home, ir.Temp:
	}
	return "", false
}

// Location is the inverse of absolute.
func (c *check) Location(abs string) ir.Location {
	best, length := ir.Sys(strings.TrimPrefix(abs, "/")), 0
	for _, root := range append(c.view.Roots(), ir.Root{Kind: ir.Workspace}) {
		dir, ok := c.absolute(ir.Location{Root: root})
		if ok && root.Kind != ir.System && ir.Within(abs, dir) && len(dir) > length {
			best, length = ir.Location{Root: root, Path: strings.TrimPrefix(strings.TrimPrefix(abs, dir), "/")},
				len(dir)
		}
	}
	return best
}

// place asks about a path. One that leads over a symlink is no place of a file. Devices and the kernel's
// information about processes are no files: every program that confines others makes them anew.
func (c *check) place(abs string) error {
	if ir.Within(abs, "/dev") || ir.Within(abs, "/proc") || c.host.Follow(abs) != abs {
		return nil
	}
	at := c.Location(abs)
	for _, cap := range ir.All.List() {
		c.proof.Files++
		// The settings are the slower to ask.
		if c.view.Decide(ir.Access{Cap: cap, On: ir.Direct(at)}).Allowed() && !Permits(c.policy, cap, abs) {
			return &wider{fmt.Sprintf("the rules would permit to %s %s, and the settings do not", cap, abs),
				at.Root.Kind == ir.System}
		}
	}
	return nil
}

// hosts asks about every host, scheme and port that either side names, and others.
func (c *check) hosts() error {
	hosts := []string{"localhost", "127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "93.184.216.34",
		"zz-any-name.example"}
	ports := append([]uint16{22, 80, 443, 9}, c.marks.Ports...)
	names := slices.Clone(c.marks.Hosts)
	for _, r := range c.view.Tool.Net {
		names = append(names, r.Host.String())
		ports = append(ports, r.Port)
	}
	for _, n := range names {
		base := strings.TrimPrefix(n, "*.")
		if a, err := netip.ParseAddr(strings.Trim(base, "[]")); err == nil && a.Is6() {
			hosts = append(hosts, "["+a.String()+"]")
			continue
		}
		hosts = append(hosts, base, "zz."+base, "zz.zz."+base)
	}
	for _, h := range Without(hosts) {
		host, err := resolve.Host(h)
		if err != nil {
			continue // no target is called so
		}
		for _, port := range Without(ports) {
			for _, scheme := range []string{"http", "https", ir.Stream} {
				c.proof.Hosts++
				v := c.view.Decide(ir.Connect{To: ir.Endpoint{Scheme: scheme, Host: host, Port: port}})
				if v.Allowed() && !c.policy.Connects(strings.Trim(host.String(), "[]"), port) {
					return &wider{what: fmt.Sprintf("the rules would permit to connect to %s port %d, and the settings do not", host, port)}
				}
			}
		}
	}
	return nil
}

// vars asks about every variable that either side names.
func (c *check) vars() error {
	names := append([]string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TERM", "ZZ_ANY"}, c.marks.Vars...)
	for _, r := range c.view.Tool.Env {
		names = append(names, r.Name)
	}
	for _, n := range names {
		c.proof.Vars++
		if c.view.Decide(ir.Forward{Name: n}).Allowed() && !c.policy.Passes(n) {
			return &wider{what: fmt.Sprintf("the rules would forward %s, and the settings do not", n)}
		}
	}
	return nil
}

// commands compares the command of each server.
func (t prover) commands(prog *ir.Program) error {
	for _, s := range t.Draft.servers {
		i := slices.IndexFunc(prog.Tools, func(tool *ir.Tool) bool { return tool.Name == s.name })
		if i < 0 || prog.Tools[i].Command == nil || prog.Tools[i].Command.Program != s.program ||
			!slices.Equal(prog.Tools[i].Command.Args, s.args) {
			return fmt.Errorf("server %s would not start as its file says", s.name)
		}
	}
	return nil
}

// plainly is a command line with one blank between its words. A command that some settings permit in this
// spelling alone is the same in every other one.
func plainly(line string) string {
	if strings.ContainsAny(line, "'\"\\") {
		return line // blanks may be part of a word
	}
	return strings.Join(strings.Fields(line), " ")
}

// changesDirectory reports whether a line goes to a directory and does nothing else. A ruleset permits that below its
// directory without a rule, whatever the settings say. See decision D195.
func changesDirectory(line string) bool {
	w := Words(plainly(line))
	return len(w) > 0 && w[0] == "cd"
}

// lines asks a ruleset about examples of command lines and of hosts to fetch from.
func (t prover) lines(set *ruleset.Set, p foreign.Policy, out *Proof) error {
	marks := p.Marks()
	stopper, stops := p.(foreign.Stopper)
	for _, line := range examples(slices.Concat(t.Draft.Rules, t.Draft.Wide), marks.Commands) {
		out.Lines++
		if stops && stopper.Stops(line) && !changesDirectory(line) && unasked(set, line) {
			return &wider{what: fmt.Sprintf("nobody would be asked about %q, and the settings deny it or ask", line)}
		}
		if allows(set, ruleset.Operation{Command: line, Dir: set.Root}) && !p.Runs(line) && !p.Runs(plainly(line)) &&
			!changesDirectory(line) {
			return &wider{what: fmt.Sprintf("the ruleset would allow %q, and the settings do not", line)}
		}
	}
	for _, r := range t.Draft.Rules {
		line := strings.Join(r.prefix, " ")
		if r.Allow && line != "" && !(allows(set, ruleset.Operation{Command: line, Dir: set.Root}) &&
			allows(set, ruleset.Operation{Command: line + " zz", Dir: set.Root})) {
			r.entry.Become(Narrowed, "rulesets.%s; arguments that could run or write something else are asked about",
				t.Draft.Ruleset)
		}
	}
	hosts := []string{"zz-any-name.example", "10.0.0.1"}
	for _, h := range marks.Hosts {
		base := strings.TrimPrefix(h, "*.")
		hosts = append(hosts, base, "zz."+base, "zz.zz."+base)
	}
	for _, h := range hosts {
		out.Hosts++
		if allows(set, ruleset.Operation{Kind: ruleset.Fetch, URL: "https://" + h + "/"}) && !p.Fetches(h) {
			return &wider{what: fmt.Sprintf("the ruleset would allow to fetch from %s, and the settings do not", h)}
		}
	}
	return nil
}
