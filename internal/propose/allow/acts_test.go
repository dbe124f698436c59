package allow

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/shellword/split"
)

// TestRefusesAlike: allow writes no rule that denials does not propose. allow wrote rules for
// sockets and devices, and each of the two let programs pass that have others act behind another.
func TestRefusesAlike(t *testing.T) {
	// A socket has a short path (unix(7)), so it is made from within its directory.
	req, base := world(t, map[string]string{
		"ws/accessc.toml": "[tools.t]\nsource = 'local'\ncommand = 'sh'\naccess.commands = {}\naccess.fs = [{ path = 'src', read = true }]\n", "ws/src/a": "",
	})
	t.Chdir(filepath.Join(base, "ws"))
	if l, err := net.Listen("unix", "app.sock"); err == nil {
		defer l.Close()
	} else {
		t.Skip(err)
	}
	want := map[string]string{
		"dial app.sock": "socket", "update app.sock": "a socket, a device or a FIFO", "dial src/a": "listens at a socket",
		"update .": "a rule that changes the whole workspace", "rename app.sock src/s": "a socket, a device or a FIFO",
		"run env su": "su acts as another user", "run nice -n 5 sudo id": "sudo acts as another user", "run bash -c 'cd /; sudo id'": "sudo acts as another user",
		"run env A=1 timeout 5 runuser -u x id": "runuser acts", "run xargs sg x": "sg acts", "run /usr/bin/loginctl": "loginctl has a service act", "run Gio.EXE open x": "gio has the desktop act",
		"update src/\u202ea": "invisible characters", "run git 'a\u2066b'": "invisible characters", "update 'src/a\uFFFD'": "no UTF-8",
	}
	for _, program := range strings.Fields("runuser sg newgrp loginctl pkcon gio chsh setpriv nsenter systemd-run dbus-send busctl at crontab doas machinectl") {
		want["run "+program] = program
	}
	if mkfifo, err := exec.LookPath("mkfifo"); err == nil && runtime.GOOS != "windows" {
		if err := exec.Command(mkfifo, "pipe").Run(); err != nil {
			t.Fatal(err)
		}
		want["update pipe"] = "a socket, a device or a FIFO"
	}
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	for text, why := range want {
		asked := words(t, text)
		x := p.Propose([]denial.Entry{{Question: asked}})
		if len(x) != 1 || x[0].Permitted || x[0].Command != "" || !strings.Contains(x[0].WhyNot, why) {
			t.Errorf("%q is proposed as %+v", text, x)
		}
		a, err := p.Question(asked)
		if err == nil {
			_, err = p.Plan(a)
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Why != x[0].WhyNot {
				t.Errorf("%q: allow says %v, denials %s", text, err, x[0].WhyNot)
			}
		}
	}
	for _, text := range []string{"read .", "update src/a", "update src/privé", "run git status", "run env git", "run bash -c 'echo sudo'"} {
		x := p.Propose([]denial.Entry{{Question: words(t, text)}})
		if len(x) != 1 || x[0].Plan == nil {
			t.Errorf("%q: got %+v", text, x)
		}
	}
	if _, err := os.Stat(".accessc"); err == nil {
		t.Error("a plan has written something")
	}
}

// words splits an operation as the command does.
func words(t *testing.T, text string) []string {
	t.Helper()
	out, err := split.Words(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
