//go:build linux

package containers_test

import (
	"os"
	"syscall"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// bothWays runs a test for containers in which accessc starts the tool, and for those without accessc.
func bothWays(t *testing.T, test func(t *testing.T, p *place, args []string)) {
	for name, args := range map[string][]string{"accessc inside": {"t"}, "mounts": accepting()} {
		t.Run(name, func(t *testing.T) { each(t, func(t *testing.T, p *place) { test(t, p, args) }) })
	}
}

// TestDevicesOfImage: nodes of a disk in the image, in the workspace and in a volume open nothing, also where the bundle asks for a
// control group that permits every device.
func TestDevicesOfImage(t *testing.T) {
	bothWays(t, func(t *testing.T, p *place, args []string) {
		if p.uid != 0 {
			t.Skip("only root can make devices")
		}
		p.project(`
try image head -c 1 /opt/disk
try workspace head -c 1 disk
try volume head -c 1 /data/disk
try make mknod x b 254 0
true
`)
		var root syscall.Stat_t
		if err := syscall.Stat("/", &root); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{p.rootfs + "/opt", p.ws, p.dir + "/data"} {
			p.write(dir+"/open", "")
			if err := syscall.Mknod(dir+"/disk", syscall.S_IFBLK|0o644, int(root.Dev)); err != nil {
				t.Skipf("this root can make no devices: %v", err)
			}
		}
		p.configure(bound(func(c *specs.Spec) {
			c.Linux.Resources = &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}}
			c.Mounts = append(c.Mounts, specs.Mount{Destination: "/data", Type: "bind", Source: p.dir + "/data", Options: []string{"bind", "ro"}})
		}))
		p.run(map[string]string{"image": "refused", "workspace": "refused", "volume": "refused", "make": "refused"}, args...)
	})
}

// TestStandardInput: a directory of the host as standard input leads out of the container only where accessc is not inside
// and the runtime hands descriptors over, as the ledger says. runc makes pipes.
func TestStandardInput(t *testing.T) {
	bothWays(t, func(t *testing.T, p *place, args []string) {
		p.project("try input sh -c 'cat /proc/self/fd/0/file'\ntrue\n")
		p.write(p.dir+"/outside/file", "outside\n")
		p.configure(bound(nil))
		outside, err := os.Open(p.dir + "/outside")
		if err != nil {
			t.Fatal(err)
		}
		defer outside.Close()
		p.stdin = outside
		want := "refused"
		if p.runtime == "crun" && len(args) > 1 {
			want = "did"
		}
		p.run(map[string]string{"input": want}, args...)
	})
}
