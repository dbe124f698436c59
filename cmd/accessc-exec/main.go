// Command accessc-exec starts tools confined, from artifacts that accessc build has compiled, and does nothing else:
// what has to be trusted while a tool runs, without the compiler. Package first does all but serve as the egress proxy
// of a run, which the build tag accessc_noegress leaves out.
package main

import (
	"os"

	_ "github.com/accessc/accessc/cmd/accessc-exec/first"
	"github.com/accessc/accessc/internal/enforce/direct"
)

func main() {
	if err := serveEgress(); err != nil {
		os.Exit(direct.End(err))
	}
}
