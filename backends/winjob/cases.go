package winjob

import (
	"maps"
	"slices"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// Nothing of tier 1 has run on Windows yet. A case is a test that does there what a claim
// of the ledger is about; it stands under its name in the tests of package start, and a
// cell that rests on it names it.

// casesOfCauses are the cases of the causes that a cell is not exact for.
func casesOfCauses() map[ir.CauseID]string {
	return casesOfCausesOnce.Get(func() map[ir.CauseID]string {
		return map[ir.CauseID]string{
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
			whyNoListen:   "network",
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
			whyBlock:      "environment",
			whyConsole:    "console",
			whyConhost:    "childless",
			whyNull:       "preparation",
			whyAncestors:  "preparation",
			whyPerUser:    "preparation",
			whyChildPipe:  "child-pipes",
			whyMSYS:       "msys",
		}
	})
}

var casesOfCausesOnce once.Value[map[ir.CauseID]string]

// caseOf is the case of an aspect, whatever the ledger says of the cell. What Wine
// verifies, and what nobody holds, has none.
func caseOf(c ir.Cell) string {
	switch c.Resource {
	case ir.FS:
		switch c.Aspect {
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
		if c.Aspect == ir.AspectProgram {
			return "childless"
		}
	case ir.Limits:
		switch c.Limit {
		case ir.LimitMemory, ir.LimitProcesses, ir.LimitCPUTime:
			return "limits"
		case ir.LimitWallTime, ir.LimitOpenFiles, ir.LimitFileSize:
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
	names := slices.Collect(maps.Values(casesOfCauses()))
	names = append(names, "lists", "network", "metadata", "socket", "moved", "childless", "limits", "processes",
		"environment")
	slices.Sort(names)
	return slices.Compact(names)
}

// onWindows names the test that runs the cases.
const onWindows = "TestOnWindows/"

// resting adds to a cell of tier 1 the cases that will show it. No case is about a grant while the tool runs.
func resting(cell ir.Cell, h ir.Held) ir.Held {
	if h.Is == ir.Unenforced || cell.Aspect == ir.AspectAsk {
		return h
	}
	var names []string
	if c := caseOf(cell); c != "" {
		names = append(names, c)
	}
	for _, why := range h.Causes {
		if c := casesOfCauses()[why.ID]; c != "" {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		h.Evidence = append(h.Evidence, ir.Evidence(onWindows+name))
	}
	return h
}
