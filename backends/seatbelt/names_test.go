package seatbelt

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
)

// bare is the text of a profile without its comments and strings.
func bare(text string) string {
	text = regexp.MustCompile(`(?m)^;.*\n`).ReplaceAllString(text, "")
	return regexp.MustCompile(`#?"(?:[^"\\]|\\.)*"`).ReplaceAllString(text, `""`)
}

var (
	guardedName = regexp.MustCompile(`\(if \(defined\? '([a-z*-]+)\) \((?:allow|deny) ([a-z*-]+) `)
	statement   = regexp.MustCompile(`\((?:allow|deny) ([^()]*)`)
	head        = regexp.MustCompile(`\(([a-z%?*-]+)`)
)

// unknown lists the names in a profile that macOS 14.4.1 does not have and that no test guards.
func unknown(text string) []string {
	text = bare(text)
	var guards, out []string
	for _, m := range guardedName.FindAllStringSubmatch(text, -1) {
		if m[1] == m[2] {
			guards = append(guards, m[1])
		}
	}
	for _, m := range statement.FindAllStringSubmatch(text, -1) {
		for _, op := range strings.Fields(m[1]) {
			if !slices.Contains(sbpl.Names144, op) && !slices.Contains(guards, op) {
				out = append(out, op)
			}
		}
	}
	for _, m := range head.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSuffix(strings.TrimSuffix(m[1], "-prefix"), "-regex")
		if !slices.Contains(sbpl.Prelude, m[1]) && !slices.Contains(sbpl.Filters144, name) {
			out = append(out, m[1])
		}
	}
	return out
}

// TestNames holds every name that profiles have against the names of macOS 14.4.1, the oldest release
// that profiles are for.
func TestNames(t *testing.T) {
	var texts []string
	for _, base := range []ir.BaseName{ir.BaseSystem, ir.BaseMinimal, ir.BaseNone} {
		tool := example()
		tool.Base = base
		tool.FS = append(tool.FS, byNameAt(9, "", 0, ".env", "*.pem"), byNameAt(10, "build dir", ir.All, "out?"))
		tool.Net = append(tool.Net, ir.NetRule{Host: ir.Host{Kind: ir.HostAny}, Port: 8080, Allow: true, Listen: true})
		for _, target := range []backends.Target{{Form: backends.Portable}, resolved(exampleHost())} {
			texts = append(texts, string(compile(t, tool, target).Data))
		}
	}
	for _, text := range texts {
		if names := unknown(text); len(names) > 0 {
			t.Errorf("unknown to macOS 14.4.1: %q", names)
		}
		for i, c := range []byte(bare(text)) {
			if c > 0x7f {
				t.Errorf("byte %d is %#x", i, c)
			}
		}
	}
	guard := "(if (defined? 'file-graft) "
	for _, wrong := range []string{
		strings.Replace(texts[0], guard, "", 1), strings.Replace(texts[0], "(allow process-fork)", "(allow process-forks)", 1),
		strings.Replace(texts[0], "(sysctl-name-prefix ", "(sysctl-names ", 1), strings.Replace(texts[0], "'file-graft", "'file-ungraft", 1),
	} {
		if wrong == texts[0] || unknown(wrong) == nil {
			t.Errorf("a wrong name is not noticed: %v", wrong == texts[0])
		}
	}
}

// TestASCII: names outside of ASCII stand only in strings, unchanged. Cause: comments had the
// dash of an empty grant and the paths of rules as they are written.
func TestASCII(t *testing.T) {
	tool := ir.NewTool("werkzeug-ü")
	tool.FS = []ir.FSRule{ruleAt(1, "", ir.All), ruleAt(2, "büro/🔑", 0)}
	tool.Env = append(tool.Env, ir.EnvRule{Name: "X", Read: true, Value: "ä🔑"})
	target := resolved(ir.Bindings{Workspace: "/Users/jürgen/w", Home: "/h", Temp: "/t"})
	data := compile(t, tool, target).Data
	for line := range strings.Lines(string(data)) {
		comment := strings.HasPrefix(line, ";")
		if comment && strings.IndexFunc(line, func(r rune) bool { return r > 0x7f }) >= 0 {
			t.Errorf("in a comment: %q", line)
		}
	}
	if !strings.Contains(string(data), `(literal "/Users/jürgen/w/büro/🔑")`) {
		t.Errorf("the path is not in\n%s", data)
	}
	p, err := sbpl.Parse(string(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := p.Allows(opReadData, sbpl.Request{Path: "/Users/jürgen/w/büro/🔑"}); ok || err != nil {
		t.Errorf("a rule outside of ASCII: %v, %v", ok, err)
	}
}
