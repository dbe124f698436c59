package compiler_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// netTOML writes a rule as a layer has it.
func netTOML(r *ir.NetRule) string {
	out := []string{"host = " + tomltext.String(r.Host.String())}
	text := func(key, value string) {
		if value != "" {
			out = append(out, key+" = "+tomltext.String(value))
		}
	}
	text("scheme", r.Scheme)
	text("path_prefix", strings.Join(append([]string{""}, r.Path...), "/"))
	if r.Port != 0 {
		out = append(out, "port = "+strconv.Itoa(int(r.Port)))
	}
	if len(r.Methods) > 0 {
		out = append(out, `methods = ["`+strings.Join(r.Methods, `", "`)+`"]`)
	}
	for _, f := range []struct {
		key string
		is  bool
	}{{"inspect", r.Inspect}, {"opaque", r.Opaque}, {"listen", r.Listen}} {
		if f.is {
			out = append(out, f.key+" = true")
		}
	}
	out = append(out, "allow = "+strconv.FormatBool(r.Allow))
	if c := r.Credential; c != nil {
		out = append(out, "credential = { env = "+tomltext.String(c.Env)+", as = "+tomltext.String(c.As)+", name = "+tomltext.String(c.Name)+" }")
	}
	return "{ " + strings.Join(out, ", ") + " }"
}

// unsound reports whether a rule has fields that something else in it makes meaningless.
func unsound(r *ir.NetRule) bool {
	web := r.Scheme == "" || r.Scheme == "https"
	finer := len(r.Path) > 0 || len(r.Methods) > 0
	switch {
	case r.Listen:
		return false
	case r.Scheme != "" && ir.DefaultPort(r.Scheme) == 0 && r.Port == 0, !web && (r.Inspect || r.Opaque):
		return true
	case r.Opaque && (finer || r.Inspect), web && len(r.Methods) > 0 && !r.Inspect:
		return true
	}
	return r.Credential != nil && r.Host.Kind == ir.HostAny
}

// TestNetRules: a rule of the network is compiled as it is written, or it is an error because its
// fields do not go together.
func TestNetRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accessc.toml")
	irtest.Check(t, 3000, 4, func(rt *rapid.T) {
		rules := irtest.NetRules(rt, 4)
		var lines []string
		for i := range rules {
			lines = append(lines, netTOML(&rules[i]))
		}
		if len(lines) == 0 {
			return
		}
		text := "[tools.t]\nsource = \"local\"\naccess.net = [" + strings.Join(lines, ", ") + "]\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: filepath.Dir(file)})
		if err != nil {
			rt.Fatal(err)
		}
		bad := slices.ContainsFunc(rules, func(r ir.NetRule) bool { return unsound(&r) })
		if got := slices.ContainsFunc(res.Findings, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); got != bad {
			rt.Fatalf("an error: %v, expected %v\n%s\n%v", got, bad, text, res.Findings)
		}
		if bad {
			return
		}
		d := cmp.Diff(rules, res.Program.Tools[0].Net, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(ir.NetRule{}, "Written", "Origin", "Leaves"))
		if d != "" {
			rt.Fatalf("(-written +compiled)\n%s", d)
		}
	})
}

// TestHostHints: a URL in place of a host is answered with the rule that it means.
func TestHostHints(t *testing.T) {
	for host, want := range map[string]string{
		"https://a.example":          `write host = "a.example", scheme = "https"`,
		"http://a.example:8080/x/y":  `write host = "a.example", scheme = "http", port = 8080, path_prefix = "/x/y"`,
		"a.example:443":              `write host = "a.example", port = 443`,
		"a.example/x":                `write host = "a.example", path_prefix = "/x"`,
		"https://*.a.example/":       `write host = "*.a.example", scheme = "https"`,
		"a b":                        "",
		"https://":                   "",
		"a.*.example":                "",
		"https://user@a.example:1/x": "",
	} {
		res := compiledApart(t, "accessc.toml", "[tools.t]\nsource = \"local\"\naccess.net = [{ host = "+tomltext.String(host)+", allow = true }]\n")
		if len(res.Findings) != 1 || res.Findings[0].Code != diag.BadHost || res.Findings[0].Hint != want {
			t.Errorf("%s: %v, want the hint %q", host, res.Findings, want)
		}
	}
}
