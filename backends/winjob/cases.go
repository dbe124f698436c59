package winjob

import (
	"maps"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Nothing of tier 1 has run on Windows yet. A case is a test that does there what a claim
// of the ledger is about; it stands under its name in the tests of package start, and a
// cell that rests on it names it.

// whyUnverified is before the names of the cases that a cell rests on.
const whyUnverified = "unverified, see TestOnWindows: "

// casesOfReasons are the cases of what the ledger says of a cell that is not exact.
var casesOfReasons = map[string]string{
	whyCarried:    "moved",
	whyAbsent:     "absent",
	whySelf:       "pinned",
	whySymlink:    "symlink",
	whyHidden:     "hidden",
	whyLibrary:    "library",
	whyListed:     "listed",
	whyMetadata:   "metadata",
	whySocket:     "socket",
	whyReplaceAll: "replace",
	whyOwnBase:    "ambient",
	whyNoHosts:    "network",
	whyNoName:     "names",
	whyOwn:        "own-list",
	whyGain:       "moved",
	whyLink:       "hard-link",
	whyReplace:    "replace",
	whyAmbient:    "ambient",
	whyProfile:    "profile",
	whyOthers:     "moved",
	whyPipes:      "pipes",
	whyPrograms:   "listed",
	whyGuardless:  "absent",
	whyMovedAway:  "moved",
}

// caseOf is the case of an aspect, whatever the ledger says of the cell. What Wine
// verifies, and what nobody holds, has none.
func caseOf(r ir.Resource, rule string, a ir.Aspect) string {
	switch r {
	case ir.FS:
		switch a {
		case ir.AspectMove:
			return "moved"
		case ir.AspectMetadata:
			return "metadata"
		case ir.AspectSocket:
			return "socket"
		default:
			return "lists"
		}
	case ir.Net:
		return "network"
	case ir.Commands:
		if a == ir.AspectProgram {
			return "childless"
		}
	case ir.Limits:
		switch rule {
		case ir.LimitMemory.String(), ir.LimitProcesses.String(), ir.LimitCPUTime.String():
			return "limits"
		}
	case ir.Process:
		return "processes"
	case ir.Env:
		return "environment"
	}
	return ""
}

// Cases lists the names of all cases.
func Cases() []string {
	names := slices.Collect(maps.Values(casesOfReasons))
	names = append(names, "lists", "network", "metadata", "socket", "moved", "childless", "limits", "processes", "environment")
	slices.Sort(names)
	return slices.Compact(names)
}

// unverified adds to a cell of tier 1 the cases that it rests on.
func unverified(r ir.Resource, rule string, a ir.Aspect, h ir.Held) ir.Held {
	if h.Is == ir.Unenforced {
		return h
	}
	var names []string
	if c := caseOf(r, rule, a); c != "" {
		names = append(names, c)
	}
	for why := range strings.SplitSeq(h.Why, "; ") {
		if c := casesOfReasons[why]; c != "" {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return h
	}
	why := whyUnverified + strings.Join(names, ", ")
	if h.Why != "" {
		why = h.Why + "; " + why
	}
	h.Why = why
	return h
}
