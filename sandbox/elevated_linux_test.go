package sandbox_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/sandbox"
	"github.com/accessc/accessc/test/testbuild"
)

// fileCapability is the attribute of a file with CAP_DAC_OVERRIDE (1) permitted and effective: version 2 of
// vfs_cap_data in linux/capability.h.
func fileCapability() (out []byte) {
	for _, word := range []uint32{0x02000001, 1 << 1, 0, 0, 0} {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out
}

// TestElevated: a user who starts a host with more rights than his own can have it do nothing by its
// arguments, and such a host does not open. A program without such rights obeys the same words.
func TestElevated(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host := dir + "/host"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err == nil {
		err = testbuild.WriteFile(host, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	victim := dir + "/accessc-victim"
	// run has a user start the host, and reports whether it has removed a directory that is not his.
	run := func(user uint32, words ...string) (removed bool, said string) {
		if err := os.MkdirAll(victim, 0o700); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(host)
		c.Args, c.Dir, c.Env = words, dir, append(os.Environ(), hostMode+"="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		out, _ := c.CombinedOutput()
		_, err := os.Lstat(victim)
		return err != nil, string(out)
	}
	const user = 65534
	sweep := []string{marker, start.SweepCommand, victim}
	if removed, said := run(0, sweep...); !removed {
		t.Fatalf("the words have no effect: %q", said)
	}
	for _, words := range [][]string{{marker}, {marker, start.SweepCommand}, {marker, "helper"}, {marker, "helper", dir}} {
		if _, said := run(user, words...); strings.Contains(said, "panic") {
			t.Errorf("%q: %s", words, said)
		}
	}
	for name, give := range map[string]func() error{
		"set-user-ID":  func() error { return os.Chmod(host, 0o755|os.ModeSetuid) },
		"set-group-ID": func() error { return os.Chmod(host, 0o755|os.ModeSetgid) },
		"capability": func() error {
			if err := os.Chmod(host, 0o755); err != nil {
				return err
			}
			return unix.Setxattr(host, "security.capability", fileCapability(), 0)
		},
	} {
		if err := give(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, words := range [][]string{sweep, {marker}, {marker, "helper", victim}, {host}} {
			if removed, said := run(user, words...); removed || !strings.Contains(said, sandbox.ErrElevated.Error()) {
				t.Errorf("%s, %q: removed %v, %q", name, words, removed, said)
			}
		}
		if err := os.Chmod(host, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = unix.Removexattr(host, "security.capability")
	}
	if _, said := run(user, host); strings.Contains(said, sandbox.ErrElevated.Error()) {
		t.Errorf("without a bit: %q", said)
	}
}
