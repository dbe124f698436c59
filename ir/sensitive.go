package ir

import "strings"

// defaultSensitive returns the paths whose exposure always draws a warning. A
// leading "~/" is the user's home, a leading "**/" any directory; a trailing
// slash covers everything below; components are patterns as in rules by name.
func defaultSensitive() []SensitivePattern {
	out := make([]SensitivePattern, 0, len(builtinSensitive))
	for _, p := range builtinSensitive {
		out = append(out, SensitivePattern{p, defaultOrigin})
	}
	return out
}

var builtinSensitive = [...]string{
	"~/.ssh/", "~/.gnupg/", "~/.gpg/", "~/.aws/credentials", "~/.config/gcloud/", "~/.kube/config",
	"~/.docker/config.json", "**/.env", "**/.env.*",
	// Logins.
	"~/.claude/.credentials.json", "~/.codex/auth.json", "~/.gemini/oauth_creds.json",
	"~/.local/share/opencode/auth.json",
	"~/.netrc", "~/.git-credentials",
	// Settings of agents: with a hook less, nothing is asked any more.
	"~/.claude/settings.json", "~/.codex/config.toml", "~/.codex/hooks.json", "~/.copilot/settings.json",
	"~/.copilot/hooks/",
	"~/.cursor/hooks.json", "~/.gemini/settings.json", "~/.config/opencode/", "~/.codeium/windsurf/hooks.json",
}

// Covers reports whether a workspace-relative path is sensitive by p. Patterns
// that start at the user's home never cover a path in the workspace.
func (p SensitivePattern) Covers(path string) bool {
	pattern, tree := strings.CutSuffix(p.Pattern, "/")
	if strings.HasPrefix(pattern, "~/") {
		return false
	}
	rest, anywhere := strings.CutPrefix(pattern, "**/")
	for {
		if matchPath(rest, path, tree) {
			return true
		}
		_, tail, more := strings.Cut(path, "/")
		if !anywhere || !more {
			return false
		}
		path = tail
	}
}

// matchPath compares component by component from the start of path. When tree is set, a match
// of a directory covers everything below it.
func matchPath(pattern, path string, tree bool) bool {
	for {
		var p, c string
		p, pattern = cut(pattern)
		c, path = cut(path)
		if !matchPart(p, c) {
			return false
		}
		if pattern == "" {
			return path == "" || tree
		}
		if path == "" {
			return false
		}
	}
}

// matchPart compares a component, which is its own name also where it is no pattern. Most names differ in their first
// letter.
func matchPart(pattern, name string) bool {
	first := strings.IndexAny(pattern, `*?[\`)
	if first < 0 || first > 0 && !strings.HasPrefix(name, pattern[:first]) {
		return pattern == name
	}
	return pattern == name || MatchName(pattern, name)
}
