package action

import (
	"slices"
	"strings"
)

// The members of a tool's arguments that are commands, and their further words, by the names that agents and servers
// use, plain (PlainKey). Their tools are not known, so the names are all that tells. One table serves all judges.
// See decision D403.
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

// The names of members that are commands beside those above: names with a word for a command in them, or of the moment
// of a run in which a text is executed. Names that have such a word by chance, or name a command and are none, come
// last.
// See decision D403.
var (
	runParts = []string{"command", "cmd", "shell"}
	runEnds  = []string{"script", "scripts", "hook", "hooks"}
	moments  = []string{
		"setup", "teardown", "startup", "shutdown", "bootstrap", "prelude", "preamble", "prologue", "epilogue", "entrypoint",
		"init", "initialize", "cleanup", "prepare", "provision", "wrapper", "prefix", "launcher", "runner", "trap",
		"onstart", "onexit", "onstop", "onerror", "onfailure", "onsuccess", "finally",
	}
	around  = []string{"pre", "post", "before", "after"}
	running = []string{
		"", "run", "exec", "execute", "build", "test", "start", "stop", "install", "deploy", "task", "step", "all", "each",
	}
	chance = []string{"transcript", "manuscript", "commandid", "commandtype", "shellid"}
)

// asides are the members beside a command that servers do not run, by their plain names: words for people, places,
// which are judged as such, bounds. asideEnds are the ends of such names.
var (
	asides = []string{
		"description", "title", "label", "name", "summary", "reason", "explanation", "purpose", "comment", "note", "notes",
		"intent", "thought", "thoughts", "justification", "path", "paths", "file", "files", "filename", "filenames", "url",
		"urls", "uri", "uris", "repo", "repository", "location", "encoding", "format", "outputformat", "limit", "level",
		"session", "terminal", "tab", "window", "pane", "signal", "progresstoken",
	}
	asideEnds = []string{"id", "ids", "timeout", "timeoutms", "timeoutseconds"}
)

// MayRun reports whether a server may run the texts of a member, by its plain name.
func MayRun(name string) bool {
	if slices.Contains(chance, name) || known(name) {
		return false
	}
	for _, when := range around {
		if rest, ok := strings.CutPrefix(name, when); ok && rest != "" && slices.Contains(running, rest) {
			return true
		}
	}
	has := func(part string) bool { return strings.Contains(name, part) }
	return slices.Contains(moments, name) || slices.ContainsFunc(runParts, has) || ends(name, runEnds)
}

// IsAside reports whether a member beside a command has another meaning than one, by its plain name.
func IsAside(name string) bool {
	return known(name) || IsDirectory(name) || slices.Contains(asides, name) || ends(name, asideEnds)
}

// known reports whether a member is judged by its name as a command, or as a part of one.
func known(name string) bool {
	return IsCommand(name) || slices.Contains(WholeKeys, name) && name != "text" && name != "line"
}

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
