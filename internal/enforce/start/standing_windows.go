package start

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/accessc/accessc/backends/winjob"
)

// standing is how the job of a tool stands to that of this process.
type standing struct {
	// nested is true where this process is in a job.
	nested bool
	// way is the first one that the system takes.
	way way
	// refused is why it takes none.
	refused error
}

// standingName is the name of the finding.
const standingName = "the job of this process"

// elsewhere is the advice where the job of this process is in the way.
const elsewhere = "start accessc from a console of the desktop: services, runners of builds and some editors keep what they start in a job"

// stand tries, for doctor, the ways of a start with this program, which is made suspended and never runs.
// See decision D282.
func stand() standing {
	var s standing
	if s.nested, s.refused = inJob(windows.CurrentProcess(), 0); s.refused != nil {
		return s
	}
	for _, w := range ways(s.nested) {
		if s.refused = tried(w); s.refused == nil {
			s.way = w
			return s
		}
	}
	return s
}

// tried makes a process by one way and ends it.
func tried(w way) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	var self windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ASSIGN_PRIMARY
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &self); err != nil {
		return err
	}
	defer self.Close()
	t := &tool{run: &run{spec: &Spec{Job: winjob.PlainJob()}}}
	// The only handle of the job: its end is that of the process.
	defer func() { t.job.close() }()
	p, err := t.create(w, self, command{file: exe, line: windows.ComposeCommandLine([]string{exe}), dir: filepath.Dir(exe), env: os.Environ()})
	if err != nil {
		return err
	}
	p.close()
	return nil
}

// finding says it in a report.
func (s standing) finding() Finding {
	switch {
	case s.refused != nil:
		return Finding{standingName, Missing, "the job of a tool cannot be made in it: " + s.refused.Error(), elsewhere}
	case !s.nested:
		return Finding{standingName, Present, "there is none, so a tool's job stands alone", ""}
	case s.way.bare:
		return Finding{standingName, Partial, "tools may not leave it, and stand in it without restrictions of the user interface: " +
			"the clipboard, the display settings and the logoff are open to them", elsewhere}
	case s.way.flags != 0:
		return Finding{standingName, Present, "tools leave it, for a job of their own", ""}
	default:
		return Finding{standingName, Present, "tools may not leave it, and their job stands in it with all restrictions", ""}
	}
}

// obstacles are those of a start where no way is taken.
func (s standing) obstacles() []obstacle {
	if s.refused == nil {
		return nil
	}
	f := s.finding()
	return []obstacle{{0, f.Name, f.Detail, f.Fix}}
}

// updated reports, for doctor, whether the system has the update that keeps consoles from AppContainers.
func updated() Finding {
	const name = "console update"
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Windows NT\CurrentVersion`, registry.QUERY_VALUE)
	if err != nil {
		return Finding{name, Partial, "cannot be asked for: " + err.Error(), ""}
	}
	defer k.Close()
	revision, _, err := k.GetIntegerValue("UBR")
	if err != nil {
		return Finding{name, Partial, "cannot be asked for: " + err.Error(), ""}
	}
	build := windows.RtlGetVersion().BuildNumber
	if winjob.ConsoleUpdated(build, uint32(revision)) {
		return Finding{name, Present, fmt.Sprintf("build %d.%d has the one of October 2021", build, revision), ""}
	}
	return Finding{name, Partial, fmt.Sprintf("build %d.%d lacks the one of October 2021 (CVE-2021-41346): a program of low integrity can type into a console "+
		"that it is attached to; a tool's own console is all that stands between it and yours", build, revision), "install the updates of the system"}
}

// atStart is the command by which an administrator has the system open NUL at each of its starts. The program runs with
// all rights there, so it has to lie where administrators alone write.
func atStart(exe, programs string) string {
	where := ""
	if programs == "" || !strings.HasPrefix(strings.ToLower(exe), strings.ToLower(programs)+`\`) {
		exe = filepath.Join(`C:\Program Files`, "accessc", "accessc.exe")
		if programs != "" {
			exe = filepath.Join(programs, "accessc", "accessc.exe")
		}
		where = " (with a copy of accessc there: the task has all rights)"
	}
	return `schtasks /create /tn "accessc NUL" /sc onstart /ru SYSTEM /tr "\"` + exe + `\" doctor --prepare"` + where
}
