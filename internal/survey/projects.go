package survey

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/once/expression"
)

func goModule(r *repo) []Found {
	if _, ok := r.has("go.mod"); !ok {
		return nil
	}
	presets := []Preset{{"go", "toolchains and downloaded modules of your home; nothing there is changed"}}
	later := []Preset{{"go-modules", "downloads of modules that your home does not have"}}
	return []Found{{File: "go.mod", Tools: []Tool{
		{Name: "go-build", Command: "go build ./...", About: "Builds all packages.", Presets: presets, Later: later, Rules: append([]Rule{reads}, programs(r)...)},
		{Name: "go-test", Command: "go test ./...", About: "Runs all tests.", Presets: append(slices.Clone(presets), loopback), Later: later, Rules: []Rule{reads}},
	}}}
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
	presets := []Preset{{"rust", "the toolchains of your home"}}
	later := []Preset{{"cargo-registry", "downloads of crates, to a home of the tool's own"}}
	rules := []Rule{reads, {"target", all, "what cargo builds"}, {"Cargo.lock", change, "cargo writes it where it is missing"}}
	if !slices.Contains(r.dirs, "target") {
		rules = []Rule{writes("cargo makes target under another name and renames it; once target is there, a rule on it is enough")}
	}
	return []Found{{File: "Cargo.toml", Tools: []Tool{
		{Name: "cargo-build", Command: "cargo build", About: "Builds the packages.", Presets: presets, Later: later, Rules: rules},
		{Name: "cargo-test", Command: "cargo test", About: "Runs all tests.", Presets: append(slices.Clone(presets), loopback), Later: later, Rules: slices.Clone(rules)},
	}}}
}

// packager is the program that manages the packages of a Node.js project, by its lock file.
type packager struct{ lock, program, install string }

var packagers = []packager{
	{"pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm", "npm ci"},
	{"npm-shrinkwrap.json", "npm", "npm ci"},
	{"package.json", "npm", "npm install"},
}

// manifest is the part of package.json that counts. Scripts are looked at only for their names.
type manifest struct {
	Scripts         map[string]json.RawMessage `json:"scripts"`
	Dependencies    map[string]json.RawMessage `json:"dependencies"`
	DevDependencies map[string]json.RawMessage `json:"devDependencies"`
}

func node(r *repo) []Found {
	if _, ok := r.has("package.json"); !ok {
		return nil
	}
	var m manifest
	if err := json.Unmarshal([]byte(r.text("package.json")), &m); err != nil {
		return []Found{{File: "package.json", Why: "it is not what npm reads, so no tool is proposed for it"}}
	}
	i := slices.IndexFunc(packagers, func(p packager) bool { _, ok := r.has(p.lock); return ok })
	p := packagers[i]
	presets := []Preset{{"node", "the versions of node of your home"}}
	cache := Rule{"node_modules/.cache", all, "tools keep here what they found out"}
	found := Found{File: "package.json"}
	if len(m.Dependencies)+len(m.DevDependencies) > 0 {
		found.Tools = append(found.Tools, Tool{
			Name: p.program + "-install", Command: p.install, About: "Installs the packages. Their scripts run under these rules.",
			Presets: append(slices.Clone(presets), Preset{"npm-registry", "downloads"}),
			Rules:   append([]Rule{reads, {"node_modules", all, "the packages"}}, locks(p)...),
		})
	}
	for _, script := range []struct {
		name, about string
		presets     []Preset
		rules       []Rule
	}{
		{"build", "Builds the project.", presets, outputs(r.ignored("dist", "build", "out", "lib", ".next", ".nuxt", ".svelte-kit", ".output"), "dist")},
		{"test", "Runs the tests.", append(slices.Clone(presets), loopback), outputs(r.ignored("coverage"), "")},
		{"lint", "Checks the sources.", presets, nil},
	} {
		if m.Scripts[script.name] == nil {
			continue
		}
		found.Tools = append(found.Tools, Tool{
			Name: p.program + "-" + script.name, Command: p.program + " run " + script.name, About: script.about,
			Presets: script.presets, Rules: append([]Rule{reads, cache}, script.rules...),
		})
	}
	if len(found.Tools) == 0 {
		found.Why = "it has neither dependencies nor the scripts build, test or lint"
	}
	return []Found{found}
}

// locks are the rules of an installation that writes its lock file.
func locks(p packager) []Rule {
	switch p.lock {
	case "package.json":
		return []Rule{{"package-lock.json", change, "npm writes it where it is missing"}}
	case "yarn.lock":
		return []Rule{{"yarn.lock", change, "yarn completes it"}, {".yarn", all, "where yarn keeps its state"}, {".pnp.cjs", change, "the same"}}
	default:
		return nil
	}
}

// outputs are the rules about directories that a build writes.
func outputs(dirs []string, otherwise string) []Rule {
	if len(dirs) == 0 && otherwise != "" {
		dirs = []string{otherwise}
	}
	var out []Rule
	for _, d := range dirs {
		out = append(out, Rule{d, all, "what it writes"})
	}
	return out
}

var pytest = expression.Once{Text: `(?i)\bpytest\b`}

func python(r *repo) []Found {
	file, ok := r.has("pyproject.toml", "requirements.txt", "setup.py")
	if !ok {
		return nil
	}
	test := "python3 -m unittest"
	if _, ok := r.has("pytest.ini", "conftest.py"); ok || slices.ContainsFunc(
		[]string{"pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "tox.ini"}, func(f string) bool { return pytest.Get().MatchString(r.text(f)) }) {
		test = "python3 -m pytest"
	}
	presets := []Preset{{"python", "the versions of python of your home"}}
	found := Found{File: file}
	if _, ok := r.has("uv.lock"); ok {
		test = "uv run --offline " + test
		found.Tools = append(found.Tools, Tool{
			Name: "uv-sync", Command: "uv sync", About: "Installs the packages.", Presets: append(slices.Clone(presets), Preset{"pypi", "downloads"}),
			Rules: []Rule{reads, {".venv", all, "the packages"}, {"uv.lock", change, "uv completes it"}},
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

func java(r *repo) []Found {
	presets := []Preset{{"java", "the versions of java of your home"}, {"maven-central", "downloads, to a home of the tool's own"}}
	var out []Found
	if _, ok := r.has("pom.xml"); ok {
		program := "mvn"
		if _, ok := r.has("mvnw"); ok {
			program = "./mvnw"
		}
		out = append(out, Found{File: "pom.xml", Tools: []Tool{{
			Name: "maven-verify", Command: program + " verify", About: "Builds and tests.", Presets: append(slices.Clone(presets), loopback),
			Rules: []Rule{reads, {"target", all, "what maven builds; each module has one more"}},
		}}})
	}
	if file, ok := r.has("build.gradle.kts", "build.gradle"); ok {
		program := "gradle"
		if _, ok := r.has("gradlew"); ok {
			program = "./gradlew"
		}
		out = append(out, Found{File: file, Tools: []Tool{{
			Name: "gradle-build", Command: program + " build", About: "Builds and tests.",
			Presets: append(slices.Clone(presets), Preset{"local-server", "gradle talks to its daemon over the loopback addresses"}),
			Rules:   []Rule{reads, {"build", all, "what gradle builds; each project has one more"}, {".gradle", all, "what gradle found out"}},
		}}})
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
