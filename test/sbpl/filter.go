package sbpl

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Request is one question to a profile: the target of an operation. Fields that an operation
// does not use are empty.
type Request struct {
	// Path is the canonical absolute path of a file, as the system matches it.
	Path string
	// Kind is the type of the file as filters name it, such as REGULAR-FILE.
	Kind string
	// Process is the path of the acting program.
	Process string
	// Target names the relation of another process: self, same-sandbox, children,
	// pgrp, others.
	Target string
	// Remote and Local are the ends of a connection.
	Remote, Local *Address
	// Values are named by the filters that look at them, such as global-name,
	// sysctl-name, socket-domain or ioctl-command; numbers are in decimal.
	Values map[string]string
	// Fold compares paths without regard to case and Unicode form, as macOS 27 has been
	// seen to do on every volume.
	Fold bool
	// folded is Path without regard to case, when Fold is set.
	folded string
}

// Address is one end of an internet connection.
type Address struct {
	// Protocol is "tcp" or "udp".
	Protocol string
	Addr     netip.Addr
	Port     uint16
	// Own is true for an address of this machine.
	Own bool
}

// filter decides whether a rule is about a request.
//
//sumtype:decl
type filter interface{ match(r *Request) bool }

type pathMatch uint8

const (
	isLiteral pathMatch = iota + 1
	isSubpath
	isPrefix
	isAncestor
)

// pathFilter compares the path; fold is its folded text.
type pathFilter struct {
	how        pathMatch
	text, fold string
}

// patternFilter matches a regular expression anywhere in the path.
type patternFilter struct{ re, fold *regexp.Regexp }

// kindFilter compares the type of the file.
type kindFilter struct{ kind string }

// processFilter compares the path of the acting program.
type processFilter struct{ path string }

// targetFilter compares the relation of another process.
type targetFilter struct{ target string }

// valueFilter compares a named value.
type valueFilter struct {
	name, value string
	prefix      bool
	re          *regexp.Regexp
}

// addressFilter compares one end of a connection.
type addressFilter struct {
	local    bool
	protocol string
	own      bool
	port     uint16
}

// socketFilter compares the path of a unix socket, or matches any of them.
type socketFilter struct{ path filter }

type allOf []filter

type anyOf []filter

type notOf struct{ filter }

// fold returns a form that is equal for all spellings of a path that a volume without regard to
// case treats as one: APFS compares without regard to the Unicode form as well.
func fold(s string) string { return strings.ToLower(strings.ToUpper(norm.NFC.String(s))) }

func (f pathFilter) match(r *Request) bool {
	path, text := r.Path, f.text
	if r.Fold {
		path, text = r.folded, f.fold
	}
	if path == "" {
		return false
	}
	switch f.how {
	case isLiteral:
		return path == text
	case isSubpath:
		return under(path, text)
	case isPrefix:
		return strings.HasPrefix(path, text)
	case isAncestor:
		return path != text && under(text, path)
	default:
		return false
	}
}

// under reports whether path is base or below it, by component.
func under(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/' || base == "/")
}

func (f patternFilter) match(r *Request) bool {
	if r.Fold {
		return r.folded != "" && f.fold.MatchString(r.folded)
	}
	return r.Path != "" && f.re.MatchString(r.Path)
}

func (f kindFilter) match(r *Request) bool { return r.Kind == f.kind }

func (f processFilter) match(r *Request) bool { return r.Process == f.path }

// match treats every target but another process as in the same sandbox.
func (f targetFilter) match(r *Request) bool {
	return r.Target == f.target || f.target == "same-sandbox" && r.Target == "self"
}

func (f valueFilter) match(r *Request) bool {
	value, ok := r.Values[f.name]
	switch {
	case !ok:
		return false
	case f.re != nil:
		return f.re.MatchString(value)
	case f.prefix:
		return strings.HasPrefix(value, f.value)
	default:
		return value == f.value
	}
}

func (f addressFilter) match(r *Request) bool {
	a := r.Remote
	if f.local {
		a = r.Local
	}
	if a == nil || f.port != 0 && a.Port != f.port {
		return false
	}
	if f.own && !localhost(a, f.local) {
		return false
	}
	switch stem := strings.TrimRight(f.protocol, "46"); {
	case stem != "ip" && stem != a.Protocol:
		return false
	case strings.HasSuffix(f.protocol, "4"):
		return a.Addr.Is4()
	case strings.HasSuffix(f.protocol, "6"):
		return a.Addr.Is6()
	default:
		return true
	}
}

// localhost implements the measured meaning of the word: at the remote end the loopback
// addresses, the unspecified address and the machine's own; at the local end every address.
func localhost(a *Address, local bool) bool {
	return local || a.Own || a.Addr.IsUnspecified() || a.Addr == netip.IPv6Loopback() ||
		a.Addr == netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

func (f socketFilter) match(r *Request) bool {
	return r.Path != "" && (f.path == nil || f.path.match(r))
}

func (f allOf) match(r *Request) bool {
	return !slices.ContainsFunc(f, func(g filter) bool { return !g.match(r) })
}

func (f anyOf) match(r *Request) bool {
	return slices.ContainsFunc(f, func(g filter) bool { return g.match(r) })
}

func (f notOf) match(r *Request) bool { return !f.filter.match(r) }
