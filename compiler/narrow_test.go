package compiler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// drawLayer writes a layer about the tool t, from all that a layer may contain. A first layer
// defines the tool.
func drawLayer(t *rapid.T, first bool) string {
	var b strings.Builder
	b.WriteString("[tools.t]\n")
	if first {
		b.WriteString("source = \"local\"\ncommand = \"ls\"\n")
	}
	some := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	if some("constraints") {
		fmt.Fprintf(&b, "constraints = { max_invocations = %d, forbidden = %v }\n", rapid.IntRange(1, 2).Draw(t, "max"), rapid.Bool().Draw(t, "forbidden"))
	}
	if some("base") {
		fmt.Fprintf(&b, "access.base = %q\n", rapid.SampledFrom([]string{"system", "minimal", "none"}).Draw(t, "name"))
	}
	if some("preset") {
		b.WriteString("access.extends = [\"preset:local-server\"]\n")
	}
	if some("wall") {
		fmt.Fprintf(&b, "access.limits.wall_time = \"%ds\"\n", rapid.IntRange(1, 2).Draw(t, "seconds"))
	}
	if some("accept") {
		b.WriteString("access.accept = [\"net.host\"]\n")
	}
	if some("commands") {
		b.WriteString(rapid.SampledFrom([]string{
			"access.commands = {}\n", "access.commands.ls = {}\n", "access.commands.ls = { args = [[\"-l\"]] }\n",
			"access.commands.ls = { args = [[\"-l\", \"**\"]] }\n", "access.commands.rm = {}\n",
		}).Draw(t, "table"))
	}
	// Layers most often contain rules on files.
	if rapid.IntRange(0, 3).Draw(t, "files") > 0 {
		drawList(t, &b, "fs", func() string {
			p := rapid.SampledFrom([]string{".", "a", "b", "a/b", "~/h", "~/h/a"}).Draw(t, "path")
			return fmt.Sprintf("{ path = %q, external = %v, read = %v, write = %v, update = %v }", p, p[0] == '~', rapid.Bool().Draw(t, "read"),
				rapid.Bool().Draw(t, "write"), rapid.Bool().Draw(t, "update"))
		})
	}
	if some("env") {
		drawList(t, &b, "env", func() string {
			n := rapid.SampledFrom([]string{"A", "AB", "A*", "LD_PRELOAD"}).Draw(t, "name")
			return fmt.Sprintf("{ name = %q, read = %v }", n, rapid.Bool().Draw(t, "read"))
		})
	}
	if some("net") {
		drawList(t, &b, "net", func() string { return drawNet(t) })
	}
	return b.String()
}

// drawNet writes a rule of the network, those that must allow with "allow = true".
func drawNet(t *rapid.T) string {
	rule := rapid.SampledFrom([]string{
		`host = "a.com"`, `host = "*.com"`, `host = "a.com", scheme = "https"`, `host = "a.com", port = 8`,
		`host = "a.com", inspect = true`, `host = "a.com", methods = ["GET"], inspect = true`, `host = "*.com", scheme = "tcp", port = 8`,
		`listen = true`, `listen = true, host = "*", port = 8`,
		`host = "a.com", opaque = true, allow = true`,
		`host = "a.com", inspect = true, credential = { env = "T", as = "header", name = "X" }, allow = true`,
		`host = "a.com", inspect = true, methods = ["GET"], credential = { env = "U", as = "header", name = "X" }, allow = true`,
	}).Draw(t, "rule")
	if strings.HasSuffix(rule, "allow = true") {
		return "{ " + rule + " }"
	}
	return fmt.Sprintf("{ %s, allow = %v }", rule, rapid.Bool().Draw(t, "allow"))
}

func drawList(t *rapid.T, b *strings.Builder, key string, item func() string) {
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, key) {
		items = append(items, item())
	}
	value := "[" + strings.Join(items, ", ") + "]"
	switch s := rapid.SampledFrom([]string{"", "append", "prepend", "replace", "default"}).Draw(t, "strategy"); s {
	case "":
		fmt.Fprintf(b, "access.%s = %s\n", key, value)
	case "default":
		fmt.Fprintf(b, "access.%s = { value = %s, discard_when_merged = true }\n", key, value)
	default:
		fmt.Fprintf(b, "access.%s = { value = %s, strategy = %q }\n", key, value, s)
	}
}

// operations is a universe that tells all policies of drawLayer apart.
func operations() []ir.Operation {
	var out []ir.Operation
	var places []ir.Location
	for _, p := range []string{"", "a", "b", "c", "a/b", "a/c", "a/b/c", "b/c"} {
		places = append(places, ir.In(p))
	}
	for _, p := range []string{"h/c", "h/a/c", "c"} {
		places = append(places, ir.Location{Root: irtest.Elsewhere, Path: p})
	}
	for _, k := range []ir.RootKind{ir.Home, ir.Temp} {
		places = append(places, ir.Location{Root: ir.Root{Kind: k}, Path: "x"})
	}
	for _, a := range places {
		for _, c := range ir.Capabilities {
			out = append(out, ir.Access{Cap: c, On: ir.Direct(a)})
		}
		for _, b := range places {
			src, dst := ir.Direct(a), ir.Direct(b)
			if a == b || a.Under(b) || b.Under(a) {
				continue
			}
			for _, k := range []ir.NodeKind{ir.File, ir.Dir} {
				out = append(out, ir.Rename{Src: src, Dst: dst, SrcKind: k, DstKind: ir.Absent},
					ir.Rename{Src: src, Dst: dst, SrcKind: k, DstKind: k}, ir.Exchange{A: src, B: dst, AKind: k, BKind: k})
			}
			out = append(out, ir.Link{Src: src, Dst: dst})
		}
	}
	for _, n := range []string{"A", "AB", "AC", "ABC", "LD_PRELOAD", "B"} {
		out = append(out, ir.Forward{Name: n})
	}
	for _, h := range []string{"a.com", "b.com", "com"} {
		for _, s := range []string{"https", "http", "wss", ir.Stream} {
			for _, p := range []uint16{ir.DefaultPort(s), 8, 9} {
				for _, m := range []string{"", "GET", "POST"} {
					out = append(out, ir.Connect{To: ir.Endpoint{Scheme: s, Host: ir.Host{Kind: ir.HostName, Name: h}, Port: p}, Method: m})
				}
			}
		}
	}
	for _, h := range []ir.Host{{Kind: ir.HostName, Name: ir.Localhost}, irtest.Address("127.0.0.1"), irtest.Address("9.9.9.9"), irtest.Address("::")} {
		for _, p := range []uint16{0, 8, 80, 8080} {
			out = append(out, ir.Listen{Host: h, Port: p})
		}
	}
	for _, p := range []string{"ls", "rm", "cp"} {
		for _, args := range [][]string{nil, {"-l"}, {"-l", "x"}, {"x"}} {
			out = append(out, ir.Run{Program: p, Args: args})
		}
	}
	for _, p := range ir.Platforms {
		for _, r := range ir.BaseRules(ir.BaseSystem, p) {
			for _, c := range ir.Capabilities {
				out = append(out, ir.Access{Cap: c, On: ir.Direct(r.At)}, ir.Access{Cap: c, On: ir.Direct(r.At.Child("x"))})
			}
		}
	}
	return out
}

// byName puts the places of the home into each other, as their names say.
func byName(t *ir.Tool) *ir.Tool {
	out := *t
	out.FS = slices.Clone(t.FS)
	for i := range out.FS {
		if at := &out.FS[i].At; at.Root.Direct() {
			*at = ir.Location{Root: irtest.Elsewhere, Path: strings.TrimPrefix(at.Short(), "~/")}
		}
	}
	return &out
}

// within reports whether a policy permits nothing that another policy does not, by asking
// both about everything.
func within(without, with *ir.Tool, ops []ir.Operation) bool {
	for _, p := range ir.Platforms {
		a, b := ir.NewView(byName(without), p, ir.Facts{}), ir.NewView(byName(with), p, ir.Facts{})
		for _, op := range ops {
			if b.Decide(op).Allowed() && !a.Decide(op).Allowed() {
				return false
			}
			if to, ok := op.(ir.Connect); ok && !looksWithin(a, b, to) {
				return false
			}
		}
	}
	looser := func(old, new uint64) bool { return old != 0 && (new == 0 || new > old) }
	limit := func(t *ir.Tool) uint64 {
		for _, l := range t.Limits {
			return l.Value
		}
		return 0
	}
	constraints := func(t *ir.Tool) ir.Constraints {
		if t.Constraints == nil {
			return ir.Constraints{}
		}
		return *t.Constraints
	}
	old, new := constraints(without), constraints(with)
	return !looser(limit(without), limit(with)) && !(len(with.Accept) > 0 && len(without.Accept) == 0) &&
		!looser(uint64(old.MaxInvocations), uint64(new.MaxInvocations)) && !(old.Forbidden && !new.Forbidden)
}

// looksWithin reports whether a connection is looked at no less than by another policy that
// permits it as well, and a request carries no credential that it does not carry there.
func looksWithin(without, with *ir.View, op ir.Connect) bool {
	rule := func(v ir.Verdict) ir.NetRule {
		if r, ok := v.Rule.(*ir.NetRule); ok && v.Allowed() {
			return *r
		}
		return ir.NetRule{}
	}
	if c := rule(with.Decide(op)).Credential; c != nil && op.To.Scheme == "https" {
		if old := rule(without.Decide(op)).Credential; old == nil || old.Env != c.Env {
			return false
		}
	}
	old, new := without.Reach(op.To), with.Reach(op.To)
	if op.To.Scheme != "https" || !old.Allowed() || !new.Allowed() {
		return true
	}
	return (with.Inspects(op.To) || !without.Inspects(op.To)) && (rule(old).Opaque || !rule(new).Opaque)
}

// TestUntrusted: a layer that may only narrow is accepted if, and only if, every permission
// with it also exists without it: where it is merged, and in the end, after a trusted layer
// that comes later.
func TestUntrusted(t *testing.T) {
	ops := operations()
	accepted, refused := 0, 0
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		dir := t.TempDir()
		texts := map[string]string{
			"accessc.toml": drawLayer(rt, true), "narrow.toml": drawLayer(rt, false), "later.toml": drawLayer(rt, false),
		}
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		run := func(configs, untrusted []string) *compiler.Result {
			layers := source.Request{}
			for _, c := range configs {
				layers.Configs = append(layers.Configs, filepath.Join(dir, c))
			}
			for _, u := range untrusted {
				layers.Untrusted = append(layers.Untrusted, filepath.Join(dir, u))
			}
			res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir, Layers: layers})
			if err != nil {
				rt.Fatal(err)
			}
			return res
		}
		tool := func(configs ...string) *ir.Tool {
			p := run(configs, nil).Program
			if p == nil {
				rt.Fatalf("%v does not compile: %v\n%v", configs, run(configs, nil).Findings, texts)
			}
			return p.Tools[0]
		}
		// Only --set comes after --untrusted; to have a layer after it, the user does not trust one of the layers of
		// --config.
		want := within(tool(), tool("narrow.toml"), ops)
		var res *compiler.Result
		if !rapid.Bool().Draw(rt, "another one comes later") {
			res = run(nil, []string{"narrow.toml"})
		} else {
			want = want && within(tool("later.toml"), tool("narrow.toml", "later.toml"), ops)
			user := filepath.Join(dir, "user.toml")
			if err := os.WriteFile(user, []byte("layers = [{ path = \"narrow.toml\", trust = \"narrow\" }]\n"), 0o644); err != nil {
				rt.Fatal(err)
			}
			r, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: dir, Layers: source.Request{
				User: user, Configs: []string{filepath.Join(dir, "narrow.toml"), filepath.Join(dir, "later.toml")},
			}})
			if err != nil {
				rt.Fatal(err)
			}
			res = r
		}
		if got := res.Program != nil; got != want {
			rt.Fatalf("accepted %v, brute force says %v\n%v\n%v", got, want, texts, res.Findings)
		}
		if want {
			accepted++
			return
		}
		refused++
		for _, f := range res.Findings {
			if f.Severity == diag.Error && f.Code != diag.Widens {
				rt.Fatalf("refused by %v", f)
			}
		}
	})
	fmt.Printf("property %s: %d accepted, %d refused\n", t.Name(), accepted, refused)
	if refused == 0 || accepted == 0 && refused > 200 { // of few, all may be refused
		t.Error("only one of the two answers was met")
	}
}
