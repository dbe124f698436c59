package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// What is the part of the policy that a call is about.
type What uint8

// The parts. The zero value is a tool that is not known.
const (
	Unknown What = iota
	Shell        // a line for a shell
	Files        // places in the file system
	Patch        // a patch, which names files
	Address      // a URL
	Server       // a tool of an MCP server
	Nothing      // nothing that a policy is about
)

// Call is the use of a tool.
type Call struct {
	// Tool is the agent's name of it, Kind its kind for a ruleset.
	Tool string
	What What
	Kind ruleset.Kind
	// Line is the text for a shell, of which Foreign says that it is none of the POSIX shell's
	// kin; Dir is its directory if it is not that of the event.
	Line, Dir string
	Foreign   bool
	// Touches are the places that the call is about, Content that files below them are read.
	Touches []Touch
	Content bool
	// URL is the address that is fetched.
	URL string
	// Server and Method are the MCP server and its tool as the agent has them; joined is the name that it joins
	// from both.
	Server, Method string
	joined         string
	// Input is the tool's input as the agent has it; line is its member that is the text for a
	// shell.
	Input strictjson.Value
	line  string
}

// Touch is a place and the kind of operation there; of a pattern, the places that it matches, counted
// from From.
type Touch struct {
	Kind    ruleset.Kind
	Path    string
	Pattern bool
	From    string
}

// Tool is how an agent's tool is judged.
type Tool struct {
	What What
	Kind ruleset.Kind
	// Members are the members of the input that count: paths, the line, the URL or the patch;
	// patterns are those that are patterns of paths, which count from each of the paths. dirs are those that
	// are the directory of a command.
	Members, Patterns, dirs []string
	// here stands for a path that is left out.
	here bool
	// Content says that a search reads files, and foreign that a line is for another shell.
	Content, Foreign bool
}

// ShellTool is a tool that runs a line, in one of some directories.
func ShellTool(member string, dirs ...string) Tool {
	return Tool{What: Shell, Members: []string{member}, dirs: dirs}
}

// Reads is a tool that reads the files that some members name.
func Reads(members ...string) Tool {
	return Tool{What: Files, Kind: ruleset.Read, Members: members}
}

// Edits is a tool that writes files.
func Edits(members ...string) Tool {
	return Tool{What: Files, Kind: ruleset.Edit, Members: members}
}

// Deletes is a tool that removes files.
func Deletes(members ...string) Tool {
	return Tool{What: Files, Kind: ruleset.Delete, Members: members}
}

// Lists is a listing of a directory, globs one of the names that a pattern matches, and greps a search
// in the text of files.
func Lists(members ...string) Tool {
	return Tool{What: Files, Kind: ruleset.Search, Members: members, here: true}
}

// Globs is a listing of the names that a pattern matches.
func Globs(pattern string, members ...string) Tool {
	out := Lists(members...)
	out.Patterns = []string{pattern}
	return out
}

// Greps is a search in the text of files.
func Greps(members ...string) Tool {
	out := Lists(members...)
	out.Content = true
	return out
}

// Patches is a tool that applies a patch.
func Patches(member string) Tool {
	return Tool{What: Patch, Kind: ruleset.Edit, Members: []string{member}}
}

// Fetches is a tool that gets a page.
func Fetches(member string) Tool {
	return Tool{What: Address, Kind: ruleset.Fetch, Members: []string{member}}
}

// Plain are tools that touch nothing that a policy is about: they talk, plan, or start agents whose
// tools ask by themselves.
func Plain(into map[string]Tool, names ...string) map[string]Tool {
	for _, n := range names {
		into[n] = Tool{What: Nothing, Kind: ruleset.Think}
	}
	return into
}

// Call reads the use of a tool.
func (a *Agent) Call(name string, input strictjson.Value) (Call, error) {
	t, known := a.Tools[name]
	c := Call{Tool: name, What: t.What, Kind: t.Kind, Content: t.Content, Foreign: t.Foreign, Input: input}
	if !known {
		c.Kind = ruleset.Other
	}
	if server, method, ok := serverTool(name); ok && !known {
		c.What, c.Server, c.Method = Server, server, method
		c.joined = strings.TrimPrefix(name, serverPrefix)
	}
	if t.What == Patch && input.Type == strictjson.String {
		return c.Patch(input.Str)
	}
	if input.Type == strictjson.String {
		inner, err := object([]byte(input.Str), "input of "+name)
		if err != nil {
			return c, err
		}
		c.Input = inner
	}
	switch {
	case t.What == Nothing:
		return c, nil
	case !c.Input.IsObject() && c.Input.Exists(), !c.Input.Exists() && c.What != Unknown && c.What != Server:
		return c, fmt.Errorf("%s has no object as its input", name)
	case !c.Input.Exists():
		return c, nil
	}
	m, err := jsonrpc.Members(c.Input, slices.Concat(t.Members, t.Patterns, t.dirs)...)
	if err != nil {
		return c, fmt.Errorf("the input of %s: %w", name, err)
	}
	return c.Members(t, m)
}

// serverPrefix begins the names of servers' tools.
const serverPrefix = "mcp__"

// serverTool takes the name of a tool of a server apart, as Claude Code, Codex and Gemini CLI write
// it.
func serverTool(name string) (server, method string, ok bool) {
	rest, is := strings.CutPrefix(name, serverPrefix)
	server, method, ok = strings.Cut(rest, "__")
	return server, method, is && ok && server != "" && method != ""
}

// Members reads the members that count.
func (c Call) Members(t Tool, m map[string]strictjson.Value) (Call, error) {
	switch c.What {
	case Unknown, Nothing, Server:
		return c, nil
	case Shell:
		return c.shell(t, m)
	case Files:
		return c.files(t, m)
	case Patch, Address:
	}
	value := m[t.Members[0]]
	if value.Type != strictjson.String || value.Str == "" {
		return c, fmt.Errorf("%s has no %s", c.Tool, t.Members[0])
	}
	if c.What == Patch {
		return c.Patch(value.Str)
	}
	c.URL = value.Str
	return c, nil
}

func (c Call) shell(t Tool, m map[string]strictjson.Value) (Call, error) {
	c.line = t.Members[0]
	line := m[c.line]
	if line.Type != strictjson.String || strings.ContainsRune(line.Str, 0) {
		return c, fmt.Errorf("%s has no %s that is one line for a shell", c.Tool, c.line)
	}
	c.Line = line.Str
	named := ""
	for _, name := range t.dirs {
		switch dir := m[name]; {
		case !dir.Exists(), dir.Type == strictjson.Null:
		case dir.Type != strictjson.String:
			return c, fmt.Errorf("%s has no text as its %s", c.Tool, name)
		case named != "" && c.Dir != dir.Str:
			return c, fmt.Errorf("%s has one directory as its %s and another as its %s", c.Tool, named, name)
		default:
			c.Dir, named = dir.Str, name
		}
	}
	return c, nil
}

func (c Call) files(t Tool, m map[string]strictjson.Value) (Call, error) {
	paths, err := c.texts(m, t.Members)
	if err != nil {
		return c, err
	}
	if len(paths) == 0 && t.here {
		paths = []string{"."}
	}
	for _, path := range paths {
		c.touch(t.Kind, path)
	}
	patterns, err := c.texts(m, t.Patterns)
	from := paths
	if len(from) == 0 {
		from = []string{""}
	}
	for _, pattern := range patterns {
		for _, dir := range from {
			c.Touches = append(c.Touches, Touch{t.Kind, pattern, true, dir})
		}
	}
	if err == nil && len(c.Touches) == 0 {
		err = fmt.Errorf("%s names no file", c.Tool)
	}
	return c, err
}

// texts are the texts of some members: each is one, or a list of them, or not there.
func (c Call) texts(m map[string]strictjson.Value, names []string) (out []string, err error) {
	for _, name := range names {
		for _, item := range m[name].Array() {
			if item.Type != strictjson.String {
				return nil, fmt.Errorf("%s has a %s that is no text", c.Tool, name)
			}
			out = append(out, item.Str)
		}
	}
	return out, nil
}

func (c *Call) touch(kind ruleset.Kind, path string) {
	c.Touches = append(c.Touches, Touch{Kind: kind, Path: path})
}

// patchHeads are the lines of a patch that name a file, in the form that Codex has given them. A
// moved file goes from the place that was named last.
var patchHeads = map[string]ruleset.Kind{
	"*** Add File: ": ruleset.Edit, "*** Update File: ": ruleset.Edit, "*** Delete File: ": ruleset.Delete,
	"*** Move to: ": ruleset.Move,
}

// Patch reads the files that a patch is about. Programs that apply patches take more for a line with
// a file than the form says, so blanks before one do not count.
func (c Call) Patch(text string) (Call, error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for head, kind := range patchHeads {
			path, is := strings.CutPrefix(line, head)
			switch {
			case !is:
			case kind == ruleset.Move && len(c.Touches) > 0:
				c.touch(ruleset.Delete, c.Touches[len(c.Touches)-1].Path)
				c.touch(ruleset.Edit, path)
			case kind == ruleset.Move:
				return c, errors.New("the patch moves a file that it does not name")
			default:
				c.touch(kind, path)
			}
		}
	}
	if len(c.Touches) == 0 {
		return c, errors.New("the patch names no file")
	}
	return c, nil
}

// rewritten is the input with another line for the shell.
func (c *Call) rewritten(line string) []byte {
	var b strings.Builder
	c.Input.ForEach(func(key, value strictjson.Value) bool {
		b.WriteString([]string{"{", ","}[min(b.Len(), 1)] + key.Raw + ":")
		if key.String() == c.line {
			b.Write(JSON(line))
		} else {
			b.WriteString(value.Raw)
		}
		return true
	})
	return []byte(b.String() + "}")
}
