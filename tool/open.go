package tool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/ir"
)

// ErrChanged means that a path led elsewhere each time between being judged and being
// opened.
var ErrChanged = errors.New("the path keeps changing while it is opened")

const (
	// tries bounds how often an operation starts over when the path changes under it.
	tries = 100
	// same is the number of attempts in which a path must lead to the same place, and differ
	// there from its judged kind, before that counts as its state: a file in place of a
	// directory.
	same = 8
)

// Open opens the file or directory at path for reading. It needs read. The error is the error of CheckRead, or an
// *fs.PathError.
func (p *Policy) Open(path string) (*os.File, error) { return p.OpenFile(path, os.O_RDONLY, 0) }

// Create makes the file at path, or empties the file that is there, and opens it for
// reading and writing as os.Create does. It needs read, and create or update.
func (p *Policy) Create(path string) (*os.File, error) {
	return p.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens as os.OpenFile does. Reading needs read; making a file needs create;
// writing to a file that is there, and emptying it, needs update.
func (p *Policy) OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	var f *os.File
	err := p.hold("open", path, func() (target, error) {
		exclusive := flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0
		at, err := p.evaluate("open", path, !exclusive)
		if err != nil {
			return at, err
		}
		for _, need := range needs(flag, at.kind) {
			if err := p.judge(need, at); err != nil {
				return at, err
			}
		}
		if exclusive && at.kind != ir.Absent {
			return at, fs.ErrExist
		}
		f, err = p.open(at, flag, perm)
		return at, err
	})
	return f, err
}

// needs returns the capabilities that an open takes, given the kind of node there.
func needs(flag int, there ir.NodeKind) []ir.Capability {
	var out []ir.Capability
	access := flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)
	makes := flag&os.O_CREATE != 0 && (there == ir.Absent || flag&os.O_EXCL != 0)
	if makes {
		out = append(out, ir.Create)
	}
	if access != os.O_WRONLY {
		out = append(out, ir.Read)
	}
	if !makes && (access != os.O_RDONLY || flag&os.O_TRUNC != 0) {
		out = append(out, ir.Update)
	}
	return out
}

// open opens the judged target. It creates or truncates only as judged: an existing file is
// opened without O_CREATE and truncated after it is known to be a file.
func (p *Policy) open(at target, flag int, perm fs.FileMode) (*os.File, error) {
	d, name, err := p.directory(at)
	if err != nil {
		return nil, err
	}
	defer d.close()
	full := p.absolute(at.At)
	if at.kind == ir.Absent {
		if flag&os.O_CREATE == 0 {
			return nil, fs.ErrNotExist
		}
		return d.open(name, full, flag|os.O_EXCL, perm.Perm())
	}
	f, err := d.open(name, full, flag&^(os.O_CREATE|os.O_EXCL|os.O_TRUNC), 0)
	if err != nil {
		return nil, err
	}
	if err := empty(f, flag); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// empty refuses a node that is no file or directory, and truncates if requested.
func empty(f *os.File, flag int) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() && !info.IsDir():
		return errors.New("neither a file nor a directory")
	case flag&os.O_TRUNC == 0:
		return nil
	default:
		return f.Truncate(0)
	}
}

// ReadFile returns the contents of the file at path. It needs read.
func (p *Policy) ReadFile(path string) ([]byte, error) {
	f, err := p.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// WriteFile writes data to the file at path, which it makes if it is not there and
// empties otherwise. It needs create or update.
func (p *Policy) WriteFile(path string, data []byte, perm fs.FileMode) error {
	f, err := p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// ReadDir lists the directory at path in name order. It needs read.
func (p *Policy) ReadDir(path string) ([]fs.DirEntry, error) {
	f, err := p.OpenFile(path, os.O_RDONLY|directoryFlag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	sortEntries(entries)
	return entries, err
}

// Mkdir makes the directory path. It needs create.
func (p *Policy) Mkdir(path string, perm fs.FileMode) error {
	return p.hold("mkdir", path, func() (target, error) {
		at, err := p.evaluate("mkdir", path, false)
		if err == nil {
			err = p.judge(ir.Create, at)
		}
		if err == nil && at.kind != ir.Absent {
			err = fs.ErrExist
		}
		if err != nil {
			return at, err
		}
		d, name, err := p.directory(at)
		if err != nil {
			return at, err
		}
		defer d.close()
		return at, d.mkdir(name, perm.Perm())
	})
}

// MkdirAll makes the directory path and those above it that are missing. Each that is
// made needs create.
func (p *Policy) MkdirAll(name string, perm fs.FileMode) error {
	err := p.Mkdir(name, perm)
	if above := path.Dir(filepath.ToSlash(name)); errors.Is(err, fs.ErrNotExist) && above != "." {
		if err := p.MkdirAll(above, perm); err != nil {
			return err
		}
		err = p.Mkdir(name, perm)
	}
	if err == nil {
		return nil
	}
	// It may be there already, which takes no capability to say.
	if at, bad := p.evaluate("mkdir", name, true); bad == nil && at.kind == ir.Dir && p.inside(at) {
		return nil
	}
	return err
}

// inside reports whether the workspace's paths may lead to a target.
func (p *Policy) inside(at target) bool {
	return p.view.Decide(ir.Access{Cap: ir.Read, On: at.Place}).Reason != ir.ReasonEscape
}

// Remove removes the file, symlink or empty directory path. It needs delete. A symlink
// is not followed.
func (p *Policy) Remove(path string) error {
	return p.hold("remove", path, func() (target, error) {
		at, err := p.evaluate("remove", path, false)
		if err == nil {
			err = p.judge(ir.Delete, at)
		}
		if err == nil && at.kind == ir.Absent {
			err = fs.ErrNotExist
		}
		if err != nil {
			return at, err
		}
		d, name, err := p.directory(at)
		if err != nil {
			return at, err
		}
		defer d.close()
		return at, d.remove(name, at.kind == ir.Dir)
	})
}

// directory opens the directory that contains the name of a target. A root is represented by
// its own directory under the name ".".
func (p *Policy) directory(at target) (directory, string, error) {
	parent, ok := at.At.Parent()
	name := at.At.Base()
	if !ok {
		parent, name = at.At, "."
	}
	d, err := p.holder.directory(parent)
	return d, name, err
}

// hold tries an operation until it was done to the judged target. A node that is missing, in
// the way or of another kind may be a result of a changing path; it is an answer when it stays
// so.
// See decision D86.
func (p *Policy) hold(op, path string, try func() (target, error)) error {
	var before target
	settled := 0
	for range tries {
		at, err := try()
		if at == before {
			settled++
		} else {
			before, settled = at, 0
		}
		var swap *swappedError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &swap) && settled < same:
			continue
		case settled == 0 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)):
			continue
		default:
			return answer(op, path, err)
		}
	}
	return &fs.PathError{Op: op, Path: path, Err: ErrChanged}
}

// A swappedError is a directory's error for a name that changed since it was judged.
type swappedError struct{ cause error }

func (e *swappedError) Error() string { return e.cause.Error() }

func (e *swappedError) Unwrap() error { return e.cause }

// answer gives errors of the system the path that was asked for. Errors of the policy stay as they are.
func answer(op, path string, err error) error {
	var outside *OutsideError
	var escape *EscapeError
	var denied *DeniedError
	if errors.As(err, &outside) || errors.As(err, &escape) || errors.As(err, &denied) {
		return err
	}
	err = oserr.Reason(err)
	var swap *swappedError
	if errors.As(err, &swap) {
		err = swap.cause
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno
	} else if errors.Is(err, resolve.ErrLoop) {
		err = resolve.ErrLoop
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
