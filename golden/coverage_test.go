package golden_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/ir"
)

// constructs is everything that a policy can be made of, each of which compiles to
// something of its own in some backend.
var constructs = strings.Fields(`
	accept
	base:minimal base:none base:system
	command:argument command:shell command:words
	commands:any commands:any-args commands:empty-args commands:envs commands:exact-args commands:no-args
	commands:none commands:open-args commands:path
	env:deny-exact env:grant-exact env:grant-prefix env:loader env:value
	fs:absolute fs:below-external fs:create fs:delete fs:execute fs:external fs:file fs:grant-inside fs:home fs:none fs:quoted fs:read fs:revoke-inside
	fs:root fs:update
	home:private home:real home:shared
	limits:cpu_time limits:file_size limits:memory limits:open_files limits:processes limits:wall_time
	net:addr4 net:addr6 net:allow net:any net:credential net:deny net:inspect net:listen net:methods net:name net:opaque
	net:path net:port net:scheme net:stream net:suffix
`)

// TestEveryConstruct checks that each construct of the language is in a golden artifact of each
// backend.
func TestEveryConstruct(t *testing.T) {
	paths, err := filepath.Glob("policy/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	for _, b := range registry.All {
		seen[b.File()] = map[string]bool{}
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		res := golden.Lay(t, a).Run(t).Result
		for _, f := range a.Files {
			rest, ok := strings.CutPrefix(f.Name, "want/")
			if !ok {
				continue
			}
			tool, ok := res.Program.Tool(filepath.Dir(rest))
			if !ok {
				t.Fatalf("%s: %s is of no tool", path, f.Name)
			}
			for _, c := range used(tool) {
				seen[filepath.Base(rest)][c] = true
			}
		}
	}
	for file, has := range seen {
		for _, c := range constructs {
			if !has[c] {
				t.Errorf("no golden %s with %s", file, c)
			}
		}
		for c := range has {
			if !slices.Contains(constructs, c) {
				t.Errorf("%s is not listed", c)
			}
		}
	}
}

// used lists the constructs in a tool's policy.
func used(t *ir.Tool) []string {
	out := []string{"base:" + t.Base.String(), "home:" + t.HomeWord()}
	add := func(when bool, name string) {
		if when {
			out = append(out, name)
		}
	}
	add(len(t.Accept) > 0, "accept")
	add(t.Command.Shell, "command:shell")
	add(!t.Command.Shell, "command:words")
	add(slices.ContainsFunc(t.Command.Args, func(s string) bool { return strings.Contains(s, "{{") }), "command:argument")
	for i := range t.FS {
		for _, c := range usedFile(t, &t.FS[i]) {
			add(true, "fs:"+c)
		}
	}
	for _, r := range t.Net {
		for _, c := range usedHost(r) {
			add(true, "net:"+c)
		}
	}
	for _, r := range t.Env {
		add(r.Prefix && r.Read, "env:grant-prefix")
		add(!r.Prefix && r.Read, "env:grant-exact")
		add(!r.Prefix && !r.Read, "env:deny-exact")
		add(ir.LoaderVariable(r.Name), "env:loader")
		add(r.Value != "", "env:value")
	}
	for _, l := range t.Limits {
		add(true, "limits:"+l.Kind.String())
	}
	for _, c := range usedCommands(t.Commands) {
		add(true, "commands:"+c)
	}
	return out
}

func usedFile(t *ir.Tool, r *ir.FSRule) []string {
	var out []string
	if r.Caps == 0 {
		out = append(out, "none")
	}
	for _, c := range r.Caps.List() {
		out = append(out, c.String())
	}
	if r.External {
		out = append(out, "external")
	}
	if !r.External && r.At.Root.Kind == ir.External {
		out = append(out, "below-external")
	}
	if r.At.Root.Direct() {
		out = append(out, map[bool]string{true: "home", false: "absolute"}[r.At.Root.Name[0] == '~'])
	}
	if r.At.Path == "" && !r.External {
		out = append(out, "root")
	}
	if strings.ContainsAny(r.At.Path, ` '"()#;$`) {
		out = append(out, "quoted")
	}
	if filepath.Ext(r.At.Path) != "" {
		out = append(out, "file")
	}
	for i := range t.FS {
		outer := &t.FS[i]
		if outer == r || !r.At.Under(outer.At) {
			continue
		}
		if outer.Caps&^r.Caps != 0 {
			out = append(out, "revoke-inside")
		}
		if r.Caps&^outer.Caps != 0 {
			out = append(out, "grant-inside")
		}
	}
	return out
}

func usedHost(r ir.NetRule) []string {
	var out []string
	switch r.Host.Kind {
	case ir.HostName:
		out = append(out, "name")
	case ir.HostSuffix:
		out = append(out, "suffix")
	case ir.HostAny:
		out = append(out, "any")
	case ir.HostAddr:
		if r.Host.Addr.Is4() {
			out = append(out, "addr4")
		} else {
			out = append(out, "addr6")
		}
	}
	for name, is := range map[string]bool{
		"scheme": r.Scheme != "", "port": r.Port != 0, "path": len(r.Path) > 0, "allow": r.Allow, "deny": !r.Allow,
		"methods": len(r.Methods) > 0, "inspect": r.Inspect, "opaque": r.Opaque, "stream": r.Scheme == ir.Stream,
		"credential": r.Credential != nil, "listen": r.Listen,
	} {
		if is {
			out = append(out, name)
		}
	}
	return out
}

func usedCommands(set *ir.CommandSet) []string {
	if set == nil {
		return []string{"any"}
	}
	if len(set.Rules) == 0 {
		return []string{"none"}
	}
	var out []string
	for _, r := range set.Rules {
		if r.AnyArgs {
			out = append(out, "any-args")
		} else if len(r.Args) == 0 {
			out = append(out, "no-args")
		}
		for _, a := range r.Args {
			switch {
			case a.Rest:
				out = append(out, "open-args")
			case len(a.Words) == 0:
				out = append(out, "empty-args")
			default:
				out = append(out, "exact-args")
			}
		}
		if !r.AllEnvs {
			out = append(out, "envs")
		}
		if strings.Contains(r.Program, "/") {
			out = append(out, "path")
		}
	}
	return out
}
