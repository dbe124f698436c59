package start

import (
	"fmt"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
)

// SweepCommand is the hidden command that undoes the changes that runs left behind.
const SweepCommand = "__sweep"

// ABI returns the Landlock ABI version of this kernel: there is none.
func ABI() int { return 0 }

// obstacle is a reason why a tier is not available on this host.
type obstacle struct {
	// tier is the lowest one that it prevents.
	tier int
	name string
	why  string
	fix  string
}

// obstacles asks this host for the obstacles to each tier.
func obstacles() []obstacle {
	var out []obstacle
	if onWine() {
		out = append(out, obstacle{0, "Windows", "this is Wine, which takes limits, integrity levels and access lists and does not apply them",
			"use Windows"})
	}
	if v := windows.RtlGetVersion(); int(v.BuildNumber) < winjob.MinimumBuild {
		out = append(out, obstacle{0, "build", fmt.Sprintf("%d; a start needs %d or newer", v.BuildNumber, winjob.MinimumBuild),
			"use Windows 10 1809, Server 2019 or newer"})
	}
	if err := createAppContainerProfile.Find(); err != nil {
		out = append(out, obstacle{1, "AppContainer", err.Error(), "use an edition of Windows that has AppContainers"})
	}
	for _, name := range winjob.Services() {
		if err := running(name); err != nil {
			out = append(out, obstacle{1, "service " + name, err.Error() + "; it holds the network of AppContainers", "start the service"})
		}
	}
	return out
}

// running reports an error unless a service runs.
func running(name string) error {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return fmt.Errorf("the service manager: %w", err)
	}
	defer windows.CloseServiceHandle(manager)
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	service, err := windows.OpenService(manager, wide, windows.SERVICE_QUERY_STATUS)
	if err != nil {
		return err
	}
	defer windows.CloseServiceHandle(service)
	var status windows.SERVICE_STATUS
	if err := windows.QueryServiceStatus(service, &status); err != nil {
		return err
	}
	if status.CurrentState != windows.SERVICE_RUNNING {
		return fmt.Errorf("it does not run")
	}
	return nil
}

// tierOf is the best tier that obstacles leave.
func tierOf(all []obstacle) int {
	tier := lastLevel
	for _, o := range all {
		tier = min(tier, o.tier-1)
	}
	return tier
}

// ThisHost describes this system. The loader stays with the tool, so it can always enforce the
// requirements that need it to stay.
func ThisHost() Host { return Host{ABI: tierOf(obstacles()), Supervises: true} }

// Examine asks this system for its means.
func Examine() Report {
	v := windows.RtlGetVersion()
	r := Report{System: fmt.Sprintf("Windows %d.%d build %d", v.MajorVersion, v.MinorVersion, v.BuildNumber)}
	stands := stand()
	all := append(obstacles(), stands.obstacles()...)
	for _, f := range []Finding{
		{Name: jobsName, Detail: "a tool and all it starts can be limited and ended"},
		{Name: containersName, Detail: "files and network can be held"},
	} {
		f.State = Present
		if tierOf(all) < len(r.Findings) {
			f.State, f.Detail = Missing, "not to be relied upon here"
		}
		r.Findings = append(r.Findings, f)
	}
	for _, o := range all {
		r.Findings = append(r.Findings, Finding{o.name, Missing, o.why, o.fix})
	}
	if tierOf(all) >= 0 {
		r.Findings = append(r.Findings, stands.finding())
	}
	if tierOf(all) > 0 {
		r.Findings = append(append(r.Findings, updated()), prepared()...)
	}
	r.Confines = tierOf(all) >= 0
	switch tierOf(all) {
	case 0:
		r.Summary = "tools are started at tier 0, which is no boundary: files and network must be accepted by the names of the gaps"
	case 1:
		r.Summary = "tools are started in AppContainers; accessc check --enforceable asks for your policies"
	default:
		r.Summary = "tools are not started here: every policy needs the missing parts above"
	}
	return r
}
