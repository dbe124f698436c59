package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// version is set by packagers through the linker; without it, the module's version counts.
var version string

// programVersion is the version of this program: a packager's, else that of the tag that it was built or installed
// from, with which go install and builds in a clone stamp it (go help buildvcs), else "devel".
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok && version == "" && info.Main.Version != "(devel)" {
		return cmp.Or(strings.TrimPrefix(info.Main.Version, "v"), "devel")
	}
	return cmp.Or(strings.TrimPrefix(version, "v"), "devel")
}

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
		programVersion(), revision, ir.FormatVersion, ir.BaseVersion, landlock.MaxABI,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
