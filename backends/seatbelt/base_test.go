package seatbelt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
)

// beyond are the places outside of the listed base that a profile touches in some
// other way than by looking at them, by operation. Each has its reason in
// docs/platforms/macos.md.
var beyond = []string{
	opReadData + " /", // the loader aborts without it
	opIoctl + " ^/dev/ttys[0-9]+$",
	opReadData + " /private/var/db/xcode_select_link", // xcrun reads its text
}

// TestBase compares the emitted text with the lists of the policy model: their grants are
// allowed, and no allowing statement names anything else.
func TestBase(t *testing.T) {
	for _, base := range []ir.BaseName{ir.BaseSystem, ir.BaseMinimal, ir.BaseNone} {
		tool := &ir.Tool{Name: "base", Base: base, Home: ir.HomeReal}
		p, err := sbpl.Parse(string(compile(t, tool, backends.Target{Form: backends.Portable}).Data),
			map[string]string{ParamWorkspace: "/w", ParamTemp: "/private/tmp/run"})
		if err != nil {
			t.Fatal(err)
		}
		rules := ir.BaseRules(base, ir.Darwin)
		for _, r := range rules {
			for _, path := range []string{r.At.String(), r.At.String() + "/below"} {
				if err := granted(p, path, r.Caps); err != nil {
					t.Errorf("%s: %v", base, err)
				}
			}
		}
		for _, s := range p.Statements() {
			if err := covered(s, rules); s.Allow && err != nil {
				t.Errorf("%s: line %d: %v", base, s.Line, err)
			}
		}
		if loads(p) != (base != ir.BaseNone) {
			t.Errorf("%s: the root directory is readable: %v", base, loads(p))
		}
	}
}

// loads reports whether a program could be loaded at all.
func loads(p *sbpl.Profile) bool {
	ok, err := p.Allows(opReadData, sbpl.Request{Path: "/"})
	return ok && err == nil
}

// granted asks for the operations that a base rule grants, and for some that none does.
func granted(p *sbpl.Profile, path string, caps ir.CapSet) error {
	for op, want := range map[string]bool{
		opReadData: caps.Has(ir.Read), opMetadata: caps != 0, "file-read-xattr": caps != 0, opExec: caps.Has(ir.Execute),
		opInterpreter: caps.Has(ir.Execute), "file-map-executable": caps.Has(ir.Execute), "file-write-data": caps.Has(ir.Update),
		opCreate: false, opUnlink: false, opLink: false, "file-write-mode": false, "file-write-owner": false, "file-write-setugid": false,
	} {
		for _, fold := range []bool{false, true} {
			if got, err := p.Allows(op, sbpl.Request{Path: path, Fold: fold}); err != nil || got != want {
				return fmt.Errorf("%s %s: got %v, %v, want %v", op, path, got, err, want)
			}
		}
	}
	return nil
}

// covered reports whether every path that an allowing statement names for more than a
// look is one of the base, or of the tool's own roots.
func covered(s sbpl.Statement, base []ir.FSRule) error {
	for _, op := range s.Operations {
		if op == opMetadata || op == "file-test-existence" || !strings.HasPrefix(op, "file-") && op != opExec && op != opInterpreter {
			continue
		}
		for _, path := range s.Paths {
			if path == "/private/tmp/run" || slices.Contains(beyond, op+" "+path) {
				continue
			}
			if !slices.ContainsFunc(base, func(b ir.FSRule) bool { return b.At.String() == path }) {
				return fmt.Errorf("%s is allowed on %s, which the base does not list", op, path)
			}
		}
	}
	return nil
}

// TestOutside asks for places that hold secrets or control on every Mac and must not be in any
// base.
func TestOutside(t *testing.T) {
	p, err := sbpl.Parse(string(compile(t, ir.NewTool("t"), resolved(ir.Bindings{Workspace: "/Users/u/w", Home: "/Users/u/h"})).Data),
		map[string]string{ParamTemp: "/private/tmp/run"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/Users", "/Users/u", "/Users/u/.ssh/id_ed25519", "/Users/u/Library/Keychains/login.keychain-db", "/Users/v/w", "/etc",
		"/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc", "/private/var/db/dslocal/nodes/Default/users/root.plist",
		"/private/var/root", "/private/tmp/other", "/private/tmp", "/Volumes/x", "/dev/disk0", "/dev/bpf0", "/dev/ttys001", "/Applications",
		"/Applications/Safari.app/Contents/MacOS/Safari", "/Library/Keychains/System.keychain", "/System/Volumes/Data/Users/u/w/x", "/cores",
		"/usr", "/usrx", "/binx", "/opt/homebrew/var/postgresql@16/base", "/usr/local/var/mysql/mysql.ibd", "/private/etc/ssh/ssh_host_ed25519_key",
	} {
		for _, op := range []string{opReadData, opClone, opCreate, opUnlink, "file-write-data", "file-write-mode", opExec, opLink} {
			if got, err := p.Allows(op, sbpl.Request{Path: path}); got || err != nil {
				t.Errorf("%s %s: got %v, %v", op, path, got, err)
			}
		}
	}
}
