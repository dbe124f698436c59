package supervisor

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// System V objects (sysvipc(7)) have numbers and keys that all processes of a user share. A tool gets objects of its
// own run: the supervisor makes each without a key, keeps the keys that the tool uses, and lets calls name no object
// but these. All arguments that name an object are registers, so that a judged call may go on.
// See decision D418.

// objectKind is a kind of System V objects, with its calls.
type objectKind struct {
	name         string
	get, control uintptr
	// own are the requests to control that concern one object, beside its removal.
	own []uint64
	// keeps are the flags of get that a new object is made with.
	keeps uint64
	// limitAt is where the answer to IPC_INFO has the number of objects that the host can have.
	limitAt int
}

// The requests of linux/shm.h, linux/sem.h and linux/msg.h that change no time of an object; others look at
// all objects of the host. SHM_LOCK and SHM_UNLOCK are 11 and 12; SHM_NORESERVE is 0o10000.
var (
	segments   = &objectKind{"shm", unix.SYS_SHMGET, unix.SYS_SHMCTL, []uint64{ipcStat, 11, 12}, 0o777 | 0o10000, 16}
	semaphores = &objectKind{"sem", unix.SYS_SEMGET, unix.SYS_SEMCTL, []uint64{ipcStat, 11, 12, 13, 14, 15}, 0o777, 4}
	messages   = &objectKind{"msg", unix.SYS_MSGGET, unix.SYS_MSGCTL, []uint64{ipcStat}, 0o777, 16}
)

// Flags and requests of linux/ipc.h.
const (
	ipcCreate    = 0o1000
	ipcExclusive = 0o2000
	ipcRemove    = 0
	ipcSet       = 1
	ipcStat      = 2
	ipcInfo      = 3
	semSetValue  = 16
	semSetAll    = 17
)

// maxObjects is how many objects of a kind a run has at most. Others of the host need some as well.
const maxObjects = 1024

// readable lets the owner of an object look at it.
const readable = 0o400

// object is a System V object.
type object struct {
	kind *objectKind
	id   int
}

// known is the supervisor's knowledge of an object.
type known struct {
	identity
	// size is the size that it was made with, line its line in the list.
	size uint64
	line int
}

// objects are the System V objects of a run.
type objects struct {
	mu sync.Mutex
	// alive has the objects that exist.
	alive map[object]*known
	// keys has the objects that the tool knows by a key.
	keys map[*objectKind]map[int32]int
	list objectList
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
	var at *known
	if found {
		at = o.find(object{kind, id})
	}
	switch {
	case at != nil && flags&ipcCreate != 0 && flags&ipcExclusive != 0:
		return fails(unix.EEXIST)
	case at != nil && size > at.size:
		return fails(unix.EINVAL)
	case at != nil:
		return answer{val: int64(id)}
	case key != 0 && flags&ipcCreate == 0:
		return fails(unix.ENOENT)
	case o.full(kind):
		return fails(unix.ENOSPC)
	case !c.current():
		return fails(unix.EINTR)
	}
	id, e := kind.make(size, flags)
	if e != 0 {
		return fails(e)
	}
	if !o.add(object{kind, id}, size) {
		object{kind, id}.remove()
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
	mode := uintptr(flags&k.keeps | readable)
	args := [2]uintptr{uintptr(size), mode}
	if k == messages {
		args = [2]uintptr{mode, 0}
	}
	id, _, e := unix.Syscall(k.get, 0, args[0], args[1])
	return int(id), e
}

// add notes a new object.
func (o *objects) add(of object, size uint64) bool {
	is, e := of.identity()
	if e != 0 {
		return false
	}
	line, err := o.list.add(of, is)
	if err != nil {
		return false
	}
	if o.alive == nil {
		o.alive = map[object]*known{}
	}
	o.alive[of] = &known{is, size, line}
	return true
}

// find returns an object of the run, nil for none. If somebody has removed it, another object may have its
// number.
func (o *objects) find(of object) *known {
	at := o.alive[of]
	if at == nil {
		return nil
	}
	if now, e := of.identity(); e != 0 || now != at.identity {
		o.forget(of)
		return nil
	}
	return at
}

// forget takes an object out of the list of the run.
func (o *objects) forget(of object) {
	o.list.drop(o.alive[of].line)
	delete(o.alive, of)
	for key, id := range o.keys[of.kind] {
		if id == of.id {
			delete(o.keys[of.kind], key)
		}
	}
}

// full reports whether a run has as many objects of a kind as it can have.
func (o *objects) full(kind *objectKind) bool {
	most, n := kind.most(), 0
	for of := range o.alive {
		if of.kind == kind {
			n++
		}
	}
	if n < most {
		return false
	}
	for of := range o.alive { // somebody else may have removed some
		if of.kind == kind && o.find(of) == nil {
			n--
		}
	}
	return n >= most
}

// uses lets a call go on that names an object of the run by its first argument. There are no others for the tool.
func (c ipc) uses(kind *objectKind) answer {
	o := &c.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.find(object{kind, int(int32(uint32(c.args[0])))}) == nil {
		return fails(unix.EINVAL)
	}
	return proceed
}

// control judges a request about an object, with the argument that the request has.
func (c ipc) control(kind *objectKind, request, argument uint64) answer {
	of := object{kind, int(int32(uint32(c.args[0])))}
	const newer = 0x100 // IPC_64
	switch request = uint64(uint32(request)) &^ newer; {
	case request == ipcInfo:
		return proceed // the limits of the system
	case request == ipcRemove:
		return c.changes(of, func(*known) unix.Errno {
			c.objects.forget(of) // before the kernel gives the number again
			of.remove()
			return 0
		})
	case request == ipcSet:
		return c.changes(of, func(*known) unix.Errno { return c.set(of, argument) })
	case kind == semaphores && request == semSetValue:
		return c.changes(of, func(*known) unix.Errno {
			return of.asks(semSetValue, int(int32(uint32(c.args[1]))), uintptr(argument))
		})
	case kind == semaphores && request == semSetAll:
		return c.changes(of, func(at *known) unix.Errno { return c.setAll(of, at.size, argument) })
	case slices.Contains(kind.own, request):
		return c.uses(kind)
	}
	return c.denies(unix.EPERM, "it looks at objects of other processes")
}

// changes makes a request that changes the time of an object, by which the supervisor knows it.
func (c ipc) changes(of object, act func(*known) unix.Errno) answer {
	o := &c.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.find(of)
	switch {
	case at == nil:
		return fails(unix.EINVAL)
	case !c.current():
		return fails(unix.EINTR)
	}
	if e := act(at); e != 0 {
		return fails(e)
	}
	if now, e := of.identity(); o.alive[of] == at && e == 0 && now != at.identity {
		at.identity = now
		_ = o.list.write(at.line, of, now) // an object that the list does not tell is left there
	}
	return answer{}
}

// close removes all objects of the run.
func (o *objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for of := range o.alive {
		if o.find(of) != nil {
			of.remove()
		}
	}
	o.list.close()
	o.alive, o.keys = nil, nil
}

// ofObjects are the handlers of calls on System V objects.
func ofObjects() map[uint32]handler {
	return map[uint32]handler{
		unix.SYS_SHMGET:     on(func(c ipc) answer { return c.get(segments, c.args[1], c.args[2]) }),
		unix.SYS_SHMAT:      on(func(c ipc) answer { return c.uses(segments) }),
		unix.SYS_SHMCTL:     on(func(c ipc) answer { return c.control(segments, c.args[1], c.args[2]) }),
		unix.SYS_SEMGET:     on(func(c ipc) answer { return c.get(semaphores, uint64(uint32(c.args[1])), c.args[2]) }),
		unix.SYS_SEMOP:      on(func(c ipc) answer { return c.uses(semaphores) }),
		unix.SYS_SEMTIMEDOP: on(func(c ipc) answer { return c.uses(semaphores) }),
		unix.SYS_SEMCTL:     on(func(c ipc) answer { return c.control(semaphores, c.args[2], c.args[3]) }),
		unix.SYS_MSGGET:     on(func(c ipc) answer { return c.get(messages, 0, c.args[1]) }),
		unix.SYS_MSGSND:     on(func(c ipc) answer { return c.uses(messages) }),
		unix.SYS_MSGRCV:     on(func(c ipc) answer { return c.uses(messages) }),
		unix.SYS_MSGCTL:     on(func(c ipc) answer { return c.control(messages, c.args[1], c.args[2]) }),
	}
}
