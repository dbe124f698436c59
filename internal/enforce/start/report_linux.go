package start

import (
	"fmt"
	"os"
	"slices"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// Examine asks the running kernel for its means.
func Examine() Report {
	var uts unix.Utsname
	_ = unix.Uname(&uts)
	r := Report{System: fmt.Sprintf("Linux %s on %s", unix.ByteSliceToString(uts.Release[:]), unix.ByteSliceToString(uts.Machine[:]))}
	r.Landlock = ABI()
	r.add(landlockFinding(r.Landlock))
	r.add(levelFinding("files moved between directories", r.Landlock, 2, "5.19"))
	r.add(levelFinding("truncation", r.Landlock, 3, "6.2"))
	r.add(levelFinding("TCP ports", r.Landlock, 4, "6.7"))
	r.add(levelFinding("signals to others", r.Landlock, 6, "6.12"))
	seccomp := seccompFinding()
	r.add(seccomp)
	r.add(supervisionFinding())
	r.add(cgroupFinding())
	r.add(wrapperFinding())
	r.Confines = r.Landlock >= 1 && seccomp.State == Present
	r.Summary = "tools are not started here: every policy needs the missing parts above"
	if wraps := r.Findings[len(r.Findings)-1]; wraps.State == Partial {
		r.Summary = "tools are started here by exec --means bubblewrap alone: otherwise every policy needs the missing parts above"
	}
	if r.Confines {
		last := len(r.Findings) - 1
		r.Findings[last] = r.Findings[last].unneeded()
		r.Summary = fmt.Sprintf("tools can be confined at Landlock ABI %d; accessc check --enforceable asks for your policies",
			min(r.Landlock, landlock.MaxABI))
	}
	return r
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

func landlockFinding(abi int) Finding {
	f := Finding{Name: "Landlock", State: Present, Detail: fmt.Sprintf("ABI %d", abi)}
	if abi >= 1 {
		return f
	}
	f.State = Missing
	_, err := ll.LandlockGetABIVersion()
	switch err {
	case unix.EOPNOTSUPP:
		f.Detail, f.Fix = "built in, but disabled at boot", "add landlock to the lsm= list of the kernel's command line"
	case unix.ENOSYS:
		f.Detail, f.Fix = "this kernel does not have it", "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK"
	default:
		f.Detail, f.Fix = fmt.Sprint(err), "something in front of the kernel forbids it, such as a container's seccomp profile"
	}
	return f
}

// levelFinding is the finding whether this kernel's ABI version mediates something, which ABI
// version since introduced.
func levelFinding(what string, abi, since int, kernel string) Finding {
	f := Finding{Name: what, State: Present, Detail: fmt.Sprintf("mediated (ABI %d)", since)}
	if abi >= since {
		return f
	}
	f.State = Partial
	f.Detail = fmt.Sprintf("not mediated before ABI %d; refused instead, or a gap to accept", since)
	f.Fix = "use Linux " + kernel + " or newer"
	return f
}

func seccompFinding() Finding {
	f := Finding{Name: "seccomp filters", State: Present, Detail: "available"}
	status, err := os.ReadFile("/proc/self/status")
	if err == nil && !strings.Contains(string(status), "\nSeccomp:") {
		f.State, f.Detail, f.Fix = Missing, "this kernel does not have them", "use a kernel with CONFIG_SECCOMP_FILTER"
	}
	return f
}

// supervisionFinding is the finding whether a supervisor can enforce the rules that Landlock
// cannot.
func supervisionFinding() Finding {
	f := Finding{Name: supervisionName, State: Present, Detail: "the supervisor judges calls that Landlock cannot"}
	if err := supervisor.Supported(); err != nil {
		f.State, f.Detail = Partial, err.Error()+"; policies that need it are refused, or their gaps accepted"
		f.Fix = "use Linux 5.19 or newer, outside of a container that forbids seccomp(2), and kernel.yama.ptrace_scope below 2"
		return f
	}
	if err := ownProc(); err != nil {
		f.State, f.Detail = Partial, err.Error()+"; policies that need a supervisor are refused"
		f.Fix = "mount /proc in this process namespace, as unshare --mount-proc does"
		return f
	}
	if supervisor.Supervised() {
		f.State = Partial
		f.Detail = "this process is supervised already (a seccomp listener is there), " + holder() + "; the kernel allows one, and " +
			"policies that need it are refused, or their gaps accepted"
		f.Fix = "start it outside of that tool, or of the container whose profile notifies its runtime"
	} else if err := supervisor.Starts(); err != nil {
		f.Detail += "; programs that appear beside an exception start with the next start of the tool: " + err.Error()
	}
	return f
}

// cgroupFinding is the finding whether memory and processes can be limited for all of a tool's
// processes together (cgroups(7), delegation).
func cgroupFinding() Finding {
	f := Finding{
		Name: cgroupName, State: Partial,
		Detail: "not delegated; limits on memory and processes count per process and user, gaps to accept",
		Fix:    "start accessc in a group of its own below one that you own and that hands memory and pids down, as systemd-run --user --scope does",
	}
	d := delegated()
	var have, lack []string
	for _, c := range []string{"memory", "pids"} {
		if slices.Contains(d.controllers, c) {
			have = append(have, c)
		} else {
			lack = append(lack, c)
		}
	}
	switch {
	case len(lack) == 0:
		f.State, f.Fix = Present, ""
		f.Detail = "memory and pids, in " + d.dir + ": limits count all processes of a tool together"
	case len(have) > 0:
		f.Detail = strings.Join(have, " and ") + " in " + d.dir + ", but not " + strings.Join(lack, " and ")
	case d.dir != "":
		f.Detail = "groups can be made in " + d.dir + ", but without memory and pids; limits on them count per process and user, gaps to accept"
	}
	return f
}
