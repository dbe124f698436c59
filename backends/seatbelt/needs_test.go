package seatbelt

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
)

// need is an operation that a program is known to need (testdata/programs.txt).
type need struct{ program, op, object, answer, line string }

func needs(t *testing.T) []need {
	t.Helper()
	data, err := os.ReadFile("testdata/programs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []need
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 5 {
			t.Fatalf("%q: expected a program, an operation, an object, an answer and a source", line)
		}
		out = append(out, need{words[0], words[1], words[2], strings.TrimSuffix(words[3], "*"), strings.TrimSpace(line)})
	}
	return out
}

// The host of the table.
var needsHost = ir.Bindings{Workspace: "/Users/u/w", Home: "/Users/u/.local/state/accessc/home", Temp: "/private/var/folders/x/y/T/accessc-1-tool"}

// needsTool is a policy with rules for the workspace, a port of this machine and a host.
func needsTool(rules ...ir.FSRule) *ir.Tool {
	tool := ir.NewTool("t")
	if rules != nil {
		tool.FS = rules
	}
	tool.Net = []ir.NetRule{{Host: host("localhost"), Port: 8080, Allow: true}, {Host: host("api.example.com"), Scheme: "https", Allow: true}}
	return tool
}

// request is the question that stands for a need.
func (n need) request() sbpl.Request {
	object := strings.NewReplacer("$W", needsHost.Workspace, "$H", needsHost.Home, "$T", needsHost.Temp).Replace(n.object)
	family, _, _ := strings.Cut(n.op, "-")
	switch {
	case strings.HasPrefix(object, "/") && !strings.HasPrefix(n.op, "ipc-"):
		return sbpl.Request{Path: object, Kind: "REGULAR-FILE"}
	case n.op == "network-outbound":
		where, port, _ := strings.Cut(strings.Replace(object, "PROXY", strconv.Itoa(proxyPort), 1), ":")
		number, _ := strconv.ParseUint(port, 10, 16)
		to := &sbpl.Address{Protocol: "tcp", Addr: netip.MustParseAddr("192.0.2.7"), Port: uint16(number)}
		if where == "localhost" {
			to.Addr = netip.IPv6Loopback()
		}
		return sbpl.Request{Remote: to}
	case n.op == "signal", strings.HasPrefix(n.op, "process-info"):
		return sbpl.Request{Target: object}
	default:
		name := map[string]string{"mach": "global-name", "sysctl": "sysctl-name", "ipc": "ipc-posix-name", "process": ""}[family]
		return sbpl.Request{Values: map[string]string{name: object}}
	}
}

// judged answers a need by a profile and says whether that is as the table has it.
func (n need) judged(p *sbpl.Profile, tool *ir.Tool, view *ir.View, ledger ir.Ledger) error {
	r := n.request()
	got, err := p.Allows(n.op, r)
	if err != nil {
		return err
	}
	caps := view.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(ir.In("a"))}).Allowed()
	want, told := false, true
	switch n.answer {
	case "yes":
		want = true
	case "write", "execute":
		want = caps // the policies of this test grant both, or none
	case "policy":
		at := needsHost.Locate(r.Path)
		told = !slices.ContainsFunc(ir.Capabilities[:], func(c ir.Capability) bool { return view.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed() })
	default:
		told = slices.ContainsFunc(ledger, func(row ir.Row) bool { return row.Cites(ir.CauseID(n.answer)) })
	}
	if got != want || !told {
		return fmt.Errorf("allowed %v, told %v: %s", got, told, n.line)
	}
	return nil
}

// TestNeeds holds the emitted text against the operations that programs are known to need, for the
// default policy, a workspace that can only be read, and a single exception. No model knows whether a
// program starts; this table follows published profiles and sources.
func TestNeeds(t *testing.T) {
	page, err := os.ReadFile("../../docs/platforms/macos.md")
	if err != nil {
		t.Fatal(err)
	}
	all := needs(t)
	red := 0
	for _, n := range all {
		if words := strings.Fields(n.line); strings.HasSuffix(words[3], "*") {
			red++
		}
	}
	if says := fmt.Sprintf("its %d rows %d were red", len(all), red); !strings.Contains(string(page), says) {
		t.Errorf("the page does not say %q", says)
	}
	for name, tool := range map[string]*ir.Tool{
		"default":       needsTool(),
		"read-only":     needsTool(ruleAt(1, "", ir.Caps(ir.Read))),
		"one exception": needsTool(ruleAt(1, "", ir.All), ruleAt(2, ".env", 0)),
	} {
		target := resolved(needsHost)
		out := compile(t, tool, target)
		if !strings.Contains(string(out.Data), `"starts": "/usr/bin/true"`) {
			t.Errorf("%s: nothing is started before the tool", name)
		}
		p, err := sbpl.Parse(string(out.Data), Parameters(tool, needsHost, proxyPort))
		if err != nil {
			t.Fatal(err)
		}
		view := ir.NewView(tool, ir.Darwin, firstNames(target.Facts))
		for _, n := range all {
			if err := n.judged(p, tool, view, out.Ledger); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// Without the base each program fails, so the table is about something.
	bare := needsTool()
	bare.Base = ir.BaseNone
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &needsHost}}
	out := compile(t, bare, target)
	p, err := sbpl.Parse(string(out.Data), Parameters(bare, needsHost, proxyPort))
	if err != nil {
		t.Fatal(err)
	}
	view := ir.NewView(bare, ir.Darwin, firstNames(target.Facts))
	fails := map[string]bool{}
	for _, n := range all {
		fails[n.program] = fails[n.program] || n.judged(p, bare, view, out.Ledger) != nil
	}
	for _, program := range []string{"any", "sh", "coreutils", "git", "git/usr/bin", "git/tools", "git/Homebrew", "node", "python/usr/bin", "python/Homebrew", "python/python.org", "go", "cargo", "clang", "make", "ssh", "curl", "java", "ruby", "perl", "bun"} {
		if !fails[program] {
			t.Errorf("%s needs nothing of the base", program)
		}
	}
}
