package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
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

// front compiles a configuration without any artifact.
func front(b *testing.B, root string) *hostfacts.Result {
	res, err := hostfacts.Compile(hostfacts.Options{Options: compiler.Options{Root: root}, State: userdir.Dir(filepath.Join(root, "state"))})
	if err != nil || res.Program == nil {
		b.Fatal(err, res.Findings)
	}
	return res
}

// request is a build of all tools for every system.
func request(res *hostfacts.Result) build.Request {
	return build.Request{Program: res.Program, Backends: registry.All, Form: backends.Portable}
}

// spare lets a build leave garbage as the command does.
func spare() (restore func()) {
	old := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(old) }
}

// emit makes all artifacts and keeps none.
func emit(b *testing.B, res *hostfacts.Result) {
	defer spare()()
	if _, _, err := build.Build(request(res), func(string, map[string][]byte) error { return nil }); err != nil {
		b.Fatal(err)
	}
}

// refuse asks for the findings of a build, as check does.
func refuse(b *testing.B, res *hostfacts.Result) {
	defer spare()()
	if _, err := build.Refusals(res.Program, registry.All); err != nil {
		b.Fatal(err)
	}
}

// output writes a build, and returns how many files differed.
func output(b *testing.B, req build.Request, dir string) int {
	defer spare()()
	report, findings, err := build.Write(req, dir)
	if err != nil || len(findings) > 0 || report.Files < 4000 {
		b.Fatal(err, findings)
	}
	return len(report.Written)
}

// workspaceOf lays out a workspace with a configuration.
func workspaceOf(b *testing.B, text string) string {
	root := b.TempDir()
	if err := os.WriteFile(filepath.Join(root, "accessc.toml"), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	return root
}

// BenchmarkCompile compiles a thousand tools of fifty rules for every system, against
// reading the same bytes with the TOML library alone.
func BenchmarkCompile(b *testing.B) {
	text := configuration(1000, 50)
	root := workspaceOf(b, text)
	race(b,
		contender{"parse", func(b *testing.B) {
			var v map[string]any
			if err := toml.Unmarshal([]byte(text), &v); err != nil {
				b.Fatal(err)
			}
		}},
		contender{"front", func(b *testing.B) { front(b, root) }},
		contender{"all", func(b *testing.B) { emit(b, front(b, root)) }},
	)
}

// BenchmarkOutput builds the same tools, against compiling them without any artifact: no artifact but its refusals; every
// artifact; the same where no two policies are alike; with the files of a new directory; where nothing changed; and
// where one tool did.
func BenchmarkOutput(b *testing.B) {
	text := configuration(1000, 50)
	root := workspaceOf(b, text)
	apart := workspaceOf(b, unlike(text))
	changed := workspaceOf(b, strings.Replace(text, "pkg0/src/dir0", "pkg0/src/other", 1))
	n, kept, memory := 0, filepath.Join(b.TempDir(), "access"), filepath.Join(b.TempDir(), "built")
	remembered := func(root string, want int) func(*testing.B) {
		return func(b *testing.B) {
			req := request(front(b, root))
			req.Memory = memory
			if got := output(b, req, kept); got != want && got < 4000 {
				b.Fatal(got, "files differed")
			}
		}
	}
	race(b,
		contender{"front", func(b *testing.B) { front(b, root) }},
		contender{"refusals", func(b *testing.B) { refuse(b, front(b, root)) }},
		contender{"artifacts", func(b *testing.B) { emit(b, front(b, root)) }},
		contender{"apart", func(b *testing.B) { emit(b, front(b, apart)) }},
		contender{"written", func(b *testing.B) {
			n++
			output(b, request(front(b, root)), filepath.Join(root, fmt.Sprint("access", n)))
		}},
		contender{"edited", remembered(changed, 5)},
		contender{"back", remembered(root, 5)},
		contender{"unchanged", remembered(root, 0)},
	)
}

// unlike gives every tool paths of its own.
func unlike(text string) string {
	var b strings.Builder
	tool := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "source = ") {
			tool++
		}
		b.WriteString(strings.Replace(line, `path = "pkg`, fmt.Sprintf(`path = "of%d/pkg`, tool), 1))
	}
	return b.String()
}

// BenchmarkScale compiles and checks one tool of many rules, against one of a tenth of them: the cost of a
// rule does not depend on their number. The largest exceeds the size of a Seatbelt profile,
// which is a finding after all the work has been done.
func BenchmarkScale(b *testing.B) {
	scale := func(name string, use func(*testing.B, *hostfacts.Result)) {
		b.Run(name, func(b *testing.B) {
			of := func(n int) contender {
				root := workspaceOf(b, many(n))
				return contender{fmt.Sprintf("%d", n), func(b *testing.B) { use(b, front(b, root)) }}
			}
			race(b, of(10_000), of(100_000))
		})
	}
	scale("artifacts", emit)
	scale("refusals", refuse)
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
