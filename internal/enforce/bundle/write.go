package bundle

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/oci"
)

// Write puts a document into the bundle: the files that the container mounts, and last the configuration.
func (b *Bundle) Write(d *oci.Document) error {
	if err := noLinks(b.config.Root.Path, d.Config.Mounts); err != nil {
		return err
	}
	source := b.File(oci.Source)
	for i, m := range d.Config.Mounts {
		if m.Source == oci.Source {
			d.Config.Mounts[i].Source = source
		}
	}
	config, err := oci.Merge(b.config, d)
	if err != nil {
		return err
	}
	if err := b.makeHome(d.Home); err != nil {
		return fmt.Errorf("the private home: %w", err)
	}
	if d.Entry != nil {
		if err := b.writeEntry(d.Entry, source); err != nil {
			return err
		}
	}
	if err := put(b.File(OriginalFile), 0o644, content(b.original)); err != nil {
		return err
	}
	return put(b.File(ConfigFile), 0o644, content(config))
}

// writeEntry writes the files of the entry point.
func (b *Bundle) writeEntry(s *landlock.Spec, dir string) error {
	text, err := oci.Text(s)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := put(filepath.Join(dir, oci.Program), 0o755, copyProgram); err != nil {
		return fmt.Errorf("the program: %w", err)
	}
	return put(filepath.Join(dir, oci.Specification), 0o644, content(text))
}

// makeHome makes a private home that is not there yet, for the user that the container starts as.
func (b *Bundle) makeHome(home string) error {
	if _, err := os.Lstat(home); home == "" || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil || os.Geteuid() != 0 {
		return err
	}
	user, linux := b.config.Process.User, b.config.Linux
	return os.Lchown(home, onHost(linux.UIDMappings, user.UID), onHost(linux.GIDMappings, user.GID))
}

// onHost is the number of a user or group of the container outside.
func onHost(mappings []specs.LinuxIDMapping, id uint32) int {
	for _, m := range mappings {
		if id >= m.ContainerID && id-m.ContainerID < m.Size {
			return int(m.HostID + id - m.ContainerID)
		}
	}
	return int(id)
}

func content(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}

// put writes a file whole or not at all. The user of the container may be another one, and reads it.
func put(name string, mode fs.FileMode, from func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".accessc-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(from(f), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// noLinks refuses places of mounts that lead over symlinks of the image: the runtime would mount
// elsewhere, and the policy is about the place. A bind of the bundle above may hide the image's files there.
func noLinks(root string, mounts []specs.Mount) error {
	for _, m := range mounts {
		at := root
		for _, name := range strings.Split(strings.Trim(m.Destination, "/"), "/") {
			at = filepath.Join(at, name)
			info, err := os.Lstat(at)
			if err != nil {
				break
			}
			if info.Mode()&fs.ModeSymlink != 0 && !oci.OfRuntime(m) {
				return fmt.Errorf("the image has a symlink at %s, in the way of %s", at, m.Destination)
			}
		}
	}
	return nil
}

var errDynamic = errors.New("this accessc needs a loader and libraries, which an image may not have; build it with " +
	"CGO_ENABLED=0")

// copyProgram copies the running program.
func copyProgram(to io.Writer) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(own)
	if err != nil {
		return err
	}
	defer in.Close()
	image, err := elf.NewFile(in)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(image.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return errDynamic
	}
	_, err = io.Copy(to, in)
	return err
}
