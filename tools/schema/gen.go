//go:build ignore

// This program writes schema.json, the JSON Schema of the configuration. It is separate from
// the compiler, which reads TOML by hand to know places; a test compares the two. Run it with
//
//	go generate ./cmd/accessc
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	text "strings"

	"github.com/invopop/jsonschema"
)

// config is a whole file.
type config struct {
	Format       int               `json:"accessc,omitempty" jsonschema:"enum=1" jsonschema_description:"The format of the policy."`
	Layers       []layer           `json:"layers,omitempty" jsonschema_description:"In the user's own file: how far the files that a pattern matches are trusted."`
	Extends      []string          `json:"extends,omitempty" jsonschema_description:"Files or globs, relative to this file, that are merged under it; and presets such as preset:rust, for every local tool of this file."`
	Members      []string          `json:"members,omitempty" jsonschema_description:"At the root of a workspace: the workspaces in it that may start tools, such as packages/*."`
	Tools        map[string]tool   `json:"tools,omitempty" jsonschema_description:"Tools by name."`
	Conversation *conversation     `json:"conversation,omitempty"`
	Servers      map[string]server `json:"servers,omitempty" jsonschema_description:"MCP servers by name; accessc mcp starts them."`

	Agents map[string]agent `json:"agents,omitempty" jsonschema_description:"Types of subagents by name. Those that are not listed have the policy of their parent."`

	Rulesets map[string]rules `json:"rulesets,omitempty" jsonschema_description:"Rules by which accessc decide answers for an agent's operations, by name."`
}

type agent struct {
	Tool   string `json:"tool" jsonschema_description:"The tool whose policy judges what such a subagent does."`
	Parent string `json:"parent,omitempty" jsonschema_description:"The tool of the agent that starts it, which must permit all of that."`
}

type rules struct {
	Extends list[string] `json:"extends,omitempty" jsonschema_description:"Rulesets whose rules are tried after these."`
	Shell   string       `json:"shell,omitempty" jsonschema:"enum=bash,enum=sh" jsonschema_description:"The shell that runs the command lines; bash by default."`
	Rules   list[rule]   `json:"rules,omitempty" jsonschema_description:"The first rule that matches wins."`
}

type rule struct {
	Outcome   string   `json:"outcome" jsonschema:"enum=allow,enum=ask,enum=deny"`
	Operation texts    `json:"operation,omitempty" jsonschema_description:"The kinds of operation: execute (the default), read, edit, delete, move, search, fetch, think, switch_mode, other."`
	Match     []string `json:"match,omitempty" jsonschema_description:"Command lines to which the rule must apply; tested whenever the file is read."`
	NotMatch  []string `json:"not_match,omitempty" jsonschema_description:"Command lines to which the rule must not apply."`
	Reason    string   `json:"reason,omitempty" jsonschema_description:"A sentence for the reader of a refusal."`
	conditions
	Any []matcher `json:"any,omitempty" jsonschema_description:"One of these must hold."`
	All []matcher `json:"all,omitempty" jsonschema_description:"All of these must hold."`
	Not *matcher  `json:"not,omitempty" jsonschema_description:"This must not hold."`
}

type conditions struct {
	Command     texts      `json:"command,omitempty" jsonschema_description:"The name of a program, or several."`
	Subcommands []string   `json:"subcommands,omitempty" jsonschema:"minItems=1" jsonschema_description:"Words that follow the program and its known options."`
	Prefix      []string   `json:"prefix,omitempty" jsonschema:"minItems=1" jsonschema_description:"Beginnings of commands, word by word."`
	Flags       []string   `json:"flags,omitempty" jsonschema:"minItems=1" jsonschema_description:"Options that must all be there, in any order."`
	Args        [][]string `json:"args,omitempty" jsonschema_description:"Whole argument lists; ** at the end stands for any further ones."`
	Group       string     `json:"group,omitempty" jsonschema:"enum=compilation,enum=read_only_git,enum=safe_npm"`
	Within      string     `json:"within_directory,omitempty" jsonschema_description:"A directory in which the working directory and all paths must lie."`
	Hosts       []string   `json:"hosts,omitempty" jsonschema:"minItems=1" jsonschema_description:"The hosts of a fetch."`
	Piped       bool       `json:"piped_to_shell,omitempty" jsonschema_description:"The output is run by a shell or an interpreter."`
}

type matcher struct {
	conditions
	Any []any          `json:"any,omitempty"`
	All []any          `json:"all,omitempty"`
	Not map[string]any `json:"not,omitempty"`
}

type texts struct{}

// JSONSchema describes a string or a list of them.
func (texts) JSONSchema() *jsonschema.Schema {
	return typed(&jsonschema.Schema{Items: &jsonschema.Schema{Type: "string"}, MinItems: ptr(1)}, "string", "array")
}

type layer struct {
	Path  string `json:"path" jsonschema_description:"A glob of the whole path if it begins with / or ~/, otherwise of the path in the workspace."`
	Trust string `json:"trust" jsonschema:"enum=narrow,enum=full" jsonschema_description:"narrow: the files may take away and not grant."`
}

type conversation struct {
	Tools map[string]tool `json:"tools,omitempty" jsonschema_description:"Tools by name, in the longer spelling."`
}

type tool struct {
	Source      string       `json:"source,omitempty" jsonschema:"pattern=^(local|builtin|mcp)(\\..+)?$" jsonschema_description:"Who runs the tool: local, builtin or mcp, alone or with a dotted name."`
	Command     *command     `json:"command,omitempty" jsonschema_description:"The command to start: words, or a table of program, args and shell."`
	Risk        string       `json:"risk,omitempty" jsonschema:"enum=low,enum=medium,enum=high" jsonschema_description:"The least risk that is shown for the tool."`
	Run         string       `json:"run,omitempty" jsonschema_description:"How the tool is invoked, such as ask or unattended."`
	Access      *access      `json:"access,omitempty" jsonschema_description:"The tool's permissions. Local tools only."`
	Constraints *constraints `json:"constraints,omitempty" jsonschema_description:"How often and after which tools the tool may be invoked."`
}

type server struct {
	Command     *command     `json:"command,omitempty" jsonschema_description:"The command to start: words, or a table of program, args and shell."`
	Risk        string       `json:"risk,omitempty" jsonschema:"enum=low,enum=medium,enum=high" jsonschema_description:"The least risk that is shown for the server."`
	Access      *access      `json:"access,omitempty" jsonschema_description:"The permissions of the server, and so of all its tools."`
	Constraints *constraints `json:"constraints,omitempty" jsonschema_description:"How often its tools may be invoked in a session, all together."`
}

type command struct{}

// JSONSchema describes the two forms of a command.
func (command) JSONSchema() *jsonschema.Schema {
	props := jsonschema.NewProperties()
	props.Set("program", &jsonschema.Schema{Type: "string"})
	props.Set("args", strings())
	props.Set("shell", &jsonschema.Schema{Type: "boolean"})
	return typed(&jsonschema.Schema{Properties: props, Required: []string{"program"}}, "string", "object")
}

// typed takes values of several types. Each keyword is about one of them, so that what is
// wrong is said of the form that was written: of alternatives a validator says no more than
// that none of them fits.
func typed(s *jsonschema.Schema, types ...string) *jsonschema.Schema {
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras["type"] = types
	return s
}

type constraints struct {
	MaxInvocations int      `json:"max_invocations,omitempty" jsonschema:"minimum=1"`
	OnlyAfter      []string `json:"only_after,omitempty"`
	Forbidden      bool     `json:"forbidden,omitempty"`
}

type access struct {
	Extends   list[preset]       `json:"extends,omitempty" jsonschema_description:"Presets, such as preset:rust, whose rules are added under those of the tool."`
	FS        list[fsRule]       `json:"fs,omitempty" jsonschema_description:"Files. The rule with the longest path wins in full."`
	May       list[mayRule]      `json:"may,omitempty" jsonschema_description:"Files and hosts that the user can grant while the tool runs under exec --ask. Grants nothing by itself."`
	Net       list[netRule]      `json:"net,omitempty" jsonschema_description:"Network. Without an allowing rule nothing gets out."`
	Env       list[envRule]      `json:"env,omitempty" jsonschema_description:"Environment variables that are forwarded."`
	Commands  map[string]program `json:"commands,omitempty" jsonschema_description:"Programs that may be started, by name or path; any without this table."`
	Sensitive list[string]       `json:"sensitive_paths,omitempty" jsonschema_description:"Paths whose exposure is worth a warning, beside the built-in ones."`
	Limits    *limits            `json:"limits,omitempty" jsonschema_description:"Resource limits."`
	Tests     list[test]         `json:"tests,omitempty" jsonschema_description:"Questions that must be answered so whenever the policy is compiled."`
	Base      string             `json:"base,omitempty" jsonschema:"enum=system,enum=minimal,enum=none" jsonschema_description:"The grants outside of the workspace."`
	Home      string             `json:"home,omitempty" jsonschema:"enum=private,enum=shared,enum=real" jsonschema_description:"Whether HOME is a directory of the tool's own, one of all tools of the workspace that say shared, or the user's."`
	Protected string             `json:"protected,omitempty" jsonschema:"enum=default,enum=none" jsonschema_description:"Whether files that later run code outside of the sandbox, such as git hooks, need a rule of their own to be written."`
	Late      string             `json:"late,omitempty" jsonschema:"enum=closed,enum=open" jsonschema_description:"Whether a tool that cannot make names beside an exception reads files that others make there during its run; open also gives a supervisor to a tool that may only read."`
	Accept    list[gap]          `json:"accept,omitempty" jsonschema_description:"Gaps that are accepted, such as net.host: requirements that some hosts do not meet."`
}

type preset struct{}

// JSONSchema describes the name of a preset.
func (preset) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^preset:(" + text.Join(presetNames(), "|") + ")(@[0-9]+)?$"}
}

// presetNames reads the directory: the package of presets needs the compiler's modules.
func presetNames() []string {
	files, err := filepath.Glob("../../compiler/presets/*.toml")
	if err != nil || len(files) == 0 {
		log.Fatal("found no presets: ", err)
	}
	for i, f := range files {
		files[i] = text.TrimSuffix(filepath.Base(f), ".toml")
	}
	return files
}

type fsRule struct {
	Path     string   `json:"path" jsonschema:"pattern=^([^~$]|~(/|$)|$)" jsonschema_description:"A literal path prefix, relative to the workspace root. With external also ~/ and a path below the home and, in the user's own layer, an absolute path."`
	Names    []string `json:"names,omitempty" jsonschema:"minItems=1" jsonschema_description:"Patterns: the rule is about every name below the path that matches, in any directory, also one that is made later. * stands for any characters, ? for one, [a-z] for one of a set."`
	External bool     `json:"external,omitempty" jsonschema_description:"The path is a symlink that may leave the workspace, or names a place outside of it by itself."`
	Read     bool     `json:"read,omitempty"`
	Write    bool     `json:"write,omitempty" jsonschema_description:"Sets create, update and delete where they are not written."`
	Create   bool     `json:"create,omitempty"`
	Update   bool     `json:"update,omitempty"`
	Delete   bool     `json:"delete,omitempty"`
	Execute  bool     `json:"execute,omitempty"`
	Mount    bool     `json:"mount,omitempty" jsonschema_description:"Written by accessc mount."`
	Remove   bool     `json:"remove,omitempty" jsonschema_description:"Takes the rules of earlier layers about the path away."`
}

// mayRule is an fs rule on a place of the workspace, or a net rule on a host.
type mayRule struct {
	Path    string `json:"path,omitempty" jsonschema:"pattern=^([^~$/]|$)" jsonschema_description:"A literal path prefix, relative to the workspace root."`
	Read    bool   `json:"read,omitempty"`
	Write   bool   `json:"write,omitempty" jsonschema_description:"Sets create, update and delete where they are not written."`
	Create  bool   `json:"create,omitempty"`
	Update  bool   `json:"update,omitempty"`
	Delete  bool   `json:"delete,omitempty"`
	Execute bool   `json:"execute,omitempty"`
	Host    string `json:"host,omitempty" jsonschema_description:"A name, *.name, *, an IPv4 or a bracketed IPv6 address."`
	Scheme  string `json:"scheme,omitempty" jsonschema_description:"https, http, or tcp for connections whose bytes are not looked at."`
	Port    int    `json:"port,omitempty" jsonschema:"minimum=1,maximum=65535"`
	Allow   bool   `json:"allow,omitempty" jsonschema_description:"Whether connections to the host can be granted."`
}

// JSONSchemaExtend has every rule name a place or a host.
func (mayRule) JSONSchemaExtend(s *jsonschema.Schema) {
	s.If = &jsonschema.Schema{Required: []string{"host"}}
	s.Then, s.Else = jsonschema.TrueSchema, &jsonschema.Schema{Required: []string{"path"}}
}

type netRule struct {
	Host       string      `json:"host,omitempty" jsonschema_description:"A name, *.name, *, an IPv4 or a bracketed IPv6 address."`
	Scheme     string      `json:"scheme,omitempty" jsonschema_description:"https, http, or tcp for connections whose bytes are not looked at."`
	Port       int         `json:"port,omitempty" jsonschema:"minimum=1,maximum=65535"`
	Path       string      `json:"path_prefix,omitempty" jsonschema:"pattern=^/" jsonschema_description:"The beginning of the path, by segments. In https it is seen with inspect alone."`
	Methods    []method    `json:"methods,omitempty" jsonschema:"minItems=1" jsonschema_description:"The methods of requests, such as GET; all without this. Needs inspect unless the scheme is http."`
	Inspect    bool        `json:"inspect,omitempty" jsonschema_description:"TLS is terminated by the egress proxy, so that paths and methods are seen."`
	Opaque     bool        `json:"opaque,omitempty" jsonschema_description:"TLS is passed whatever name its client asks for."`
	Credential *credential `json:"credential,omitempty" jsonschema_description:"A secret that the egress proxy puts into the requests; the tool has a stand-in."`
	Listen     bool        `json:"listen,omitempty" jsonschema_description:"The rule is about accepting connections at localhost, an address of this host, or *."`
	Allow      bool        `json:"allow,omitempty"`
	Remove     bool        `json:"remove,omitempty" jsonschema_description:"Takes the rules of earlier layers about these targets away."`
}

// JSONSchemaExtend has every rule name a host but those about listening.
func (netRule) JSONSchemaExtend(s *jsonschema.Schema) {
	s.If = member("listen", &jsonschema.Schema{Const: true})
	s.Then, s.Else = jsonschema.TrueSchema, &jsonschema.Schema{Required: []string{"host"}}
}

type method struct{}

// JSONSchema describes a method.
func (method) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^[A-Z-]+$", Not: &jsonschema.Schema{Enum: []any{"CONNECT", "TRACE", "TRACK"}}}
}

type credential struct {
	Env     string `json:"env,omitempty" jsonschema_description:"The caller's variable that holds the secret; the tool sees a stand-in in it."`
	File    string `json:"file,omitempty" jsonschema:"pattern=^(~?/)" jsonschema_description:"The file that holds the secret. Not in a layer of the workspace."`
	Command words  `json:"command,omitempty" jsonschema_description:"The command that prints the secret, run outside of the sandbox. Not in a layer of the workspace."`
	As      string `json:"as" jsonschema:"enum=header,enum=basic,enum=query" jsonschema_description:"The part of a request that carries the secret."`
	Name    string `json:"name" jsonschema_description:"The name of the header or of the query's parameter; for basic, the user."`
}

// JSONSchemaExtend has a credential name one source.
func (credential) JSONSchemaExtend(s *jsonschema.Schema) {
	// One of the three, and as and name.
	s.MinProperties, s.MaxProperties = ptr(3), ptr(3)
}

type words struct{}

// JSONSchema describes the two forms of a command without settings.
func (words) JSONSchema() *jsonschema.Schema {
	return typed(&jsonschema.Schema{Items: &jsonschema.Schema{Type: "string"}, MinItems: ptr(1)}, "string", "array")
}

type envRule struct {
	Name   string `json:"name" jsonschema_description:"A name, or a prefix with one * at the end."`
	Read   bool   `json:"read,omitempty"`
	Remove bool   `json:"remove,omitempty" jsonschema_description:"Takes the rules of earlier layers about the name away."`
}

type program struct {
	Args [][]string `json:"args,omitempty" jsonschema_description:"Allowed argument lists; ** at the end allows any further ones."`
	Envs []string   `json:"envs,omitempty"`
}

type limits struct {
	Memory    size     `json:"memory,omitempty"`
	Processes int      `json:"processes,omitempty" jsonschema:"minimum=1"`
	CPUTime   duration `json:"cpu_time,omitempty"`
	WallTime  duration `json:"wall_time,omitempty"`
	OpenFiles int      `json:"open_files,omitempty" jsonschema:"minimum=1"`
	FileSize  size     `json:"file_size,omitempty"`
}

type size struct{}

// JSONSchema describes bytes as a number or with a unit.
func (size) JSONSchema() *jsonschema.Schema {
	return typed(&jsonschema.Schema{Minimum: "1", Pattern: `^\s*[0-9]+\s*([KMGT](i?B)?|B)?\s*$`, Examples: []any{"512MiB"}}, "integer", "string")
}

type duration struct{}

// JSONSchema describes a time with its unit.
func (duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^\+?([0-9]*\.?[0-9]*(ns|us|µs|μs|ms|s|m|h))+$`, Examples: []any{"30s"}}
}

type gap struct{}

// gaps are the names that access.accept takes; a test holds them
// against those of the compiler.
var gaps = []any{
	"commands.args", "commands.envs", "commands.program",
	"fs.create", "fs.default", "fs.execute", "fs.late", "fs.metadata", "fs.move", "fs.names", "fs.paths", "fs.protected", "fs.replaced",
	"fs.revoke", "fs.socket", "fs.write",
	"limits.cpu_time", "limits.file_size", "limits.memory", "limits.open_files", "limits.processes", "limits.wall_time",
	"net.address", "net.default", "net.host", "net.listen", "net.path", "process.signal",
}

// JSONSchema lists the names.
func (gap) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: gaps} }

type test struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// list is an array, or a table with a merge strategy for it.
type list[T any] struct{}

// JSONSchema describes both forms.
func (list[T]) JSONSchema() *jsonschema.Schema {
	array := reflector().Reflect([]T{})
	array.Version, array.ID = "", ""
	props := jsonschema.NewProperties()
	props.Set("strategy", &jsonschema.Schema{Enum: []any{"append", "prepend", "replace"}})
	props.Set("value", array)
	props.Set("dedup", &jsonschema.Schema{Enum: []any{true, false, "inherit"}})
	props.Set("discard_when_merged", &jsonschema.Schema{Type: "boolean"})
	return typed(&jsonschema.Schema{
		Items: array.Items, Properties: props, Required: []string{"value"}, AdditionalProperties: jsonschema.FalseSchema,
		If: member("strategy", &jsonschema.Schema{Const: "replace"}), Then: member("value", &jsonschema.Schema{MinItems: ptr(1)}),
	}, "array", "object")
}

// member is a table that has a key of a kind.
func member(key string, of *jsonschema.Schema) *jsonschema.Schema {
	props := jsonschema.NewProperties()
	props.Set(key, of)
	return &jsonschema.Schema{Properties: props, Required: []string{key}}
}

func ptr(n uint64) *uint64 { return &n }

func strings() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
}

func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
}

func main() {
	s := reflector().Reflect(&config{})
	s.ID = "https://github.com/accessc/accessc/raw/main/cmd/accessc/schema.json"
	s.Title, s.Description = "accessc", "Access policies of the tools of AI agents."
	free(s)
	data, err := json.Marshal(s)
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		log.Fatal(err)
	}
	out.WriteByte('\n')
	if err := os.WriteFile("schema.json", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// ofAll is the part of a tool's access that the table of defaults may have.
func ofAll(tool *jsonschema.Schema) *jsonschema.Schema {
	access, _ := tool.Properties.Get("access")
	props := jsonschema.NewProperties()
	for _, key := range []string{"base", "limits", "sensitive_paths"} {
		s, _ := access.Properties.Get(key)
		props.Set(key, s)
	}
	return &jsonschema.Schema{Type: "object", Properties: props, AdditionalProperties: jsonschema.FalseSchema}
}

// hostKeys are the keys of a tool that its host reads.
var hostKeys = []string{"description", "examples", "format", "options", "parameters", "questions", "result", "style", "summary"}

// free permits keys that begin with x- in the file, the conversation and the tool, and in the tool those of its host.
func free(file *jsonschema.Schema) {
	own := map[string]*jsonschema.Schema{"^x-": jsonschema.TrueSchema}
	host := map[string]*jsonschema.Schema{"^x-": jsonschema.TrueSchema, "^(enable|run|source|" + text.Join(hostKeys, "|") + ")$": jsonschema.TrueSchema}
	tools, _ := file.Properties.Get("tools")
	conversation, _ := file.Properties.Get("conversation")
	long, _ := conversation.Properties.Get("tools")
	servers, _ := file.Properties.Get("servers")
	file.PatternProperties, conversation.PatternProperties = own, own
	servers.AdditionalProperties.PatternProperties = host
	for _, t := range []*jsonschema.Schema{tools, long} {
		t.AdditionalProperties.PatternProperties = host
		// The table of defaults takes no rules.
		defaults := jsonschema.NewProperties()
		defaults.Set("access", ofAll(t.AdditionalProperties))
		t.Properties = jsonschema.NewProperties()
		t.Properties.Set("*", &jsonschema.Schema{
			Type: "object", Properties: defaults, PatternProperties: host, AdditionalProperties: jsonschema.FalseSchema,
			Description: "Settings of all tools. Rules are written tool by tool.",
		})
	}
}
