// Package config finds and reads the configuration that a call is about: flags say which workspace, and which layers
// besides its own. What is answered for longer than a moment is answered by a Watched configuration, which is read
// again when a file of it has changed.
package config

import (
	"os"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/compiled"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
)

// Flags say which configuration a call is about.
type Flags struct {
	// Dir is the root of the workspace, empty for the one around the current directory.
	Dir string
	// Config, Untrusted and Set are further layers; Shared leaves out those that are not committed.
	Config, Untrusted, Set []string
	Shared                 bool
	// Tested asks the policies' own tests, for what builds and checks; answers are given by a policy whose tests fail.
	Tested bool
}

// Root returns the workspace root: the one that was named, or the one that the current directory lies in. A
// *workspace.Refused says of a directory that it is never taken.
func (f Flags) Root() (string, error) {
	own, _ := userdir.Root() // without any there is none that a tool could write
	if f.Dir != "" {
		if info, err := os.Stat(f.Dir); err != nil || !info.IsDir() {
			return "", usage.Errorf("-C %s: not a directory", f.Dir)
		}
		return f.Dir, workspace.Named(f.Dir, own)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return workspace.Find(cwd, own, source.Lists(hostview.Now))
}

// Options returns the options that all compilations share.
func (f Flags) Options(resolve bool, platforms ...ir.Platform) (hostfacts.Options, error) {
	root, err := f.Root()
	if err != nil {
		return hostfacts.Options{}, err
	}
	for flag, files := range map[string][]string{"--config": f.Config, "--untrusted": f.Untrusted} {
		for _, name := range files {
			if _, err := os.Stat(name); err != nil {
				return hostfacts.Options{}, usage.Errorf("%s %s: %v", flag, name, oserr.Reason(err))
			}
		}
	}
	home, _ := os.UserHomeDir()
	layers := source.Request{
		User: userdir.UserConfig(), Shared: f.Shared, Configs: f.Config, Untrusted: f.Untrusted, Sets: f.Set,
		Home: home,
	}
	return hostfacts.Options{
		Options: compiler.Options{Root: root, Layers: layers, Platforms: platforms}, Resolve: resolve,
		Untested: !f.Tested,
	}, nil
}

// Words are the flags by which another process of accessc, started in another directory, reads the same layers of a
// workspace.
func (f Flags) Words() []string { return compiled.Flags(f.Config, f.Untrusted, f.Set, f.Shared) }

// In is the configuration of another workspace.
func (f Flags) In(dir string) Flags {
	f.Dir = dir
	return f
}

// Committed leaves out the layers that are not committed.
// See decision D273.
func (f Flags) Committed() Flags {
	f.Shared = true
	return f
}
