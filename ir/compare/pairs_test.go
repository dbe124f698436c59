package compare

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// The tests of this file compare the verdict of a comparison with every question of a finite
// universe, for a million pairs of small policies of each resource. Universes are small enough
// to be asked completely, and cover every case that rules can make there: names of one policy,
// of both, in between, and of neither.

// pair draws a policy and another policy, which is often close to it.
func pair[T any](r *rand.Rand, most int, draw func(*rand.Rand) T) (a, b []T) {
	for range r.IntN(most + 1) {
		a = append(a, draw(r))
	}
	b = slices.Clone(a)
	switch r.IntN(6) {
	case 0:
		b = nil
		for range r.IntN(most + 1) {
			b = append(b, draw(r))
		}
	case 1:
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	case 2, 3:
		b = slices.Insert(b, r.IntN(len(b)+1), draw(r))
	default:
		if len(b) > 0 {
			i := r.IntN(len(b))
			b = slices.Delete(b, i, i+1)
		}
	}
	return a, b
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// relaxed lets tests that make much garbage collect it less often.
func relaxed(t *testing.T) {
	old := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// answers are the permissions of a policy in a universe.
func answers(t *ir.Tool, ops []ir.Operation, out []bool) []bool {
	v := ir.NewView(t, ir.Linux, ir.Facts{})
	for _, op := range ops {
		out = append(out, v.Decide(op).Allowed())
	}
	return out
}

// check compares a pair with a universe.
func check(a, b *ir.Tool, ds []Difference, ops []ir.Operation) error {
	was, is := answers(a, ops, make([]bool, 0, len(ops))), answers(b, ops, make([]bool, 0, len(ops)))
	wider, narrower := false, false
	for i := range ops {
		wider, narrower = wider || is[i] && !was[i], narrower || was[i] && !is[i]
	}
	if got, want := Sum(ds), verdict(wider, narrower); got != want {
		return fmt.Errorf("got %v, brute force says %v\nold %+v\nnew %+v\n%+v", got, want, a, b, ds)
	}
	return nil
}

// pairsOf compares a million pairs of a resource with its universe.
func pairsOf(t *testing.T, ops []ir.Operation, draw func(*rand.Rand, *ir.Tool, *ir.Tool)) {
	relaxed(t)
	irtest.Many(t, 1_000_000, func(rnd *rand.Rand) error {
		a, b := closed(), closed()
		draw(rnd, a, b)
		return check(a, b, Policies(Policy{Tool: a}, Policy{Tool: b}), ops)
	})
}

// movesAmong are all moves between two places of a list.
func movesAmong(places []ir.Location) []ir.Operation {
	var out []ir.Operation
	for _, src := range places {
		for _, dst := range places {
			for _, w := range ways(ir.Direct(src), ir.Direct(dst)) {
				out = append(out, w.asked)
			}
		}
	}
	return out
}

// ofMove reports whether a difference is only about moves.
func ofMove(d Difference) bool {
	return strings.Contains(d.Where, "→") || d.What == "move or replace"
}

func TestPairsOfFiles(t *testing.T) {
	paths := []string{"", "a", "b", "a/a", "a/b"}
	sets := []ir.CapSet{0, ir.All, ir.Write, ir.Caps(ir.Read), ir.Caps(ir.Read, ir.Delete), ir.Caps(ir.Create), ir.Caps(ir.Update, ir.Execute)}
	var places []ir.Location
	for _, p := range []string{"", "a", "b", "c", "d", "a/a", "a/b", "a/c", "a/d", "b/c", "a/a/c", "a/b/c"} {
		places = append(places, ir.In(p))
	}
	places = append(places, ir.Location{Root: ir.Root{Kind: ir.Temp}, Path: "file"})
	var ops []ir.Operation
	for _, at := range places {
		for _, c := range ir.Capabilities {
			op := ir.Operation(ir.Access{Cap: c, On: ir.Direct(at)})
			if c == ir.Execute {
				op = ir.Start{On: ir.Direct(at)}
			}
			ops = append(ops, op)
		}
	}
	simple := len(ops)
	ops = append(ops, movesAmong(places)...)
	rule := func(r *rand.Rand) ir.FSRule {
		p := pick(r, paths)
		return ir.FSRule{Written: p, At: ir.In(p), Caps: pick(r, sets)}
	}
	relaxed(t)
	irtest.Many(t, 1_000_000, func(r *rand.Rand) error {
		a, b := closed(), closed()
		a.FS, b.FS = pair(r, 4, rule)
		if r.IntN(4) != 0 {
			a.Commands, b.Commands = nil, nil
		}
		ds := Policies(Policy{Tool: a}, Policy{Tool: b})
		// Moves are twenty times as many questions: all of them for every 32nd pair.
		asked := ops
		if r.IntN(32) != 0 {
			asked = ops[:simple]
			ds = slices.DeleteFunc(ds, ofMove)
		}
		return check(a, b, ds, asked)
	})
}

// TestPairsOfNames has rules by name beside rules on paths. Every class of the patterns is among the names of
// the questions.
func TestPairsOfNames(t *testing.T) {
	paths := []string{"", "a", "b", "b/a", "b/b"}
	patterns := [][]string{{"a"}, {"b"}, {"[ab]"}, {"?"}, {"*"}, {"[^a]"}, {"c", "d"}, {"[b-d]"}}
	sets := []ir.CapSet{
		0, 0, ir.All, ir.Write, ir.Caps(ir.Read), ir.Caps(ir.Create, ir.Delete), ir.Caps(ir.Update, ir.Execute),
	}
	places := []ir.Location{ir.In(""), {Root: ir.Root{Kind: ir.Temp}, Path: "file"}}
	for at := 0; at < len(places); at++ {
		for _, name := range []string{"a", "b", "c", "e", "ee"} { // no pattern tells d from c
			if dir := places[at]; dir.Root.Kind == ir.Workspace && dir.Depth() < 3 {
				places = append(places, dir.Child(name))
			}
		}
	}
	var ops []ir.Operation
	for _, at := range places {
		for _, c := range ir.Capabilities {
			ops = append(ops, ir.Access{Cap: c, On: ir.Direct(at)})
		}
	}
	simple := len(ops)
	ops = append(ops, movesAmong(places)...)
	rule := func(r *rand.Rand) ir.FSRule {
		p := pick(r, paths)
		out := ir.FSRule{Written: p, At: ir.In(p), Caps: pick(r, sets)}
		if r.IntN(2) == 0 {
			p = pick(r, paths[:2])
			out.Written, out.At, out.Names = p, ir.In(p), pick(r, patterns)
		}
		return out
	}
	relaxed(t)
	irtest.Many(t, 100_000, func(r *rand.Rand) error {
		a, b := closed(), closed()
		a.Commands, b.Commands = nil, nil
		a.FS, b.FS = pair(r, 4, rule)
		ds := Policies(Policy{Tool: a}, Policy{Tool: b})
		asked := ops
		if r.IntN(128) != 0 {
			asked = ops[:simple]
			ds = slices.DeleteFunc(ds, ofMove)
		}
		return check(a, b, ds, asked)
	})
}

func TestPairsOfNetwork(t *testing.T) {
	hosts := []ir.Host{
		host("*"), host("*.t"), host("a.t"), host("*.a.t"), host("localhost"),
	}
	paths := [][]string{nil, nil, {"v"}, {"v", "a"}}
	rule := func(r *rand.Rand) ir.NetRule {
		if r.IntN(4) == 0 {
			return ir.NetRule{Listen: true, Host: host(pick(r, []string{"*", "localhost", "127.0.0.1", "10.0.0.1"})), Port: pick(r, []uint16{0, 80, 8080}), Allow: r.IntN(2) == 0}
		}
		return ir.NetRule{
			Host: pick(r, hosts), Scheme: pick(r, []string{"", "https", "git", ir.Stream}), Port: pick(r, []uint16{0, 443, 8080}), Path: pick(r, paths),
			Methods: pick(r, [][]string{nil, nil, {"GET"}, {"GET", "PUT"}}), Allow: r.IntN(2) == 0,
		}
	}
	// All that these rules tell apart: a scheme that they name, with a default port and
	// without, others by whether that is their port, and lanes that no rule is about.
	lanes := []ir.Endpoint{
		{Scheme: "https", Port: 443}, {Scheme: "https", Port: 8080}, {Scheme: "git", Port: 443}, {Scheme: "git", Port: 8080},
		{Scheme: "wss", Port: 443}, {Scheme: "ssh", Port: 443}, {Scheme: "ssh", Port: 8080}, {Scheme: "ftp", Port: 21}, {Scheme: "ssh", Port: 9},
	}
	var ops []ir.Operation
	for _, name := range []string{"a.t", "b.t", "x.a.t", "o", "localhost", "127.0.0.1"} {
		for _, to := range lanes {
			for _, path := range [][]string{nil, {"v"}, {"v", "a"}} {
				for _, method := range []string{"", "GET", "PUT"} {
					to.Host, to.Path = host(name), path
					ops = append(ops, ir.Connect{To: to, Method: method})
				}
			}
		}
		for _, port := range []uint16{443, 8080} {
			ops = append(ops, ir.Connect{To: ir.Endpoint{Scheme: ir.Stream, Host: host(name), Port: port}})
		}
	}
	for _, name := range []string{"localhost", "127.0.0.1", "127.0.0.2", "10.0.0.1", "10.0.0.9", "::"} {
		for _, port := range []uint16{0, 80, 81, 8080, 8081} {
			ops = append(ops, ir.Listen{Host: host(name), Port: port})
		}
	}
	pairsOf(t, ops, func(r *rand.Rand, a, b *ir.Tool) { a.Net, b.Net = pair(r, 4, rule) })
}

func TestPairsOfVariables(t *testing.T) {
	rule := func(r *rand.Rand) ir.EnvRule {
		return ir.EnvRule{Name: pick(r, []string{"A", "AB", "B", "LD_PRELOAD", "L", "HOME"}), Prefix: r.IntN(2) == 0, Read: r.IntN(2) == 0}
	}
	pairsOf(t, variables(), func(r *rand.Rand, a, b *ir.Tool) { a.Env, b.Env = pair(r, 4, rule) })
}

func TestPairsOfCommands(t *testing.T) {
	pattern := func(r *rand.Rand) ir.ArgPattern {
		words := make([]string, r.IntN(3))
		for i := range words {
			words[i] = pick(r, []string{"a", "b"})
		}
		return ir.ArgPattern{Words: words, Rest: r.IntN(2) == 0}
	}
	pairsOf(t, runs(), func(r *rand.Rand, a, b *ir.Tool) {
		x, y := pair(r, 4, pattern)
		for i, side := range []*ir.Tool{a, b} {
			side.Commands.Rules = []ir.CommandRule{{Program: "git", AllEnvs: true, AnyArgs: r.IntN(8) == 0, Args: [][]ir.ArgPattern{x, y}[i]}}
		}
	})
}
