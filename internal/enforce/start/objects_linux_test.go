package start_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// objectKinds are the kinds of System V objects, with the calls that make and use them.
var objectKinds = map[string]struct {
	get, control uintptr
	// size is the second argument of get, none for queues.
	size uintptr
	// use names an object by its first argument.
	use func(id uintptr) syscall.Errno
	// all are the requests that look at objects of the whole host.
	all []uintptr
}{
	"shm": {unix.SYS_SHMGET, unix.SYS_SHMCTL, 4096, func(id uintptr) syscall.Errno {
		at, _, e := unix.Syscall(unix.SYS_SHMAT, id, 0, 0)
		if e == 0 {
			_, _, e = unix.Syscall(unix.SYS_SHMDT, at, 0, 0)
		}
		return e
	}, []uintptr{13, 14, 15}},
	"sem": {unix.SYS_SEMGET, unix.SYS_SEMCTL, 1, func(id uintptr) syscall.Errno {
		add := [3]uint16{0, 1, 0} // struct sembuf: adds 1
		_, _, e := unix.Syscall(unix.SYS_SEMOP, id, uintptr(unsafe.Pointer(&add)), 1)
		return e
	}, []uintptr{18, 19, 20}},
	"msg": {unix.SYS_MSGGET, unix.SYS_MSGCTL, 0, func(id uintptr) syscall.Errno {
		text := [2]int64{1, 0} // struct msgbuf: type 1
		_, _, e := unix.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&text)), 1, unix.IPC_NOWAIT, 0, 0)
		return e
	}, []uintptr{11, 12, 13}},
}

// getObject finds or makes an object.
func getObject(kind string, key, flags int) (int, syscall.Errno) {
	k := objectKinds[kind]
	second, third := k.size, uintptr(flags)
	if kind == "msg" {
		second, third = uintptr(flags), 0
	}
	id, _, e := unix.Syscall(k.get, uintptr(key), second, third)
	return int(id), e
}

// controlObject makes a request about an object.
func controlObject(kind string, id int, request uintptr) syscall.Errno {
	var buf [512]byte
	args := [3]uintptr{request, uintptr(unsafe.Pointer(&buf)), 0}
	if kind == "sem" {
		args = [3]uintptr{0, request, uintptr(unsafe.Pointer(&buf))}
	}
	_, _, e := unix.Syscall6(objectKinds[kind].control, uintptr(id), args[0], args[1], args[2], 0, 0)
	return e
}

// objectBase is how an attempt answers with the number of an object: the kernel's errors are below it, and a number
// has as many bits as the host has made objects before (ipc/util.h).
const objectBase = 1 << 12

// TestObjects: a supervised tool has System V objects of its own run, which are gone after it, and reaches none of the
// host's by key, by number or by looking at all.
func TestObjects(t *testing.T) {
	t.Parallel()
	x := passing(t, nil)
	defer x.stop()
	do := func(format string, args ...any) syscall.Errno {
		return x.exchange(t, attempt{Op: "object", A: fmt.Sprintf(format, args...)})[0]
	}
	number := func(format string, args ...any) int {
		answer := do(format, args...)
		if answer < objectBase {
			t.Fatalf(format+": %v", append(args, answer)...)
		}
		return int(answer - objectBase)
	}
	var own []string
	for kind, k := range objectKinds {
		key := 0x41434353 + len(kind) + int(kind[0])
		host, e := getObject(kind, key, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
		if e != 0 {
			t.Skip("the host makes no objects: ", e)
		}
		t.Cleanup(func() { controlObject(kind, host, unix.IPC_RMID) })
		for question, want := range map[string]syscall.Errno{
			fmt.Sprintf("get %s %d %d", kind, key, 0):              unix.ENOENT,
			fmt.Sprintf("use %s %d 0", kind, host):                 unix.EINVAL,
			fmt.Sprintf("ask %s %d %d", kind, host, unix.IPC_STAT): unix.EINVAL,
			fmt.Sprintf("ask %s %d %d", kind, host, unix.IPC_SET):  unix.EINVAL,
			fmt.Sprintf("ask %s %d %d", kind, host, unix.IPC_RMID): unix.EINVAL,
		} {
			if got := do("%s", question); got != want {
				t.Errorf("%s: %v, want %v", question, got, want)
			}
		}
		for _, request := range k.all {
			if got := do("ask %s %d %d", kind, 0, request); got != unix.EPERM {
				t.Errorf("%s: request %d looks at the host: %v", kind, request, got)
			}
		}
		id := number("get %s %d %d", kind, key, unix.IPC_CREAT|0o600)
		if id == host {
			t.Fatalf("%s: the tool gets %d, which is the host's", kind, id)
		}
		if again := number("get %s %d %d", kind, key, 0); again != id {
			t.Errorf("%s: by its key it is %d, not %d", kind, again, id)
		}
		if e := do("get %s %d %d", kind, key, unix.IPC_CREAT|unix.IPC_EXCL); e != unix.EEXIST {
			t.Errorf("%s: made twice: %v", kind, e)
		}
		for _, question := range []string{fmt.Sprintf("use %s %d 0", kind, id), fmt.Sprintf("ask %s %d %d", kind, id, unix.IPC_STAT)} {
			if e := do("%s", question); e != 0 {
				t.Errorf("%s: %v", question, e)
			}
		}
		gone := number("get %s 0 %d", kind, 0o600)
		if e := do("ask %s %d %d", kind, gone, unix.IPC_RMID); e != 0 {
			t.Errorf("%s: removed: %v", kind, e)
		}
		if e := do("use %s %d 0", kind, gone); e != unix.EINVAL {
			t.Errorf("%s: used after it was removed: %v", kind, e)
		}
		if e := controlObject(kind, host, unix.IPC_STAT); e != 0 {
			t.Errorf("%s: the host's object: %v", kind, e)
		}
		own = append(own, fmt.Sprintf("%s %d", kind, id))
	}
	x.stop()
	for _, o := range own {
		kind, number, _ := strings.Cut(o, " ")
		var id int
		_, _ = fmt.Sscan(number, &id)
		if e := controlObject(kind, id, unix.IPC_STAT); e != unix.EINVAL && e != unix.EIDRM {
			t.Errorf("%s is left behind: %v", o, e)
		}
	}
}

// TestObjectsPlanted: a tool has the supervisor write to no file by a name that the tool can give to another one. It
// listed objects in the tool's directory for temporary files, through whatever the tool had put there.
func TestObjectsPlanted(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"symlink", "fifo", "directory"} {
		x := passing(t, nil)
		defer x.stop()
		base := strings.TrimPrefix(x.cmd.Env[1], "TMPDIR=")
		if answers := x.exchange(t, attempt{Op: "object", A: "plant " + kind + " 0 0"}); answers[0] != 0 {
			t.Fatalf("%s: %v", kind, answers)
		}
		answer := x.exchange(t, attempt{Op: "object", A: fmt.Sprintf("get sem 0 %d", 0o600)})[0]
		if answer < objectBase {
			t.Errorf("%s: %v", kind, answer)
		}
		found, err := filepath.Glob(filepath.Join(base, "ws", "victim"))
		if err != nil || len(found) != 0 {
			t.Errorf("the supervisor has written %v (%v)", found, err)
		}
		x.stop()
		if e := controlObject("sem", int(answer-objectBase), unix.IPC_STAT); e != unix.EINVAL && e != unix.EIDRM {
			t.Errorf("%s: the object is left behind: %v", kind, e)
		}
		if left, _ := filepath.Glob(filepath.Join(base, "accessc-*")); len(left) != 0 {
			t.Errorf("%s: %v is left behind", kind, left)
		}
	}
}

// TestObjectsChange: the requests that change an object do so, and the object stays the tool's.
func TestObjectsChange(t *testing.T) {
	t.Parallel()
	x := passing(t, nil)
	defer x.stop()
	do := func(format string, args ...any) syscall.Errno {
		return x.exchange(t, attempt{Op: "object", A: fmt.Sprintf(format, args...)})[0]
	}
	for kind := range objectKinds {
		id := int(do("get %s 0 %d", kind, 0o600) - objectBase)
		for range 2 {
			if e := do("set %s %d 0", kind, id); e != 0 {
				t.Errorf("%s: set: %v", kind, e)
			}
			if e := do("use %s %d 0", kind, id); e != 0 {
				t.Errorf("%s: used after it was set: %v", kind, e)
			}
		}
		if e := do("ask %s %d %d", kind, id, unix.IPC_RMID); e != 0 {
			t.Errorf("%s: removed: %v", kind, e)
		}
	}
}

// TestObjectsBounded: a run has so many objects at a time that the host keeps most of those that it can have, however
// many it has made and removed before.
func TestObjectsBounded(t *testing.T) {
	t.Parallel()
	x := passing(t, nil)
	defer x.stop()
	const most = 1024
	if n := int(x.exchange(t, attempt{Op: "object", A: fmt.Sprintf("many msg %d 0", most+1)})[0]) - objectBase; n < 1 || n > most {
		t.Errorf("a run has %d queues at a time", n)
	}
}

// plant puts something where a list of the run's objects might be opened: in the directory for temporary files, and
// beside it.
func plant(kind string) error {
	dir := os.Getenv("TMPDIR")
	ws, _ := os.Getwd()
	for _, at := range []string{dir + "/objects", dir + ".objects", dir + "/.objects"} {
		var err error
		switch kind {
		case "symlink":
			err = os.Symlink(ws+"/victim", at)
		case "fifo":
			err = unix.Mkfifo(at, 0o600)
		case "directory":
			err = os.Mkdir(at, 0o700)
		}
		if beside := !strings.HasPrefix(at, dir+"/"); beside != (err != nil) {
			return fmt.Errorf("%s: %v", at, err)
		}
	}
	return nil
}

// setObject makes the requests that change an object, and looks at what they did.
func setObject(kind string, id uintptr) syscall.Errno {
	k := objectKinds[kind]
	call := func(request uintptr, argument unsafe.Pointer) (e syscall.Errno) {
		if kind == "sem" {
			_, _, e = unix.Syscall6(k.control, id, 0, request, uintptr(argument), 0, 0)
		} else {
			_, _, e = unix.Syscall(k.control, id, request, uintptr(argument))
		}
		return e
	}
	var state [16]uint64
	if e := call(unix.IPC_STAT, unsafe.Pointer(&state)); e != 0 {
		return e
	}
	mode := (*[32]uint32)(unsafe.Pointer(&state))
	mode[5] = 0o642
	if e := call(unix.IPC_SET, unsafe.Pointer(&state)); e != 0 {
		return e
	}
	if e := call(unix.IPC_STAT, unsafe.Pointer(&state)); e != 0 || mode[5]&0o777 != 0o642 {
		return unix.ENOMSG
	}
	if kind != "sem" {
		return 0
	}
	const getValue, getAll, setValue, setAll = 12, 13, 16, 17
	if _, _, e := unix.Syscall6(k.control, id, 0, setValue, 7, 0, 0); e != 0 {
		return e
	}
	if v, _, _ := unix.Syscall6(k.control, id, 0, getValue, 0, 0, 0); v != 7 {
		return unix.ENOMSG
	}
	values := [1]uint16{9}
	if e := call(setAll, unsafe.Pointer(&values)); e != 0 {
		return e
	}
	values[0] = 0
	if e := call(getAll, unsafe.Pointer(&values)); e != 0 || values[0] != 9 {
		return unix.ENOMSG
	}
	return 0
}

// manyObjects makes and removes objects, so many times, then makes them until there can be no more, and answers with
// their number.
func manyObjects(kind string, times int) syscall.Errno {
	for range times {
		id, e := getObject(kind, 0, 0o600)
		if e == 0 {
			e = controlObject(kind, id, unix.IPC_RMID)
		}
		if e != 0 {
			return e
		}
	}
	for n := 0; ; n++ {
		if _, e := getObject(kind, 0, 0o600); e == unix.ENOSPC {
			return syscall.Errno(objectBase + n)
		} else if e != 0 {
			return e
		}
	}
}

func init() {
	attempts["object"] = func(a, _ name) error {
		var verb, kind string
		var number, argument int
		if _, err := fmt.Sscan(a.path, &verb, &kind, &number, &argument); err != nil {
			return err
		}
		e := syscall.Errno(unix.EINVAL)
		switch verb {
		case "get":
			var id int
			if id, e = getObject(kind, number, argument); e == 0 {
				return syscall.Errno(objectBase + id)
			}
		case "use":
			e = objectKinds[kind].use(uintptr(number))
		case "ask":
			e = controlObject(kind, number, uintptr(argument))
		case "set":
			e = setObject(kind, uintptr(number))
		case "plant":
			return plant(kind)
		case "many":
			e = manyObjects(kind, number)
		}
		if e != 0 {
			return e
		}
		return nil
	}
}
