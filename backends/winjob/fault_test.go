package winjob

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// textFaults are mistakes that a generator of access lists can make. In the table of
// grants Parse refuses them; in the entries only the comparison can see them.
var textFaults = []struct {
	name   string
	parses bool
	spoil  func(*Spec)
}{
	{"an entry that denies in place of protection", false, func(s *Spec) {
		s.Files.Grants["deny"] = Lists{[]ACE{{
			accessDenied.name, names(objectInherit, containerInherit), names(fileAllAccess),
		}}, []string{}}
		inner(s, func(e *Entry) { e.DACL, e.Grants = DACLGrant, append([]Grant{"deny"}, e.Grants...) })
	}},
	{"deleting what is in a directory", false, func(s *Spec) { addMask(s, "delete", containerInherit, fileDeleteChild) }},
	{"full access for writers", false, func(s *Spec) { addMask(s, "create", containerInherit, fileAllAccess) }},
	{"update for directories in place of files", false, func(s *Spec) { setFlags(s, "update", containerInherit) }},
	{"create for files as well", false, func(s *Spec) { setFlags(s, "create", containerInherit, objectInherit) }},
	{"delete on the object itself", false, func(s *Spec) { setFlags(s, "delete", containerInherit, objectInherit) }},
	{"execute for the directory alone", false, func(s *Spec) { setFlags(s, "execute", containerInherit) }},
	{"read for one level", false, func(s *Spec) { setFlags(s, "read", containerInherit, objectInherit, noPropagateInherit) }},
	{"masks of read and update swapped", false, func(s *Spec) {
		r, u := s.Files.Grants["read"], s.Files.Grants["update"]
		r.Directory[0].AccessMask, u.Directory[0].AccessMask = u.Directory[0].AccessMask, r.Directory[0].AccessMask
	}},
	{"nothing to open with", false, func(s *Spec) { setMask(s, "open") }},
	{"a protection left out", true, func(s *Spec) { inner(s, func(e *Entry) { e.DACL = DACLGrant }) }},
	{"the protection of roots left out", true, func(s *Spec) {
		for i := range s.Files.Entries {
			s.Files.Entries[i].DACL = DACLGrant
		}
	}},
	{"a region forgotten", true, func(s *Spec) {
		if n := len(s.Files.Entries); n > 0 {
			s.Files.Entries = slices.Delete(s.Files.Entries, n/2, n/2+1)
		}
	}},
	{"pins forgotten", true, func(s *Spec) {
		s.Files.Entries = slices.DeleteFunc(s.Files.Entries, func(e Entry) bool {
			i := slices.IndexFunc(s.Files.Entries, func(up Entry) bool { return up.Path == parentOf(e.Path) })
			return i >= 0 && slices.Equal(s.Files.Entries[i].Grants, e.Grants)
		})
	}},
	{"a capability too many", true, func(s *Spec) {
		inner(s, func(e *Entry) {
			if !slices.Contains(e.Grants, "execute") {
				e.Grants = append(e.Grants, "execute")
			}
		})
	}},
	{"a capability forgotten", true, func(s *Spec) {
		inner(s, func(e *Entry) { e.Grants = slices.DeleteFunc(e.Grants, func(g Grant) bool { return g == "read" }) })
	}},
	{"the entry on the wrong object", true, func(s *Spec) {
		inner(s, func(e *Entry) { e.Path += "x"; e.Absent = AbsentSkip })
	}},
	{"the entries of a link on what it leads to", true, func(s *Spec) {
		s.Files.Entries = slices.DeleteFunc(s.Files.Entries, func(e Entry) bool { return e.ReparsePoint })
	}},
}

// inner changes the entries that are not on a root.
func inner(s *Spec, change func(*Entry)) {
	for i := range s.Files.Entries {
		if e := &s.Files.Entries[i]; e.Absent != AbsentCreate && strings.Contains(e.Path, `\`) && e.Path != s.Workspace {
			change(e)
		}
	}
}

func setFlags(s *Spec, word Grant, flags ...symbol) {
	for i := range s.Files.Grants[word].Directory {
		s.Files.Grants[word].Directory[i].AceFlags = names(flags...)
	}
}

func setMask(s *Spec, word Grant, rights ...symbol) {
	for i := range s.Files.Grants[word].Directory {
		s.Files.Grants[word].Directory[i].AccessMask = names(rights...)
	}
}

func addMask(s *Spec, word Grant, flag symbol, rights ...symbol) {
	l := s.Files.Grants[word]
	l.Directory = append(l.Directory, allow([]symbol{flag}, rights...))
	s.Files.Grants[word] = l
}

// TestFaultsInTheTextAreNoticed: the comparison at the start finds every fault.
func TestFaultsInTheTextAreNoticed(t *testing.T) {
	for _, f := range textFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			run := rapid.Custom(func(rt *rapid.T) string {
				return runAtStart(rt, 60, fault{text: f.spoil}, witnessed{}, func(bool) {})
			})
			if wrong := noticed(run, 2000); wrong == "" {
				t.Error("nothing was noticed")
			} else {
				t.Log(wrong)
			}
		})
	}
}

// noticed runs a comparison with examples until one is wrong. Examples are the same
// in every run.
func noticed(run *rapid.Generator[string], most int) string {
	for i := range most {
		if wrong := run.Example(i); wrong != "" {
			return wrong
		}
	}
	return ""
}

// TestFaultsInTheLedgerAreNoticed: every reason about events during a run is needed; a ledger
// without it is found to be wrong.
func TestFaultsInTheLedgerAreNoticed(t *testing.T) {
	for _, why := range []ir.CauseID{
		whyOwn, whyGain, whyOthers, whyCarried, whyMetadata, whyReplaceAll, whySelf, whyReplace, whyLink, whyAmbient,
	} {
		t.Run(string(why), func(t *testing.T) {
			t.Parallel()
			without := fault{ledger: func(r *ir.Row) { forget(r, why) }}
			run := rapid.Custom(func(rt *rapid.T) string {
				others := why == whyOthers || why == whyCarried
				wrong := ""
				if !others {
					wrong = runAtStart(rt, 60, without, witnessed{}, func(bool) {})
				}
				if wrong == "" {
					wrong = runLater(rt, 60, others, without, new(int))
				}
				return wrong
			})
			if wrong := noticed(run, 4000); wrong == "" {
				t.Error("nothing was noticed")
			} else {
				t.Log(wrong)
			}
		})
	}
}

// forget makes a row say what it would say without one of its causes.
func forget(r *ir.Row, why ir.CauseID) {
	if !r.Cites(why) {
		return
	}
	r.Causes = slices.DeleteFunc(slices.Clone(r.Causes), func(c ir.Cause) bool { return c.ID == why })
	r.Is = ir.Exact
	for _, c := range r.Causes {
		switch {
		case slices.Contains(stricterCauses, c.ID):
			r.Is = max(r.Is, ir.Stricter)
		default:
			r.Is = ir.Weaker
		}
	}
}

// TestFaultsAreRefused: Parse refuses the faults that it can see.
func TestFaultsAreRefused(t *testing.T) {
	out, err := Backend{}.Compile(toolWith(t, ".: read update", "a: create delete"), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range textFaults {
		s, err := Parse(out.Data)
		if err != nil {
			t.Fatal(err)
		}
		f.spoil(s)
		data, err := backends.JSON(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); (err == nil) != f.parses {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
