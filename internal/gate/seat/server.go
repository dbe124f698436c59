package seat

import (
	"path/filepath"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/ir"
)

// Server is the server's tool, with the command line's command. One that the configuration does
// not name has the default policy; a name that is nearly that of another is a mistake.
func Server(res *hostfacts.Result, name string, command []string) (t *ir.Tool, named bool, err error) {
	var names []string
	for _, t := range res.Program.Tools {
		if t.Name == name && !t.Server() {
			return nil, false, usage.Errorf("%s is a tool and no server; a server stands in [%s.%s]", t.Name,
				ir.ServersTable, t.Name)
		}
		if t.Server() {
			names = append(names, t.Name)
		}
	}
	t, named = res.Program.Tool(name)
	if !named {
		if hint := suggest.Hint(name, names); name != "" && hint != "" {
			return nil, false, usage.Errorf("there is no server %q; %s", name, hint)
		}
		if why := compiler.BadName(name); name != "" && why != "" {
			return nil, false, usage.Errorf("--server: %s", why)
		}
		t = defaultServer(name)
	}
	if len(command) > 0 {
		t.Command = &ir.Command{Program: absolute(command[0]), Args: command[1:]}
	}
	if t.Command == nil {
		return nil, false, usage.Errorf("%s has no command; write one behind --, or in [%s.%s]", t.Name,
			ir.ServersTable, t.Name)
	}
	return t, named, nil
}

// defaultServer is a server that the configuration does not name.
func defaultServer(name string) *ir.Tool {
	if name == "" {
		name = "server"
	}
	t := ir.NewTool(name)
	t.Source.Origin.Path = ir.ServersTable + "." + name
	return t
}

// absolute makes the path of a program count from where the caller stands; a bare name stays.
func absolute(program string) string {
	if filepath.Base(program) != program {
		if abs, err := filepath.Abs(program); err == nil {
			return abs
		}
	}
	return program
}
