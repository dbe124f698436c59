//go:build linux

package attacks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// TestProcesses plays attacks on processes, programs, the network, limits and the host.
func TestProcesses(t *testing.T) {
	scenes := procScenes()
	if runtime != "" {
		scenes = slices.DeleteFunc(scenes, func(s procScene) bool { return begun(notInside, s.name) != "" })
	}
	procRun(t, procBuild(t), scenes)
}

func procScenes() []procScene {
	return slices.Concat(procPrograms(), procHosts(), procSurvivors(), procLimits(), procNetwork(), procReports())
}

// procPrograms start unlisted programs, or listed ones with unlisted arguments.
func procPrograms() []procScene {
	denied := []string{"run bin/unlisted hello", "run bin/listed evil", "run bin/listed", "run sh -c true", "run env sh",
		"run /lib64/ld-linux-x86-64.so.2 bin/unlisted", "run src/listed hello"}
	allowed := []string{"run bin/listed hello", "run ./script", "run ./tool"}
	scene := func(name string, good []string, runs ...[]string) procScene {
		return procScene{name: name, source: "proc_exec", toml: procListed, denied: denied, allowed: allowed, runs: runs, good: good}
	}
	var races [][]string
	for _, race := range []string{"thread word", "thread pointer", "thread cut", "thread variable", "thread more", "thread path",
		"process word", "process pointer", "process variable", "process path", "file word", "vm word", "vm variable", "vm path", "mem word"} {
		how, what, _ := strings.Cut(race, " ")
		races = append(races, []string{"race", how, what})
	}
	listed := []string{"listed"}
	return []procScene{
		scene("ways", listed, []string{"ways"}),
		scene("variables", listed, []string{"variables"}),
		scene("exec races by threads", listed, races[:6]...),
		scene("exec races by processes", listed, races[6:]...),
		scene("exec while a read is pending", listed, []string{"pending"}),
		scene("descriptors exchanged", listed, []string{"descriptors"}),
		scene("links exchanged", listed, []string{"links"}),
		scene("scripts", listed, []string{"scripts"}),
		scene("script starts the loader", listed, []string{"line", "#!/lib64/ld-linux-x86-64.so.2 bin/unlisted"}),
		scene("script starts a listed program otherwise", listed, []string{"line", "#!bin/listed evil"}),
		scene("script hands variables on", listed, []string{"line", "#!bin/listed hello", "BAR=x"}),
		scene("traced", listed, []string{"traced"}),
		{name: "variables of others", source: "proc_host", toml: procListed, denied: []string{"env BAZ"}, allowed: []string{"run ./bin/fewer"},
			runs: [][]string{{"above", "zebra", "./bin/fewer", "-"}}, env: []string{"FOO=1", "BAR=zebra-of-above"},
			good: []string{"the program above sees the variable", "its own variables"}},
		{name: "core of a process with more variables", source: "proc_host", toml: procListed, allowed: []string{"run ./bin/fewer"},
			runs: [][]string{{"above", "zebra", "./bin/fewer", "core"}}, env: []string{"FOO=1", "BAR=zebra-of-above"},
			start: procCores, good: []string{"the program above sees the variable", "its own variables"}},
	}
}

// procCores starts a tool as a user with core dumps enabled does.
func procCores(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
	cmd.Args = append([]string{"sh", "-c", `ulimit -c unlimited && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd.CombinedOutput()
}

// procHosts reach for other processes and the host.
func procHosts() []procScene {
	withVictim := func(p *procPlace) {
		p.values["victim"] = strconv.Itoa(p.victim().Pid)
	}
	var scenes []procScene
	for name, toml := range map[string]string{"supervised": procWorkspace, "alone": procReader} {
		scenes = append(scenes,
			procScene{name: "other processes, " + name, root: true, source: "proc_host", toml: toml, setup: withVictim, denied: []string{"read /proc/1/environ", "read /proc/1/mem"},
				runs: [][]string{{"others", "%victim%", "0", "zebra-of-another"}}, good: []string{"kill of a child"}, verdict: procVictimLives},
			procScene{name: "groups and owners, " + name, root: true, source: "proc_host", toml: toml, setup: withVictim, start: procInGroup,
				runs: [][]string{{"groups", "%victim%"}}, good: []string{"setpriority of itself", "groups"}, verdict: procVictimLives},
			procScene{name: "memory of others, " + name, source: "proc_host", toml: toml, setup: procShare, denied: []string{"update %ws%/secret"},
				runs: [][]string{{"ipc", "%key%", "%mq%", "%shm%", "-"}}},
			procScene{name: "calls of the kernel, " + name, root: true, source: "proc_host", toml: toml, runs: [][]string{{"kernel"}}, good: []string{"kernel"}},
			procScene{name: "terminal, " + name, source: "proc_host", toml: toml, runs: [][]string{{"terminal"}}, start: procOnTerminal, good: []string{"terminal"}},
		)
	}
	return append(scenes,
		procScene{name: "set-user-ID bits left behind", root: true, source: "proc_host", runs: [][]string{{"bits"}}, good: []string{"chmod"}, verdict: procNoBits},
		procScene{name: "set-user-ID bits left in home", source: "proc_host", toml: "[tools.t.access]\nprotected = \"none\"\n", runs: [][]string{{"bits"}}, good: []string{"chmod"}, verdict: procNoBits})
}

func procVictimLives(t *testing.T, p *procPlace, _ string) {
	status, err := os.ReadFile("/proc/" + p.values["victim"] + "/status")
	if err != nil || !bytes.Contains(status, []byte("(sleeping)")) && !bytes.Contains(status, []byte("(running)")) {
		t.Errorf("the other process no longer waits: %v\n%s", err, status)
	}
	pid := procNumber(p.values["victim"])
	mine, _ := syscall.Getpriority(syscall.PRIO_PROCESS, os.Getpid())
	if nice, _ := syscall.Getpriority(syscall.PRIO_PROCESS, pid); nice != mine {
		t.Errorf("the other process has another priority: %d, not %d", 20-nice, 20-mine)
	}
}

// procInGroup starts accessc from a shell in one group with a process that counts signals.
func procInGroup(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
	script := `set -- "$0" "$@"; program=$1; shift
own() { set -- $(cat /proc/$1/stat); shift 18; echo $1; }
before=$(own $$)
trap 'echo LEAK a signal reached the group' URG
sleep infinity & other=$!
"$program" "$@"; status=$?
[ $(own $$) = $before ] || echo "LEAK the shell has priority $(own $$), before $before"
[ $(own $other) = $before ] || echo "LEAK another of the group has priority $(own $other), before $before"
kill $other; exit $status`
	cmd.Args = append([]string{"bash", "-c", script, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/bash"
	cmd.SysProcAttr.Setpgid = true
	return cmd.CombinedOutput()
}

// procShare makes shared memory and queues of the user outside of the run.
func procShare(p *procPlace) {
	key := 0x5ec0 + p.uid + os.Getpid()
	p.values["key"] = strconv.Itoa(key)
	p.values["shm"] = filepath.Base(p.dir)
	p.values["mq"] = filepath.Base(p.dir)
	name := "/dev/shm/" + p.values["shm"]
	p.must(os.WriteFile(name, []byte("TOP-SECRET"), 0o666))
	p.own(name)
	p.t.Cleanup(func() {
		if _, err := os.Stat(name); err != nil {
			p.t.Errorf("shared memory of another: %v", err)
		}
		os.Remove(name)
	})
	p.must(p.queue(p.values["mq"], syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL))
	p.t.Cleanup(func() {
		if err := p.queue(p.values["mq"], syscall.O_RDWR); err != nil {
			p.t.Errorf("a queue of another: %v", err)
		}
		unlinkQueue(p.values["mq"])
		if unlinkQueue("left") == nil {
			p.t.Error("LEAK left a POSIX queue behind")
		}
	})
	id, _, errno := syscall.Syscall(syscall.SYS_SHMGET, uintptr(key), 4096, 0o1666)
	if errno != 0 {
		p.t.Logf("no System V memory: %v", errno)
		return
	}
	p.t.Cleanup(func() { syscall.Syscall(syscall.SYS_SHMCTL, id, 0, 0) })
}

// queue opens a POSIX message queue, and gives it to the user of the place.
func (p *procPlace) queue(name string, flags int) error {
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := syscall.Syscall6(syscall.SYS_MQ_OPEN, uintptr(unsafe.Pointer(text)), uintptr(flags), 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(int(fd))
	return syscall.Fchown(int(fd), p.uid, p.uid)
}

// unlinkQueue removes a POSIX message queue.
func unlinkQueue(name string) error {
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(text)), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// procOnTerminal starts accessc as the leader of a session with a terminal.
func procOnTerminal(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("no script(1) to make a terminal")
	}
	words := append([]string{cmd.Path}, cmd.Args[1:]...)
	cmd.Args = []string{"script", "-qefc", strings.Join(words, " "), "/dev/null"}
	cmd.Path, _ = exec.LookPath("script")
	out, err := cmd.CombinedOutput()
	return bytes.ReplaceAll(out, []byte("\r"), nil), err
}

func procNoBits(t *testing.T, p *procPlace, _ string) {
	filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeDevice) != 0 && !d.IsDir() {
			t.Errorf("%s was left behind with mode %v", path, info.Mode())
		}
		return nil
	})
}

// procSurvivors leave processes behind.
func procSurvivors() []procScene {
	var scenes []procScene
	for _, how := range []string{"daemon", "stopped", "traced", "vfork", "vm", "leader", "hop", "killed", "busy"} {
		s := procScene{name: "survivor " + how, source: "proc_life", allowed: []string{"create src/beat"}, runs: [][]string{{"survive", how}},
			start: procToFile, verdict: procStill, status: -1}
		if how != "leader" {
			s.good = []string{"survive"}
		}
		scenes = append(scenes, s)
	}
	return scenes
}

// procToFile starts with a file for the output, which survivors cannot keep a reader waiting with.
func procToFile(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
	file, err := os.Create(p.dir + "/output")
	p.must(err)
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	err = cmd.Run()
	out, _ := os.ReadFile(p.dir + "/output")
	return out, err
}

// procLimits outrun limits and wear the supervisor out.
func procLimits() []procScene {
	limit := func(text string) string { return procWorkspace + "[tools.t.access.limits]\n" + text + "\n" }
	scenes := []procScene{
		{name: "size of files", source: "proc_life", toml: limit(`file_size = "1MiB"`), runs: [][]string{{"limits", "file", "1048576"}}, good: []string{"a small file", "truncation"}},
		{name: "open files", source: "proc_life", toml: limit(`open_files = 64`), runs: [][]string{{"limits", "files", "64"}}, good: []string{"open files"}},
		{name: "processor", source: "proc_life", toml: limit(`cpu_time = "1s"`), flags: []string{"--accept", "limits.cpu_time"},
			runs: [][]string{{"limits", "cpu", "1"}}, good: []string{"cpu"}, status: -1},
	}
	for name, toml := range map[string]string{"supervised": limit(`wall_time = "1s"`), "alone": procReader + "[tools.t.access.limits]\nwall_time = \"1s\"\n"} {
		s := procScene{name: "wall time, " + name, source: "proc_life", toml: toml, start: procToFile, good: []string{"forever"}, verdict: procStill}
		s.runs, s.status = [][]string{{"forever", "stop"}}, -1
		// The end of a tool that is traced reached its tracer alone, and the run lasted until another process killed accessc, which
		// in a container nothing can.
		traced := s
		traced.name, traced.runs, traced.verdict = "wall time of a traced tool, "+name, [][]string{{"forever", "trace"}}, procLimited
		scenes = append(scenes, s, traced)
	}
	for _, how := range []string{"fifos", "leases", "descriptors", "threads", "exits", "signals", "memory", "bad"} {
		scenes = append(scenes, procScene{name: "supervisor under " + how, source: "proc_life", denied: []string{"read secret", "rename secret src/open", "link secret src/linked"},
			allowed: []string{"create src/fine"}, runs: [][]string{{"wear", how}}, good: []string{"before", "wear"}, verdict: procStill})
	}
	return scenes
}

// procLimited checks that the limit on time has ended a tool, and not the process that looks after accessc.
func procLimited(t *testing.T, p *procPlace, text string) {
	if !strings.Contains(text, "ended by its limit wall_time") {
		t.Errorf("the limit has not ended the tool")
	}
	procStill(t, p, text)
}

// procListen makes the sockets of the host that attacks reach for.
func procListen(p *procPlace) {
	for _, name := range []string{"good", "bad", "full"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		p.must(err)
		p.t.Cleanup(func() { l.Close() })
		p.values[name] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
				if name == "bad" {
					p.breach("the other port was reached")
				}
			}
		}()
	}
	for i, name := range []string{p.dir + "/stream", "@" + filepath.Base(p.dir)} {
		l, err := net.Listen("unix", name)
		p.must(err)
		p.t.Cleanup(func() { l.Close() })
		d, err := net.ListenPacket("unixgram", name+"-d")
		p.must(err)
		p.t.Cleanup(func() { d.Close() })
		if i == 0 {
			p.must(os.Chmod(name, 0o777))
			p.must(os.Chmod(name+"-d", 0o777))
		}
		p.values["unix"+strconv.Itoa(i)] = name
	}
}

// procNetwork reaches for sockets.
func procNetwork() []procScene {
	open := procWorkspace + "[[tools.t.access.net]]\nhost = \"127.0.0.1\"\nport = %good%\nallow = true\n"
	paths := [][]string{{"paths", "%unix0%", "%unix0%-d", "%unix1%", "%unix1%-d"}}
	var scenes []procScene
	for name, toml := range map[string]string{"supervised": procWorkspace, "alone": procReader, "address": open} {
		dial := []string{"connect http://127.0.0.1:%bad%", "dial %unix0%"}
		if name != "address" {
			scenes = append(scenes, procScene{name: "families, " + name, source: "proc_net", toml: toml, setup: procListen, denied: dial, runs: [][]string{{"families"}}, good: []string{"socketpair"}})
		}
		scenes = append(scenes,
			procScene{name: "unix sockets, " + name, source: "proc_net", toml: toml, setup: procListen, denied: dial, runs: paths, good: []string{"paths"}},
			procScene{name: "inherited sockets, " + name, source: "proc_net", toml: toml, setup: procListen, denied: dial, start: procInherit, runs: [][]string{{"inherited", "%bad%"}}, good: []string{"the socket that was open before"}})
	}
	return append(scenes,
		procScene{name: "one address", source: "proc_net", toml: open, setup: procListen, denied: []string{"connect http://127.0.0.1:%bad%"}, runs: [][]string{{"granted", "%good%", "%bad%"}}, good: []string{"connect", "connect in a race"}},
		procScene{name: "connections that wait", source: "proc_net", toml: open, setup: procListen, denied: []string{"connect http://127.0.0.1:%bad%"}, runs: [][]string{{"flood", "%good%", "%bad%"}}, good: []string{"files while connections wait"}})
}

// procInherit hands a connection over as standard input, and a socket beside it.
func procInherit(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	p.must(err)
	defer c.Close()
	peer, err := l.Accept()
	p.must(err)
	defer peer.Close()
	file, err := c.(*net.TCPConn).File()
	p.must(err)
	defer file.Close()
	extra, err := net.ListenPacket("udp", "127.0.0.1:0")
	p.must(err)
	defer extra.Close()
	other, err := extra.(*net.UDPConn).File()
	p.must(err)
	defer other.Close()
	cmd.Stdin, cmd.ExtraFiles = file, []*os.File{other}
	return cmd.CombinedOutput()
}

// procReports forge accessc's messages.
func procReports() []procScene {
	files := func(p *procPlace) {
		p.values["out"] = p.dir + "/told"
		p.must(os.Mkdir(p.dir+"/told", 0o755))
		p.own(p.dir + "/told")
		p.must(os.Mkdir(p.ws+"/closed", 0o755))
		p.own(p.ws + "/closed")
	}
	told := func(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
		args := []string{"exec", "--report", p.dir + "/told/report", "--record", p.dir + "/told/record"}
		cmd.Args = append(append(cmd.Args[:1:1], args...), cmd.Args[2:]...)
		return cmd.CombinedOutput()
	}
	onOutput := func(t *testing.T, p *procPlace, cmd *exec.Cmd) ([]byte, error) {
		out, err := told(t, p, cmd)
		args := slices.Clone(cmd.Args)
		again := p.command(t.Context(), args[1:]...)
		again.Args[3] = "-"
		shown, _ := again.CombinedOutput()
		return append(out, shown...), err
	}
	return []procScene{
		{name: "forged lines on standard output", source: "proc_forge", setup: files, start: onOutput, denied: []string{"read secret"}, runs: [][]string{{"forge"}}, good: []string{"forge"}, verdict: procPlain, status: 3},
		{name: "forged lines", source: "proc_forge", setup: files, start: told, denied: []string{"read secret", "create closed/x"}, runs: [][]string{{"forge"}}, good: []string{"forge"}, verdict: procPlain, status: 3},
		{name: "forged lines, traced", source: "proc_forge", toml: procListed, setup: files, start: told, flags: []string{"--trace"}, denied: []string{"read secret", "run true x"}, runs: [][]string{{"forge", "true"}}, good: []string{"forge"}, verdict: procPlain, status: 3},
		{name: "report and record", source: "proc_forge", setup: files, start: told, denied: []string{"update %out%/report"}, runs: [][]string{{"reach", "%out%/report", "%out%/record"}}, good: []string{"reach"}, verdict: procPlain, status: 3},
	}
}

// procPlain checks that the output contains accessc's own words and no control sequences of a
// terminal.
func procPlain(t *testing.T, p *procPlace, text string) {
	if n := procControls(text); n != "" {
		t.Errorf("printed %s", n)
	}
	report, err := os.ReadFile(p.dir + "/told/report")
	if err != nil || len(report) == 0 {
		t.Errorf("no report: %v", err)
	}
	for line := range bytes.Lines(report) {
		var entry struct{ Event, Tool string }
		if err := json.Unmarshal(line, &entry); err != nil || entry.Tool != "t" || entry.Event != "denied" {
			t.Errorf("the report says %q, %v", line, err)
		}
	}
	record, err := os.ReadFile(p.dir + "/told/record")
	if err != nil || !json.Valid(record) {
		t.Errorf("the record: %v\n%.300s", err, record)
	}
}

// procControls names a character that a terminal or a reader would obey.
func procControls(text string) string {
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || r == utf8.RuneError) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}
