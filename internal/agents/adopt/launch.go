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
	npm    = "preset:npm-registry"
	pypi   = "preset:pypi"
	golang = "preset:go-modules"
)

var (
	npmFlags = []string{"-p", "--package", "-c", "--call", "--registry"}
	uvFlags  = []string{
		"--from", "--with", "--with-editable", "--with-requirements", "--python", "-p", "--index-url", "--default-index",
		"--directory", "--project", "--env-file", "--extra", "--group", "--spec",
	}
	denoFlags = []string{"--config", "-c", "--import-map"}
)

// placed are the flags of launchers whose value is the directory that the server lies in.
var placed = []string{"--directory", "--project", "--prefix", "--cwd", "--dir"}

// launchers are the programs by which published servers are started. The longer of two that begin alike stands first.
// Flags may stand between the words, too: uv --directory DIR run SERVER.
var launchers = []launcher{
	{[]string{"npx"}, npm, "npx downloads the server", npmFlags},
	{[]string{"npm", "exec"}, npm, "npm exec downloads the server", npmFlags},
	{[]string{"npm", "x"}, npm, "npm x downloads the server", npmFlags},
	{[]string{"pnpm", "dlx"}, npm, "pnpm dlx downloads the server", npmFlags},
	{[]string{"pnpx"}, npm, "pnpx downloads the server", npmFlags},
	{[]string{"yarn", "dlx"}, npm, "yarn dlx downloads the server", npmFlags},
	{[]string{"bunx"}, npm, "bunx downloads the server", npmFlags},
	{[]string{"bun", "x"}, npm, "bun x downloads the server", npmFlags},
	{[]string{"deno", "run"}, npm, "deno run downloads what the server imports", denoFlags},
	{[]string{"uvx"}, pypi, "uvx downloads the server", uvFlags},
	{[]string{"uv", "tool", "run"}, pypi, "uv tool run downloads the server", uvFlags},
	{[]string{"uv", "run"}, pypi, "uv run downloads what the server needs", uvFlags},
	{[]string{"pipx", "run"}, pypi, "pipx run downloads the server", uvFlags},
	{[]string{"go", "run"}, golang, "go run downloads the server", []string{"-C", "-tags"}},
	{[]string{"python", "-m"}, "", "", nil},
	{[]string{"python3", "-m"}, "", "", nil},
	{[]string{"java", "-jar"}, "", "", nil},
	{[]string{"python"}, "", "", nil},
	{[]string{"python3"}, "", "", nil},
	{[]string{"bun", "run"}, "", "", nil},
	{[]string{"bun"}, "", "", nil},
	{[]string{"tsx"}, "", "", nil},
	{[]string{"node"}, "", "", []string{"-r", "--require", "--import", "--loader", "--env-file"}},
}

// daemons are clients of a service that does their work outside of any sandbox of theirs.
var daemons = []string{"docker", "docker-compose", "nerdctl", "podman-remote", "wsl"}

// program is the name of a program without its directory and the endings of Windows.
func program(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// launched is a command by its launcher: the word for the server, the words behind it, and the directories that flags
// of the launcher name.
type launched struct {
	by     *launcher
	server string
	args   []string
	dirs   []string
}

// launch finds the launcher of a command. Windows has npx behind cmd /c.
func launch(words []string) launched {
	if len(words) > 2 && program(words[0]) == "cmd" && strings.EqualFold(words[1], "/c") {
		words = words[2:]
	}
	if len(words) == 0 {
		return launched{}
	}
	for i := range launchers {
		l := &launchers[i]
		if program(words[0]) != l.words[0] {
			continue
		}
		out := launched{by: l}
		rest := words[1:]
		for _, word := range l.words[1:] {
			if !strings.HasPrefix(word, "-") {
				rest = out.flags(rest)
			}
			if len(rest) == 0 || rest[0] != word {
				out.by = nil
				break
			}
			rest = rest[1:]
		}
		if out.by == nil {
			continue
		}
		if rest = out.flags(rest); len(rest) > 0 {
			out.server, out.args = rest[0], rest[1:]
		}
		return out
	}
	return launched{args: words[1:]}
}

// flags passes over the flags of a launcher, and notes the directories among their values.
func (l *launched) flags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name, value, attached := strings.Cut(words[0], "=")
		words = words[1:]
		if !attached && len(words) > 0 && (slices.Contains(l.by.valued, name) || slices.Contains(placed, name)) {
			value, words = words[0], words[1:]
		}
		if value != "" && slices.Contains(placed, name) {
			l.dirs = append(l.dirs, value)
		}
	}
	return words
}

// starters are programs that start the command among their arguments, shells those that start the commands of a text.
var (
	starters = []string{
		"cmd", "env", "sudo", "doas", "nohup", "nice", "time", "timeout", "setsid", "stdbuf", "xvfb-run", "exec", "command",
	}
	shells = []string{"sh", "bash", "zsh", "dash", "fish", "ksh", "powershell", "pwsh", "cmd"}
)

// Daemon is the reason why no policy would hold for a command, empty where a policy does. A starter may have flags of
// any kind before the command, so each of its words counts, as do those of a shell's text.
// See decision D173.
func Daemon(words []string) string {
	first := program(words[0])
	if slices.Contains(starters, first) || slices.Contains(shells, first) {
		text := strings.Join(words[1:], " ")
		words = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()`\"'", r) })
	} else {
		words = words[:1]
	}
	for _, w := range words {
		if name := program(w); slices.Contains(daemons, name) {
			return "is started by " + name + ", whose daemon does the work as root or another process: " +
				"no policy of accessc would hold for it; the container's own flags are its limits"
		}
	}
	return ""
}
