package allow

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// mount is the command that makes a place outside of the workspace reachable, or why none is
// proposed.
// See decision D177.
func (p *Planner) mount(g group) (command, whyNot string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs := "/" + at.Path
	var caps ir.CapSet
	for _, a := range g.asks {
		for _, needs := range ir.Describe(a.Operation).Needs {
			caps |= needs | a.Needs
		}
	}
	if why := p.outside(abs, directory(abs)); why != "" {
		return "", why
	}
	mode := ":ro"
	switch {
	case !exists(abs):
		return "", "the place does not exist, and only what exists can be mounted"
	case caps&ir.Write != 0 && p.startsPrograms(abs):
		return "", "programs that are not confined start what it says or holds"
	case caps&ir.Write != 0 && holds(abs, func(info fs.FileInfo) bool { return acts(info) || info.Name() == ".git" }):
		return "", "it holds a repository of git, or something behind which programs outside of the sandbox act, or too much to be looked at"
	case caps.Has(ir.Execute) && leaves[path.Base(abs)] != "":
		return "", leaves[path.Base(abs)]
	case caps.Has(ir.Execute) && caps&ir.Write != 0:
		mode = ":rwx"
	case caps.Has(ir.Execute):
		mode = ":rx"
	case caps&ir.Write != 0:
		mode = ":rw"
	}
	return "accessc mount " + shellword.Quote(p.Tool.Name+":"+p.free(abs)+"="+abs+mode), ""
}

// startups are places of a home whose contents programs outside of a sandbox start or obey.
var startups = []string{
	".profile", ".login", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".config/fish", ".config/autostart", ".config/systemd",
	".config/environment.d", ".config/git", ".gitconfig", ".config/nvim", ".vimrc", ".vim", ".emacs", ".emacs.d", ".config/emacs", ".tmux.conf",
	".inputrc", ".npmrc", ".pypirc", ".netrc", ".local/bin", ".local/share/systemd", "bin", ".cargo/config.toml", ".cargo/config", "Library/LaunchAgents",
	// Settings of clients, which name programs to start.
	".claude.json", ".config/Claude", ".codeium/windsurf/mcp_config.json", ".copilot/mcp-config.json", ".config/Code/User", ".cursor/mcp.json",
	"Library/Application Support/Claude", "Library/Application Support/Code/User",
	// Files that programs load as code.
	".config/direnv", ".local/share/direnv", ".ipython", ".gradle/init.gradle", ".gradle/init.d", ".config/mise", ".gdbinit", ".config/gdb", ".hgrc",
	".config/hg", ".Rprofile", ".forward", "go/bin", ".local/lib",
}

// credentials are places of a home by which services know the user, besides those that policies call sensitive.
var credentials = []string{
	".config/gh/hosts.yml", ".cargo/credentials.toml", ".cargo/credentials", ".vault-token", ".pgpass", ".my.cnf", ".password-store",
	".local/share/keyrings", ".azure", ".config/rclone", ".claude.json",
}

// startsPrograms reports whether programs are started from a place outside of the workspace, or by its
// contents, such as a directory of PATH or the settings of a shell; or whether one lies in it.
func (p *Planner) startsPrograms(abs string) bool {
	meets := func(place string) bool { return ir.Within(abs, place) || ir.Within(place, abs) }
	packages := func(s string) bool { return s == "site-packages" || s == "dist-packages" }
	if slices.ContainsFunc(strings.Split(abs, "/"), packages) {
		return true // Python runs the lines of *.pth files
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && meets(path.Clean(filepath.ToSlash(dir))) {
			return true
		}
	}
	home := p.home()
	if home == "" {
		return false
	}
	for _, g := range p.View.Protected() {
		if meets(path.Join(home, g.Path)) {
			return true
		}
	}
	return slices.ContainsFunc(startups, func(s string) bool { return meets(path.Join(home, s)) })
}
