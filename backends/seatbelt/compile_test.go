package seatbelt

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
)

var update = flag.Bool("update", false, "write what the compiler yields now into the golden files")

// ruleAt is a filesystem rule with a place in a file, as the front end makes it.
func ruleAt(line int, path string, caps ir.CapSet) ir.FSRule {
	return ir.FSRule{
		Written: path, At: ir.In(path), Caps: caps,
		Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: line, Col: 1}},
	}
}

func external(name string, caps ir.CapSet) ir.FSRule {
	return ir.FSRule{Written: name, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true, Caps: caps}
}

func host(name string) ir.Host { return ir.Host{Kind: ir.HostName, Name: name} }

func compile(t *testing.T, tool *ir.Tool, target backends.Target) backends.Output {
	t.Helper()
	out, err := Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func resolved(b ir.Bindings) backends.Target {
	return backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b}}
}

// example is a policy with something of everything.
func example() *ir.Tool {
	tool := ir.NewTool("deploy")
	tool.FS = []ir.FSRule{
		ruleAt(1, "", ir.Caps(ir.Read)),
		ruleAt(2, "build dir", ir.All),
		ruleAt(3, "build dir/cache/keys", 0),
		ruleAt(4, ".env", 0),
		external("fork", ir.Write.With(ir.Read)),
	}
	tool.Net = []ir.NetRule{
		{Host: host("localhost"), Port: 5432, Allow: true},
		{Host: host("api.example.com"), Scheme: "https", Allow: true},
	}
	file := ir.Sys("usr/bin/git")
	sh := ir.Sys("bin/sh")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "git", File: &file, AnyArgs: true, AllEnvs: true},
		{Program: "gone", AnyArgs: true, AllEnvs: true},
		{Program: "sh", File: &sh, Args: []ir.ArgPattern{{Words: []string{"-c"}, Rest: true}}, AllEnvs: true},
	}}
	return tool
}

func exampleHost() ir.Bindings {
	return ir.Bindings{
		Workspace: "/Users/u/my work", Home: "/Users/u/Library/accessc/deploy/home",
		External: map[string]string{"fork": "/Volumes/data/fork"},
	}
}

// TestGolden compares the text of whole profiles, which are to be read beside the code.
func TestGolden(t *testing.T) {
	minimal := ir.NewTool("minimal")
	minimal.Base = ir.BaseMinimal
	none := ir.NewTool("none")
	none.Base, none.Home = ir.BaseNone, ir.HomeReal
	for name, c := range map[string]struct {
		tool   *ir.Tool
		target backends.Target
	}{
		"default.portable": {ir.NewTool("default"), backends.Target{Form: backends.Portable}},
		"deploy.portable":  {example(), backends.Target{Form: backends.Portable}},
		"deploy.resolved":  {example(), resolved(exampleHost())},
		"minimal.resolved": {minimal, resolved(ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t"})},
		"none.portable":    {none, backends.Target{Form: backends.Portable}},
	} {
		got := compile(t, c.tool, c.target).Data
		file := "testdata/" + name + ".sb"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is compiled now: %v", file, err)
		}
		if !bytes.Equal(got, compile(t, c.tool, c.target).Data) {
			t.Errorf("%s: two compilations differ", name)
		}
	}
}

// TestRefusals checks that an inexpressible rule is refused and named, and that nothing is
// written then.
func TestRefusals(t *testing.T) {
	deep := strings.Repeat("directory/", 60) + "x"
	for name, c := range map[string]struct {
		path, workspace, why string
	}{
		"a line break":        {"a\nb", "/w", "control character"},
		"a NUL":               {"a\x00", "/w", "control character"},
		"DEL":                 {"a\x7f", "/w", "control character"},
		"a C1 control":        {"a\u0085", "/w", "control character"},
		"invalid UTF-8":       {"a\xff", "/w", "valid UTF-8"},
		"too long":            {strings.Repeat("a", 1001), "/w", "1004 bytes"},
		"too long once bound": {deep, "/" + strings.Repeat("w", 500), "bytes"},
		"a dot":               {"a/./b", "/w", "canonical"},
		"two dots":            {"a/../b", "/w", "canonical"},
		"two slashes":         {"a//b", "/w", "canonical"},
	} {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{ruleAt(1, "", ir.All), ruleAt(2, c.path, 0)}
		out := compile(t, tool, resolved(ir.Bindings{Workspace: c.workspace, Home: "/h"}))
		if out.Data != nil || len(out.Refusals) != 1 || out.Refusals[0].Rule != ir.Rule(&tool.FS[1]) || !strings.Contains(out.Refusals[0].Why, c.why) {
			t.Errorf("%s: got %q, %+v", name, out.Data, out.Refusals)
		}
	}
	for _, workspace := range []string{"/a\tb", "C:/w", "w", "/w/"} {
		out := compile(t, ir.NewTool("t"), resolved(ir.Bindings{Workspace: workspace, Home: "/h"}))
		if out.Data != nil || len(out.Refusals) == 0 {
			t.Errorf("the workspace %q: %+v", workspace, out.Refusals)
		}
	}
	file := ir.Sys("opt/a\tb")
	tool := ir.NewTool("t")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "x", File: &file}}}
	out := compile(t, tool, resolved(ir.Bindings{Workspace: "/w", Home: "/h"}))
	if out.Data != nil || len(out.Refusals) != 1 || out.Refusals[0].Rule != ir.Rule(&tool.Commands.Rules[0]) {
		t.Errorf("a program with a tab: %+v", out.Refusals)
	}
}

// TestTooMany checks the bound on the size of a profile, and that just below it the written
// profile can be read.
func TestTooMany(t *testing.T) {
	tool := ir.NewTool("t")
	for n := range 1500 {
		tool.FS = append(tool.FS, ruleAt(n+1, "d/"+strings.Repeat("x", n%100)+string(rune('a'+n/100)), ir.Caps(ir.Read)))
		if n == 800 {
			out := compile(t, tool, backends.Target{Form: backends.Portable})
			if _, err := sbpl.Parse(string(out.Data), Parameters(tool, ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t"}, proxyPort)); err != nil {
				t.Fatalf("at %d rules: %v %+v", n, err, out.Refusals)
			}
		}
	}
	out := compile(t, tool, backends.Target{Form: backends.Portable})
	if out.Data != nil || len(out.Refusals) != 1 || !out.Refusals[0].TooMany || len(out.Ledger) == 0 {
		t.Errorf("got %d bytes, %+v", len(out.Data), out.Refusals)
	}
}

// TestComments checks that no text leaves a comment: a line break in a name would begin a
// statement.
func TestComments(t *testing.T) {
	tool := ir.NewTool("x\n(allow default)")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "p\n(allow default)"}}}
	out := compile(t, tool, backends.Target{Form: backends.Portable})
	for line := range strings.Lines(string(out.Data)) {
		if strings.HasPrefix(line, "(allow default)") {
			t.Errorf("a comment became %s", line)
		}
	}
	for _, want := range []string{"; tool x?(allow default)\n", "; p?(allow default)  not found"} {
		if !strings.Contains(string(out.Data), want) {
			t.Errorf("no %q in\n%s", want, out.Data)
		}
	}
}

// TestPortable checks that a portable profile contains no data of a host, for any target, and
// names every parameter that it needs.
func TestPortable(t *testing.T) {
	target := resolved(exampleHost())
	target.Form = backends.Portable
	program := ir.Sys("Users/u/bin/tool")
	target.Facts.Program = &program
	out := compile(t, example(), target)
	if bytes.Contains(out.Data, []byte("/Users")) || bytes.Contains(out.Data, []byte("/Volumes/data")) {
		t.Errorf("a path of the host in\n%s", out.Data)
	}
	params := Parameters(example(), ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t", External: map[string]string{"fork": "/f"}}, proxyPort)
	if _, err := sbpl.Parse(string(out.Data), params); err != nil {
		t.Error(err)
	}
	for name := range params {
		if !bytes.Contains(out.Data, []byte("; define -D "+name+"=")) {
			t.Errorf("%s is not listed", name)
		}
		less := Parameters(example(), ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t", External: map[string]string{"fork": "/f"}}, proxyPort)
		delete(less, name)
		if _, err := sbpl.Parse(string(out.Data), less); err == nil {
			t.Errorf("%s is listed and not needed", name)
		}
	}
}

// TestDataVolume checks that paths are written by the name under which the system judges them.
func TestDataVolume(t *testing.T) {
	b := exampleHost()
	want := compile(t, example(), resolved(b)).Data
	b.Workspace, b.Home = "/System/Volumes/Data"+b.Workspace, "/System/Volumes/Data"+b.Home
	b.External = map[string]string{"fork": "/System/Volumes/Data/Volumes/data/fork"}
	if got := compile(t, example(), resolved(b)).Data; !bytes.Equal(got, want) {
		t.Errorf("another profile:\n%s", got)
	}
	if p := Parameters(example(), b, proxyPort); p[ParamWorkspace] != "/Users/u/my work" || p["EXTERNAL_0"] != "/Volumes/data/fork" {
		t.Errorf("parameters %v", p)
	}
}

// TestWays checks that all granted places can be reached: a lookup, and getcwd(3) and
// realpath(3), look at every directory on the way.
func TestWays(t *testing.T) {
	tool := example()
	tool.FS = append(tool.FS, ruleAt(9, "build dir/cache/keys/public/set", ir.Caps(ir.Read)))
	b := exampleHost()
	b.Temp = "/private/tmp/run"
	for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
		target := resolved(b)
		target.Form = form
		p, err := sbpl.Parse(string(compile(t, tool, target).Data), Parameters(tool, b, proxyPort))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{
			b.Workspace + "/build dir/cache/keys/public/set/x", b.Home + "/x", b.Temp + "/x", "/Volumes/data/fork/x", "/usr/lib/x",
			"/private/etc/ssl/x", "/bin/sh",
		} {
			for at := path; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
				if ok, err := p.Allows(opMetadata, sbpl.Request{Path: at}); !ok || err != nil {
					t.Errorf("%v: %s on the way to %s: %v, %v", form, at, path, ok, err)
				}
			}
		}
		for _, path := range []string{"/Users/u", "/Users", b.Workspace + "/build dir/cache/keys/public"} {
			if ok, _ := p.Allows(opReadData, sbpl.Request{Path: path}); ok {
				t.Errorf("%v: %s can be listed", form, path)
			}
		}
	}
}

// TestRequests checks the parts of a profile that are the same for every policy.
func TestRequests(t *testing.T) {
	p, err := sbpl.Parse(string(compile(t, example(), resolved(exampleHost())).Data), map[string]string{ParamTemp: "/t", start.ParamProxy: "1"})
	if err != nil {
		t.Fatal(err)
	}
	value := func(name, v string) sbpl.Request { return sbpl.Request{Values: map[string]string{name: v}} }
	for _, c := range []struct {
		op   string
		r    sbpl.Request
		want bool
	}{
		{"signal", sbpl.Request{Target: "same-sandbox"}, true},
		{"signal", sbpl.Request{Target: "self"}, true},
		{"signal", sbpl.Request{Target: "others"}, false},
		{"signal", sbpl.Request{Target: "pgrp"}, false},
		{"process-info-pidinfo", sbpl.Request{Target: "same-sandbox"}, true},
		{"process-info-pidinfo", sbpl.Request{Target: "others"}, false},
		{"process-fork", sbpl.Request{}, true},
		{"file-test-existence", sbpl.Request{Path: "/Users/v"}, true},
		{"file-read-metadata", sbpl.Request{Path: "/Users/v"}, false},
		{"file-write-setugid", sbpl.Request{Path: "/Users/u/my work/build dir/x"}, false},
		{"file-mknod", sbpl.Request{Path: "/Users/u/my work/build dir/x"}, false},
		{"file-mount", sbpl.Request{Path: "/Users/u/my work/build dir"}, false},
		{"file-chroot", sbpl.Request{Path: "/Users/u/my work"}, false},
		{"file-graft", sbpl.Request{}, false},
		{"fs-snapshot-mount", sbpl.Request{}, false},
		{"mach-lookup", value("global-name", "com.apple.system.opendirectoryd.libinfo"), true},
		{"mach-lookup", value("global-name", "com.apple.SecurityServer"), false},
		{"mach-lookup", value("global-name", "com.apple.system.notification_center"), false},
		{"mach-lookup", value("xpc-service-name", "com.example"), false},
		{"mach-register", value("global-name", "x"), false},
		{"sysctl-read", value("sysctl-name", "hw.ncpu"), true},
		{"sysctl-read", value("sysctl-name", "kern.proc.all"), false},
		{"sysctl-read", value("sysctl-name", "kern.proc.pid.1"), true},
		{"sysctl-write", value("sysctl-name", "kern.hostname"), false},
		{"iokit-open", sbpl.Request{}, false},
		{"network-bind", sbpl.Request{Path: "/t/s"}, false},
		{"network-inbound", sbpl.Request{}, false},
		{"system-socket", value("socket-domain", "AF_ROUTE"), false},
		{"ipc-posix-sem-open", sbpl.Request{}, true},
		{"ipc-posix-shm-write-create", sbpl.Request{}, false},
		{"file-ioctl", sbpl.Request{Path: "/dev/ttys003"}, true},
		{"file-ioctl", sbpl.Request{Path: "/dev/ttys003", Values: map[string]string{"ioctl-command": "2147578994"}}, false},
		{"file-ioctl", sbpl.Request{Path: "/dev/disk0"}, false},
		{"system-fcntl", value("fcntl-command", "64"), false},
		{"system-fcntl", value("fcntl-command", "80"), false},
		{"system-fcntl", value("fcntl-command", "110"), false},
		{"appleevent-send", sbpl.Request{}, false},
		{"lsopen", sbpl.Request{}, false},
		{"pseudo-tty", sbpl.Request{}, false},
	} {
		if got, err := p.Allows(c.op, c.r); err != nil || got != c.want {
			t.Errorf("%s %+v: got %v, %v, want %v", c.op, c.r, got, err, c.want)
		}
	}
}

// TestStatements checks the promises of the generator about its own text: no families except
// where it says so, no modifiers except the message of each denial, no combined filters on
// files, no rule without a filter behind a rule with a filter.
func TestStatements(t *testing.T) {
	for name, target := range map[string]backends.Target{"portable": {Form: backends.Portable}, "resolved": resolved(exampleHost())} {
		p, err := sbpl.Parse(string(compile(t, example(), target).Data),
			Parameters(example(), ir.Bindings{Workspace: "/w", Home: "/h", Temp: "/t", External: map[string]string{"fork": "/f"}}, proxyPort))
		if err != nil {
			t.Fatal(err)
		}
		filtered := map[string]bool{}
		for _, s := range p.Statements() {
			if s.Allow && len(s.Modifiers) > 0 || !s.Allow && !strings.HasPrefix(s.Message, "accessc deploy ") {
				t.Errorf("%s: line %d has modifiers %v and the message %q", name, s.Line, s.Modifiers, s.Message)
			}
			for _, op := range s.Operations {
				switch {
				case strings.HasSuffix(op, "*") && op != opExec && op != opWrite && op != "process-info*" && op != "ipc-posix-sem*":
					t.Errorf("%s: line %d names the family %s", name, s.Line, op)
				case !s.Filtered && filtered[op]:
					t.Errorf("%s: line %d has no filter, and an earlier one of %s has", name, s.Line, op)
				case strings.HasPrefix(op, "file-") && s.Combined:
					// Such a filter has been seen to win over a later denial (navikt/cplt, pull 455).
					t.Errorf("%s: line %d combines filters", name, s.Line)
				}
				filtered[op] = filtered[op] || s.Filtered
			}
		}
	}
}
