package ir

// DefaultFS is the filesystem policy of a tool for which no layer declares a policy: the workspace, read, written and
// executed.
func DefaultFS() []FSRule {
	return []FSRule{{Written: ".", At: In(""), Caps: All, Origin: defaultOrigin}}
}

// DefaultEnv are the variables of the bases system and minimal, to which declared rules add.
func DefaultEnv() []EnvRule {
	names := [...]EnvRule{
		{Name: "PATH"}, {Name: "HOME"}, {Name: "USER"}, {Name: "LANG"}, {Name: "LC_", Prefix: true}, {Name: "TZ"},
		{Name: "TERM"},
	}
	out := make([]EnvRule, 0, len(names))
	for _, r := range names {
		r.Read, r.Origin = true, defaultOrigin
		out = append(out, r)
	}
	return out
}

var defaultOrigin = Origin{Layer: LayerDefault, Label: "default"}

// NewTool returns a local tool under the default policy.
func NewTool(name string) *Tool {
	return &Tool{
		Name:      name,
		Source:    Source{Kind: SourceLocal, Origin: defaultOrigin},
		Base:      BaseSystem,
		Home:      HomePrivate,
		Protects:  true,
		FS:        DefaultFS(),
		Env:       DefaultEnv(),
		Sensitive: defaultSensitive(),
	}
}
