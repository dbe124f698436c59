package irjson

import "slices"

// Format identifies the document.
const Format = "accessc/policy"

// The types below are the document, field by field in the order in which it is
// written. Lists are never null: an empty list is written as [].

type document struct {
	Format  string    `json:"format"`
	Version int       `json:"format_version"`
	Tools   []ToolDoc `json:"tools"`
}

// ToolDoc is a tool in the document; the manifest embeds it.
type ToolDoc struct {
	Name        string          `json:"name"`                    // of the tool
	Source      string          `json:"source"`                  // the program that runs it
	SourceAt    *origin         `json:"source_origin,omitempty"` // the place that says so
	Run         string          `json:"run,omitempty"`           // the invocation mode
	Disabled    bool            `json:"disabled,omitempty"`      // as in ir.Tool
	Command     *command        `json:"command,omitempty"`       // nil if none is configured
	Base        string          `json:"base"`                    // the grants outside of the workspace
	BaseVersion int             `json:"base_version"`            // of the list of that name
	Home        string          `json:"home"`                    // "private", "shared" or "real"
	LateOpen    bool            `json:"late_open,omitempty"`     // as in ir.Tool
	LeastRisk   string          `json:"least_risk,omitempty"`    // that a layer wrote
	Protected   *protected      `json:"protected,omitempty"`     // paths that are not written
	FS          fsList          `json:"fs"`                      // rules for files
	May         []fsRule        `json:"may,omitempty"`           // rules for files, to be granted while it runs
	MayNet      []netRule       `json:"may_net,omitempty"`       // rules for hosts that can be
	Net         netList         `json:"net"`                     // rules for connections
	Env         envList         `json:"env"`                     // rules for variables
	Commands    *commands       `json:"commands"`                // null means any program
	Sensitive   []pattern       `json:"sensitive_paths"`         // paths whose exposure gives a warning
	Limits      []limit         `json:"limits"`                  // bounds of resources
	Constraints *ConstraintsDoc `json:"constraints,omitempty"`   // nil where there are none
	Tests       []assertion     `json:"tests"`                   // questions and expected answers
	Accept      []acceptance    `json:"accept"`                  // requirements that are knowingly unenforced
	Removed     []removal       `json:"removed,omitempty"`       // rules that a later layer took away
}

// Identity is the part of a tool that says which tool it is: what several tools may have alike
// is the rest.
type Identity struct {
	Name     string   `json:"name"`                    // the tool's name
	Source   string   `json:"source"`                  // where the tool comes from
	SourceAt *origin  `json:"source_origin,omitempty"` // where a layer says so
	Run      string   `json:"run,omitempty"`           // "unattended", or empty
	Command  *command `json:"command,omitempty"`       // the tool's program
}

// Identity returns the identity of a tool.
func (d ToolDoc) Identity() Identity {
	return Identity{d.Name, d.Source, d.SourceAt, d.Run, d.Command}
}

// Of returns the document of another tool that has the rest alike.
func (d ToolDoc) Of(id Identity) ToolDoc {
	d.Name, d.Source, d.SourceAt, d.Run, d.Command = id.Name, id.Source, id.SourceAt, id.Run, id.Command
	return d
}

// Rules is the number of rules and patterns in the document, 0 for nil.
func (d *ToolDoc) Rules() int {
	if d == nil {
		return 0
	}
	n := len(d.FS.Rules) + len(d.May) + len(d.MayNet) + len(d.Net.Rules) + len(d.Env.Rules) + len(d.Sensitive) +
		len(d.Tests)
	if d.Protected != nil {
		n += len(d.Protected.More)
	}
	if d.Commands != nil {
		for _, r := range d.Commands.Rules {
			n += 1 + len(r.Args)
		}
	}
	return n
}

// WithoutFields returns the document without the places of the fields of rules, which are most of it. The places of the
// rules themselves stay.
func (d ToolDoc) WithoutFields() *ToolDoc {
	d.FS.Rules, d.May = unplaced(d.FS.Rules, placeOfFS), unplaced(d.May, placeOfFS)
	d.Net.Rules, d.MayNet = unplaced(d.Net.Rules, placeOfNet), unplaced(d.MayNet, placeOfNet)
	d.Env.Rules = unplaced(d.Env.Rules, func(r *envRule) **origin { return &r.Origin })
	return &d
}

func placeOfFS(r *fsRule) **origin   { return &r.Origin }
func placeOfNet(r *netRule) **origin { return &r.Origin }

// unplaced copies rules with origins that name no fields.
func unplaced[R any](rules []R, of func(*R) **origin) []R {
	out := slices.Clone(rules)
	for i := range out {
		if at := of(&out[i]); *at != nil {
			bare := **at
			bare.Leaf = nil
			*at = &bare
		}
	}
	return out
}

// OriginDoc is where something was written.
type OriginDoc = origin

type origin struct {
	Layer string            `json:"layer"`
	At    string            `json:"at,omitempty"`
	Path  string            `json:"path,omitempty"`
	Label string            `json:"label,omitempty"`
	Leaf  map[string]string `json:"fields,omitempty"`
}

// protected is absent where writing to protected paths is not taken away.
type protected struct {
	Version int             `json:"version"`
	More    []protectedPath `json:"more,omitempty"`
}

type protectedPath struct {
	Root    string  `json:"root,omitempty"` // of an external rule, in place of the workspace
	Path    string  `json:"path"`
	Open    bool    `json:"open,omitempty"`    // in a protected directory, and not protected
	Pattern bool    `json:"pattern,omitempty"` // of names, in place of a path
	Why     string  `json:"why"`
	Origin  *origin `json:"origin,omitempty"`
}

type command struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Shell   bool     `json:"shell"`
	Origin  *origin  `json:"origin,omitempty"`
}

type fsList struct {
	Declared bool     `json:"declared"`
	Rules    []fsRule `json:"rules"`
}

type fsRule struct {
	Written  string   `json:"written,omitempty"`
	At       string   `json:"at"`
	Names    []string `json:"names,omitempty"` // patterns; the rule is about names below the place
	External bool     `json:"external,omitempty"`
	Links    []string `json:"links,omitempty"`
	Mount    bool     `json:"mount,omitempty"`
	Caps     []string `json:"caps"`
	Origin   *origin  `json:"origin,omitempty"`
}

type netList struct {
	Declared bool      `json:"declared"`
	Rules    []netRule `json:"rules"`
}

type netRule struct {
	Written    string      `json:"written,omitempty"`
	Host       string      `json:"host"`
	Scheme     string      `json:"scheme,omitempty"`
	Port       uint16      `json:"port,omitempty"`
	Path       []string    `json:"path,omitempty"`
	Methods    []string    `json:"methods,omitempty"`
	Inspect    bool        `json:"inspect,omitempty"`
	Opaque     bool        `json:"opaque,omitempty"`
	Listen     bool        `json:"listen,omitempty"`
	Credential *credential `json:"credential,omitempty"`
	Allow      bool        `json:"allow"`
	Origin     *origin     `json:"origin,omitempty"`
}

type credential struct {
	Env     string   `json:"env,omitempty"`
	File    string   `json:"file,omitempty"`
	Command []string `json:"command,omitempty"`
	As      string   `json:"as"`
	Name    string   `json:"name"`
}

type envList struct {
	Declared bool      `json:"declared"`
	Rules    []envRule `json:"rules"`
}

type envRule struct {
	Name   string  `json:"name"`
	Prefix bool    `json:"prefix,omitempty"`
	Read   bool    `json:"read"`
	Value  string  `json:"value,omitempty"`
	Origin *origin `json:"origin,omitempty"`
}

type commands struct {
	Rules  []commandRule `json:"rules"`
	Origin *origin       `json:"origin,omitempty"`
}

type commandRule struct {
	Program string       `json:"program"`
	File    string       `json:"file,omitempty"`
	Args    []argPattern `json:"args"`
	AnyArgs bool         `json:"any_args"`
	Envs    []string     `json:"envs"`
	AllEnvs bool         `json:"all_envs"`
	Origin  *origin      `json:"origin,omitempty"`
}

type argPattern struct {
	Words []string `json:"words"`
	Rest  bool     `json:"rest"`
}

type removal struct {
	Resource string  `json:"resource"`
	Subject  string  `json:"subject"`
	Origin   *origin `json:"origin,omitempty"`
	By       *origin `json:"by,omitempty"`
}

type pattern struct {
	Pattern string  `json:"pattern"`
	Origin  *origin `json:"origin,omitempty"`
}

type limit struct {
	Kind   string  `json:"kind"`
	Value  uint64  `json:"value"`
	Origin *origin `json:"origin,omitempty"`
}

// ConstraintsDoc is the text form of ir.Constraints.
type ConstraintsDoc struct {
	MaxInvocations int      `json:"max_invocations,omitempty"` // 0 when unlimited
	OnlyAfter      []string `json:"only_after"`                // tools to be invoked before
	Forbidden      bool     `json:"forbidden,omitempty"`       // may not be invoked at all
	Origin         *origin  `json:"origin,omitempty"`          // layer and place
}

type assertion struct {
	Expect   string  `json:"expect"`
	Question string  `json:"question"`
	Origin   *origin `json:"origin,omitempty"`
}

type acceptance struct {
	Name   string  `json:"name"`
	Origin *origin `json:"origin,omitempty"`
}
