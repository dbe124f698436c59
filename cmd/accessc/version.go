package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// version is set by release builds through the linker.
var version = "0.1.0-dev"

// versionCmd is "accessc version".
type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(g *globals) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	_, err := fmt.Fprintf(g.stdout, "accessc %s%s\npolicy format %d, base %d, landlock up to ABI %d, %s %s/%s\n",
		version, revision, ir.FormatVersion, ir.BaseVersion, landlock.MaxABI, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
