package ir

import (
	"strings"
	"sync"
)

// Platform is an operating system that policies are compiled for.
type Platform uint8

// The platforms.
const (
	Linux Platform = iota + 1
	Darwin
	Windows
)

// Platforms lists every platform in canonical order.
var Platforms = [...]Platform{Linux, Darwin, Windows}

// String returns the platform's name as Go and the artifacts spell it.
func (p Platform) String() string {
	switch p {
	case Linux:
		return "linux"
	case Darwin:
		return "darwin"
	case Windows:
		return "windows"
	default:
		return "none"
	}
}

// ParsePlatform is the inverse of Platform.String.
func ParsePlatform(s string) (Platform, bool) {
	for _, p := range Platforms {
		if p.String() == s {
			return p, true
		}
	}
	return 0, false
}

// BaseName names a list of the files that every program of a platform needs outside the
// workspace.
type BaseName uint8

// The bases.
const (
	// BaseSystem covers the loader, libraries, the shell, the system's programs and its public
	// configuration.
	BaseSystem BaseName = iota + 1
	// BaseMinimal covers the files that a dynamically linked binary needs to start.
	BaseMinimal
	// BaseNone is the empty list.
	BaseNone
)

// BaseVersion is the version of the bases. It changes with every change of their lists,
// so that two policies under different lists never look equal.
const BaseVersion = 3

// String returns the configuration word for b.
func (b BaseName) String() string {
	switch b {
	case BaseSystem:
		return "system"
	case BaseMinimal:
		return "minimal"
	case BaseNone:
		return "none"
	default:
		return "unset"
	}
}

// ParseBase is the inverse of BaseName.String.
func ParseBase(s string) (BaseName, bool) {
	for _, b := range [...]BaseName{BaseSystem, BaseMinimal, BaseNone} {
		if b.String() == s {
			return b, true
		}
	}
	return 0, false
}

// BaseEntry is a place of a base, with the reason why every program gets it.
type BaseEntry struct {
	// Path is absolute, in the platform's own spelling; a host may resolve it elsewhere
	// (/bin is often /usr/bin) or lack it.
	Path string
	// Caps are granted at and below Path.
	Caps CapSet
	// Why is shown to users, such as "certificates".
	Why string
}

// BaseEntries returns the list b of platform p.
func BaseEntries(b BaseName, p Platform) []BaseEntry {
	switch b {
	case BaseSystem:
		return systemBase(p)
	case BaseMinimal:
		return minimalBase(p)
	case BaseNone:
	}
	return nil
}

// BaseRules returns the list b of platform p as rules on absolute paths.
func BaseRules(b BaseName, p Platform) []FSRule {
	origin := Origin{Layer: LayerBase, Label: "base:" + b.String()}
	var out []FSRule
	for _, e := range BaseEntries(b, p) {
		out = append(out, FSRule{Written: e.Path, At: Sys(strings.TrimPrefix(e.Path, "/")), Caps: e.Caps,
			Origin: origin})
	}
	return out
}

// baseEntries gives the rules of a base their identifiers.
func baseEntries(rules []FSRule) []Entry {
	out := make([]Entry, len(rules))
	for i := range rules {
		out[i] = Entry{RuleID("base[" + itoa(i) + "]"), &rules[i]}
	}
	return out
}

// listedBase returns the entries of a base as it is listed. All views have the same: a view
// never changes a rule.
func listedBase(b BaseName, p Platform) []Entry {
	if int(b) >= len(listedBases) || int(p) >= len(listedBases[b]) {
		return nil
	}
	l := &listedBases[b][p]
	l.once.Do(func() { l.entries = baseEntries(BaseRules(b, p)) })
	return l.entries
}

// listedBases are made when they are first used: a start of the command needs one of them.
var listedBases [BaseNone + 1][Windows + 1]struct {
	once    sync.Once
	entries []Entry
}

const (
	readOnly    = CapSet(1 << Read)
	readExecute = CapSet(1<<Read | 1<<Execute)
	readUpdate  = CapSet(1<<Read | 1<<Update)
)

func systemBase(p Platform) []BaseEntry {
	switch p {
	case Linux:
		return linuxSystem
	case Darwin:
		return darwinSystem
	case Windows:
		return windowsSystem
	default:
		return nil
	}
}

func minimalBase(p Platform) []BaseEntry {
	switch p {
	case Linux:
		return linuxMinimal
	case Darwin:
		return darwinMinimal
	case Windows:
		return windowsSystem
	default:
		return nil
	}
}
