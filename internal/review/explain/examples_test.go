package explain

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/irtest"
)

// TestExamplesTurn: every example that a comparison gives can be asked as it is, and the two
// policies answer it differently, in the direction of the line.
func TestExamplesTurn(t *testing.T) {
	resolver, err := resolve.New(t.TempDir(), resolve.Through(hostview.Now))
	if err != nil {
		t.Fatal(err)
	}
	resolver.Home = "/nowhere/home"
	bound := &ir.Bindings{Workspace: resolver.Root, External: map[string]string{irtest.Elsewhere.Name: resolver.Home}}
	asker := resolve.Asker{Resolver: resolver, Bindings: bound, Kernel: true}
	var printed, silent atomic.Int64
	irtest.Check(t, 8000, 1, func(rt *rapid.T) {
		a, b := drawPolicy(rt), drawPolicy(rt)
		if rapid.Bool().Draw(rt, "near") {
			b = nearTo(rt, a)
		}
		old, new := ir.NewView(a, ir.Linux, ir.Facts{}), ir.NewView(b, ir.Linux, ir.Facts{})
		for _, d := range compare.Policies(compare.Policy{Tool: a}, compare.Policy{Tool: b}) {
			if d.Platforms != nil && !slices.Contains(d.Platforms, ir.Linux) {
				continue
			}
			if d.Example == "" {
				silent.Add(1)
				continue
			}
			printed.Add(1)
			words, err := split.Words(d.Example)
			if err != nil {
				rt.Fatalf("%s: %v", d.Example, err)
			}
			q, err := resolve.ParseQuestion(words)
			if err != nil {
				rt.Fatalf("%s: %v", d.Example, err)
			}
			op, err := asker.Operation(q)
			if err != nil {
				rt.Fatalf("%s: %v", d.Example, err)
			}
			if on, ok := op.(ir.Access); ok && strings.HasPrefix(q.Operands[0], "/") {
				on.On = ir.Direct(ir.Sys(q.Operands[0][1:])) // whatever it is on this host
				op = on
			}
			was, is := old.Decide(op), new.Decide(op)
			if was.Allowed() == d.Wider || is.Allowed() != d.Wider {
				rt.Fatalf("%s %s %s, such as %s: was %v (%v), is %v (%v)\nold %+v\nnew %+v", mark(d), d.What, region(d), d.Example,
					was.Effect, was.Reason, is.Effect, is.Reason, a, b)
			}
		}
	})
	fmt.Printf("property %s: %d examples asked, %d differences without one\n", t.Name(), printed.Load(), silent.Load())
}

func drawPolicy(t *rapid.T) *ir.Tool {
	tool := irtest.ToolByName(t, irtest.Names, 4)
	for i := range tool.FS {
		if at := &tool.FS[i].At; at.Root.Direct() { // in each other by their names, as comparisons take them
			*at = ir.Location{Root: irtest.Elsewhere, Path: strings.TrimPrefix(strings.TrimPrefix(at.Short(), "~"), "/")}
		}
	}
	tool.Base = rapid.SampledFrom([]ir.BaseName{ir.BaseNone, ir.BaseSystem, ir.BaseMinimal}).Draw(t, "base")
	tool.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomeReal}).Draw(t, "home")
	tool.Net, tool.Env, tool.Commands = drawNet(t), drawEnv(t), drawCommands(t)
	if rapid.Bool().Draw(t, "own") {
		tool.Command = &ir.Command{Program: rapid.SampledFrom(listed).Draw(t, "own program")}
	}
	return tool
}

// nearTo changes one part of a policy.
func nearTo(t *rapid.T, a *ir.Tool) *ir.Tool {
	b := *a
	switch rapid.IntRange(0, 4).Draw(t, "changed") {
	case 0:
		b.FS = append(slices.Clone(a.FS), irtest.FSRules(t, irtest.Names, 2)...)
	case 1:
		b.Net = drawNet(t)
	case 2:
		b.Env = drawEnv(t)
	case 3:
		b.Commands = drawCommands(t)
	default:
		for i := range b.FS {
			b.FS = slices.Clone(a.FS)
			b.FS[i].Caps ^= ir.Caps(ir.Execute)
		}
	}
	return &b
}

func drawNet(t *rapid.T) []ir.NetRule {
	hosts := []string{"*", "a.test", "x.a.test", "*.a.test", "*.test", "localhost", "127.0.0.1", "[::1]", "192.0.2.1", "xn--bcher-kva.test"}
	out := make([]ir.NetRule, rapid.IntRange(0, 4).Draw(t, "hosts"))
	for i := range out {
		if rapid.IntRange(0, 3).Draw(t, "listen") == 0 {
			host, err := resolve.HostPattern(rapid.SampledFrom([]string{"*", "localhost", "127.0.0.1", "[::1]", "[::]", "192.0.2.1"}).Draw(t, "address"))
			if err != nil {
				t.Fatal(err)
			}
			out[i] = ir.NetRule{Host: host, Listen: true, Allow: rapid.Bool().Draw(t, "allow"), Port: rapid.SampledFrom([]uint16{0, 80, 1024}).Draw(t, "port")}
			continue
		}
		host, err := resolve.HostPattern(rapid.SampledFrom(hosts).Draw(t, "host"))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = ir.NetRule{
			Host: host, Allow: rapid.Bool().Draw(t, "allow"),
			Scheme:  rapid.SampledFrom([]string{"", "https", "http", "git", "tcp", "tcp2"}).Draw(t, "scheme"),
			Port:    rapid.SampledFrom([]uint16{0, 80, 443, 8080}).Draw(t, "port"),
			Methods: rapid.SampledFrom([][]string{nil, {"GET"}, {"GET", "PATCH"}}).Draw(t, "methods"),
			Inspect: rapid.Bool().Draw(t, "inspect"),
		}
		if rapid.Bool().Draw(t, "secret") {
			out[i].Credential = &ir.Credential{File: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "file"), As: "basic"}
		}
		prefix := rapid.SampledFrom([]string{"/", "/v1", "/v1/a b", "/it's", "/$x/&y", "/ü"}).Draw(t, "path")
		if out[i].Path, err = resolve.PathPrefix(prefix); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func drawEnv(t *rapid.T) []ir.EnvRule {
	out := make([]ir.EnvRule, rapid.IntRange(0, 3).Draw(t, "variables"))
	for i := range out {
		out[i] = ir.EnvRule{
			Name:   rapid.SampledFrom([]string{"A", "AB", "B", "LD_PRELOAD", "L", "HOME", "ABC", "A B"}).Draw(t, "variable"),
			Prefix: rapid.Bool().Draw(t, "prefix"), Read: rapid.Bool().Draw(t, "read"),
		}
	}
	return out
}

// listed are programs whose names examples would choose, and paths.
var listed = []string{"cat", "git", "ls", "other", "a/ab", "./src/x y", "abc/d'e"}

func drawCommands(t *rapid.T) *ir.CommandSet {
	if rapid.IntRange(0, 3).Draw(t, "table") == 0 {
		return nil
	}
	set := &ir.CommandSet{}
	for _, program := range listed {
		if rapid.IntRange(0, 2).Draw(t, program) != 0 {
			continue
		}
		r := ir.CommandRule{Program: program, AllEnvs: true, AnyArgs: rapid.IntRange(0, 3).Draw(t, "any") == 0}
		for range rapid.IntRange(0, 2).Draw(t, "patterns") {
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"x", "x2", "", "a b", "**"}), 0, 2).Draw(t, "words")
			r.Args = append(r.Args, ir.ArgPattern{Words: words, Rest: rapid.Bool().Draw(t, "rest")})
		}
		set.Rules = append(set.Rules, r)
	}
	return set
}
