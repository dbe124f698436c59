package ir

import "strconv"

// Layer is the source of a piece of a policy, in load order.
type Layer uint8

// The layers. The first five are in no file: the base, the defaults and the protected
// paths ship with the program. So do the files of presets.
const (
	// LayerNone is the zero value: no origin recorded.
	LayerNone Layer = iota
	// LayerBase is the named base list of the platform.
	LayerBase
	// LayerDefault is the default of a resource type that no layer declares.
	LayerDefault
	// LayerImplied follows from the tool itself: its private home, its temporary
	// directory, its own program.
	LayerImplied
	// LayerProtected is the list of protected paths.
	LayerProtected
	// LayerPreset is a preset that a tool extends.
	LayerPreset
	// LayerUser is the user's own configuration file.
	LayerUser
	// LayerWorkspace is a file committed with the workspace.
	LayerWorkspace
	// LayerLocal is the workspace's file that is not committed.
	LayerLocal
	// LayerConfig is a file named on the command line.
	LayerConfig
	// LayerSet is a key set on the command line.
	LayerSet
)

var layerNames = [...]string{
	"none", "base", "default", "implied", "protected", "preset", "user", "workspace", "local", "config", "set",
}

// String returns the name of the layer as JSON and messages write it.
func (l Layer) String() string {
	if int(l) < len(layerNames) {
		return layerNames[l]
	}
	return "none"
}

// ParseLayer is the inverse of Layer.String.
func ParseLayer(s string) (Layer, bool) {
	for i, n := range layerNames {
		if n == s {
			return Layer(i), true
		}
	}
	return LayerNone, false
}

// Pos is a place in a configuration file. Line and Col count from 1, Col in
// characters; zero means that the place is the file as a whole.
type Pos struct {
	File string // as the user knows it
	Line int    // from 1
	Col  int    // from 1
}

// String writes the position as file:line:column and omits zero parts.
func (p Pos) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
	}
	if p.Line > 0 && p.Col > 0 {
		s += ":" + strconv.Itoa(p.Col)
	}
	return s
}

// Origin is the layer that wrote something and the place in it.
type Origin struct {
	// Layer is LayerNone when no origin is recorded.
	Layer Layer
	// Pos is the place in the layer's file, zero for layers without a file.
	Pos Pos
	// Path is the configuration path, such as tools.x.access.fs[2].
	Path string
	// Label describes sources outside of files, such as "base:system" or "default".
	Label string
}

// String writes the origin for messages: file:line, or the label.
func (o Origin) String() string {
	if o.Pos.File == "" {
		return o.Label
	}
	return Pos{File: o.Pos.File, Line: o.Pos.Line}.String()
}

// Leaf is the origin of a written field of a rule.
type Leaf struct {
	Key string // of the field
	At  Pos    // its place
}
