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

// rooms lists the rooms of the house from the top to the bottom: a directory with all the packages below it, and what
// its packages are for. A package imports from its own room and from rooms of later lines.
var rooms = []string{
	"internal/agents/suite",
	"test",
	"examples",
	"golden",
	"release",
	"cmd",
	"internal/review",
	"internal/propose",
	"sandbox",
	"internal/agents",
	"internal/gate",
	"internal/enforce",
	"internal/egress",
	"internal/artifact",
	"internal/denial",
	"tool",
	"internal/host",
	"compiler",
	"internal/files",
	"ruleset",
	"proof",
	"backends",
	"ir",
	"internal/text",
	"internal/process",
	"test/await",
	"test/testbuild",
	"test/irtest/epoch",
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

// room is the line of the innermost room that a package is in, -1 if it is in none.
func room(pkg string) int {
	at := -1
	for i, r := range rooms {
		if (pkg == r || strings.HasPrefix(pkg, r+"/")) && (at < 0 || len(r) > len(rooms[at])) {
			at = i
		}
	}
	return at
}

// TestImportsRunDown: every package is in a room, and imports nothing from a room above.
func TestImportsRunDown(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Setenv("GOOS", system)
		for _, line := range list(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "./...") {
			pkg, imports, _ := strings.Cut(line, ":")
			name, ours := strings.CutPrefix(pkg, module)
			if !ours {
				continue // this package, which has tests alone
			}
			from := room(name)
			if from < 0 {
				t.Errorf("%s is in no room", name)
				continue
			}
			for _, imp := range strings.Split(imports, ",") {
				name, ours := strings.CutPrefix(imp, module)
				if to := room(name); ours && to < from {
					t.Errorf("on %s %s imports %s, which is in a room above", system, pkg, name)
				}
			}
		}
	}
}

// TestRoomsSayWhatTheyAre: each room below internal/ has a page that says what it promises and who may call it.
func TestRoomsSayWhatTheyAre(t *testing.T) {
	for _, r := range rooms {
		if !strings.HasPrefix(r, "internal/") {
			continue
		}
		text, err := os.ReadFile(r + "/doc.go")
		if err != nil {
			t.Error(err)
		} else if doc, _, _ := strings.Cut(string(text), "\npackage "); len(strings.Fields(doc)) < 30 {
			t.Errorf("%s/doc.go says too little", r)
		}
	}
	inside, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range inside {
		if r := "internal/" + dir.Name(); !slices.Contains(rooms, r) {
			t.Errorf("%s is not in the list of rooms", r)
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

// pure are the packages that are functions of their arguments: what a policy means, what each system gets for it, and the
// review of both.
var pure = []string{"./ir/...", "./compiler/...", "./ruleset/...", "./backends/...", "./internal/review/explain/...",
	"./internal/review/play/..."}

// TestPureRooms: the pure packages have all their files for WebAssembly, where there is no system to ask, and name none
// of the packages by which a program asks a system. What they need of a host is handed in, as a value or by an interface
// of their own. "task wasm" compiles them and runs test/wasm there.
func TestPureRooms(t *testing.T) {
	for _, line := range list(t, append([]string{"-f", `{{.ImportPath}}:{{join .Imports ","}}`}, pure...)...) {
		pkg, imports, _ := strings.Cut(line, ":")
		for _, imp := range strings.Split(imports, ",") {
			if slices.Contains([]string{"os", "os/exec", "os/user", "syscall", "net/http"}, imp) || strings.HasPrefix(imp, "golang.org/x/sys/") {
				t.Errorf("%s imports %s", pkg, imp)
			}
		}
	}
	t.Setenv("GOOS", "js")
	t.Setenv("GOARCH", "wasm")
	for _, problem := range list(t, append([]string{"-e", "-deps", "-f", "{{with .Error}}{{$.ImportPath}}{{end}}"}, pure...)...) {
		t.Errorf("%s has no form for js/wasm", problem)
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
// compiles one. Without the egress proxy accessc-exec is as light, and links no other command.
func TestEarlyStartIsLight(t *testing.T) {
	heavy := []string{"kong", "go-toml", "text/template", "mvdan.cc", "golang.org/x/text", "net/http", "regexp", "doublestar",
		"/compiler", "/ruleset", "internal/agents", "internal/review", "internal/propose", "internal/gate", "internal/artifact"}
	for program, args := range map[string][]string{
		"./cmd/accessc/early": nil, "./cmd/accessc-exec": {"-tags=accessc_noegress"},
	} {
		for _, dep := range list(t, slices.Concat([]string{"-deps"}, args, []string{program})...) {
			for _, part := range heavy {
				if strings.Contains(dep, part) {
					t.Errorf("%s links %s", program, dep)
				}
			}
		}
	}
}

// TestLoaderIsALoader: accessc-exec links the loader, the supervisor and the egress proxy, and of the compiler the
// canonical form of hosts alone. "task trusted" has the size of all.
func TestLoaderIsALoader(t *testing.T) {
	for _, dep := range list(t, "-deps", "./cmd/accessc-exec") {
		name, ours := strings.CutPrefix(dep, module)
		at := ""
		if room := room(name); ours && room >= 0 {
			at = rooms[room]
		}
		switch {
		case !ours:
			for _, part := range []string{"kong", "go-toml", "text/template", "mvdan.cc", "doublestar"} {
				if strings.Contains(dep, part) {
					t.Errorf("accessc-exec links %s", dep)
				}
			}
		case name == "compiler/resolve", strings.HasPrefix(name, "cmd/accessc-exec"):
		case !slices.Contains([]string{
			"internal/enforce", "internal/egress", "internal/denial", "internal/host", "internal/files", "internal/text",
			"internal/process", "backends", "ir",
		}, at):
			t.Errorf("accessc-exec links %s", dep)
		}
	}
}

// TestCheckerIsAlone: accessc-check links the standard library and itself, so that whoever trusts a certificate trusts
// neither the compiler nor the backends.
func TestCheckerIsAlone(t *testing.T) {
	for _, line := range list(t, "-deps", "-f", "{{.ImportPath}}:{{.Standard}}", "./cmd/accessc-check") {
		pkg, standard, _ := strings.Cut(line, ":")
		if standard != "true" && pkg != module+"proof/check" && pkg != module+"cmd/accessc-check" {
			t.Errorf("accessc-check links %s", pkg)
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
