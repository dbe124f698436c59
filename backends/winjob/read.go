package winjob

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// ErrSpec is wrapped by every refusal of a specification.
var ErrSpec = errors.New("not a usable Windows job specification")

// Parse reads a specification. It accepts only the text that Compile writes: unknown keys,
// symbols and identifiers are refused, since a loader would not apply them, and so is any other
// spelling of the same document, so that the loader reads exactly the reviewed text.
func Parse(data []byte) (*Spec, error) {
	if err := backends.CheckHeader(ErrSpec, data, format, formatVersion); err != nil {
		return nil, err
	}
	s := &Spec{}
	if err := strictjson.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	again, err := backends.JSON(s)
	if err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: found another layout than accessc writes; build again", ErrSpec)
	}
	for _, check := range []func(*Spec) error{
		(*Spec).checkHeader, (*Spec).checkJob, (*Spec).checkProcess, (*Spec).checkFiles, (*Spec).checkRest,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// same refuses a section that differs from the section that this version always writes.
func same(what string, got, want any) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%w: found %s %v, expected %v", ErrSpec, what, got, want)
}

// oneOf refuses a word that is not in a vocabulary.
func oneOf[T comparable](what string, got T, want ...T) error {
	if slices.Contains(want, got) {
		return nil
	}
	return fmt.Errorf("%w: found %s %v, expected one of %v", ErrSpec, what, got, want)
}

func (s *Spec) checkHeader() error {
	words := []string{}
	for e := ir.Exact; e <= ir.Assumed; e++ {
		words = append(words, e.String())
	}
	errs := []error{
		same("minimumBuild", s.MinimumBuild, MinimumBuild), same("tier", s.Tier, ir.BestTier),
	}
	want := tiers(nil)
	if len(s.Tiers) != len(want) {
		return fmt.Errorf("%w: found %d tiers, expected %d", ErrSpec, len(s.Tiers), len(want))
	}
	for i, t := range s.Tiers {
		for _, w := range []string{
			t.Weakest.FS, t.Weakest.Net, t.Weakest.Env, t.Weakest.Commands, t.Weakest.Limits, t.Weakest.Process,
		} {
			errs = append(errs, oneOf("enforcement", w, words...))
		}
		t.Weakest = want[i].Weakest
		errs = append(errs, same("tier", t, want[i]))
	}
	for _, c := range s.Needs {
		errs = append(errs, oneOf("enforcement", c.Is, words...))
		if c.From < 0 || c.From > c.To || c.To > ir.BestTier {
			errs = append(errs, fmt.Errorf("%w: found the tiers %d to %d, expected tiers of this version", ErrSpec,
				c.From, c.To))
		}
	}
	return errors.Join(errs...)
}

// checkJob compares the flags of the job with the values that they are about.
func (s *Spec) checkJob() error {
	e := s.Job.Extended
	flags, err := bits(limitFlags, e.Basic.LimitFlags)
	if err != nil {
		return err
	}
	always := limitKillOnClose.value | limitDieOnException.value
	if flags&always != always || !slices.IsSorted(e.Basic.LimitFlags) {
		return fmt.Errorf("%w: found LimitFlags %v, expected them sorted, with the two that are always set", ErrSpec,
			e.Basic.LimitFlags)
	}
	for _, f := range []struct {
		flag symbol
		set  bool
	}{
		{limitActiveProcess, e.Basic.ActiveProcessLimit > 0},
		{limitJobMemory, e.JobMemoryLimit > 0},
		{limitJobTime, e.Basic.PerJobUserTimeLimit > 0},
	} {
		if f.set != (flags&f.flag.value != 0) {
			return fmt.Errorf("%w: found %s without its value, or the value without it", ErrSpec, f.flag.name)
		}
	}
	return same("UIRestrictionsClass", s.Job.UI.Class, names(uiRestrictions...))
}

// checkProcess refuses a token, container or attribute that is not the tool's.
func (s *Spec) checkProcess() error {
	t := &ir.Tool{Name: s.Tool}
	if s.Programs != nil && s.startsNothing() {
		t.Commands = &ir.CommandSet{}
		if s.Job.Extended.Basic.ActiveProcessLimit != 1 {
			return fmt.Errorf("%w: found more than one process for a tool that may start none", ErrSpec)
		}
	}
	return errors.Join(
		same("token", s.Token, token()), same("console", s.Console, consoleOwn),
		same("procThreadAttributes", s.Attributes, attributes()),
		same("appContainer", s.Container, container(t)))
}

// startsNothing reports whether the list of programs contains nothing but the tool's own.
func (s *Spec) startsNothing() bool {
	return !slices.ContainsFunc(s.Programs, func(p Program) bool { return p.Name != "" })
}

func (s *Spec) checkFiles() error {
	f := s.Files
	errs := []error{same("hold", f.Hold, hold()), same("strip", f.Strip, strip()), same("grants", f.Grants, Grants())}
	seen := map[string]bool{}
	for _, e := range f.Entries {
		if key := fold(e.Path); e.Path == "" || seen[key] {
			errs = append(errs, fmt.Errorf("%w: found an empty path or a second entry: %q", ErrSpec, e.Path))
		} else {
			seen[key] = true
		}
		errs = append(errs,
			oneOf("dacl", e.DACL, DACLGrant, DACLProtected),
			oneOf("absent", e.Absent, AbsentCreate, AbsentSkip, AbsentRefuse), s.checkWords(e.Grants))
	}
	for _, p := range s.Programs {
		errs = append(errs, s.checkWords(p.Grants))
	}
	return errors.Join(errs...)
}

func (s *Spec) checkWords(words []Grant) error {
	for _, w := range words {
		if _, ok := s.Files.Grants[w]; !ok {
			return fmt.Errorf("%w: found the unknown grant %q", ErrSpec, w)
		}
	}
	return nil
}

func (s *Spec) checkRest() error {
	return errors.Join(
		same("network mode", s.Network.Mode, modeClosed), same("services", s.Network.Services, services))
}
