package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// file is a file of policies as text, without the type that writes it.
type file struct {
	Rule []struct {
		ToolName    []string `toml:"toolName"`
		ArgsPattern string   `toml:"argsPattern"`
		Decision    string   `toml:"decision"`
		Priority    int      `toml:"priority"`
		expression  *regexp.Regexp
	} `toml:"rule"`
}

// nested is the test by which Gemini CLI leaves rules out.
var nested = regexp.MustCompile(`(?s)\([^)]*[*+?{].*\)[*+?{]`)

func read(t suite.Failing, data []byte) *file {
	f := &file{}
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(f); err != nil {
		t.Fatal(err, string(data))
	}
	for i := range f.Rule {
		r := &f.Rule[i]
		if len(r.ArgsPattern) > 2048 || nested.MatchString(r.ArgsPattern) || r.Priority <= 950 || r.Priority > 999 {
			t.Fatal("Gemini CLI leaves this rule out, or others come before it:", r.ArgsPattern, r.Priority)
		}
		var err error
		if r.expression, err = regexp.Compile(r.ArgsPattern); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// arguments are those of a call, as expressions see them.
func arguments(args map[string]string) string {
	var parts []string
	for name, value := range args {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			panic(err)
		}
		parts = append(parts, "\x00\""+name+"\":"+strings.TrimSuffix(b.String(), "\n")+"\x00")
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}

// decide is the decision about a call: that of the rule with the highest priority.
func (f *file) decide(tool string, args map[string]string) string {
	text, highest, out := arguments(args), -1, "ask_user"
	for _, r := range f.Rule {
		if (slices.Contains(r.ToolName, tool) || slices.Contains(r.ToolName, "*")) && r.Priority > highest && r.expression.MatchString(text) {
			highest, out = r.Priority, r.Decision
		}
	}
	return out
}

// evaluated are the operations that Gemini CLI permits unasked, in a workspace without links.
type evaluated struct {
	*file
	dir string
}

// spellings are texts that Gemini CLI takes for an absolute path.
func (e evaluated) spellings(abs string) []string {
	out := []string{abs, abs + "/", path.Dir(abs) + "/./" + path.Base(abs), path.Dir(abs) + "//" + path.Base(abs), "/x/.." + abs, strings.Replace(abs, "/", "/%2e/", 1)}
	if rel, ok := strings.CutPrefix(abs+"/", e.dir+"/"); ok {
		rel = strings.TrimSuffix(rel, "/")
		out = append(out, rel, "./"+rel, "././"+rel, "x/../"+rel, "@"+rel, "@/"+rel, rel+"/.", "././/"+rel, "../"+path.Base(e.dir)+"/"+rel)
		if rel != "" {
			out = append(out, fmt.Sprintf("%%%02x%s", rel[0], rel[1:]), fmt.Sprintf("./%%%02x%s", rel[0], rel[1:]))
		} else {
			out = append(out, ".")
		}
	}
	return out
}

// goes reports whether a tool gets to a path by one of its names. replace goes to another file by a relative one.
func (e evaluated) goes(tool, argument, abs string) bool {
	if abs != e.dir && !strings.HasPrefix(abs, e.dir+"/") {
		return false // none goes there
	}
	return slices.ContainsFunc(e.spellings(abs), func(text string) bool {
		if tool == "replace" && !path.IsAbs(text) && e.decide(tool, map[string]string{argument: text, "old_string": "x"}) == "allow" {
			panic("replace takes a relative path")
		}
		return e.decide(tool, map[string]string{argument: text, "content": `","file_path":"x"`}) == "allow"
	})
}

func (e evaluated) Reads(abs string) bool {
	for _, tool := range []string{"glob", "grep_search", "read_many_files"} {
		if e.decide(tool, map[string]string{"dir_path": abs, "pattern": "*"}) != "deny" {
			return true
		}
	}
	return e.goes("read_file", "file_path", abs) || e.goes("list_directory", "dir_path", abs)
}

func (e evaluated) Writes(abs string) bool {
	return e.goes("write_file", "file_path", abs) || e.goes("replace", "file_path", abs)
}

// Permits is about the agent's own tools, since every command is asked about: none starts a program, or removes a file.
func (e evaluated) Permits(operation, abs string) bool {
	switch operation {
	case ir.Read.String():
		return e.Reads(abs)
	case ir.Create.String(), ir.Update.String():
		return e.Writes(abs)
	}
	return e.Runs("anything " + abs)
}

func (e evaluated) Connects(host string, port uint16) bool {
	return e.decide("google_web_search", map[string]string{"query": host}) != "deny" || e.Fetches(host)
}

func (e evaluated) Fetches(host string) bool {
	return e.decide("web_fetch", map[string]string{"prompt": "https://" + host}) != "deny"
}

func (e evaluated) Passes(string) bool { return false }

func (e evaluated) Runs(line string) bool {
	return e.decide("run_shell_command", map[string]string{"command": line, "description": "x"}) == "allow"
}

func (e evaluated) Marks() foreign.Marks { return foreign.Marks{} }

func model(t suite.Failing, data []byte, dir, _ string) foreign.Policy {
	return evaluated{read(t, data), dir}
}

var target = suite.Written{Backend: Backend{}, Sentences: []backends.Sentences{Sentences(), writer.Sentences()}, Model: model, Never: ir.All}

// TestFilesAgainstPolicy puts the same questions to random policies and to their rules, each path in several spellings. The
// answers may differ only where the ledger says in which direction.
func TestFilesAgainstPolicy(t *testing.T) {
	target.FilesAgainstPolicy(t, func(rt *rapid.T) *ir.Tool {
		tool := suite.Draw(rt)
		if rapid.Bool().Draw(rt, "no commands") {
			tool.Commands = &ir.CommandSet{}
		}
		return tool
	}, "fs true true stricter", "fs true false stricter", "fs false false weaker", "fs false false assumption")
}

// TestNetworkIsClosed: no policy opens a host.
func TestNetworkIsClosed(t *testing.T) {
	target.HostsAgainstPolicy(t, 500, 20, "net true false stricter", "net false false weaker")
}

// TestCommandsAgainstPolicy: a command that is asked about is one that the policy lets start, and none runs unasked.
func TestCommandsAgainstPolicy(t *testing.T) {
	words := []string{"a", "-x", "--k=v", "a b", "$h", "*", "", `"`, ";", "é"}
	seen := map[string]int{}
	irtest.Check(t, 1000, 20, func(rt *rapid.T) {
		tool := ir.NewTool("t")
		if rapid.IntRange(0, 9).Draw(rt, "any program") > 0 {
			tool.Commands = suite.Commands(rt, []string{"make", "g++", "x y", "A=b", "./run"}, words)
		}
		if rapid.IntRange(0, 9).Draw(rt, "no place") == 0 {
			tool.FS, tool.Base = nil, ir.BaseNone
		}
		c := target.Compile(rt, tool, ir.Bindings{Workspace: "/w"}, true)
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for range 20 {
			program := rapid.SampledFrom([]string{"make", "g++", "./run", "other", "makes"}).Draw(rt, "program")
			args := rapid.SliceOfN(rapid.SampledFrom(words[:3]), 0, 3).Draw(rt, "arguments")
			line := strings.Join(append([]string{program}, args...), " ")
			is := c.Model.(evaluated).decide("run_shell_command", map[string]string{"command": line, "dir_path": "."})
			may := (len(tool.FS) > 0 || tool.Base != ir.BaseNone) && view.Decide(ir.Run{Program: program, Args: args}).Allowed()
			seen[fmt.Sprintf("%s %v", is, may)]++
			if is == "allow" || (is == "ask_user") != may {
				rt.Fatalf("%q: %s, the policy says %v: %s", line, is, may, c.Output.Data)
			}
		}
	})
	irtest.Happened(t, seen, "ask_user true", "deny false")
}

// TestPaths: texts that Gemini CLI resolves otherwise than they are compared are refused, and so is a place that lies too deep.
func TestPaths(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Protects, tool.FS = false, []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In("b")}}
	f := read(t, target.Compile(t, tool, ir.Bindings{Workspace: "/w"}, false).Output.Data)
	for text, want := range map[string]string{
		"a": "allow", "./a": "allow", "/w/a": "allow", "a/b": "allow", "bb": "allow", "...": "allow", ".": "allow", "/w": "allow", "/w/": "allow", "": "allow", "/": "deny",
		"/wb": "deny", "b": "deny", "./b/x": "deny", "/w/b": "deny", "a/../b": "deny", "@b": "deny", "@a": "deny", "%62": "deny", "c:/b": "deny", `a\b`: "deny",
		"~/x": "deny", "../w/b": "deny", "/w//b": "deny", "a\x00b": "deny", `a"b`: "deny", strings.Repeat("é", 399): "allow", strings.Repeat("é", 400): "deny",
	} {
		if got := f.decide("read_file", map[string]string{"file_path": text}); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	tool.FS = append(tool.FS, ir.FSRule{At: ir.In("it's (a)+"), Caps: ir.Caps(ir.Read)}, ir.FSRule{At: ir.In("100%")})
	f = read(t, target.Compile(t, tool, ir.Bindings{Workspace: "/w"}, true).Output.Data)
	for text, want := range map[string]string{"it's (a)+": "deny", "./it's (a)+/x": "deny", "it's (aa": "allow", "100%": "deny", "/w/a": "deny", "100": "allow"} {
		if got := f.decide("write_file", map[string]string{"file_path": text}); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	tool.FS = nil
	for i := range 40 {
		tool.FS = append(tool.FS, ir.FSRule{At: ir.In(strings.TrimPrefix(strings.Repeat("/a", i), "/")), Caps: map[bool]ir.CapSet{true: ir.All}[i%2 == 0]})
	}
	c := target.Compile(t, tool, ir.Bindings{Workspace: "/w"}, false)
	for depth, want := range map[int]bool{0: true, 1: false, 30: true, 31: false, 32: false, 38: false} {
		if got := c.Model.Reads("/w" + strings.Repeat("/a", depth)); got != want {
			t.Errorf("depth %d: %v, want %v", depth, got, want)
		}
	}
}
