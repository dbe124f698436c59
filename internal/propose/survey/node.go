package survey

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// packager is the program that manages the packages of a Node.js project, by its lock file.
type packager struct{ lock, program, install string }

// pnpm probes for a store of its own beside package.json, unless the store is named.
var packagers = []packager{
	{"pnpm-lock.yaml", "pnpm", "install --frozen-lockfile --store-dir node_modules/.pnpm-store"},
	{"yarn.lock", "yarn", "install"},
	{"bun.lock", "bun", "install --frozen-lockfile"},
	{"bun.lockb", "bun", "install --frozen-lockfile"},
	{"package-lock.json", "npm", "ci"},
	{"npm-shrinkwrap.json", "npm", "ci"},
	{"package.json", "npm", "install"},
}

// inDirectory is the option of each program that leads it to a directory.
var inDirectory = map[string]string{"npm": "--prefix", "pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}

// inMembers runs a script of all members that have it; yarn before version 2 stops at a member that lacks it.
var inMembers = map[string]string{
	"npm": "npm run SCRIPT --workspaces --if-present", "pnpm": "pnpm --recursive run SCRIPT", "bun": "bun run --filter '*' SCRIPT",
	"yarn": "yarn workspaces run SCRIPT", "berry": "yarn workspaces foreach --all run SCRIPT",
}

// packageFile is the part of package.json that counts. Scripts are looked at only for their names.
type packageFile struct {
	Scripts         map[string]json.RawMessage `json:"scripts"`
	Dependencies    map[string]json.RawMessage `json:"dependencies"`
	DevDependencies map[string]json.RawMessage `json:"devDependencies"`
	Workspaces      json.RawMessage            `json:"workspaces"`
}

func (m *packageFile) depends() bool { return len(m.Dependencies)+len(m.DevDependencies) > 0 }

// member is a package of a workspace.
type member struct {
	dir string
	packageFile
	// outputs are the directories in it that git is told to ignore.
	outputs []string
}

// built are directories that builds usually write.
var built = []string{"dist", "build", "out", "lib", ".next", ".nuxt", ".svelte-kit", ".output"}

var nodePresets = []Preset{{"node", "the versions of node of your home"}}

func node(r *repo) []Found {
	if _, ok := r.has("package.json"); !ok {
		return nil
	}
	var m packageFile
	if err := json.Unmarshal([]byte(r.text("package.json")), &m); err != nil {
		return []Found{{File: "package.json", Why: "it is not what npm reads, so no tool is proposed for it"}}
	}
	i := slices.IndexFunc(packagers, func(p packager) bool { _, ok := r.has(p.lock); return ok })
	n := &nodeProject{repo: r, packager: packagers[i], packageFile: m, presets: nodePresets}
	n.join()
	found := Found{File: "package.json"}
	if n.depends() || slices.ContainsFunc(n.members, func(m member) bool { return m.depends() }) {
		found.Tools = append(found.Tools, n.installs())
	}
	for _, s := range []script{
		{"build", "Builds the project.", nil, built, "dist"},
		{"test", "Runs the tests.", []Preset{loopback}, []string{"coverage"}, ""},
		{"lint", "Checks the sources.", nil, nil, ""},
	} {
		if t, ok := n.runs(s); ok {
			found.Tools = append(found.Tools, t)
		}
	}
	if len(found.Tools) == 0 {
		found.Why = "it has neither dependencies nor the scripts build, test or lint"
	}
	return []Found{found}
}

// nodeProject is a package with its members.
type nodeProject struct {
	*repo
	packager
	packageFile
	members []member
	presets []Preset
}

// join finds the members.
func (n *nodeProject) join() {
	for _, dir := range n.having("package.json", anyOf(n.patterns())) {
		m := member{dir: dir}
		_ = json.Unmarshal([]byte(n.text(path.Join(dir, "package.json"))), &m.packageFile) // what npm does not read has no scripts
		dirs := append(slices.Clone(built), "coverage")
		m.outputs = slices.Concat(n.ignored(dirs...), n.ignoredIn(dir, dirs...))
		n.members = append(n.members, m)
	}
}

// listed matches an item of a list in YAML. Items of other lists do no harm: a pattern chooses among directories with
// a manifest.
var listed = expression.Once{Text: `(?m)^[ \t]*-[ \t]+["']?([^"'#\s]+)`}

// patterns are those of the workspace's members (docs.npmjs.com/cli/using-npm/workspaces, pnpm.io/workspaces).
func (n *nodeProject) patterns() (out []string) {
	if n.program == "pnpm" {
		_, list, _ := strings.Cut("\n"+n.text("pnpm-workspace.yaml"), "\npackages:")
		for _, m := range listed.Get().FindAllStringSubmatch(list, maxMembers) {
			out = append(out, m[1])
		}
		return out
	}
	var w struct{ Packages []string }
	if json.Unmarshal(n.Workspaces, &out) != nil && json.Unmarshal(n.Workspaces, &w) == nil {
		return w.Packages
	}
	return out
}

// command is one of the project's program, in the directory of the project.
func (n *nodeProject) command(words string) string {
	return n.there(n.program+" "+words, n.program+" "+inDirectory[n.program]+" DIR "+words)
}

func (n *nodeProject) installs() Tool {
	rules := []Rule{reads, {"node_modules", all, "the packages"}}
	for _, m := range n.members {
		rules = append(rules, Rule{m.dir + "/node_modules", all, "those of a member"})
	}
	return Tool{
		Name: n.program + "-install", Command: n.command(n.install), About: "Installs the packages. Their scripts run under these rules.",
		Presets: append(slices.Clone(n.presets), Preset{"npm-registry", "downloads"}), Rules: append(rules, n.locks()...),
	}
}

// locks are the rules of an installation that writes its lock file.
func (n *nodeProject) locks() []Rule {
	switch n.lock {
	case "package.json":
		return []Rule{{"package-lock.json", change, "npm writes it where it is missing"}}
	case "yarn.lock":
		return []Rule{{"yarn.lock", change, "yarn completes it"}, {".yarn", all, "where yarn keeps its state"}, {".pnp.cjs", change, "the same"}, {".pnp.loader.mjs", change, "the same"}}
	default:
		return nil
	}
}

// script is a script of package.json that becomes a tool.
type script struct {
	name, about string
	presets     []Preset
	// outputs are directories that it usually writes, otherwise the first that is granted where git ignores none of
	// them.
	outputs   []string
	otherwise string
}

// runs is the tool for a script of the project, or for those of its members.
func (n *nodeProject) runs(s script) (Tool, bool) {
	has := func(m member) bool { return m.Scripts[s.name] != nil }
	command := n.command("run " + s.name)
	switch {
	case n.Scripts[s.name] != nil:
	case n.at != "" || !slices.ContainsFunc(n.members, has):
		return Tool{}, false
	case n.program == "yarn" && !strings.Contains(n.text("yarn.lock"), "__metadata:"):
		if slices.ContainsFunc(n.members, func(m member) bool { return !has(m) }) {
			return Tool{}, false
		}
		command = strings.Replace(inMembers["yarn"], "SCRIPT", s.name, 1)
	case n.program == "yarn":
		command = strings.Replace(inMembers["berry"], "SCRIPT", s.name, 1)
	default:
		command = strings.Replace(inMembers[n.program], "SCRIPT", s.name, 1)
	}
	rules := []Rule{reads, {"node_modules/.cache", all, "tools keep here what they found out"}}
	if _, ok := n.has("turbo.json"); ok {
		rules = append(rules, Rule{".turbo", all, "the results of turbo"})
	}
	rules = append(rules, outputs("", n.ignored(s.outputs...), s.otherwise)...)
	for _, m := range n.members {
		if has(m) {
			rules = append(rules, Rule{m.dir + "/node_modules/.cache", all, "the same of a member"})
			rules = append(rules, outputs(m.dir+"/", intersection(m.outputs, s.outputs), s.otherwise)...)
		}
	}
	return Tool{
		Name: n.program + "-" + s.name, Command: command, About: s.about, Presets: slices.Concat(n.presets, s.presets), Rules: rules,
	}, true
}

func intersection(a, b []string) (out []string) {
	for _, s := range a {
		if slices.Contains(b, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// outputs are the rules about directories that a build writes.
func outputs(below string, dirs []string, otherwise string) []Rule {
	if len(dirs) == 0 && otherwise != "" {
		dirs = []string{otherwise}
	}
	var out []Rule
	for _, d := range dirs {
		out = append(out, Rule{below + d, all, "what it writes"})
	}
	return out
}
