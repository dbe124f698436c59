package action

import (
	"slices"
	"strings"
)

// The members of a tool's arguments that are commands, and their further words, by the names that agents and servers
// use, plain (PlainKey). Their tools are not known, so the names are all that tells. One table serves all judges.
// See RATIONALE D403.
var (
	// CommandKeys are commands, AloneKeys where none of these is there, ListKeys lists of commands.
	CommandKeys = []string{"command", "cmd", "script", "commandline", "shellcommand", "program", "binary", "exec", "execute", "run"}
	AloneKeys   = []string{"executable", "argv", "shell"}
	ListKeys    = []string{"commands", "cmds", "scripts"}
	// WordKeys are further words.
	WordKeys = []string{"args", "arguments", "argv"}
	// WholeKeys name the command within a member that is one, whole names one without words.
	WholeKeys = []string{"command", "cmd", "commandline", "line", "program", "executable", "name", "path", "text"}
)

// The ends of the names of members beside a command that are its directory, and its shell, and the beginnings of those
// that are its variables.
var (
	directoryEnds = []string{"cwd", "pwd", "dir", "directory", "folder", "root", "workspace", "chdir"}
	shellEnds     = []string{"shell", "shellpath", "shellname", "interpreter", "executable"}
	variableKeys  = []string{"env", "vars", "variables"}
)

// PlainKey is a name in lower case, without the marks between words.
func PlainKey(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// IsDirectory, IsShell and IsVariables report what a member beside a command is, by its plain name.
func IsDirectory(name string) bool { return ends(name, directoryEnds) }

// IsShell reports whether the member names the command's shell.
func IsShell(name string) bool { return ends(name, shellEnds) }

// IsVariables reports whether the member has the command's variables.
func IsVariables(name string) bool {
	begins := slices.ContainsFunc(variableKeys, func(k string) bool { return strings.HasPrefix(name, k) })
	return begins || ends(name, variableKeys)
}

// IsCommand reports whether a member may be a command, or change one, by its plain name.
func IsCommand(name string) bool {
	return slices.Contains(slices.Concat(CommandKeys, AloneKeys, ListKeys, WordKeys), name) || IsShell(name) || IsVariables(name)
}

func ends(name string, with []string) bool {
	return slices.ContainsFunc(with, func(end string) bool { return strings.HasSuffix(name, end) })
}
