package start

import (
	"io"
	"slices"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/start/seccomp"
	"github.com/accessc/accessc/internal/enforce/supervisor"
	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// settled is a specification with the terms on which this host starts its tool.
type settled struct {
	spec *landlock.Spec
	abi  int
	terms
	// place is where cgroups can be made.
	place delegation
	// traced has the supervisor judge every call that could be refused.
	traced bool
}

// settleHere asks this host about the specification of a request. asked names what has the user grant operations,
// which needs a supervisor; it is empty where nothing does.
func settleHere(req *Request, asked string) (settled, error) {
	s := settled{spec: req.Spec, traced: req.Trace}
	if err := req.within(); err != nil {
		return s, err
	}
	if s.spec.Form != backends.Resolved.String() {
		return s, failed("%w", errPortable)
	}
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return s, failed("this kernel has no Landlock (%v); see accessc doctor", err)
	}
	s.abi = min(abi, landlock.MaxABI)
	host := plainHost()
	if slices.ContainsFunc(s.spec.Limits, func(l backends.Limit) bool { return controller(l.Kind) != "" }) {
		s.place = delegated()
		host.Groups = s.place.controllers
	}
	if s.terms, err = settle(req, host); err != nil {
		return s, err
	}
	for _, needs := range []struct {
		is   bool
		what string
	}{{req.Trace, "--trace"}, {asked != "", asked}, {undoes(req.Spec), "undo"}} {
		if needs.is && !host.Supervises {
			return s, failed("%s needs a supervisor, which this host cannot have; see accessc doctor", needs.what)
		}
		s.supervised = s.supervised || needs.is
	}
	if req.Trace {
		_, _ = io.WriteString(req.Messages, "accessc: every call that could be refused is judged, which is slower\n")
	}
	if s.supervised {
		return s, supervisable(s.spec)
	}
	return s, nil
}

// undoes reports whether the originals of what the tool changes are kept.
func undoes(s *Spec) bool { return s.Supervision != nil && s.Supervision.Undo }

func settle(req *Request, h Host) (terms, error) {
	l := req.Spec.Launch
	s := req.Spec.Supervision
	t, err := supervised(req.Spec).agree(req, &l, h)
	if err == nil && !t.supervised && s != nil && len(s.Gaps) == 0 && !without(req, &l) {
		// It is of use, and nothing depends on it.
		t.supervised = h.Supervises && !underSupervisor()
	}
	if err != nil {
		return t, err
	}
	if !t.supervised {
		return t, closesKernels(req.Spec, req.Spec.Paths) // the ruleset knows files, not names
	}
	if err := closesKernels(req.Spec, s.Paths); err != nil {
		return t, err
	}
	l.Needs = foldedNames(req.Spec)
	names, err := means{unsupervised, landlock.Sentences, lastLevel}.agree(req, &l, Host{ABI: h.ABI})
	t.accepted = append(t.accepted, names.accepted...)
	return t, err
}

// without reports whether the caller or the policy does without a supervisor that answers calls on metadata alone:
// they are refused then.
// See decision D379.
func without(req *Request, l *backends.Launch) bool {
	gap := string(ir.GapFSMetadata)
	accepted := slices.Contains(req.Accept, gap) || slices.Contains(l.Accept, gap)
	return accepted && req.Spec.Supervision.Judges == (landlock.Judges{})
}

// underSupervisor reports whether this process is supervised, which does not change.
func underSupervisor() bool { return underSupervisorOnce.Get(supervisor.Supervised) }

var underSupervisorOnce once.Value[bool]

// opens reports whether a gap is accepted that leaves the network to the ports of the ruleset.
func (s *settled) opens(gap ir.Gap) bool {
	return len(s.spec.Ports) > 0 && slices.Contains(s.accepted, string(gap))
}

// rules are those of the filter.
func (s *settled) rules() seccomp.Rules {
	return seccomp.Of(s.spec, seccomp.Terms{
		ABI: s.abi, Supervised: s.supervised, Traced: s.traced, Ports: s.opens(ir.GapNetHost),
	})
}

// paths are the grants of the ruleset.
func (s *settled) paths() []landlock.Path {
	if s.supervised {
		return s.spec.Supervision.Paths
	}
	return s.spec.Paths
}

// external are the directories, with a slash behind them, below which rules are written:
// the workspace and the targets of external rules.
func (s *settled) external() []string {
	out := []string{strings.TrimSuffix(s.spec.Workspace, "/") + "/"}
	if j := s.spec.Supervision.Judged; j != nil {
		for _, target := range j.External {
			out = append(out, strings.TrimSuffix(target, "/")+"/")
		}
	}
	return out
}

// findCanary returns a path that the ruleset refuses and nothing else does; none where
// the policy grants all or this host does not let its root be listed.
// See decision D67.
func (s *settled) findCanary() string {
	const root = "/"
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	_ = unix.Close(fd)
	if slices.ContainsFunc(s.paths(), func(p landlock.Path) bool { return p.Path == root && p.Entries == nil }) {
		return ""
	}
	return root
}
