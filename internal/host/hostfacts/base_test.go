package hostfacts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
)

// macBase is the base of macOS on this disk with some symlinks of a Mac added.
func macBase(t *testing.T, links map[string]string) []ir.FSRule {
	t.Helper()
	res, err := Compile(Options{Options: compiler.Options{Root: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	res.Resolver.Disk = resolve.Through(hostview.Now)
	for at, target := range links {
		res.Resolver.Disk.Pretend(at, target)
	}
	return res.baseOn(ir.BaseSystem, ir.Darwin)
}

// TestMacLinks: a lookup through the symlinks of a base asks about each of them and about the
// directories that they are in, also of the middle one of two. Cause: rules stood at the places alone
// that links lead to, and nothing below /System/Cryptexes was found.
func TestMacLinks(t *testing.T) {
	base := macBase(t, map[string]string{
		"/System/Cryptexes/OS": "/System/Volumes/Preboot/Cryptexes/OS", "/System/Volumes/Preboot/Cryptexes/OS": "/usr",
		"/Applications/Xcode.app": "/Applications/Xcode_16.4.app", "/Applications/Xcode_16.4.app": "/usr/lib",
	})
	tool := ir.NewTool("t")
	b := ir.Bindings{Workspace: "/Users/u/w", Home: "/Users/u/h", Temp: "/t"}
	out, err := seatbelt.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b, Base: base}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := sbpl.Parse(string(out.Data), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{
		"/System", "/System/Cryptexes", "/System/Cryptexes/OS", "/System/Volumes", "/System/Volumes/Preboot", "/System/Volumes/Preboot/Cryptexes",
		"/System/Volumes/Preboot/Cryptexes/OS", "/usr/lib/x", "/Applications", "/Applications/Xcode.app", "/Applications/Xcode_16.4.app",
	} {
		if ok, err := p.Allows("file-read-metadata", sbpl.Request{Path: at}); !ok || err != nil {
			t.Errorf("%s: %v, %v", at, ok, err)
		}
	}
	for _, at := range []string{"/Users", "/System/Volumes/Preboot", "/Applications"} {
		if ok, err := p.Allows("file-read-data", sbpl.Request{Path: at}); ok || err != nil {
			t.Errorf("%s can be listed: %v, %v", at, ok, err)
		}
	}
}

// TestDeveloperTools: the bundle of the chosen developer tools is part of the base, if it is one.
func TestDeveloperTools(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tools := range []string{"/Xcode_16.4.app/Contents/Developer", "/tools"} {
		if err := os.MkdirAll(dir+tools+"/usr/lib", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+tools+toolsLibrary, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		link, target, want string
	}{
		{"/private/var/db/xcode_select_link", dir + "/Xcode_16.4.app/Contents/Developer", dir + "/Xcode_16.4.app"},
		{"/private/var/select/developer_dir", dir + "/tools", dir + "/tools"},
		{"/private/var/db/xcode_select_link", dir, ""},
		{"/private/var/db/xcode_select_link", "/no/such", ""},
		{"/private/var/db/other_link", dir + "/tools", ""},
	} {
		base := macBase(t, map[string]string{c.link: c.target})
		if c.want == "" && slices.ContainsFunc(base, func(r ir.FSRule) bool { return r.At.Under(ir.Sys(dir[1:])) || r.At.Path == "no/such" }) {
			t.Errorf("%s to %s: %v", c.link, c.target, base)
		}
		if i := slices.IndexFunc(base, func(r ir.FSRule) bool { return r.At.String() == c.want }); c.want != "" && (i < 0 || base[i].Caps != ir.Caps(ir.Read, ir.Execute)) {
			t.Errorf("%s to %s: %v", c.link, c.target, base)
		}
	}
}
