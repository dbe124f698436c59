package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// What two tools write alike needs no comparison. These look at the text of rules; they
// only ever spare work.

func sameFiles(a, b *ir.Tool) bool {
	return a.Home == b.Home && (a.Commands == nil) == (b.Commands == nil) && sameCommands(a, b) &&
		slices.EqualFunc(a.FS, b.FS, func(x, y ir.FSRule) bool {
			return x.At == y.At && x.Caps == y.Caps && x.External == y.External
		})
}

func sameNetwork(a, b *ir.Tool) bool {
	return slices.EqualFunc(a.Net, b.Net, func(x, y ir.NetRule) bool {
		return x.Host == y.Host && x.Scheme == y.Scheme && x.Port == y.Port && x.Allow == y.Allow && slices.Equal(x.Path, y.Path)
	})
}

func sameEnvironment(a, b *ir.Tool) bool {
	return a.Home == b.Home && slices.EqualFunc(a.Env, b.Env, func(x, y ir.EnvRule) bool {
		return x.Name == y.Name && x.Prefix == y.Prefix && x.Read == y.Read
	})
}

func sameCommands(a, b *ir.Tool) bool {
	if a.Commands == nil || b.Commands == nil {
		return a.Commands == b.Commands
	}
	return slices.EqualFunc(a.Commands.Rules, b.Commands.Rules, func(x, y ir.CommandRule) bool {
		files := x.File == nil && y.File == nil || x.File != nil && y.File != nil && *x.File == *y.File
		return x.Program == y.Program && files && x.AnyArgs == y.AnyArgs && x.AllEnvs == y.AllEnvs && slices.Equal(x.Envs, y.Envs) &&
			slices.EqualFunc(x.Args, y.Args, func(p, q ir.ArgPattern) bool { return p.Rest == q.Rest && slices.Equal(p.Words, q.Words) })
	})
}
