package bundle

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/usage"
)

// The files of a bundle.
const (
	ConfigFile   = "config.json"
	OriginalFile = ConfigFile + ".orig"
	maxConfig    = 4 << 20
)

// Bundle is a bundle whose configuration is to be changed.
type Bundle struct {
	dir    string // canonical
	config *specs.Spec
	// original is the text of the configuration as accessc found it.
	original []byte
}

// File is the path of a file of the bundle.
func (b *Bundle) File(name string) string { return filepath.Join(b.dir, name) }

// Open reads a bundle that no tool can change. A configuration that is accessc's own is
// replaced by the one before.
func Open(dir, workspace string) (*Bundle, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the bundle: %w", err)
	}
	b := &Bundle{dir: dir}
	if why := start.Exposed(b.File(ConfigFile), workspace); why != "" {
		return nil, usage.Errorf("the bundle %s %s: a tool could change its own container", dir, why)
	}
	if err := b.read(ConfigFile); err != nil {
		return nil, err
	}
	if b.config.Annotations[oci.Mark] != "" {
		if err := b.read(OriginalFile); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// FindRoot makes the path of the root file system canonical. An image may have any names in it, so only the
// places of this policy's tools count.
func (b *Bundle) FindRoot(res *hostfacts.Result) error {
	root := b.config.Root.Path
	if !filepath.IsAbs(root) {
		root = b.File(root)
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("the root file system: %w", err)
	}
	places := []string{res.Resolver.Root, string(res.State)}
	for _, approved := range res.Bindings {
		places = append(places, approved.Target)
	}
	for _, at := range places {
		if workspace.Within(root, at) {
			return usage.Errorf("the root file system %s lies in %s: a tool could change its own programs", root, at)
		}
	}
	b.config.Root.Path = root
	return nil
}

func (b *Bundle) read(name string) error {
	info, err := os.Lstat(b.File(name))
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", b.File(name))
	}
	f, err := os.Open(b.File(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if b.original, err = bounded.Read(f, maxConfig); err != nil {
		return fmt.Errorf("%s: %w", b.File(name), err)
	}
	if b.config, err = oci.ParseConfig(b.original); err != nil {
		return fmt.Errorf("%s: %w", b.File(name), err)
	}
	return nil
}
