package survey

import (
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/accessc/accessc/internal/process/once/expression"
)

func goModule(r *repo) []Found {
	file, ok := r.has("go.work", "go.mod")
	if !ok {
		return nil
	}
	presets := []Preset{{"go", "toolchains and downloaded modules of your home; nothing there is changed"}}
	later := []Preset{{"go-modules", "downloads of modules that your home does not have"}}
	build, packages := append([]Rule{reads}, programs(r)...), "./..."
	if file == "go.work" {
		packages = r.goWork()
		if packages == "" {
			return []Found{{File: file, Why: "no tool: none of the modules that it uses lies below it"}}
		}
	}
	command := func(verb string) string {
		return r.there("go "+verb+" "+packages, "go -C DIR "+verb+" "+packages)
	}
	verb := "build"
	if file == "go.mod" && len(build) > 1 && slices.ContainsFunc(r.names, r.mainFile) {
		// Without -o the program of a module that is one package is written beside its sources (go help build).
		verb = "build -o bin/"
	}
	return []Found{{File: file, Tools: []Tool{
		{Name: "go-build", Command: command(verb), About: "Builds all packages.", Presets: presets, Later: later, Rules: build},
		{Name: "go-test", Command: command("test"), About: "Runs all tests.", Presets: append(slices.Clone(presets), loopback),
			Later: later, Rules: []Rule{reads}},
	}}}
}

// goMain is the clause of a program's package.
var goMain = expression.Once{Text: `(?m)^package main\b`}

// mainFile reports whether a file belongs to a program of Go. One with a constraint may be started by itself.
func (r *repo) mainFile(name string) bool {
	if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	text := r.text(name)
	return goMain.Get().MatchString(text) && !strings.Contains(text, "//go:build")
}

// goUse matches the directories in a go.work, each in a line of its own or behind the word (go.dev/ref/mod#workspaces).
var goUse = expression.Once{Text: `(?m)^[ \t]*(?:use[ \t]+)?"?(\.[^\s"()]*)"?[ \t]*(?://.*)?$`}

// goWork are the packages of the modules that a go.work uses.
func (r *repo) goWork() string {
	var dirs []string
	for _, m := range goUse.Get().FindAllStringSubmatch(r.text("go.work"), maxMembers) {
		dirs = append(dirs, path.Clean(m[1]))
	}
	var out []string
	if _, ok := r.has("go.mod"); ok && slices.Contains(dirs, ".") {
		out = append(out, "./...")
	}
	for _, dir := range r.having("go.mod", func(dir string) bool { return slices.Contains(dirs, dir) }) {
		out = append(out, "./"+dir+"/...")
	}
	return strings.Join(out, " ")
}

// programs is the rule about the directory of programs that go build is usually told to write. One that the repository has by now
// gets none, since it may have scripts, unless git is told to ignore it as built files are.
func programs(r *repo) []Rule {
	if slices.Contains(r.dirs, "bin") && len(r.ignored("bin")) == 0 {
		return nil
	}
	return []Rule{{"bin", change, "programs, as go build -o bin/ writes them"}}
}

func rust(r *repo) []Found {
	if _, ok := r.has("Cargo.toml"); !ok {
		return nil
	}
	r.having("Cargo.toml", anyOf(cargoMembers(r.text("Cargo.toml")))) // cargo builds them into the target of the workspace
	presets := []Preset{{"rust", "the toolchains of your home"}}
	later := []Preset{{"cargo-registry", "downloads of crates, to a home of the tool's own"}}
	rules := []Rule{reads, {"target", all, "what cargo builds"}, {"Cargo.lock", change, "cargo writes it where it is missing"}}
	if !slices.Contains(r.dirs, "target") {
		rules = []Rule{writes("cargo makes target under another name and renames it; once target is there, a rule on it is enough")}
	}
	command := func(verb string) string {
		return r.there("cargo "+verb, "cargo "+verb+" --manifest-path DIR/Cargo.toml")
	}
	return []Found{{File: "Cargo.toml", Tools: []Tool{
		{Name: "cargo-build", Command: command("build"), About: "Builds the packages.", Presets: presets, Later: later, Rules: rules},
		{Name: "cargo-test", Command: command("test"), About: "Runs all tests.", Presets: append(slices.Clone(presets), loopback),
			Later: later, Rules: slices.Clone(rules)},
	}}}
}

// cargoMembers are the patterns of a workspace's members (doc.rust-lang.org/cargo/reference/workspaces.html).
func cargoMembers(text string) []string {
	var m struct {
		Workspace struct{ Members, Exclude []string }
	}
	if toml.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	for _, not := range m.Workspace.Exclude {
		m.Workspace.Members = append(m.Workspace.Members, "!"+not)
	}
	return m.Workspace.Members
}

var pytest = expression.Once{Text: `(?i)\bpytest\b`}

func python(r *repo) []Found {
	file, ok := r.has("pyproject.toml", "requirements.txt", "setup.py")
	if !ok {
		return nil
	}
	test := r.there("python3 -m unittest", "python3 -m unittest discover -s DIR")
	if _, ok := r.has("pytest.ini", "conftest.py"); ok || slices.ContainsFunc(
		[]string{"pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "tox.ini"}, func(f string) bool { return pytest.Get().MatchString(r.text(f)) }) {
		test = r.there("python3 -m pytest", "python3 -m pytest DIR")
	}
	r.having("pyproject.toml", anyOf(uvMembers(r.text("pyproject.toml")))) // uv installs them into the environment of the workspace
	presets := []Preset{{"python", "the versions of python of your home"}}
	found := Found{File: file}
	if _, ok := r.has("uv.lock"); ok {
		test = "uv run --offline " + r.there("", "--project DIR ") + test
		found.Tools = append(found.Tools, Tool{
			Name: "uv-sync", Command: r.there("uv sync", "uv --directory DIR sync"), About: "Installs the packages.",
			Presets: append(slices.Clone(presets), Preset{"pypi", "downloads"}),
			Rules:   []Rule{reads, {".venv", all, "the packages"}, {"uv.lock", change, "uv completes it"}},
		})
	} else {
		found.Why = "packages that tests need must be installed in .venv or the system: python3 -m venv .venv"
	}
	found.Tools = append(found.Tools, Tool{
		Name: "python-test", Command: test, About: "Runs the tests.", Presets: append(slices.Clone(presets), loopback),
		Rules: []Rule{reads, {".pytest_cache", change, "the results of the last run"}},
	})
	return []Found{found}
}

// uvMembers are the patterns of a workspace's members (docs.astral.sh/uv/concepts/projects/workspaces).
func uvMembers(text string) []string {
	var m struct {
		Tool struct {
			UV struct {
				Workspace struct{ Members, Exclude []string }
			}
		}
	}
	if toml.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	for _, not := range m.Tool.UV.Workspace.Exclude {
		m.Tool.UV.Workspace.Members = append(m.Tool.UV.Workspace.Members, "!"+not)
	}
	return m.Tool.UV.Workspace.Members
}

// target matches the lines of a Makefile that make a target.
func target(text, name string) bool {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":") {
			return true
		}
	}
	return false
}

func makefile(r *repo) []Found {
	file, ok := r.has("GNUmakefile", "makefile", "Makefile")
	if !ok {
		return nil
	}
	presets := []Preset{{"c", "the flags that a build takes from the environment"}}
	rules := []Rule{writes("a build by make may write anywhere; narrow this if yours has a directory for it")}
	found := Found{File: file, Tools: []Tool{{Name: "make", Command: "make", About: "Builds the first target.", Presets: presets, Rules: rules}}}
	text := r.text(file)
	for _, name := range []string{"test", "check"} {
		if target(text, name) {
			found.Tools = append(found.Tools, Tool{
				Name: "make-" + name, Command: "make " + name, About: "Runs the tests.", Presets: append(slices.Clone(presets), loopback), Rules: slices.Clone(rules),
			})
		}
	}
	return []Found{found}
}

func cmake(r *repo) []Found {
	if _, ok := r.has("CMakeLists.txt"); !ok {
		return nil
	}
	presets := []Preset{{"c", "the flags that a build takes from the environment"}}
	rules := []Rule{reads, {"build", all, "the directory of the build"}}
	return []Found{{File: "CMakeLists.txt", Tools: []Tool{
		{Name: "cmake-configure", Command: "cmake -S . -B build", About: "Prepares the build.", Presets: presets, Rules: rules},
		{Name: "cmake-build", Command: "cmake --build build", About: "Builds.", Presets: presets, Rules: slices.Clone(rules)},
		{Name: "ctest", Command: "ctest --test-dir build", About: "Runs the tests.", Presets: append(slices.Clone(presets), loopback), Rules: slices.Clone(rules)},
	}}}
}

// jdk are the presets of builds by maven and gradle.
var jdk = []Preset{{"java", "the versions of java of your home"}, {"maven-central", "downloads, to a home of the tool's own"}}

// module matches a module of pom.xml (maven.apache.org/pom.html#Aggregation).
var module = expression.Once{Text: `<module>\s*([^<\s]+)\s*</module>`}

func maven(r *repo) []Found {
	if _, ok := r.has("pom.xml"); !ok {
		return nil
	}
	program := r.wrapper("mvn", "mvnw")
	rules := []Rule{reads, {"target", all, "what maven builds"}}
	var modules []string
	for _, m := range module.Get().FindAllStringSubmatch(r.text("pom.xml"), maxMembers) {
		modules = append(modules, m[1])
	}
	for _, dir := range r.having("pom.xml", func(dir string) bool { return slices.Contains(modules, dir) }) {
		rules = append(rules, Rule{dir + "/target", all, "the same of a module"})
	}
	return []Found{{File: "pom.xml", Tools: []Tool{{
		Name: "maven-verify", Command: r.there(program+" verify", program+" -f DIR/pom.xml verify"), About: "Builds and tests.",
		Presets: append(slices.Clone(jdk), loopback), Rules: rules,
	}}}}
}

func gradle(r *repo) []Found {
	file, ok := r.has("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
	if !ok {
		return nil
	}
	program := r.wrapper("gradle", "gradlew")
	rules := []Rule{reads, {"build", all, "what gradle builds"}, {".gradle", all, "what gradle found out"}}
	for _, name := range []string{"build.gradle.kts", "build.gradle"} {
		for _, dir := range r.having(name, func(string) bool { return true }) {
			rules = append(rules, Rule{dir + "/build", all, "the same of a project below"})
		}
	}
	return []Found{{File: file, Tools: []Tool{{
		Name: "gradle-build", Command: r.there(program+" build", program+" -p DIR build"), About: "Builds and tests.",
		Presets: append(slices.Clone(jdk), Preset{"local-server", "gradle talks to its daemon over the loopback addresses"}), Rules: rules,
	}}}}
}

// wrapper is the script that a project has in place of a program, or the program.
func (r *repo) wrapper(program, script string) string {
	if _, ok := r.has(script); ok {
		return "./" + path.Join(r.at, script)
	}
	return program
}

// others are files that name commands or environments, which no tool is proposed for.
var others = []string{
	"justfile", "Justfile", "Taskfile.yml", "Makefile.toml", "flake.nix", ".envrc", "lefthook.yml", "tox.ini",
	"noxfile.py", "Gemfile", "composer.json", "mix.exs",
}

// unknown names the files that say how to work here and that no tool is proposed for.
func unknown(r *repo) (out []Found) {
	for _, name := range others {
		if file, ok := r.has(name); ok {
			out = append(out, Found{File: file, Why: "no tool: what it runs is for you to say; accessc learn -- COMMAND finds the rules"})
		}
	}
	return out
}

func docker(r *repo) []Found {
	file, ok := r.has("Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
	if !ok {
		return nil
	}
	return []Found{{File: file, Why: "no tool: who may talk to the daemon of docker is root on this machine, so no policy would hold"}}
}

func servers(r *repo) []Found {
	if _, ok := r.has(".mcp.json"); !ok {
		return nil
	}
	return []Found{{File: ".mcp.json", Why: "no tool: accessc adopt .mcp.json has its servers start under a policy"}}
}

func git(r *repo) []Found {
	tool := Tool{
		Name: "git", Command: "git",
		About:   "Takes the words behind --: accessc exec git -- commit -m message. It reaches no other repository.",
		Presets: []Preset{{"git", "your name, e-mail address and settings"}},
		Rules:   []Rule{writes("the files that git checks out, and its own; hooks and the configuration stay as they are")},
	}
	if text := r.text(".git"); strings.Contains(text, "/worktrees/") || strings.Contains(text, "/modules/") {
		keys := slices.Concat([]string{"external"}, all)
		tool.Rules = append(tool.Rules, Rule{common, keys, "the repository of this work tree, with your approval"})
		why := "accessc approve " + common + " lets git write in the repository of this work tree"
		return []Found{{File: ".git", Tools: []Tool{tool}, Why: why}}
	}
	if _, ok := r.has(".git"); ok {
		return []Found{{File: ".git", Why: "no tool for git: it is a file that names a repository elsewhere, which accessc mount makes reachable"}}
	}
	if !slices.Contains(r.dirs, ".git") {
		return nil
	}
	return []Found{{File: ".git", Tools: []Tool{tool}}}
}

// common is the path of a rule on the repository of a linked work tree (compiler.CommonDir).
const common = ".git/common"
