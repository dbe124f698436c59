// Command accessc-backend-deno compiles policies to permission flags of Deno, one a line, for a script that runs there
// (https://docs.deno.com/runtime/fundamentals/security/):
//
//	go build -o ~/bin/accessc-backend-deno . && accessc build --target deno
//	deno run $(cat access/TOOL/deno.flags) script.ts
//
// What Deno does not tell apart is in its rows; of what they do not mention accessc says that nothing enforces it.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/ir"
)

func main() {
	if err := external.Serve(os.Stdin, os.Stdout, deno{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deno implements external.Backend.
type deno struct{}

func (deno) Name() string          { return "deno" }
func (deno) File() string          { return "deno.flags" }
func (deno) Platform() ir.Platform { return 0 }

// The causes of rows.
const (
	denied     ir.CauseID = "deno.denied"
	unwritten  ir.CauseID = "deno.unwritten"
	unkept     ir.CauseID = "deno.unkept"
	allOrNone  ir.CauseID = "deno.all-or-none"
	hostAlone  ir.CauseID = "deno.host"
	noVariable ir.CauseID = "deno.variable"
)

// Sentences implements external.Backend.
func (deno) Sentences() backends.Sentences {
	return backends.Sentences{
		denied:     "a denial of Deno's wins over grants of files below it",
		unwritten:  "the grant has no form as a flag, and is left out",
		unkept:     "what the rule takes away from one around it has no form as a flag, and stays",
		allOrNone:  "Deno's write permission is for creating, changing and deleting at once",
		hostAlone:  "Deno sees the host and the port, and no scheme, path or method",
		noVariable: "patterns of variables have no form as a flag, and are left out",
	}
}

// flags are what is written, and what the reader of a text finds. Paths are below the workspace.
type flags struct{ read, noRead, write, noWrite, net, env []string }

// Compile implements backends.Backend.
func (deno) Compile(t *ir.Tool, _ backends.Target) (backends.Output, error) {
	f := flagsOf(t)
	var b strings.Builder
	for _, list := range f.lists() {
		for _, value := range *list.values {
			b.WriteString(list.flag + value + "\n")
		}
	}
	ledger := ir.NewLedger(0)
	for _, c := range ir.NewView(t, ir.Linux, ir.Facts{}).Cells() {
		if held, stated := f.held(c); stated {
			ledger.Add(c, ir.Levels{}, held)
		}
	}
	return backends.Output{Data: []byte(b.String()), Elsewhere: ledger.Ledger()}, nil
}

// written reports whether the place of a rule has a form: a path of the workspace without a comma, which parts a list.
func written(r *ir.FSRule) bool {
	return !r.ByName() && !r.External && r.At.Root.Kind == ir.Workspace && !strings.ContainsAny(r.At.Path, ",\n\t ")
}

func flagsOf(t *ir.Tool) *flags {
	f := &flags{}
	for i := range t.FS {
		if r := &t.FS[i]; written(r) && r.Caps.Has(ir.Read) {
			f.read = append(f.read, place(r.At.Path))
		}
		if r := &t.FS[i]; written(r) && r.Caps&ir.Write == ir.Write {
			f.write = append(f.write, place(r.At.Path))
		}
	}
	for i := range t.FS { // what is taken away from a grant around it
		r, at := &t.FS[i], place(t.FS[i].At.Path)
		if written(r) && !r.Caps.Has(ir.Read) && below(at, f.read) {
			f.noRead = append(f.noRead, at)
		}
		if written(r) && r.Caps&ir.Write != ir.Write && below(at, f.write) {
			f.noWrite = append(f.noWrite, at)
		}
	}
	for i := range t.Net {
		if r := &t.Net[i]; allowed(r) {
			f.net = append(f.net, r.Host.String()+":"+strconv.Itoa(int(port(r))))
		}
	}
	for i := range t.Env {
		if r := &t.Env[i]; r.Read && !r.Prefix {
			f.env = append(f.env, r.Name)
		}
	}
	return f
}

// allowed reports whether a rule of the network has a form: one host at one port.
func allowed(r *ir.NetRule) bool {
	return r.Allow && !r.Listen && (r.Host.Kind == ir.HostName || r.Host.Kind == ir.HostAddr) && port(r) != 0
}

func port(r *ir.NetRule) uint16 {
	if r.Port != 0 {
		return r.Port
	}
	return ir.DefaultPort(r.Scheme)
}

// held says how Deno holds a cell. What is not stated is left to accessc.
func (f *flags) held(c ir.Cell) (ir.Held, bool) {
	switch r := c.Rule.(type) {
	case *ir.FSRule:
		return f.heldFile(r, c.Aspect)
	case *ir.NetRule:
		switch {
		case r.Listen:
			return ir.Held{}, false
		case allowed(r):
			return backends.Weaker(ir.GapNetPath, hostAlone), true
		case r.Allow:
			return backends.Stricter(unwritten), true
		default: // it may take a part away from a rule about the same host
			return backends.When(len(f.net) > 0, backends.Weaker(ir.GapNetPath, hostAlone)), true
		}
	case *ir.EnvRule:
		return backends.When(r.Prefix && r.Read, backends.Stricter(noVariable)), r.Value == ""
	}
	files := slices.Contains([]ir.Aspect{ir.AspectRead, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete}, c.Aspect)
	switch {
	case c.Resource == ir.FS && c.ID == ir.BaseRule && files:
		return backends.Stricter(unwritten), true
	case c.Aspect == ir.AspectConnect:
		return backends.When(len(f.net) > 0, backends.Weaker(ir.GapNetPath, hostAlone)), true
	case c.Resource == ir.FS && files, c.Resource == ir.Env:
		return backends.Exact, true // Deno permits nothing that no flag names
	}
	return ir.Held{}, false
}

func (f *flags) heldFile(r *ir.FSRule, a ir.Aspect) (ir.Held, bool) {
	c, capability := ir.ParseCapability(string(a))
	if !capability || c == ir.Execute {
		return ir.Held{}, false
	}
	grants, denials := r.Caps.Has(c), f.noWrite
	if c == ir.Read {
		denials = f.noRead
	}
	switch {
	case !r.External && r.At.Root.Kind != ir.Workspace:
		return backends.When(grants, backends.Stricter(unwritten)), true // around it nothing is granted
	case !written(r) && grants:
		return backends.Stricter(unwritten), true
	case !written(r):
		return backends.Weaker(ir.GapFSPaths, unkept), true
	case grants && c != ir.Read && r.Caps&ir.Write != ir.Write:
		return backends.Stricter(allOrNone), true
	case grants && below(place(r.At.Path), denials):
		return backends.Stricter(denied), true
	default:
		return backends.Exact, true
	}
}

func place(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// below reports whether a path is at or below one of a list.
func below(path string, list []string) bool {
	for _, at := range list {
		if at == "." || path == at || strings.HasPrefix(path, at+"/") {
			return true
		}
	}
	return false
}
