//go:build linux

package attacks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// runtime is the one of containers in which the tools of scenes are started, empty for none.
var runtime = os.Getenv("ACCESSC_ATTACKS_IN")

// starting is the start of the tool: on the host, in a container where accessc starts it, or by another means.
func (p *place) starting(ctx context.Context, s scene) *exec.Cmd {
	switch {
	case s.means != nil:
		return s.means.ready(&p.disk, s.leaks)(ctx, s.args)
	case runtime == "":
		return p.command(ctx, append([]string{"exec", "-C", p.ws, "--no-prompt", "t"}, s.args...)...)
	}
	return p.inside(nil)(ctx, s.args)
}

// inside are starts in containers where accessc starts the tool.
func (d *disk) inside(flags []string) starter {
	bundle := d.bundle(runtime)
	return func(ctx context.Context, args []string) *exec.Cmd {
		return d.container(ctx, runtime, bundle, slices.Concat([]string{"oci", "-C", d.ws, "--no-prompt", "--bundle", bundle}, flags, []string{"t"}, args))
	}
}

// bundle makes a container whose image has the programs of this host. It is one of root, whatever the user of the disk is.
func (d *disk) bundle(runtime string) string {
	bundle, err := os.MkdirTemp("", "accessc-bundle-")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { os.RemoveAll(bundle) })
	must := func(err error) {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	must(os.Mkdir(bundle+"/rootfs", 0o755))
	must(os.Mkdir(bundle+"/rootfs/usr", 0o755))
	// runc gives the mount at /tmp the mode of the image's.
	must(os.Mkdir(bundle+"/rootfs/tmp", 0o755))
	must(os.Chmod(bundle+"/rootfs/tmp", 0o777|os.ModeSticky))
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		must(os.Symlink("usr/"+name, filepath.Join(bundle, "rootfs", name)))
	}
	spec := exec.Command(runtime, "spec")
	spec.Dir = bundle
	if out, err := spec.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v\n%s", spec.Args, err, out)
	}
	var c specs.Spec
	text, err := os.ReadFile(bundle + "/config.json")
	must(err)
	must(json.Unmarshal(text, &c))
	c.Process.Terminal = false
	c.Process.User = specs.User{UID: uint32(d.uid), GID: uint32(d.uid)}
	c.Process.Rlimits = nil
	c.Mounts = append(c.Mounts, specs.Mount{Destination: "/usr", Type: "bind", Source: "/usr", Options: []string{"bind", "ro"}})
	text, err = json.Marshal(c)
	must(err)
	must(os.WriteFile(bundle+"/config.json", text, 0o644))
	// The user of the disk describes the container, and root starts it.
	must(os.Chmod(bundle, 0o755))
	must(os.Lchown(bundle, d.uid, d.uid))
	return bundle
}

// container has accessc describe a container, and is its start.
func (d *disk) container(ctx context.Context, runtime, bundle string, describe []string) *exec.Cmd {
	if out, err := d.command(ctx, describe...).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v\n%s", describe, err, out)
	}
	words := []string{runtime, "--root", bundle + "/run", "run", "--bundle", bundle, filepath.Base(bundle) + strconv.Itoa(os.Getpid())}
	const hybrid = "/sys/fs/cgroup/unified"
	if text, err := os.ReadFile(hybrid + "/cgroup.controllers"); runtime == "crun" && err == nil && len(bytes.TrimSpace(text)) > 0 {
		// crun starts nothing on a machine with both versions of cgroups. It gets a view of one.
		words = append([]string{"unshare", "--mount", "sh", "-c", "umount " + hybrid + ` && exec "$@"`, "sh"}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = bundle, &syscall.SysProcAttr{}, d.command(ctx).WaitDelay
	return cmd
}
