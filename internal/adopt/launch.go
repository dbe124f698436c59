package adopt

import (
	"path"
	"slices"
	"strings"
)

// launcher is a program that starts servers.
type launcher struct {
	// words begin the command; flags stand between them and the package or script.
	words []string
	// preset is the registry that it downloads from, empty for a program that starts a file.
	preset, reason string
	// valued are the flags that have a value behind them.
	valued []string
}

const (
	npm  = "preset:npm-registry"
	pypi = "preset:pypi"
)

var (
	npmFlags = []string{"-p", "--package", "-c", "--call", "--registry"}
	uvFlags  = []string{"--from", "--with", "--python", "-p", "--index-url", "--default-index", "--directory", "--spec"}
)

// launchers are the programs by which published servers are started. The longer of two that begin alike stands first.
var launchers = []launcher{
	{[]string{"npx"}, npm, "npx downloads the server", npmFlags},
	{[]string{"npm", "exec"}, npm, "npm exec downloads the server", npmFlags},
	{[]string{"npm", "x"}, npm, "npm x downloads the server", npmFlags},
	{[]string{"pnpm", "dlx"}, npm, "pnpm dlx downloads the server", npmFlags},
	{[]string{"pnpx"}, npm, "pnpx downloads the server", npmFlags},
	{[]string{"yarn", "dlx"}, npm, "yarn dlx downloads the server", npmFlags},
	{[]string{"bunx"}, npm, "bunx downloads the server", npmFlags},
	{[]string{"bun", "x"}, npm, "bun x downloads the server", npmFlags},
	{[]string{"uvx"}, pypi, "uvx downloads the server", uvFlags},
	{[]string{"uv", "tool", "run"}, pypi, "uv tool run downloads the server", uvFlags},
	{[]string{"pipx", "run"}, pypi, "pipx run downloads the server", uvFlags},
	{[]string{"python", "-m"}, "", "", nil},
	{[]string{"python3", "-m"}, "", "", nil},
	{[]string{"python"}, "", "", nil},
	{[]string{"python3"}, "", "", nil},
	{[]string{"node"}, "", "", []string{"-r", "--require", "--import"}},
}

// daemons are clients of a service that does their work outside of any sandbox of theirs.
var daemons = []string{"docker", "nerdctl", "podman-remote"}

// program is the name of a program without its directory and the endings of Windows.
func program(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// launched is a command by its launcher: the word for the server, and the words behind it.
type launched struct {
	by     *launcher
	server string
	args   []string
}

// launch finds the launcher of a command. Windows has npx behind cmd /c.
func launch(words []string) launched {
	if len(words) > 2 && program(words[0]) == "cmd" && strings.EqualFold(words[1], "/c") {
		words = words[2:]
	}
	if len(words) == 0 {
		return launched{}
	}
	words = append([]string{program(words[0])}, words[1:]...)
	for i := range launchers {
		l := &launchers[i]
		if len(words) < len(l.words) || !slices.Equal(words[:len(l.words)], l.words) {
			continue
		}
		rest := words[len(l.words):]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			if slices.Contains(l.valued, rest[0]) && len(rest) > 1 {
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return launched{by: l}
		}
		return launched{l, rest[0], rest[1:]}
	}
	return launched{args: words[1:]}
}

// Daemon is the reason why no policy would hold for a command, empty where a policy does.
// See RATIONALE D396.
func Daemon(words []string) string {
	if len(words) > 2 && program(words[0]) == "cmd" && strings.EqualFold(words[1], "/c") {
		words = words[2:]
	}
	if name := program(words[0]); slices.Contains(daemons, name) {
		return "is started by " + name + ", whose daemon does the work as root or another process: " +
			"no policy of accessc would hold for it; the container's own flags are its limits"
	}
	return ""
}
