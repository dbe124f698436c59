// Package contextjson compiles a policy into the Context that cooperating tools read: the root,
// and the finalized rules in the order in which ties are decided.
//
// The Context restricts nothing by itself; every cell of its ledger is advisory.
// Consumers exist that read an empty list as "unrestricted". So a list that denies
// everything is never empty: it holds one rule that matches everything or nothing
// and grants nothing.
package contextjson

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Context is the document. Its field names are a wire format that others read.
type Context struct {
	// Root is the workspace's path; a symbol in a portable document.
	Root string `json:"root"`
	// Action is the request of the host, Run or FormatArguments.
	Action string `json:"action"`
	Tool   string `json:"tool"` // the tool's name
	// WorkspaceID and ConversationID are the host's names of the workspace and the conversation that
	// a call belongs to, absent where it gives none.
	WorkspaceID    string `json:"workspace_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	// Arguments, Answers and Options are objects of the call, absent where the host gives none:
	// the model's arguments, the user's answers to the tool's questions by their names, and the
	// configuration of the tool.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Answers   json.RawMessage `json:"answers,omitempty"`
	Options   json.RawMessage `json:"options,omitempty"`
	// Access is nil for a tool that runs without any sandbox.
	Access *Access `json:"access"`
}

// The actions. A tool that is to format its arguments shows the effects of a run, and does nothing
// else. The policy is the same for both.
const (
	Run             = "run"
	FormatArguments = "format_arguments"
)

// Access is the finalized policy. A null in its place means that the tool runs
// without any sandbox; this package never writes a null.
type Access struct {
	Base Base `json:"base"` // the grants outside of the workspace
	// Home is "real" where HOME and the XDG directories are the user's, "shared" where further tools of the workspace
	// have them, and absent where they are the tool's own.
	Home string `json:"home,omitempty"`
	// FS are the rules in the order of the policy. Where some are by name it denies everything, and ByName has
	// all rules in its place: a reader that does not know names would take such a rule for a rule on the path
	// itself, or not see what it denies.
	FS     []FSRule `json:"fs"`
	ByName []FSRule `json:"fs_by_name,omitempty"`
	// Protected names the list of paths that a rule around them does not let be changed;
	// absent where there is none.
	Protected *Protected `json:"protected,omitempty"`
	Net       []NetRule  `json:"net"` // in the order of the policy
	// Listen has the rules about listening, absent where there is none.
	// See decision D107.
	Listen   []ListenRule        `json:"listen,omitempty"`
	Env      []EnvRule           `json:"env"`      // in the order of the policy
	Commands map[string]*Command `json:"commands"` // by program; null means any program
}

// Protected names a list of paths, with further paths relative to the root.
type Protected struct {
	Version int `json:"version"` // of the list of paths
	// More lists further paths, relative to the root or below the path of an external rule.
	More []string `json:"more,omitempty"`
	// Open lists paths in them that are not protected.
	Open []string `json:"open,omitempty"`
	// Patterns lists further patterns of paths.
	Patterns []string `json:"patterns,omitempty"`
}

// Base names the list of grants outside of the workspace.
type Base struct {
	Name    string `json:"name"`    // such as "system"
	Version int    `json:"version"` // of the list of that name
}

// FSRule is a filesystem rule. LexicalPath is relative to the root, and empty for the root
// itself. The path of an external rule may begin with "~/" or be absolute, and so may the path of a rule below an
// external rule, which grants nothing; a name of the root that begins with "~" has "./" before it.
type FSRule struct {
	LexicalPath string `json:"lexical_path"` // as the policy has it
	// Names are the patterns of a rule by name, which is about each path below whose last component matches a pattern;
	// absent for a rule on the path itself. Only rules of ByName have some.
	Names    []string `json:"names,omitempty"`
	External bool     `json:"external"` // on a symlink that leads out of the workspace
	// ApprovedTarget is the target of an external rule, nil for other rules.
	ApprovedTarget *string `json:"approved_target"`
	Read           bool    `json:"read"`    // list and read
	Create         bool    `json:"create"`  // make new names
	Update         bool    `json:"update"`  // change existing files
	Delete         bool    `json:"delete"`  // remove names
	Execute        bool    `json:"execute"` // start as a program
}

// NetRule is a network rule.
type NetRule struct {
	Host string `json:"host"` // a name, an address or a pattern
	// Scheme, Port and PathPrefix are nil where the rule does not name them.
	Scheme     *string `json:"scheme,omitempty"`
	Port       *uint16 `json:"port,omitempty"`
	PathPrefix *string `json:"path_prefix,omitempty"`
	// Methods are the methods of the requests that the rule is about, absent for all.
	Methods []string `json:"methods,omitempty"`
	// Inspect is true where the egress proxy terminates TLS, Opaque where it does not look at it.
	Inspect bool `json:"inspect,omitempty"`
	Opaque  bool `json:"opaque,omitempty"`
	// Credential is the secret that the egress proxy puts into the requests; absent for none.
	Credential *Credential `json:"credential,omitempty"`
	Allow      bool        `json:"allow"` // false for a rule that denies
}

// Credential says where a secret stands in a request. Where it comes from is not the tool's to
// know, but for the variable that has a stand-in.
type Credential struct {
	Env  string `json:"env,omitempty"` // the variable, if the source is a variable
	As   string `json:"as"`            // header, basic or query
	Name string `json:"name"`          // of the header, the user or the parameter
}

// ListenRule is one rule about accepting connections.
type ListenRule struct {
	Host string `json:"host"` // localhost, an address or "*"
	// Port is nil where the rule is about all ports above 1023.
	Port  *uint16 `json:"port,omitempty"`
	Allow bool    `json:"allow"` // false for a rule that denies
}

// EnvRule is an environment rule; the name of a prefix ends in "*".
type EnvRule struct {
	Name string `json:"name"` // a variable, or a prefix and "*"
	Read bool   `json:"read"` // whether matching variables are forwarded
}

// Command is one program. A null list of args means any arguments, a null list of
// envs all of the tool's variables.
type Command struct {
	Args [][]string `json:"args"` // the argument lists that are allowed
	Envs []string   `json:"envs"` // the variables that the program gets
}

// Rules are the rules on files, in the order of the policy.
// See decision D107.
func (a *Access) Rules() []FSRule {
	if a.ByName != nil {
		return a.ByName
	}
	return a.FS
}

// The sentinels stand for "everything is denied".
var (
	denyFS  = FSRule{}
	denyNet = NetRule{Host: "invalid"}
	denyEnv = EnvRule{Name: "_"}
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "context" }

// File implements backends.Backend.
func (Backend) File() string { return "context.json" }

// Platform implements backends.Backend: the Context is for every system.
func (Backend) Platform() ir.Platform { return 0 }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	data, err := backends.JSON(build(t, target))
	return backends.Output{Data: data, Ledger: ledger(t)}, err
}

// Refusals implements backends.Refuser: every policy can be written.
func (Backend) Refusals(*ir.Tool, backends.Target) []backends.Refusal { return nil }

func build(t *ir.Tool, target backends.Target) Context {
	a := &Access{Base: Base{t.Base.String(), ir.BaseVersion}, FS: []FSRule{}, Net: []NetRule{}, Env: []EnvRule{}}
	if t.Home == ir.HomeReal || t.HomeShared {
		a.Home = t.HomeWord()
	}
	for i := range t.FS {
		a.FS = append(a.FS, fsRule(&t.FS[i], target))
	}
	if slices.ContainsFunc(t.FS, func(r ir.FSRule) bool { return r.ByName() }) {
		a.FS, a.ByName = nil, a.FS // sealed
	}
	if t.Protects {
		a.Protected = &Protected{Version: ir.ProtectedVersion}
		for _, p := range slices.Concat(t.Protected, target.Facts.Protected) {
			switch {
			case p.Pattern:
				a.Protected.Patterns = append(a.Protected.Patterns, p.Path)
			case p.Open:
				a.Protected.Open = append(a.Protected.Open, p.At().Short())
			default:
				a.Protected.More = append(a.Protected.More, p.At().Short())
			}
		}
	}
	for i := range t.Net {
		if r := &t.Net[i]; r.Listen {
			a.Listen = append(a.Listen, ListenRule{r.Host.String(), some(r.Port), r.Allow})
		} else {
			a.Net = append(a.Net, netRule(r))
		}
	}
	for i := range t.Env {
		a.Env = append(a.Env, EnvRule{t.Env[i].Subject(), t.Env[i].Read})
	}
	if t.Commands != nil {
		a.Commands = map[string]*Command{}
		for i := range t.Commands.Rules {
			a.Commands[t.Commands.Rules[i].Program] = command(&t.Commands.Rules[i])
		}
	}
	a.seal()
	return Context{Root: target.Place(ir.In("")), Action: Run, Tool: t.Name, Access: a}
}

// seal puts the sentinels into lists that would be read as unrestricted.
func (a *Access) seal() {
	if len(a.FS) == 0 {
		a.FS = append(a.FS, denyFS)
	}
	if len(a.Net) == 0 {
		a.Net = append(a.Net, denyNet)
	}
	if len(a.Env) == 0 {
		a.Env = append(a.Env, denyEnv)
	}
}

func fsRule(r *ir.FSRule, target backends.Target) FSRule {
	out := FSRule{
		LexicalPath: r.At.Path, Names: r.Names, External: r.External,
		Read: r.Caps.Has(ir.Read), Create: r.Caps.Has(ir.Create), Update: r.Caps.Has(ir.Update),
		Delete: r.Caps.Has(ir.Delete), Execute: r.Caps.Has(ir.Execute),
	}
	if r.At.Root.Kind == ir.External || strings.HasPrefix(r.At.Path, "~") {
		out.LexicalPath = r.At.Spelled()
	}
	if r.External {
		place := target.Place(r.At)
		out.ApprovedTarget = &place
	}
	return out
}

func netRule(r *ir.NetRule) NetRule {
	out := NetRule{
		Host: r.Host.String(), Scheme: some(r.Scheme), Port: some(r.Port), Methods: r.Methods,
		Inspect: r.Inspect, Opaque: r.Opaque, Allow: r.Allow,
	}
	if c := r.Credential; c != nil {
		out.Credential = &Credential{c.Env, c.As, c.Name}
	}
	if len(r.Path) > 0 {
		prefix := ""
		for _, seg := range r.Path {
			prefix += "/" + seg
		}
		out.PathPrefix = &prefix
	}
	return out
}

// some returns a pointer to a value, nil for the zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func command(r *ir.CommandRule) *Command {
	c := &Command{}
	if !r.AnyArgs {
		c.Args = [][]string{}
		for _, p := range r.Args {
			words := slices.Concat([]string{}, p.Words)
			if p.Rest {
				words = append(words, "**")
			}
			c.Args = append(c.Args, words)
		}
	}
	if !r.AllEnvs {
		c.Envs = slices.Concat([]string{}, r.Envs)
	}
	return c
}
