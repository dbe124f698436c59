package build

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/accessc/accessc/internal/files/lock"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/process/once/expression"
)

// staging is the directory of stages. Below a workspace's access it is a protected path: a tool
// that could open or link a staged file would hold the manifest that it becomes.
const staging = ".accessc"

// stagedManifest is the name of a manifest in its stage: no search for manifests takes it for a
// manifest.
const stagedManifest = "manifest"

// lockSuffix follows a stage's name in its lock's name.
const lockSuffix = ".lock"

// stageName is the form of the names that a build makes for its stage and for the lock.
var stageName = expression.Once{Text: `^([A-Z2-7]{26})(\` + lockSuffix + `)?$`}

// isStage reports whether a path of an output directory leads to a stage or to its lock.
func isStage(rel string) bool {
	name, below := strings.CutPrefix(rel, staging+"/")
	return below && stageName.Get().MatchString(name)
}

// claim is a stage of this build. Its lock is there before it and goes after it, so that a stage without a
// locked lock was left by a killed build. See decision D246.
type claim struct {
	dir    string
	opened *os.Root
	lock   *os.File
}

// claims is how many names a build tries. Another build that sweeps may take a lock before the build that made it.
const claims = 10

// take makes a stage.
func (c *claim) take(root *os.Root) error {
	err := c.hold(root)
	if err == nil {
		err = root.Mkdir(c.dir, 0o755)
	}
	if err == nil {
		c.opened, err = root.OpenRoot(c.dir)
	}
	if err != nil {
		c.free(root)
	}
	return err
}

// hold makes and takes the lock of a new name.
func (c *claim) hold(root *os.Root) error {
	var err error
	for i := range claims {
		if err = root.Mkdir(staging, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := root.Lstat(staging); err == nil && !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: staging, Err: fs.ErrExist}
		}
		c.dir = staging + "/" + rand.Text()
		c.lock, err = root.OpenFile(c.dir+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			continue // another build has removed the directory, which was empty
		}
		// A file system without locks has none for builds that sweep either.
		if locked := lock.Try(c.lock) == nil; (locked || i == claims-1) && sameFile(root, c.dir+lockSuffix, c.lock) {
			return nil
		}
		err = &fs.PathError{Op: "lock", Path: c.dir + lockSuffix, Err: fs.ErrNotExist}
		c.free(root)
	}
	return err
}

// sameFile reports whether a file still has its name: a file that was removed can be locked as
// well.
func sameFile(root *os.Root, name string, f *os.File) bool {
	there, err := root.Lstat(name)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(there, mine)
}

// free removes the stage and then its lock.
func (c *claim) free(root *os.Root) {
	if c.dir == "" {
		return
	}
	if c.opened != nil {
		_ = c.opened.Close()
	}
	if c.lock != nil {
		_ = rmtree.RemoveIn(root, c.dir)
		_ = root.Remove(c.dir + lockSuffix)
		_ = c.lock.Close()
	}
	*c = claim{}
	// Only an empty directory goes, so that other builds keep theirs.
	_ = root.Remove(staging)
}

// sweep removes the stages that killed builds have left, and whatever else has such a name. It follows no link,
// opens only regular files, and is done once the files of this build are in place.
func sweep(root *os.Root) {
	dir := openStaging(root)
	if dir == nil {
		return
	}
	for _, name := range stages(dir) {
		f, dead := abandoned(dir, name)
		if !dead {
			continue
		}
		withdraw(root, dir, name)
		err := rmtree.RemoveIn(dir, name)
		if err == nil {
			_ = rmtree.RemoveIn(dir, name+lockSuffix)
		}
		if f != nil {
			_ = f.Close()
		}
	}
	_ = dir.Close()
	_ = root.Remove(staging)
}

// withdraw removes the artifacts that a killed build has put into place without its manifest, which comes last and so
// still waits in its stage. An artifact that the manifest in place lists, or that has changed by now, stays.
func withdraw(root, dir *os.Root, stage string) {
	there, err := readManifest(root, false)
	if err != nil {
		return
	}
	data, err := readIn(dir, stage+"/"+stagedManifest)
	if err != nil || data == nil {
		return
	}
	waiting, err := namesIn(data)
	if err != nil {
		return
	}
	listed := there.hashes()
	for p, hash := range waiting.hashes() {
		if _, ours := listed[p]; ours {
			continue
		}
		if data, err := readIn(root, p); err == nil && data != nil && Hash(data) == hash {
			_ = root.Remove(p)
			_ = root.Remove(path.Dir(p)) // only an empty directory goes
		}
	}
}

// openStaging opens the directory of stages, or returns nil where there is none.
func openStaging(root *os.Root) *os.Root {
	if info, err := root.Lstat(staging); err != nil || !info.IsDir() {
		return nil
	}
	dir, err := root.OpenRoot(staging)
	if err != nil {
		return nil
	}
	return dir
}

// stages lists the names of stages, also of stages that have only a lock.
func stages(dir *os.Root) []string {
	var out []string
	entries, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		m := stageName.Get().FindStringSubmatch(e.Name())
		// A lock follows its stage in the order of names.
		if m != nil && (len(out) == 0 || out[len(out)-1] != m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// abandoned reports whether no build has a stage, and returns the stage's lock, which is taken, if there is a
// lock.
func abandoned(dir *os.Root, name string) (*os.File, bool) {
	info, err := dir.Lstat(name + lockSuffix)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return nil, true // no build has made it
	}
	f, err := dir.OpenFile(name+lockSuffix, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	if lock.Try(f) != nil {
		_ = f.Close()
		return nil, false
	}
	return f, true
}
