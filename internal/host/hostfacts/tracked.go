package hostfacts

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir"
)

// tracked reports whether git has the local layer, by any name over which a start reads it: whoever checks
// the repository out starts tools by it. An index that is not understood counts as having it, since a
// comparison without a layer that rules starts would show another policy. See decision D360.
func (r *Result) tracked(resolver *resolve.Resolver) bool {
	found, err := resolver.Disk.Follow(resolver.Root + "/.accessc/local.toml")
	if err != nil || found.Kind != ir.File && len(found.Links) == 0 {
		return false
	}
	top, git := r.workTree(resolver.Root)
	if top == "" {
		return false
	}
	data, err := r.index(git)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	var names []string
	for _, abs := range append([]string{found.Abs}, found.Links...) {
		if name, ok := resolve.Below(abs, top); ok {
			names = append(names, name)
		}
	}
	has, known := indexed(data, names)
	return has || !known
}

// workTree is the nearest directory upwards that git takes for a work tree, and its git directory.
func (r *Result) workTree(root string) (top, git string) {
	for at := root; ; at = path.Dir(at) {
		name := path.Join(at, ".git")
		switch mode, err := r.view.Stat(filepath.FromSlash(name)); {
		case err != nil:
		case mode.IsRegular():
			text, _ := r.readText(name)
			if dir, ok := strings.CutPrefix(text, "gitdir: "); ok {
				dir = filepath.ToSlash(strings.TrimRight(dir, "\r\n"))
				if !path.IsAbs(dir) && !filepath.IsAbs(dir) {
					dir = path.Join(at, dir)
				}
				return at, dir
			}
		case mode.IsDir():
			if _, err := r.view.Stat(filepath.FromSlash(path.Join(name, "HEAD"))); err == nil {
				return at, name
			}
		}
		if path.Dir(at) == at {
			return "", ""
		}
	}
}

// attributes has the compiler look at git's attributes of the layers, in the work tree and in the repository itself.
func (r *Result) attributes(opts *Options, root string) {
	opts.Layers.Fold = resolve.Fold
	top, git := r.workTree(root)
	if git == "" {
		return
	}
	if text, ok := r.readText(path.Join(git, "commondir")); ok {
		if common := strings.TrimRight(text, "\r\n"); path.IsAbs(common) || filepath.IsAbs(common) {
			git = filepath.ToSlash(common)
		} else {
			git = path.Join(git, common)
		}
	}
	opts.Layers.Git = r.view.Below(filepath.FromSlash(git))
	if opts.Tree == nil {
		opts.Layers.Top = r.view.Below(filepath.FromSlash(top))
		opts.Layers.Prefix, _ = resolve.Below(root, top)
	}
}

var errIndex = errors.New("found an index that is too large")

// index reads the index of a git directory.
func (r *Result) index(git string) ([]byte, error) {
	f, err := r.view.Open(filepath.FromSlash(path.Join(git, "index")))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err == nil && len(data) == 0 {
		err = errIndex // a longer file than is read, or none of git's
	}
	return data, err
}

// indexed reports whether an index has one of some names, or a submodule or a directory of a sparse index
// around such a name. It is not known where the index is of a form that has entries elsewhere
// (gitformat-index(5)).
func indexed(data []byte, names []string) (has, known bool) {
	known = entries(data, func(name string, mode uint32) {
		for _, n := range names {
			around := (mode == modeGitlink || mode == modeTree) &&
				strings.HasPrefix(n, strings.TrimSuffix(name, "/")+"/")
			has = has || n == name || around
		}
	})
	return has, known
}

// entries calls each for the entries of an index. It is false where they are not known.
func entries(data []byte, each func(name string, mode uint32)) bool {
	for _, hash := range []int{sha1.Size, sha256.Size} {
		if readIndex(data, hash, func(string, uint32) {}) && sealed(data, hash) {
			return readIndex(data, hash, each)
		}
	}
	return false
}

// sealed reports whether an index ends with its checksum of a length, or with zeros, by which git says that it has
// none.
func sealed(data []byte, hash int) bool {
	body, sum := data[:len(data)-hash], data[len(data)-hash:]
	if bytes.Equal(sum, make([]byte, hash)) {
		return true
	}
	if hash == sha1.Size {
		of := sha1.Sum(body)
		return bytes.Equal(sum, of[:])
	}
	of := sha256.Sum256(body)
	return bytes.Equal(sum, of[:])
}

// The parts of an index, in bytes.
const (
	indexHead   = 12 // signature, version, number of entries
	indexStat   = 40 // of an entry, before the name of its object; the mode is in it
	indexMode   = 24
	indexLong   = 0x4000 // the flag of an entry with further flags
	modeKind    = 0o170000
	modeTree    = 0o040000
	modeGitlink = 0o160000
)

// readIndex is entries for names of objects of a length.
func readIndex(data []byte, hash int, each func(name string, mode uint32)) bool {
	if len(data) < indexHead+hash || string(data[:4]) != "DIRC" {
		return false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return false
	}
	end := len(data) - hash
	at, name := indexHead, ""
	for range count {
		start := at
		if at += indexStat + hash + 2; at > end {
			return false
		}
		mode := binary.BigEndian.Uint32(data[start+indexMode:]) & modeKind
		if binary.BigEndian.Uint16(data[at-2:])&indexLong != 0 {
			at += 2
		}
		if version == 4 {
			drop, n := varint(data[min(at, end):end])
			if n == 0 || drop > len(name) {
				return false
			}
			at, name = at+n, name[:len(name)-drop]
		} else {
			name = ""
		}
		length := bytes.IndexByte(data[min(at, end):end], 0)
		if length < 0 {
			return false
		}
		name += string(data[at : at+length])
		if at += length + 1; version < 4 {
			at = start + (at-1-start+8)/8*8
		}
		each(name, mode)
	}
	for at+8 <= end {
		if string(data[at:at+4]) == "link" {
			return false // the entries are in another file as well
		}
		at += 8 + int(binary.BigEndian.Uint32(data[at+4:]))
	}
	return at == end
}

// varint reads the number of bytes that a name leaves out of the name before it.
func varint(data []byte) (value, n int) {
	for n < len(data) && n < 4 {
		b := data[n]
		n++
		value |= int(b & 0x7f)
		if b&0x80 == 0 {
			return value, n
		}
		value = (value + 1) << 7
	}
	return 0, 0
}

// alikeFindings are about names below the workspace that git has, and that a file system may take for a mark of a
// workspace. Names of files that may be layers are the compiler's findings.
func (r *Result) alikeFindings(root string) diag.List {
	top, git := r.workTree(root)
	if top == "" {
		return nil
	}
	data, err := r.index(git)
	if err != nil {
		return nil
	}
	prefix, _ := resolve.Below(root, top)
	seen := map[string]bool{}
	var out diag.List
	entries(data, func(name string, _ uint32) {
		if prefix != "" && prefix != "." {
			below, ok := strings.CutPrefix(name, prefix+"/")
			if !ok {
				return
			}
			name = below
		}
		for at := strings.TrimSuffix(name, "/"); at != "." && !seen[at]; at = path.Dir(at) {
			seen[at] = true
			if err := workspace.Alike(at, resolve.Fold); err != nil && path.Dir(at) != "." {
				d := diag.New(diag.Altered, ir.Pos{File: at}, 0)
				d.Label = err.Error()
				d.Hint = "rename it, or git rm it"
				out.Add(d)
			}
		}
	})
	return out
}

// trackedFinding says that a layer for one checkout is everybody's.
func (r *Result) trackedFinding() diag.Diagnostic {
	d := diag.New(diag.LocalTracked, ir.Pos{File: ".accessc/local.toml"}, 0)
	d.Label = "git tracks this layer, so it rules the tools of everybody who checks the repository out"
	d.Hint = "git rm --cached .accessc/local.toml, and put what is for everybody into accessc.toml"
	return d
}
