package accessc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/host/userdir"
)

// looks are the packages between a configuration and an artifact that look at the host by
// themselves, and why a kept compilation misses nothing of it.
var looks = map[string]string{
	"internal/host/hostview":   "keeps what it is told",
	"internal/host/approvals":  "its store is kept as one answer, View.Approvals",
	"internal/host/userdir":    "TestVariables",
	"internal/host/workspace":  "each start looks for the workspace anew",
	"internal/host/maximum":    "each start reads the maximum anew, and has no kept compilation where there is one",
	"internal/files/owned":     "reads the maximum",
	"internal/files/wholefile": "writes files for the others",
	"internal/files/lock":      "takes locks for the others",
	"internal/files/rmtree":    "removes directories for the others",
}

// harmless are the names of packages that look at the host which do not look at it. Abs needs the
// current directory: paths of a key are absolute.
var harmless = map[string][]string{
	"os":            {"FileMode", "FileInfo", "ErrNotExist", "PathError", "LinkError", "PathSeparator", "Expand"},
	"syscall":       {"ENOTDIR", "EINVAL"},
	"path/filepath": {"Abs", "Base", "Clean", "Dir", "Ext", "FromSlash", "IsAbs", "IsLocal", "Join", "Rel", "Separator", "SplitList", "ToSlash", "VolumeName"},
	"net":           {"SplitHostPort"},
	"runtime":       {"GOOS", "GOARCH"},
}

// outside are the packages by which a program learns of its host, all others of the standard
// library being functions of their arguments as far as a compilation goes.
var outside = []string{
	"os", "os/exec", "os/user", "os/signal", "syscall", "path/filepath", "io/ioutil", "net", "net/http", "runtime", "runtime/debug", "plugin", "testing",
	"golang.org/x/sys/unix", "golang.org/x/sys/windows", "github.com/rogpeppe/go-internal/lockedfile",
}

// TestNoLookIsForgotten: the packages that compile a policy learn of the host by package hostview
// alone. A look past it would be an input that kept compilations do not know of.
// See decision D224.
func TestNoLookIsForgotten(t *testing.T) {
	files := 0
	for _, line := range list(t, "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}:{{.Dir}}{{end}}`, "./internal/host/hostfacts", "./backends/registry", "./internal/agents/writer") {
		pkg, dir, _ := strings.Cut(line, ":")
		name, ours := strings.CutPrefix(pkg, module)
		if _, known := looks[name]; known || !ours {
			continue
		}
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range sources {
			if !strings.HasSuffix(file, "_test.go") {
				files++
				checkLooks(t, file, name == "compiler" || name == "internal/host/hostfacts")
			}
		}
	}
	// Of the packages of foreign programs the writers alone are a part of a compilation.
	writers, err := filepath.Glob("internal/agents/*/write*.go")
	if err != nil || len(writers) == 0 {
		t.Fatal(err)
	}
	for _, file := range writers {
		if !strings.HasSuffix(file, "_test.go") && filepath.Base(filepath.Dir(file)) != "suite" {
			files++
			checkLooks(t, file, false)
		}
	}
	if files < 50 {
		t.Fatalf("looked at %d files", files)
	}
}

// checkLooks reports the uses of names that look at the host. In the packages that a compilation
// begins in, every disk has a view.
func checkLooks(t *testing.T, file string, begins bool) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]string{}
	for _, i := range parsed.Imports {
		from, _ := strconv.Unquote(i.Path.Value)
		as := path.Base(from)
		if i.Name != nil {
			as = i.Name.Name
		}
		imported[as] = from
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		from := imported[x.Name]
		switch {
		case slices.Contains(outside, from) && !slices.Contains(harmless[from], s.Sel.Name),
			begins && strings.HasSuffix(from, "host/hostview") && s.Sel.Name == "Now",
			from == "time" && s.Sel.Name == "Now" && !strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "compiler/source"):
			t.Errorf("%s: %s.%s looks at the host past package hostview", set.Position(s.Pos()), x.Name, s.Sel.Name)
		}
		return true
	})
}

// TestVariables: userdir reads no variables of the environment but those that it names, by which
// kept compilations are told apart.
func TestVariables(t *testing.T) {
	// Variables of Windows, where nothing is kept.
	named := append(userdir.Variables(), "LocalAppData")
	sources, err := filepath.Glob("internal/host/userdir/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	read := 0
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ(", "os.ExpandEnv("} {
			for i, rest := range strings.Split(string(text), call) {
				if i == 0 {
					continue
				}
				read++
				if arg, _, _ := strings.Cut(rest, ")"); !slices.ContainsFunc(named, func(n string) bool { return arg == strconv.Quote(n) }) {
					t.Errorf("%s: %s%s) is none of %q", file, call, arg, named)
				}
			}
		}
	}
	if read == 0 {
		t.Error("userdir reads no variables")
	}
	// Those of the standard library: os.UserHomeDir and os.UserConfigDir.
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		if !slices.Contains(userdir.Variables(), name) {
			t.Errorf("%s is not named", name)
		}
	}
}
