// Package first is accessc-exec but for the egress proxy. It starts the tool before the packages of the proxy are
// initialised, as package early of accessc does.
package first

import (
	"os"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/usage"
)

const help = `accessc-exec starts a tool confined, from an artifact of accessc build --resolve, as accessc exec does.

  accessc-exec --artifact FILE TOOL [-- ARG...]   FILE is listed by the manifest of its build, where no tool can write
  --sha256 HEX        start it from anywhere, if it has this hash
  --accept GAP        start although this host has this gap, such as net.host; repeatable
  --arguments JSON    the arguments of the call, for placeholders; or --call FILE, with all of the call
  --report FILE       write a line of JSON for every denial that the supervisor sees; - is standard output
  --no-summary        print nothing about refusals after the tool's end
  -C DIR              the workspace that you are in, if it is not to be looked for
Exit status: the tool's own; 125 the tool was not started, 126 its program cannot run, 127 it was not found.
`

// See decision D104.
func init() {
	if len(os.Args) != 2 || os.Args[1] != wire.Command {
		os.Exit(run(os.Args[1:]))
	}
}

// run is the program. It returns only when no tool has started.
func run(args []string) int {
	switch {
	case len(args) >= 2 && args[0] == start.SweepCommand:
		return ended(start.Sweep(args[1], args[2:]...))
	case len(args) == 0 || len(args) == 1 && args[0] == "--help":
		_, err := os.Stdout.WriteString(help)
		return ended(err)
	}
	direct.Spare()
	a, err := direct.Parse(args)
	if by := userdir.Attesting(); err == nil && by != "" {
		err = usage.Errorf("%s says who may sign policies, which accessc exec --artifact checks and this program "+
			"cannot", by)
	}
	if err != nil {
		return direct.End(err)
	}
	start.Initialising()
	a.Proxyless = proxyless
	return direct.End(a.Start())
}

// ended is the exit status of a hidden command.
func ended(err error) int {
	if err == nil {
		return 0
	}
	return direct.End(err)
}
