// Package accessc_test checks the structure of the whole repository.
package accessc_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/accessc/accessc/"

// rooms lists the packages in layers, from the top to the bottom. A package may import those
// of later lines, and those of its own line whose name it is a prefix of.
var rooms = [][]string{
	{"test/gate", "test/faults", "test/kernels", "test/kernels/init", "test/cover", "test/cover/shared", "test/conformance", "test/platforms", "test/model", "test/attacks", "test/containers", "test/egress", "test/wine", "test/agents", "test/agents/model", "test/firsthour"},
	{"test/bench", "test/bench/smallest", "test/bench/opens", "examples/files", "examples/host"},
	{"cmd/accessc"},
	{"cmd/accessc/early"},
	{"golden"},
	{"sandbox"},
	{"internal/review/fleet"},
	{"internal/review/explain", "internal/enforce/kerneltest", "internal/enforce/attested"},
	{"internal/gate/serve"},
	{"internal/artifact/build", "internal/host/mount", "internal/propose/allow", "internal/propose/survey", "internal/propose/learn"},
	{"internal/enforce/start"},
	{"internal/enforce/supervisor", "internal/agents/hook/settings", "internal/enforce/start/inherited", "internal/enforce/start/folding"},
	{"internal/agents/hook"},
	{"internal/agents/importer"},
	{"internal/gate/mcp", "internal/gate/acp", "internal/agents/adopt"},
	{"test/settings"},
	{"internal/gate/judge/action", "internal/agents/importer/foreign"},
	{"internal/egress", "internal/gate/judge", "internal/gate/relay"},
	{"internal/egress/wire", "internal/egress/credential", "internal/egress/clients", "internal/denial", "internal/enforce/live", "internal/enforce/supervisor/clone", "internal/denial/recorded"},
	{"tool"},
	{"backends/registry", "test/lsm", "test/mnt"},
	{"backends/bubblewrap", "backends/firejail", "backends/oci"},
	{"backends/seatbelt", "backends/landlock", "backends/winjob", "backends/contextjson", "backends/mxc", "backends/landlockconfig", "backends/kubernetes", "backends/agents/srt", "backends/agents/codex", "backends/agents/claudecode", "backends/agents/cursor", "backends/agents/gemini", "backends/agents/vscode"},
	{"backends/seatbelt/start", "backends/mounts", "backends/agents"},
	{"backends"},
	{"internal/host/hostfacts", "internal/host/compiled", "internal/artifact/signers"},
	{"internal/host/approvals", "internal/gate/invocations", "internal/host/userdir", "internal/host/prompt", "internal/host/revision", "internal/host/workspace"},
	{"compiler", "compiler/edit", "compiler/layerfile"},
	{"compiler/presets"},
	{"compiler/source", "compiler/resolve", "compiler/merge"},
	{"compiler/diag"},
	{"ruleset/rulediff"},
	{"ruleset/rulejson"},
	{"ir/compare", "ir/irjson", "test/irtest", "test/sbpl", "test/finding"},
	{"ruleset"},
	{"compiler/hostview", "internal/artifact/evidence"},
	{"ir", "ruleset/shell"},
	{"internal/files/wholefile"},
	{"internal/artifact/attest"},
	{"internal/files/bounded", "internal/host/gitconfig", "internal/files/kernelfs", "internal/text/jsonc", "internal/text/jsonrpc", "internal/files/lock", "internal/text/oserr", "internal/text/plural", "internal/process/reap", "internal/files/rmtree", "internal/files/shebang", "internal/text/shellword", "internal/text/shellword/split", "internal/text/strictjson", "internal/text/suggest", "internal/text/tomltext", "internal/text/visible"},
	{"internal/process/once/expression"},
	{"internal/process/once"},
	{"internal/process/points/held"},
	{"test/irtest/epoch", "test/await", "test/testbuild", "internal/process/points"},
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

func floor(pkg string) int {
	for i, line := range rooms {
		for _, r := range line {
			if r == pkg {
				return i
			}
		}
	}
	return -1
}

// TestImportsRunDown: every package has its layer, and imports nothing from above.
func TestImportsRunDown(t *testing.T) {
	for _, line := range list(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "./...") {
		pkg, imports, _ := strings.Cut(line, ":")
		pkg = strings.TrimPrefix(pkg+"/", module)
		pkg = strings.TrimSuffix(pkg, "/")
		if pkg == "" {
			continue // this package, which holds tests alone
		}
		from := floor(pkg)
		if from < 0 {
			t.Errorf("%s has no layer", pkg)
			continue
		}
		for _, imp := range strings.Split(imports, ",") {
			name, ours := strings.CutPrefix(imp, module)
			if to := floor(name); ours && to <= from && name != pkg {
				t.Errorf("%s imports %s, which is not below it", pkg, name)
			}
		}
	}
}

// TestModelIsPure: the model reaches nothing that does I/O, and no configuration
// format.
func TestModelIsPure(t *testing.T) {
	for _, dep := range list(t, "-deps", "./ir") {
		switch {
		case dep == "os", dep == "syscall", dep == "fmt", dep == "time", dep == "net", dep == "reflect",
			strings.Contains(dep, "toml"), strings.Contains(dep, "json"):
			t.Errorf("ir reaches %s", dep)
		case strings.Contains(dep, ".") && dep != module+"ir":
			t.Errorf("ir reaches the module of %s", dep)
		}
	}
}

// TestCompilerIsPure: the front end gets the user's approvals and the facts of the host handed in.
func TestCompilerIsPure(t *testing.T) {
	for _, dep := range list(t, "-deps", "./compiler") {
		for _, outside := range []string{"internal/host/approvals", "internal/gate/invocations", "internal/host/userdir", "internal/host/hostfacts", "os/exec", "os/user"} {
			if strings.HasSuffix(dep, outside) {
				t.Errorf("the compiler reaches %s", dep)
			}
		}
	}
}

// TestProductIsSmall: sigstore and its dependencies are in a module of their own.
func TestProductIsSmall(t *testing.T) {
	for _, dep := range list(t, "-deps", "./cmd/accessc", "./sandbox", "./tool") {
		for _, foreign := range []string{"sigstore", "protobuf", "in-toto", "go-tuf"} {
			if strings.Contains(dep, foreign) {
				t.Errorf("accessc links %s", dep)
			}
		}
	}
}

// TestEarlyStartIsLight: what starts a tool from an artifact does not link what
// compiles one.
func TestEarlyStartIsLight(t *testing.T) {
	for _, dep := range list(t, "-deps", "./cmd/accessc/early") {
		for _, heavy := range []string{"kong", "go-toml", "text/template", "mvdan.cc", "golang.org/x/text", "net/http", "regexp", "doublestar", "/compiler/source"} {
			if strings.Contains(dep, heavy) {
				t.Errorf("the early start links %s", dep)
			}
		}
	}
}

// TestRemovalsAreOne: the product removes trees by one function, which leaves what is mounted in them.
func TestRemovalsAreOne(t *testing.T) {
	calls := regexp.MustCompile(`\.RemoveAll\(`)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range goFiles(t) {
		at, _ := strings.CutPrefix(file, root+"/")
		top, _, _ := strings.Cut(at, "/")
		if strings.HasSuffix(at, "_test.go") || strings.HasPrefix(at, "internal/files/rmtree/") ||
			slices.Contains([]string{"test", "examples"}, top) {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if calls.Match(code) {
			t.Errorf("%s removes trees; internal/files/rmtree does that", at)
		}
	}
}
