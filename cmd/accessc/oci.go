package main

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

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// ociCmd is "accessc oci".
type ociCmd struct {
	Bundle   string   `required:"" placeholder:"DIR" help:"The bundle: a directory with config.json and the image's root file system."`
	Mounts   bool     `help:"Do without accessc inside, by mounts and masks alone, for runtimes whose kernel has no Landlock, such as gVisor. They hold less."`
	Command  bool     `help:"Start the command of config.json under the policy of the tool, in place of the tool's own."`
	Accept   []string `placeholder:"GAP" help:"Start although the host has this gap, such as net.host. Repeatable."`
	NoPrompt bool     `help:"Never prompt, as without a terminal: drop external rules without approval."`
	Tool     string   `arg:"" name:"tool" help:"The tool."`
	Args     []string `arg:"" optional:"" name:"arg" help:"Arguments to add to the command."`
}

// Help implements kong's detailed help.
func (ociCmd) Help() string {
	return `Changes config.json of a bundle (OCI runtime specification) so that its container starts the tool under its
policy: accessc is mounted read-only, applies the policy inside as exec does, and becomes the tool. The workspace and
approved targets are mounted at their own paths; programs and libraries are the image's. Capabilities are dropped.
What contradicts the policy is refused: mounts in the way, hooks that run before the tool, shared namespaces, a seccomp
filter that accessc cannot work under. config.json.orig keeps the bundle's own; a second run begins from it.

  runc spec --bundle DIR && accessc oci --bundle DIR TOOL && runc run --bundle DIR NAME
  accessc oci --bundle DIR --command TOOL        start the image's own command under the policy of TOOL
  accessc oci --bundle DIR --mounts TOOL         by mounts alone; the gaps must be accepted
  accessc build --target oci                     write and review the same as DIR/TOOL/oci.json, with its ledger`
}

// Run implements the command.
func (c *ociCmd) Run(g *globals) error {
	if hostfacts.Platform() != ir.Linux {
		return usagef("containers with accessc inside are Linux's; run it there, or in the machine that runs your containers")
	}
	if err := checkAccept(c.Accept); err != nil {
		return err
	}
	opts, err := g.asking().options(true, ir.Linux)
	if err != nil {
		return err
	}
	res, err := g.compileAsking(opts, !c.NoPrompt, c.Tool)
	if err != nil {
		return err
	}
	if err := g.sayErrors(res, c.Tool); err != nil {
		return err
	}
	b, err := openBundle(c.Bundle, res.Resolver.Root)
	if err != nil {
		return err
	}
	if err := b.findRoot(res); err != nil {
		return err
	}
	t, err := c.tool(res, b)
	if err != nil {
		return err
	}
	if err := g.unattested(res, t); err != nil {
		return err
	}
	d, err := c.describe(t, res)
	if err == nil && c.Mounts {
		err = g.agree(d)
	}
	if err != nil {
		return err
	}
	if err := b.write(d); err != nil {
		return fmt.Errorf("%s is as it was: %w", b.file(configFile), err)
	}
	fmt.Fprintf(g.stderr, "%s starts %s; %s has the configuration before\n", b.file(configFile), t.Name, originalFile)
	return nil
}

// tool is the one that the container starts.
func (c *ociCmd) tool(res *hostfacts.Result, b *bundle) (*ir.Tool, error) {
	found, err := findTool(res.Program, c.Tool)
	switch {
	case err != nil:
		return nil, err
	case found.Source.Kind != ir.SourceLocal:
		return nil, usagef("%s is not started by accessc: its source is %s", found.Name, found.Source)
	case found.Constraints != nil && found.Constraints.Forbidden:
		return nil, usagef("the constraints of %s forbid it: %s", found.Name, found.Constraints.Origin)
	}
	t := *found
	for _, gap := range c.Accept {
		t.Accept = append(slices.Clip(t.Accept), ir.Acceptance{Gap: ir.Gap(gap)})
	}
	words := c.Args
	switch {
	case c.Command && len(b.config.Process.Args) == 0:
		return nil, usagef("--command: %s starts no command", b.file(configFile))
	case c.Command:
		words = slices.Concat(b.config.Process.Args, words)
		t.Command = &ir.Command{Program: words[0], Args: words[1:]}
	case len(words) > 0 && (t.Command == nil || t.Command.Shell):
		return nil, usagef("%s has no command, or one for a shell, to which arguments could be added", t.Name)
	case len(words) > 0:
		t.Command = &ir.Command{Program: t.Command.Program, Args: slices.Concat(t.Command.Args, words)}
	}
	if i := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "{{") }); i >= 0 {
		return nil, usagef("{{ in %q would be replaced; name the command in the policy", words[i])
	}
	return &t, nil
}

// describe compiles a tool for this host, with the Context that it will get.
func (c *ociCmd) describe(t *ir.Tool, res *hostfacts.Result) (*oci.Document, error) {
	target := backends.Target{Form: backends.Resolved, Facts: res.Facts(t), Node: res.Node}
	var form backends.Backend = oci.Backend{}
	if c.Mounts {
		form = oci.Apart{}
	}
	out, findings, err := build.Compile(t, []backends.Backend{contextjson.Backend{}, form}, target)
	if err == nil && findings.Failed() {
		err = errors.New(findings[0].Label)
	}
	if err != nil {
		return nil, err
	}
	return oci.Parse(out.Files[form.File()])
}

// agree refuses gaps that are not accepted: where accessc does not start inside, no start will ask.
func (g *globals) agree(d *oci.Document) error {
	ledger, err := backends.Ledger(d.Ledger)
	if err != nil {
		return err
	}
	var open []string
	why := map[string][]ir.Cause{}
	for _, row := range ledger {
		gap := string(row.Gap)
		if row.Is.Held() || slices.Contains(d.Accept, gap) {
			continue
		}
		if _, known := why[gap]; !known {
			open = append(open, gap)
		}
		for _, cause := range row.Causes {
			if !slices.Contains(why[gap], cause) {
				why[gap] = append(why[gap], cause)
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	slices.Sort(open)
	fmt.Fprintf(g.stderr, "accessc: mounts do not meet %s of this policy\n", plural.Count(len(open), "requirement"))
	for _, gap := range open {
		fmt.Fprintf(g.stderr, "  %-16s %s\n", gap, registry.Why(why[gap]))
	}
	fmt.Fprintln(g.stderr, "  to do without them: --accept "+strings.Join(open, " --accept "))
	return exit(exitUnenforced)
}

// The files of a bundle.
const (
	configFile   = "config.json"
	originalFile = configFile + ".orig"
	maxConfig    = 4 << 20
)

// bundle is a bundle whose configuration is to be changed.
type bundle struct {
	dir    string // canonical
	config *specs.Spec
	// original is the text of the configuration as accessc found it.
	original []byte
}

func (b *bundle) file(name string) string { return filepath.Join(b.dir, name) }

// openBundle reads a bundle that no tool can change. A configuration that is accessc's own is
// replaced by the one before.
func openBundle(dir, workspace string) (*bundle, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the bundle: %w", err)
	}
	b := &bundle{dir: dir}
	if why := start.Exposed(b.file(configFile), workspace); why != "" {
		return nil, usagef("the bundle %s %s: a tool could change its own container", dir, why)
	}
	if err := b.read(configFile); err != nil {
		return nil, err
	}
	if b.config.Annotations[oci.Mark] != "" {
		if err := b.read(originalFile); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// findRoot makes the path of the root file system canonical. An image may have any names in it, so only the
// places of this policy's tools count.
func (b *bundle) findRoot(res *hostfacts.Result) error {
	root := b.config.Root.Path
	if !filepath.IsAbs(root) {
		root = b.file(root)
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
			return usagef("the root file system %s lies in %s: a tool could change its own programs", root, at)
		}
	}
	b.config.Root.Path = root
	return nil
}

func (b *bundle) read(name string) error {
	info, err := os.Lstat(b.file(name))
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", b.file(name))
	}
	f, err := os.Open(b.file(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if b.original, err = bounded.Read(f, maxConfig); err != nil {
		return fmt.Errorf("%s: %w", b.file(name), err)
	}
	if b.config, err = oci.ParseConfig(b.original); err != nil {
		return fmt.Errorf("%s: %w", b.file(name), err)
	}
	return nil
}

// write puts a document into the bundle: the files that the container mounts, and last the configuration.
func (b *bundle) write(d *oci.Document) error {
	if err := noLinks(b.config.Root.Path, d.Config.Mounts); err != nil {
		return err
	}
	source := b.file(oci.Source)
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
	if err := put(b.file(originalFile), 0o644, content(b.original)); err != nil {
		return err
	}
	return put(b.file(configFile), 0o644, content(config))
}

// writeEntry writes the files of the entry point.
func (b *bundle) writeEntry(s *landlock.Spec, dir string) error {
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
func (b *bundle) makeHome(home string) error {
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

var errDynamic = errors.New("this accessc needs a loader and libraries, which an image may not have; build it with CGO_ENABLED=0")

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
