package ir

import (
	"net/netip"
	"strings"
)

// Resource is a kind of thing that a policy restricts.
type Resource uint8

// The resources. Process covers the restrictions that every confined tool has without any rule,
// such as on signals to processes outside.
const (
	FS Resource = iota + 1
	Net
	Env
	Commands
	Limits
	Process
)

// Resources lists every resource in canonical order.
var Resources = [...]Resource{FS, Net, Env, Commands, Limits, Process}

// String returns the configuration key of r.
func (r Resource) String() string {
	switch r {
	case FS:
		return "fs"
	case Net:
		return "net"
	case Env:
		return "env"
	case Commands:
		return "commands"
	case Limits:
		return "limits"
	case Process:
		return "process"
	default:
		return "none"
	}
}

// Rule is a rule of any resource.
//
//sumtype:decl
type Rule interface {
	// Source returns where the rule was written.
	Source() Origin
	// Subject returns the path, host, name or program that the rule is about.
	Subject() string
	isRule()
}

// FSRule grants capabilities at and below a place, or at and below each name that matches a pattern in any directory
// below that place.
type FSRule struct {
	// Written is the path as its layer spells it.
	Written string
	// Names are the patterns of a rule by name, in the spelling of MatchName, sorted and each once; empty for a
	// rule that is about At itself.
	Names []string
	// At is the canonical place. For an external rule it is the root of the approved target,
	// and the name of that root is the rule's lexical path.
	At Location
	// External marks a rule on a symlink that leads out of the workspace.
	External bool
	// Links are the symlinks of the workspace that the written path leads over. Their
	// names may not be moved or removed: the rule would be about another place.
	Links []Location
	// Mount marks a rule that the mount command wrote and may take away.
	Mount  bool
	Caps   CapSet // granted here and below
	Origin Origin // layer and place
	// Leaves are the places of the written fields.
	Leaves []Leaf
}

// HostKind distinguishes the patterns that a net rule's host can be.
type HostKind uint8

// The kinds of host pattern.
const (
	// HostName is a domain name in ASCII form.
	HostName HostKind = iota + 1
	// HostAddr is a literal IP address.
	HostAddr
	// HostSuffix is "*.name": any labels, at least one, in front of name.
	HostSuffix
	// HostAny is "*".
	HostAny
)

// Host is a canonical host or host pattern. Name is lower-case ASCII without a trailing dot; it
// is empty for HostAddr and HostAny. Addr is set only for HostAddr.
type Host struct {
	Kind HostKind   // the form of the host
	Name string     // or the fixed part of a pattern
	Addr netip.Addr // of a HostAddr
}

// String writes the host as a rule spells it.
func (h Host) String() string {
	switch h.Kind {
	case HostName:
		return h.Name
	case HostAddr:
		if h.Addr.Is6() {
			return "[" + h.Addr.String() + "]"
		}
		return h.Addr.String()
	case HostSuffix:
		return "*." + h.Name
	case HostAny:
		return "*"
	default:
		return ""
	}
}

// NetRule allows or denies connections to matching targets.
type NetRule struct {
	// Written is the host as its layer spells it.
	Written string
	Host    Host // canonical
	// Scheme is lower-case, empty for any.
	Scheme string
	// Port is 0 when the rule names none: the default port of the target's scheme.
	Port uint16
	// Path holds the segments of path_prefix, empty for any path.
	Path []string
	// Methods are the methods of requests that the rule is about, empty for all.
	Methods []string
	// Inspect is set where TLS is terminated, so that paths and methods are seen.
	Inspect bool
	// Opaque is set where the bytes of a connection are not looked at.
	Opaque bool
	// Credential is the secret that the egress proxy puts into the requests that the rule allows, nil for
	// none.
	Credential *Credential
	// Listen is set for a rule about accepting connections at an address of this host. Its host
	// is localhost, an address or "*"; without a port it is about the ports above 1023.
	Listen bool
	// Allow is false for a rule that denies.
	Allow  bool
	Origin Origin // layer and place
	Leaves []Leaf // places of the written fields
}

// A Credential is a secret that the tool does not see: the egress proxy puts it into requests.
// One of Env, File and Command says where the value comes from.
type Credential struct {
	Env     string   // a variable of the caller; the tool has a stand-in under the same name
	File    string   // a file outside of the sandbox, as written
	Command []string // a command that is run outside of the sandbox and prints the value
	// As is the part of a request that carries the value: header, basic or query.
	As string
	// Name is the name of the header or query parameter; of the user for basic.
	Name string
}

// UserHome and OwnHome stand for the user's home directory and the private home in the value of a
// variable.
const (
	UserHome = "${user_home}"
	OwnHome  = "${home}"
)

// EnvRule forwards or withholds matching variables.
type EnvRule struct {
	// Name is the literal part of the name.
	Name string
	// Prefix is true when the rule was written with a trailing "*".
	Prefix bool
	Read   bool // whether matching variables are forwarded
	// Value is the variable's value where no other rule forwards the user's own, empty for a rule
	// that forwards. A portable policy writes the user's home in it as UserHome.
	Value  string
	Origin Origin // layer and place
	Leaves []Leaf // places of the written fields
}

// CommandRule lets the tool start a program.
type CommandRule struct {
	// Program is a bare name or a path relative to the workspace, as written.
	Program string
	// File is the canonical file, when the policy was resolved for a host.
	File *Location
	// Args lists the argument sequences that are allowed. AnyArgs is true when
	// the rule lists none at all, which allows any.
	Args    []ArgPattern
	AnyArgs bool
	// Envs narrows the tool's variables for this child. AllEnvs is true when the
	// rule does not narrow them.
	Envs    []string
	AllEnvs bool
	Origin  Origin // layer and place
	Leaves  []Leaf // places of the written fields
}

// ArgPattern is an allowed argument sequence.
type ArgPattern struct {
	// Words must equal the arguments one by one.
	Words []string
	// Rest is true when zero or more further arguments may follow.
	Rest bool
}

// Source implements Rule.
func (r *FSRule) Source() Origin { return r.Origin }

// Source implements Rule.
func (r *NetRule) Source() Origin { return r.Origin }

// Source implements Rule.
func (r *EnvRule) Source() Origin { return r.Origin }

// Source implements Rule.
func (r *CommandRule) Source() Origin { return r.Origin }

// Subject implements Rule.
func (r *FSRule) Subject() string {
	if !r.ByName() {
		return r.At.Short()
	}
	return strings.TrimPrefix(r.At.Short()+"/**/"+r.patterns(), "./")
}

// Subject implements Rule.
func (r *NetRule) Subject() string {
	s := r.Host.String()
	if r.Scheme != "" {
		s = r.Scheme + "://" + s
	}
	if r.Port != 0 {
		s += ":" + utoa(r.Port)
	}
	for _, p := range r.Path {
		s += "/" + p
	}
	if len(r.Methods) > 0 {
		s = strings.Join(r.Methods, ",") + " " + s
	}
	if r.Listen {
		s = "listen " + s
	}
	return s
}

// Subject implements Rule.
func (r *EnvRule) Subject() string {
	if r.Prefix {
		return r.Name + "*"
	}
	return r.Name
}

// Subject implements Rule.
func (r *CommandRule) Subject() string { return r.Program }

func (*FSRule) isRule()      {}
func (*NetRule) isRule()     {}
func (*EnvRule) isRule()     {}
func (*CommandRule) isRule() {}
