package start

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// doubt is a restriction that was set and that the system does not report back.
type doubt struct {
	// about is one of the words below.
	about string
	why   string
}

// The restrictions that are read back.
const (
	aboutJob        = "job"
	aboutLimits     = "limits"
	aboutUI         = "user interface"
	aboutGroups     = "groups"
	aboutPrivileges = "privileges"
	aboutIntegrity  = "integrity"
	aboutContainer  = "AppContainer"
	aboutChildren   = "child processes"
)

// verify asks the system, while the tool is suspended, whether the restrictions are in force.
// See decision D67.
func verify(spec *winjob.Spec, j *job, c *container, p *process) ([]doubt, error) {
	var out []doubt
	missed := func(about string, missing bool, why string) {
		if missing {
			out = append(out, doubt{about, why})
		}
	}
	in, err := inJob(p.handle, j.handle)
	if err != nil {
		return nil, err
	}
	missed(aboutJob, !in, "the process is not in its job")
	limits, ui := j.unlimited()
	missed(aboutLimits, limits, "the job does not have the limits that were set")
	missed(aboutUI, ui, "the job does not have the user interface restrictions that were set")
	var t windows.Token
	if err := windows.OpenProcessToken(p.handle, windows.TOKEN_QUERY, &t); err != nil {
		return nil, fmt.Errorf("the token of the tool: %w", err)
	}
	defer t.Close()
	if err := verifyToken(spec.Token, t, c, missed); err != nil {
		return nil, err
	}
	if c != nil {
		if err := verifyContainer(t, c, p, missed); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func verifyToken(want winjob.Token, t windows.Token, c *container, missed func(string, bool, string)) error {
	groups, err := enabled(t, want.Restricted.SidsToDisable)
	if err != nil {
		return err
	}
	missed(aboutGroups, len(groups) > 0, "the token still has "+strings.Join(groups, ", "))
	n, err := privileges(t)
	if err != nil {
		return err
	}
	// The one that is left is SeChangeNotifyPrivilege.
	missed(aboutPrivileges, want.Restricted.DisablesPrivileges() && n > 1, fmt.Sprintf("the token has %d privileges", n))
	level, err := integrity(t)
	if err != nil {
		return err
	}
	most := want.Integrity
	if c != nil {
		most = sidLowIntegrity
	}
	missed(aboutIntegrity, level != most, fmt.Sprintf("the integrity level is %s, not %s", level, most))
	return nil
}

func verifyContainer(t windows.Token, c *container, p *process, missed func(string, bool, string)) error {
	is, err := tokenInfo(t, tokenIsAppContainer)
	if err != nil {
		return err
	}
	missed(aboutContainer, *(*uint32)(unsafe.Pointer(&is[0])) == 0, "the token is not that of an AppContainer")
	sid, err := tokenInfo(t, tokenAppContainerSID)
	if err != nil {
		return err
	}
	have := *(**windows.SID)(unsafe.Pointer(&sid[0]))
	missed(aboutContainer, have == nil || !have.Equals(c.sid), "the token is that of another AppContainer")
	caps, err := tokenInfo(t, tokenCapabilities)
	if err != nil {
		return err
	}
	missed(aboutContainer, (*windows.Tokengroups)(unsafe.Pointer(&caps[0])).GroupCount != 0, "the token has capabilities")
	if c.childless {
		policy, err := childPolicy(p.handle)
		if err != nil {
			return err
		}
		missed(aboutChildren, policy&1 == 0, "the process may have children")
	}
	return nil
}

// refuseDoubts is the error of a start whose restrictions did not come back.
func refuseDoubts(doubts []doubt) error {
	if len(doubts) == 0 {
		return nil
	}
	var whys []string
	for _, d := range doubts {
		whys = append(whys, d.why)
	}
	slices.Sort(whys)
	return failed("this system does not apply every restriction: %s", strings.Join(slices.Compact(whys), "; "))
}
