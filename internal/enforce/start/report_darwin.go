package start

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Examine asks the running system for its means, by applying a profile that allows everything.
func Examine() Report {
	version, _ := unix.Sysctl("kern.osproductversion")
	r := Report{System: "macOS " + version + " on " + runtime.GOARCH}
	f := Finding{Name: "sandbox-exec", State: Present, Detail: "applies profiles"}
	end, err := darwin{}.run([]string{sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true"}, os.Environ())
	switch {
	case err != nil:
		f.State, f.Detail = Missing, err.Error()
	case end.code != 0:
		f.State, f.Detail = Missing, end.said
		f.Fix = "start from outside of any sandbox: the system puts none inside another one"
	}
	r.Findings = append(r.Findings, f)
	r.Confines = f.State == Present
	r.Summary = "tools are not started here: every policy needs the missing parts above"
	if r.Confines {
		r.Summary = "tools can be confined; accessc check --enforceable asks for your policies"
	}
	return r
}
