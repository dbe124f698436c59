package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// Tools that are written alike need no comparison. These functions look at the text of rules;
// they only save work.

// Same reports whether two tools are written alike in everything but their origins and tests.
func Same(a, b *ir.Tool) bool {
	return a.Name == b.Name && a.Source.Kind == b.Source.Kind && a.Source.Detail == b.Source.Detail &&
		sameCommand(a.Command, b.Command) &&
		a.Run == b.Run && a.LeastRisk == b.LeastRisk && a.Disabled == b.Disabled &&
		a.Base == b.Base && a.Declared == b.Declared &&
		sameFiles(a, b) && sameMay(a, b) && sameNetwork(a, b) && sameEnvironment(a, b) &&
		slices.EqualFunc(a.Sensitive, b.Sensitive, func(x, y ir.SensitivePattern) bool {
			return x.Pattern == y.Pattern
		}) &&
		slices.EqualFunc(a.Limits, b.Limits, func(x, y ir.Limit) bool {
			return x.Kind == y.Kind && x.Value == y.Value
		}) &&
		slices.EqualFunc(a.Accept, b.Accept, func(x, y ir.Acceptance) bool { return x.Gap == y.Gap }) &&
		sameConstraints(orNone(a.Constraints), orNone(b.Constraints))
}

func sameCommand(a, b *ir.Command) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Program == b.Program && slices.Equal(a.Args, b.Args) && a.Shell == b.Shell
}

func sameConstraints(a, b ir.Constraints) bool {
	return a.MaxInvocations == b.MaxInvocations && slices.Equal(a.OnlyAfter, b.OnlyAfter) && a.Forbidden == b.Forbidden
}

func sameFiles(a, b *ir.Tool) bool {
	return a.Home == b.Home && a.HomeShared == b.HomeShared && (a.Commands == nil) == (b.Commands == nil) &&
		sameCommands(a, b) &&
		a.Protects == b.Protects && a.LateOpen == b.LateOpen && a.Undo == b.Undo &&
		slices.EqualFunc(a.Protected, b.Protected, samePath) &&
		slices.EqualFunc(a.FS, b.FS, sameRule)
}

func samePath(x, y ir.ProtectedPath) bool {
	return x.Root == y.Root && x.Path == y.Path && x.Pattern == y.Pattern && x.Open == y.Open
}

func sameRule(x, y ir.FSRule) bool {
	return x.At == y.At && slices.Equal(x.Names, y.Names) && x.Caps == y.Caps && x.External == y.External &&
		slices.Equal(x.Links, y.Links)
}

func sameNetwork(a, b *ir.Tool) bool {
	return slices.EqualFunc(a.Net, b.Net, func(x, y ir.NetRule) bool {
		return x.Host == y.Host && x.Scheme == y.Scheme && x.Port == y.Port && x.Allow == y.Allow &&
			slices.Equal(x.Path, y.Path) &&
			slices.Equal(x.Methods, y.Methods) && x.Inspect == y.Inspect && x.Opaque == y.Opaque &&
			x.Listen == y.Listen &&
			sameCredential(x.Credential, y.Credential)
	})
}

func sameEnvironment(a, b *ir.Tool) bool {
	return a.Home == b.Home && slices.EqualFunc(a.Env, b.Env, func(x, y ir.EnvRule) bool {
		return x.Name == y.Name && x.Prefix == y.Prefix && x.Read == y.Read && x.Value == y.Value
	})
}

func sameCommands(a, b *ir.Tool) bool {
	if a.Commands == nil || b.Commands == nil {
		return a.Commands == b.Commands
	}
	return ownProgram(a) == ownProgram(b) && slices.EqualFunc(a.Commands.Rules, b.Commands.Rules,
		func(x, y ir.CommandRule) bool {
			files := x.File == nil && y.File == nil || x.File != nil && y.File != nil && *x.File == *y.File
			return x.Program == y.Program && files && x.AnyArgs == y.AnyArgs && x.AllEnvs == y.AllEnvs &&
				slices.Equal(x.Envs, y.Envs) &&
				slices.EqualFunc(x.Args, y.Args, func(p, q ir.ArgPattern) bool {
					return p.Rest == q.Rest && slices.Equal(p.Words, q.Words)
				})
		})
}

// ownProgram is the program of a tool's command, empty for none.
func ownProgram(t *ir.Tool) string {
	if t.Command == nil || t.Command.Shell {
		return ""
	}
	return t.Command.Program
}

func sameCredential(a, b *ir.Credential) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Env == b.Env && a.File == b.File && slices.Equal(a.Command, b.Command) && a.As == b.As && a.Name == b.Name
}
