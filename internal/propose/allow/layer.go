package allow

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/ir"
)

// jpConfig is the layer of the workspace that another program has as well.
const jpConfig = ".jp/config.toml"

// layer is the file that additions go to.
type layer struct {
	// Name is the file as findings name it.
	Name string
	kind ir.Layer
	// root, dir and name are the file: a trusted directory, one in it, and a name.
	root, dir, name string
	// disk is the text of the file, old the one that rules are added to: with Fresh, if any.
	disk, old []byte
}

// place finds the file of the layer. The one of the workspace is the file that defines the tool, if the policy is
// known.
func (l *layer) place(root string, p *Policy) error {
	l.root = filepath.FromSlash(root)
	//exhaustive:ignore
	switch l.kind {
	case ir.LayerUser:
		file := userdir.UserConfig()
		if file == "" {
			return errors.New("there is no directory for your own layer")
		}
		l.root, l.dir, l.name = filepath.Dir(file), ".", filepath.Base(file)
		l.Name = file
		return nil
	case ir.LayerWorkspace:
		l.dir, l.name = ".", "accessc.toml"
		if p != nil &&
			(p.Tool.Source.Origin.Pos.File == jpConfig || p.Now.Files[l.name] == nil && p.Now.Files[jpConfig] != nil) {
			l.dir, l.name = ".jp", "config.toml"
		}
	default:
		l.dir, l.name = ".accessc", "local.toml"
	}
	l.Name = path.Join(l.dir, l.name)
	return nil
}

// path is the file on the disk.
func (l *layer) path() string { return filepath.Join(l.root, l.dir, l.name) }

func (l *layer) open() (*layerfile.File, error) {
	root, err := os.OpenRoot(l.root)
	if errors.Is(err, os.ErrNotExist) && l.kind == ir.LayerUser {
		return &layerfile.File{Name: l.name}, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return layerfile.Open(root, l.dir, l.name)
}

// read reads the file of the layer.
func (l *layer) read() error {
	f, err := l.open()
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	defer f.Close()
	l.disk, l.old = f.Data, f.Data
	return nil
}

// makeDir makes the directory of the local layer, which is for this checkout alone.
func (l *layer) makeDir() (*layerfile.File, error) {
	root, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(l.dir, 0o777); err != nil {
		return nil, err
	}
	f, err := layerfile.Open(root, l.dir, l.name)
	if err == nil {
		err = layerfile.Ignore(f.Dir)
	}
	return f, err
}

// setting is what the layer says under a key of the tool's access, nil for nothing.
func (l *layer) setting(t *ir.Tool, key string) *source.Value {
	text, err := layerfile.Parse(l.Name, l.old)
	if err != nil {
		return nil
	}
	return text.Get(append(text.Tool(t.Name, t.Source.Origin.Path), "access", key)...)
}

// extends are the presets that the layer has for the tool, nil where it has no list of them.
func (l *layer) extends(t *ir.Tool) map[string]bool {
	v := l.setting(t, "extends")
	if v == nil {
		return nil
	}
	out := map[string]bool{}
	for _, item := range v.Array {
		out[item.Text] = true
	}
	return out
}
