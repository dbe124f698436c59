// Package hostview is how the compiler looks at the host: at names, files, directories, and
// variables of the environment.
//
// A View keeps each question with its answer. The input of a policy is the list of
// these: a later start asks the same again, and needs no compilation if it gets the same
// answers. So the packages of the compiler have no other access to the host (compiler_test.go at
// the top of the repository holds that), and an answer has no more than is kept of it.
package hostview

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Kind is the kind of a question.
type Kind byte

// The kinds.
const (
	lstat     Kind = 'l' // the type of a name
	readlink  Kind = 'k' // the target of a symlink
	stat      Kind = 's' // type and permissions of what a name leads to
	evaluate  Kind = 'e' // a path without symlinks
	read      Kind = 'r' // the type and text of a file
	head      Kind = 'h' // the first bytes of a file
	list      Kind = 'd' // names and types in a directory
	opened    Kind = 'o' // whether a directory can be opened as a root
	madeUp    Kind = 'm' // the kernel's own file system that a file is on
	variable  Kind = 'v' // a variable of the environment
	approvals Kind = 'a' // the user's approvals
	shown     Kind = 'f' // the kernel's own file systems at, below and around directories
	named     Kind = 'n' // the names that mounts give a place
	owned     Kind = 'u' // whether a file is the user's own
)

// Look is a question about the host, and its answer.
type Look struct {
	// Kind is what is asked.
	Kind Kind
	// Root is the directory that Path counts from and may not leave, empty for a path of the disk.
	Root, Path string
	// Answer is compared only. It is the digest of a long text.
	Answer string
}

type question struct {
	kind       Kind
	root, path string
}

// View looks at the host and keeps the answers. A nil View keeps nothing. It is safe for
// concurrent use.
type View struct {
	mu       sync.Mutex
	looks    []Look
	index    map[question]int
	searches []*Search
	torn     bool
}

// Seen has the answers that a View was given.
type Seen struct {
	// Looks are the questions in the order in which they were first asked.
	Looks []Look
	// Searches are the searches.
	Searches []*Search
}

// Now looks at the host and keeps nothing.
var Now *View

// New returns a View that keeps answers.
func New() *View { return &View{index: map[question]int{}} }

// Forget drops all answers, before a compilation that begins anew.
func (v *View) Forget() {
	if v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.looks, v.index, v.searches, v.torn = nil, map[question]int{}, nil, false
	}
}

// Seen returns the answers to the View. Without ok a question had two answers: the host changed
// meanwhile, and no state of it had them all.
func (v *View) Seen() (seen Seen, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Seen{v.looks, v.searches}, !v.torn
}

func (v *View) keep(kind Kind, root, path string, answer func() string) {
	if v == nil {
		return
	}
	said := answer()
	v.mu.Lock()
	defer v.mu.Unlock()
	q := question{kind, root, path}
	if i, asked := v.index[q]; asked {
		v.torn = v.torn || v.looks[i].Answer != said
		return
	}
	v.index[q] = len(v.looks)
	v.looks = append(v.looks, Look{kind, root, path, said})
}

// Lstat returns the type of a name, as of lstat(2).
func (v *View) Lstat(path string) (fs.FileMode, error) { return v.lstat(from{}, path) }

// Readlink returns the target of a symlink.
func (v *View) Readlink(path string) (string, error) { return v.readlink(from{}, path) }

// ReadDir lists a directory by name.
func (v *View) ReadDir(path string) ([]fs.DirEntry, error) { return v.list(from{}, path) }

// Open returns a file of the disk, with its text if that is at most MaxText long. It does not wait
// for the writer of a FIFO.
func (v *View) Open(path string) (fs.File, error) { return v.open(from{}, path) }

// Stat returns type and permissions of the file that a path leads to.
func (v *View) Stat(path string) (fs.FileMode, error) {
	mode, err := statMode(path)
	v.keep(stat, "", path, func() string { return saidMode(mode, err) })
	return mode, err
}

// EvalSymlinks is filepath.EvalSymlinks.
func (v *View) EvalSymlinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	v.keep(evaluate, "", path, func() string { return saidText(real, err) })
	return real, err
}

// Owned reports whether a file, not the file that a symlink there leads to, is the user's own, and not written by
// everybody.
func (v *View) Owned(path string) bool {
	is := isOwned(path)
	v.keep(owned, "", path, func() string { return saidOwned(is) })
	return is
}

func saidOwned(is bool) string {
	if is {
		return "own"
	}
	return ""
}

// Head returns the first bytes of a file, as many as the kernel reads to find an interpreter.
func (v *View) Head(path string) ([]byte, error) {
	data, err := readHead(path)
	v.keep(head, "", path, func() string { return saidText(string(data), err) })
	return data, err
}

// MadeUp names the file system of a place, if it is one of the kernel's own (statfs(2)); empty for any other.
func (v *View) MadeUp(path string) string {
	name := fileSystem(path)
	v.keep(madeUp, "", path, func() string { return name })
	return name
}

// Kernel is a place at which a file system of the kernel is mounted, or a place of the policy under another name.
type Kernel struct {
	// Path is absolute, Type the name of the file system.
	Path, Type string
	// Again is the other name, empty for a file system of the kernel.
	Again string
}

// Why is the reason why no tool comes to the place.
func (k Kernel) Why() string {
	if k.Again != "" {
		return "a mount that shows " + k.Again + " under another name"
	}
	if k.Type == "overlay" {
		return "an overlay over directories of the kernel, or over some that cannot be told"
	}
	return k.Type + ", a file system of the kernel"
}

// Kernels lists the file systems of the kernel that are mounted below some directories, which a policy and the base
// name, and the directories that lie in such a file system. Mounts below the directories of the policy that show a
// place of either count as well, and so do directories of the policy that show another place. The workspace is the
// first.
func (v *View) Kernels(roots, base []string) []Kernel {
	out := kernels(roots, base)
	v.keep(shown, "", strings.Join(base, separator)+parts+strings.Join(roots, separator), func() string {
		return saidKernels(out)
	})
	return out
}

// separator stands between paths, of which none has it.
const separator = "\x00"

// parts stands between lists of paths.
const parts = separator + separator

// split divides a list of paths.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, separator)
}

// Names are the canonical names that mounts give a place, its own first, and the points of mounts that show a part of
// it.
func (v *View) Names(path string) []string {
	out := Names(path)
	v.keep(named, "", path, func() string { return saidText(strings.Join(out, separator), nil) })
	return out
}

// Variable returns a variable of the environment.
func (v *View) Variable(name string) (value string, set bool) {
	value, set = os.LookupEnv(name)
	v.keep(variable, "", name, func() string { return saidVariable(value, set) })
	return value, set
}

// Approvals keeps an answer of the store of approvals, which has its own rules for which files it
// believes.
func (v *View) Approvals(path, answer string) {
	v.keep(approvals, "", path, func() string { return answer })
}

func (v *View) lstat(f from, name string) (fs.FileMode, error) {
	mode, err := f.lstat(name)
	v.keep(lstat, f.dir, name, func() string { return saidMode(mode, err) })
	return mode, err
}

func (v *View) readlink(f from, name string) (string, error) {
	target, err := f.readlink(name)
	v.keep(readlink, f.dir, name, func() string { return saidText(target, err) })
	return target, err
}

func (v *View) list(f from, name string) ([]fs.DirEntry, error) {
	entries, err := f.list(name)
	v.keep(list, f.dir, name, func() string { return saidEntries(entries, err) })
	return entries, err
}

func (v *View) open(f from, name string) (fs.File, error) {
	file, err := f.open(name)
	v.keep(read, f.dir, name, func() string { return saidFile(file, err) })
	if err != nil {
		return nil, err
	}
	return file, nil
}

// The answers as they are kept. An error has another first byte than any other answer.

func saidError(err error) string { return "!" + err.Error() }

func saidMode(mode fs.FileMode, err error) string {
	if err != nil {
		return saidError(err)
	}
	return "=" + strconv.FormatUint(uint64(mode), 36)
}

func saidKernels(list []Kernel) string {
	var out strings.Builder
	for _, k := range list {
		out.WriteString(k.Type + " " + k.Path + separator + k.Again + separator)
	}
	return saidText(out.String(), nil)
}

func saidVariable(value string, set bool) string {
	if !set {
		return "!"
	}
	return "=" + value
}

// saidText keeps a text, and the digest of a long text.
func saidText(text string, err error) string {
	const short = 256
	switch {
	case err != nil:
		return saidError(err)
	case len(text) <= short:
		return "=" + text
	default:
		sum := sha256.Sum256([]byte(text))
		return "#" + string(sum[:])
	}
}

func saidFile(f *file, err error) string {
	if err != nil {
		return saidError(err)
	}
	sum := sha256.Sum256(f.data)
	return fmt.Sprintf("=%o %d %s", f.mode, f.size, sum)
}

func saidEntries(entries []fs.DirEntry, err error) string {
	if err != nil {
		return saidError(err)
	}
	sum := sha256.New()
	for _, e := range entries {
		// No name has a slash.
		fmt.Fprintf(sum, "%s/%o/", e.Name(), e.Type())
	}
	return "=" + string(sum.Sum(nil))
}
