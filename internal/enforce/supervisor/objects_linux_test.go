package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// madeObject is an object of the test's, with the identity that the kernel gives it.
func madeObject(t *testing.T, kind *objectKind) (object, identity) {
	t.Helper()
	id, e := kind.make(1, 0o600)
	if e != 0 {
		t.Skip("the host makes no objects: ", e)
	}
	of := object{kind, id}
	t.Cleanup(of.remove)
	is, e := of.identity()
	if e != 0 || is.key != 0 || int(is.creator) != os.Geteuid() || is.changed == 0 {
		t.Fatalf("%s: %+v, %v", kind.name, is, e)
	}
	return of, is
}

var objectKinds = []*objectKind{segments, semaphores, messages}

// TestRemoveObjects: of the objects that a list names, those are removed that are as the list says, and no file is read
// that this user has not made for it. The list was the tool's to write, and its numbers counted alone.
func TestRemoveObjects(t *testing.T) {
	for _, kind := range objectKinds {
		for name, forge := range map[string]func(*identity){
			"as it is": nil, "time": func(is *identity) { is.changed-- }, "creator": func(is *identity) { is.creator++ },
		} {
			of, is := madeObject(t, kind)
			if forge != nil {
				forge(&is)
			}
			dir := filepath.Join(t.TempDir(), "accessc-1")
			l := objectList{path: ListOfObjects(dir)}
			if _, err := l.add(of, is); err != nil {
				t.Fatal(err)
			}
			RemoveObjects(dir)
			if _, e := of.identity(); (e == 0) != (forge != nil) {
				t.Errorf("%s, %s: %v", kind.name, name, e)
			}
			if _, err := os.Lstat(l.path); err == nil {
				t.Errorf("%s, %s: the list is left", kind.name, name)
			}
			_ = l.file.Close()
		}
	}
}

// TestRemoveObjectsByKey: an object with a key is no run's.
func TestRemoveObjectsByKey(t *testing.T) {
	id, _, e := unix.Syscall(unix.SYS_SHMGET, 0x41430001, 1, ipcCreate|0o600)
	if e != 0 {
		t.Skip("the host makes no objects: ", e)
	}
	of := object{segments, int(id)}
	t.Cleanup(of.remove)
	is, _ := of.identity()
	dir := filepath.Join(t.TempDir(), "accessc-1")
	l := objectList{path: ListOfObjects(dir)}
	if _, err := l.add(of, is); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	RemoveObjects(dir)
	if _, e := of.identity(); e != 0 {
		t.Errorf("removed: %v", e)
	}
}

// TestRemoveObjectsOfNoList: what is no file of this user's alone is no list, and stops nobody.
func TestRemoveObjectsOfNoList(t *testing.T) {
	for name, place := range map[string]func(list, at string) error{
		"symlink":  os.Symlink,
		"further":  os.Link,
		"fifo":     func(_, at string) error { return unix.Mkfifo(at, 0o600) },
		"writable": func(list, at string) error { return os.Rename(list, at) },
	} {
		of, is := madeObject(t, segments)
		dir := filepath.Join(t.TempDir(), "accessc-1")
		l := objectList{path: dir + ".other"}
		if _, err := l.add(of, is); err != nil {
			t.Fatal(err)
		}
		if name == "writable" {
			_ = l.file.Chmod(0o622)
		}
		if err := place(l.path, ListOfObjects(dir)); err != nil {
			t.Fatal(err)
		}
		RemoveObjects(dir)
		if _, e := of.identity(); e != 0 {
			t.Errorf("%s: removed: %v", name, e)
		}
		_ = l.file.Close()
	}
}

// TestObjectsForgotten: an object that somebody else has removed is no longer the run's, nor another one with its
// number, which is told by its time; its place in the list and among those that a run can have is free.
func TestObjectsForgotten(t *testing.T) {
	for _, kind := range objectKinds {
		o := objects{list: objectList{path: filepath.Join(t.TempDir(), "list")}}
		gone, _ := madeObject(t, kind)
		later, _ := madeObject(t, kind)
		for _, of := range []object{gone, later} {
			if !o.add(of, 1) || o.find(of) == nil {
				t.Fatalf("%s: not added", kind.name)
			}
		}
		o.keys = map[*objectKind]map[int32]int{kind: {7: gone.id, 8: later.id}}
		gone.remove()
		o.alive[later].changed--
		for _, of := range []object{gone, later} {
			if o.find(of) != nil {
				t.Errorf("%s: found", kind.name)
			}
		}
		if len(o.alive) != 0 || len(o.keys[kind]) != 0 || len(o.list.free) != 2 {
			t.Errorf("%s: kept %v, %v, %v", kind.name, o.alive, o.keys, o.list.free)
		}
		o.close()
		if _, e := later.identity(); e != 0 {
			t.Errorf("%s: an object of somebody else is removed: %v", kind.name, e)
		}
	}
}

// TestObjectsFull: objects that are gone do not count among those that a run has at a time.
func TestObjectsFull(t *testing.T) {
	o := objects{list: objectList{path: filepath.Join(t.TempDir(), "list")}}
	of, _ := madeObject(t, semaphores)
	if !o.add(of, 1) {
		t.Fatal("not added")
	}
	defer o.close()
	most := semaphores.most()
	if most < 1 || most > maxObjects {
		t.Fatalf("a run has %d sets of semaphores", most)
	}
	for n := 1; n < most; n++ {
		o.alive[object{semaphores, -n}] = &known{line: o.list.next}
	}
	if o.full(semaphores) || len(o.alive) != 1 {
		t.Errorf("full of %d objects", len(o.alive))
	}
}
