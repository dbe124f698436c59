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

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// runtime is the one of containers in which the tools of scenes are started, empty for none.
var runtime = os.Getenv("ACCESSC_ATTACKS_IN")

// starting is the start of the tool, on the host or in a container.
func (p *place) starting(ctx context.Context, s scene) *exec.Cmd {
	switch {
	case s.means != "":
		return p.command(ctx, slices.Concat([]string{"exec", "-C", p.ws, "--no-prompt", "--means", s.means}, p.accepting(s), []string{"t"}, s.args)...)
	case runtime == "":
		return p.command(ctx, append([]string{"exec", "-C", p.ws, "--no-prompt", "t"}, s.args...)...)
	}
	return p.contained(ctx, s.args)
}

// contained is the start of a container in which accessc starts the tool. The image has the programs of this
// host. It is one of root, whatever the user of the place is.
func (p *place) contained(ctx context.Context, args []string) *exec.Cmd {
	bundle, err := os.MkdirTemp("", "accessc-bundle-")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { os.RemoveAll(bundle) })
	do := func(cmd *exec.Cmd) {
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	p.must(os.Mkdir(bundle+"/rootfs", 0o755))
	p.must(os.Mkdir(bundle+"/rootfs/usr", 0o755))
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		p.must(os.Symlink("usr/"+name, filepath.Join(bundle, "rootfs", name)))
	}
	spec := exec.Command(runtime, "spec")
	spec.Dir = bundle
	do(spec)
	var c specs.Spec
	text, err := os.ReadFile(bundle + "/config.json")
	p.must(err)
	p.must(json.Unmarshal(text, &c))
	c.Process.Terminal = false
	c.Process.User = specs.User{UID: uint32(p.uid), GID: uint32(p.uid)}
	c.Process.Rlimits = nil
	c.Mounts = append(c.Mounts, specs.Mount{Destination: "/usr", Type: "bind", Source: "/usr", Options: []string{"bind", "ro"}})
	text, err = json.Marshal(c)
	p.must(err)
	p.must(os.WriteFile(bundle+"/config.json", text, 0o644))
	// The user of the place describes the container, and root starts it.
	p.must(os.Chmod(bundle, 0o755))
	p.must(os.Lchown(bundle, p.uid, p.uid))
	do(p.command(ctx, append([]string{"oci", "-C", p.ws, "--no-prompt", "--bundle", bundle, "t"}, args...)...))
	words := []string{runtime, "--root", bundle + "/run", "run", "--bundle", bundle, filepath.Base(bundle) + strconv.Itoa(os.Getpid())}
	const hybrid = "/sys/fs/cgroup/unified"
	if text, err := os.ReadFile(hybrid + "/cgroup.controllers"); runtime == "crun" && err == nil && len(bytes.TrimSpace(text)) > 0 {
		// crun starts nothing on a machine with both versions of cgroups. It gets a view of one.
		words = append([]string{"unshare", "--mount", "sh", "-c", "umount " + hybrid + ` && exec "$@"`, "sh"}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = bundle
	cmd.WaitDelay = p.command(ctx).WaitDelay
	return cmd
}
