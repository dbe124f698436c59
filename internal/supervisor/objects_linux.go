package supervisor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// System V objects (sysvipc(7)) have numbers and keys that all processes of a user share. A tool gets objects of its
// own run: the supervisor makes each without a key, keeps the keys that the tool uses, and lets calls name no object
// but these. All arguments that name an object are registers, so that a judged call may go on.
// See RATIONALE D418.

// objectKind is a kind of System V objects, with its calls.
type objectKind struct {
	name         string
	get, control uintptr
	// own are the requests to control that concern one object, beside its removal.
	own []uint64
	// keeps are the flags of get that a new object is made with.
	keeps uint64
}

// The requests are those of linux/shm.h, linux/sem.h and linux/msg.h. Others look at all objects of the host.
var (
	segments   = &objectKind{"shm", unix.SYS_SHMGET, unix.SYS_SHMCTL, []uint64{ipcSet, ipcStat, 11, 12}, 0o777 | 0o10000} // SHM_LOCK, SHM_UNLOCK, SHM_NORESERVE
	semaphores = &objectKind{"sem", unix.SYS_SEMGET, unix.SYS_SEMCTL, []uint64{ipcSet, ipcStat, 11, 12, 13, 14, 15, 16, 17}, 0o777}
	messages   = &objectKind{"msg", unix.SYS_MSGGET, unix.SYS_MSGCTL, []uint64{ipcSet, ipcStat}, 0o777}
)

// Flags and requests of linux/ipc.h.
const (
	ipcCreate    = 0o1000
	ipcExclusive = 0o2000
	ipcRemove    = 0
	ipcSet       = 1
	ipcStat      = 2
	ipcInfo      = 3
)

// maxObjects bounds the objects that a run makes. The kernel gives a number again after 65,536 others at the earliest
// (ipc/util.h, ipcid_seq_max), so no number of the run becomes one of another process meanwhile.
const maxObjects = 10_000

// ObjectsFile is the file in the directory of a run that lists its objects, for whoever cleans up after it.
const ObjectsFile = "objects"

// object is one of the run's.
type object struct {
	kind *objectKind
	id   int
}

// objects are the System V objects of a run.
type objects struct {
	mu   sync.Mutex
	made int
	// sizes has the objects that exist, with the size that they were made with.
	sizes map[object]uint64
	// keys has the objects that the tool knows by a key.
	keys map[*objectKind]map[int32]int
	// path is the list of the objects.
	path string
}

// ipc answers the calls on System V objects.
type ipc struct{ *call }

// get finds or makes an object, as shmget(2), semget(2) and msgget(2) do.
func (c ipc) get(kind *objectKind, size, flags uint64) answer {
	o := &c.objects
	key := int32(uint32(c.args[0]))
	o.mu.Lock()
	defer o.mu.Unlock()
	id, found := o.keys[kind][key]
	switch {
	case found && flags&ipcCreate != 0 && flags&ipcExclusive != 0:
		return fails(unix.EEXIST)
	case found && size > o.sizes[object{kind, id}]:
		return fails(unix.EINVAL)
	case found:
		return answer{val: int64(id)}
	case key != 0 && flags&ipcCreate == 0:
		return fails(unix.ENOENT)
	case o.made == maxObjects:
		return fails(unix.ENOSPC)
	case !c.current():
		return fails(unix.EINTR)
	}
	id, e := kind.make(size, flags)
	if e != 0 {
		return fails(e)
	}
	if err := o.add(object{kind, id}, size); err != nil {
		kind.remove(id)
		return fails(unix.ENOSPC)
	}
	if key != 0 {
		if o.keys == nil {
			o.keys = map[*objectKind]map[int32]int{}
		}
		if o.keys[kind] == nil {
			o.keys[kind] = map[int32]int{}
		}
		o.keys[kind][key] = id
	}
	return answer{val: int64(id)}
}

// make makes an object without a key (IPC_PRIVATE).
func (k *objectKind) make(size, flags uint64) (int, unix.Errno) {
	mode := uintptr(flags & k.keeps)
	args := [2]uintptr{uintptr(size), mode}
	if k == messages {
		args = [2]uintptr{mode, 0}
	}
	id, _, e := unix.Syscall(k.get, 0, args[0], args[1])
	return int(id), e
}

func (k *objectKind) remove(id int) {
	args := [2]uintptr{ipcRemove, 0}
	if k == semaphores {
		args = [2]uintptr{0, ipcRemove}
	}
	_, _, _ = unix.Syscall6(k.control, uintptr(id), args[0], args[1], 0, 0, 0)
}

// add notes an object, first in the list.
func (o *objects) add(of object, size uint64) error {
	f, err := os.OpenFile(o.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %d\n", of.kind.name, of.id); err != nil {
		return err
	}
	if o.sizes == nil {
		o.sizes = map[object]uint64{}
	}
	o.sizes[of] = size
	o.made++
	return nil
}

// has reports whether an object is the run's.
func (o *objects) has(of object) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.sizes[of]
	return ok
}

// uses lets a call go on that names an object of the run by its first argument. There are no others for the tool.
func (c ipc) uses(kind *objectKind) answer {
	if !c.objects.has(object{kind, int(int32(uint32(c.args[0])))}) {
		return fails(unix.EINVAL)
	}
	return proceed
}

// control judges a request about an object.
func (c ipc) control(kind *objectKind, request uint64) answer {
	id := int(int32(uint32(c.args[0])))
	const newer = 0x100 // IPC_64
	switch request = uint64(uint32(request)) &^ newer; {
	case request == ipcInfo:
		return proceed // the limits of the system
	case request == ipcRemove:
		return c.remove(object{kind, id})
	}
	for _, r := range kind.own {
		if r == request {
			return c.uses(kind)
		}
	}
	return c.denies(unix.EPERM, "it looks at objects of other processes")
}

// remove removes an object, so that its number counts no more before the kernel gives it again.
func (c ipc) remove(of object) answer {
	o := &c.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.sizes[of]; !ok {
		return fails(unix.EINVAL)
	}
	delete(o.sizes, of)
	for key, id := range o.keys[of.kind] {
		if id == of.id {
			delete(o.keys[of.kind], key)
		}
	}
	of.kind.remove(of.id)
	return answer{}
}

// close removes all objects of the run.
func (o *objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for of := range o.sizes {
		of.kind.remove(of.id)
	}
	if o.made > 0 {
		_ = os.Remove(o.path)
	}
	o.sizes, o.keys = nil, nil
}

// RemoveObjects removes the objects that a run has left, by the list in its directory.
func RemoveObjects(dir string) {
	f, err := os.Open(filepath.Join(dir, ObjectsFile))
	if err != nil {
		return // it made none
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var name string
		var id int
		if n, _ := fmt.Sscanf(lines.Text(), "%s %d", &name, &id); n != 2 {
			continue
		}
		for _, kind := range []*objectKind{segments, semaphores, messages} {
			if kind.name == name {
				kind.remove(id)
			}
		}
	}
}

// ofObjects are the handlers of calls on System V objects.
func ofObjects() map[uint32]handler {
	return map[uint32]handler{
		unix.SYS_SHMGET:     on(func(c ipc) answer { return c.get(segments, c.args[1], c.args[2]) }),
		unix.SYS_SHMAT:      on(func(c ipc) answer { return c.uses(segments) }),
		unix.SYS_SHMCTL:     on(func(c ipc) answer { return c.control(segments, c.args[1]) }),
		unix.SYS_SEMGET:     on(func(c ipc) answer { return c.get(semaphores, uint64(uint32(c.args[1])), c.args[2]) }),
		unix.SYS_SEMOP:      on(func(c ipc) answer { return c.uses(semaphores) }),
		unix.SYS_SEMTIMEDOP: on(func(c ipc) answer { return c.uses(semaphores) }),
		unix.SYS_SEMCTL:     on(func(c ipc) answer { return c.control(semaphores, c.args[2]) }),
		unix.SYS_MSGGET:     on(func(c ipc) answer { return c.get(messages, 0, c.args[1]) }),
		unix.SYS_MSGSND:     on(func(c ipc) answer { return c.uses(messages) }),
		unix.SYS_MSGRCV:     on(func(c ipc) answer { return c.uses(messages) }),
		unix.SYS_MSGCTL:     on(func(c ipc) answer { return c.control(messages, c.args[1]) }),
	}
}
