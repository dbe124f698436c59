package survey

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/presets"
)

// agent is a program that works in the repository as its user does.
type agent struct {
	// preset has the rules of the agent, and the agent's name on the command line.
	preset, command string
	// flags have the agent leave the sandbox to accessc, where its own finds no room in another.
	flags string
	// login is the file of the home that has the agent's login; some systems have it elsewhere.
	login string
	// notes say how to add a service that the preset does not have.
	notes []string
}

// gateway is a note about the variables of a service at another place than the preset's.
func gateway(host string, variables ...string) []string {
	out := []string{"For a gateway or another address of the service:", "net = [{ host = \"" + host + "\", allow = true }]"}
	var env []string
	for _, v := range variables {
		env = append(env, "{ name = \""+v+"\", read = true }")
	}
	return append(out, "env = ["+strings.Join(env, ", ")+"]")
}

var agents = []agent{
	{"claude-code", "claude", "", ".claude/.credentials.json", gateway("gateway.example.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN")},
	{"codex", "codex", " --sandbox danger-full-access", ".codex/auth.json", gateway("gateway.example.com", "OPENAI_BASE_URL")},
	{"gemini", "gemini", "", ".gemini/oauth_creds.json", gateway("gateway.example.com", "GOOGLE_GEMINI_BASE_URL")},
	{"opencode", "opencode", "", ".local/share/opencode/auth.json", gateway("gateway.example.com", "OPENAI_BASE_URL")},
}

// Agents are the names of the agents that have a tool.
func Agents() []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.preset)
	}
	return out
}

// AgentOf is the name of the agent that a program runs, empty for none.
func AgentOf(program string) string {
	i := slices.IndexFunc(agents, func(a agent) bool { return a.command == program })
	if i < 0 {
		return ""
	}
	return agents[i].preset
}

// registries are the presets of registries, each with the files that name packages of it.
var registries = []struct {
	preset string
	files  []string
}{
	{"npm-registry", []string{"package.json"}},
	{"pypi", []string{"pyproject.toml", "requirements.txt", "setup.py"}},
	{"go-modules", []string{"go.mod"}},
	{"cargo-registry", []string{"Cargo.toml"}},
}

// Agent proposes the tool that runs an agent in a directory. There is none for an unknown name.
func Agent(dir, name string) (*Tool, error) {
	i := slices.IndexFunc(agents, func(a agent) bool { return a.preset == name })
	if i < 0 {
		return nil, nil
	}
	r, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer r.root.Close()
	t := &Tool{
		Name: agents[i].command, Command: agents[i].command + agents[i].flags, About: "runs under this policy with all that it starts",
		Presets: []Preset{{name, "its program, its service and its key; its home is its own"}},
		Rules:   []Rule{writes("it changes the workspace, and runs its programs")},
		Notes:   agents[i].notes,
	}
	if agents[i].flags != "" {
		t.About += "; accessc is its sandbox"
	}
	for _, reg := range registries {
		if file, ok := r.has(reg.files...); ok {
			t.Presets = append(t.Presets, Preset{reg.preset, file + ": it installs packages"})
		}
	}
	t.Presets = append(slices.Concat(t.Presets, r.shared), Preset{"git", "it commits, under your name"})
	t.closeSecrets()
	return t, nil
}

// Place lets the tool read where its program is installed below the home: link is the program's name there, file
// where that leads, both relative to the home. A preset that has the place of a toolchain is better than a rule,
// since it has its variables as well.
func (t *Tool) Place(link, file string) {
	for _, at := range []string{link, file} {
		names := presets.About("~/" + at)
		switch {
		case slices.ContainsFunc(t.Presets, func(p Preset) bool { return slices.Contains(names, p.Name) }):
			return
		case len(names) > 0:
			t.Presets = append(t.Presets, Preset{names[0], t.Name + " is installed in ~/" + at})
			return
		}
	}
	dir := path.Dir(file)
	if before, _, ok := strings.Cut(file, "/node_modules/"); ok {
		dir = before + "/node_modules"
	}
	if dir == "." {
		return // all of the home is more than a program's place
	}
	grants := []string{"external", "read", "execute"}
	t.Rules = append(t.Rules, Rule{"~/" + dir, grants, t.Name + " is installed there"})
}

// Share lets the agent use the user's login, and returns the file of the home that has it.
func (t *Tool) Share() string {
	i := slices.IndexFunc(agents, func(a agent) bool { return a.command == t.Name })
	login := agents[i].login
	grants := []string{"external", "read", "update"}
	t.Rules = append(t.Rules, Rule{"~/" + login, grants, "your login, which whoever reads it can use anywhere"})
	return login
}

// Reads reports whether a policy's text has the rule on the login that Share has added.
func (t *Tool) Reads(policy string) bool {
	return strings.Contains(policy, t.Rules[len(t.Rules)-1].inline())
}

// Block is the tool as the last lines of a policy, which begin with an empty line.
func (t *Tool) Block(title string) string {
	var b strings.Builder
	t.write(&b, title)
	return b.String()
}
