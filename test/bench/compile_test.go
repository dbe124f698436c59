package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/build"
	"github.com/accessc/accessc/internal/hostfacts"
	"github.com/accessc/accessc/internal/userdir"
)

// configuration writes n tools of r rules each: most on paths, some on hosts, variables and
// programs, a usual mixture.
func configuration(n, r int) string {
	var b strings.Builder
	for t := range n {
		fmt.Fprintf(&b, "[tools.tool%d]\nsource = \"local\"\ncommand = \"make target%d\"\n\n", t, t)
		for i := range r {
			switch {
			case i%10 == 7:
				fmt.Fprintf(&b, "[[tools.tool%d.access.net]]\nhost = \"h%d.example.com\"\nport = 443\nallow = true\n\n", t, i)
			case i%10 == 8:
				fmt.Fprintf(&b, "[[tools.tool%d.access.env]]\nname = \"VAR_%d\"\nread = true\n\n", t, i)
			case i%10 == 9:
				fmt.Fprintf(&b, "[tools.tool%d.access.commands.prog%d]\nargs = [[\"check\", \"**\"]]\n\n", t, i)
			default:
				fmt.Fprintf(&b, "[[tools.tool%d.access.fs]]\npath = \"pkg%d/src/dir%d\"\nread = true\nwrite = %t\n\n", t, i%7, i, i%3 == 0)
			}
		}
	}
	return b.String()
}

// BenchmarkCompile compiles a thousand tools of fifty rules for every system, against
// reading the same bytes with the TOML library alone.
func BenchmarkCompile(b *testing.B) {
	root := b.TempDir()
	text := configuration(1000, 50)
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	compile := func(b *testing.B) *hostfacts.Result {
		res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(root, "state"))})
		if err != nil || res.Program == nil {
			b.Fatal(err, res.Findings)
		}
		return res
	}
	race(b,
		contender{"parse", func(b *testing.B) {
			var v map[string]any
			if err := toml.Unmarshal([]byte(text), &v); err != nil {
				b.Fatal(err)
			}
		}},
		contender{"front", func(b *testing.B) { compile(b) }},
		contender{"all", func(b *testing.B) {
			report, findings, err := build.Write(build.Request{
				Program: compile(b).Program, Backends: registry.All, Form: backends.Portable,
			}, filepath.Join(b.TempDir(), "access"))
			if err != nil || len(findings) > 0 || report.Files < 4000 {
				b.Fatal(err, findings)
			}
		}},
	)
}

// BenchmarkScale compiles one tool of many rules, against one of a tenth of them: the cost of a
// rule does not depend on their number. The largest exceeds the size of a Seatbelt profile,
// which is a finding after all the work has been done.
func BenchmarkScale(b *testing.B) {
	compile := func(n int) contender {
		root := b.TempDir()
		if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(many(n)), 0o644); err != nil {
			b.Fatal(err)
		}
		return contender{fmt.Sprintf("%d", n), func(b *testing.B) {
			res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(root, "state"))})
			if err != nil || res.Program == nil {
				b.Fatal(err, res.Findings)
			}
			if _, _, err := build.Build(build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable}, func(string, map[string][]byte) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}}
	}
	race(b, compile(10_000), compile(100_000))
}

// many writes one tool of n rules, three directories deep.
func many(n int) string {
	var b strings.Builder
	b.WriteString("[tools.t]\nsource = \"local\"\ncommand = \"make\"\n\n")
	for i := range n {
		fmt.Fprintf(&b, "[[tools.t.access.fs]]\npath = \"d%d/e%d/f%d\"\nread = true\nwrite = %t\n\n", i%100, i%1000, i, i%2 == 0)
	}
	return b.String()
}
