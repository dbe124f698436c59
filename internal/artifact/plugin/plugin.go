// Package plugin finds and runs backends of others: programs of the user's own choice, by a name or a path on the
// command line. No file of a workspace chooses one. A program is started without a shell, with few variables and in an
// empty directory of its own, once for each request; what it replies is read by package external, and no more of it
// than that package takes. It is not confined: it can do what its user can.
package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/accessc/accessc/backends/external"
	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Prefix begins the names of such programs.
const Prefix = "accessc-backend-"

// Bounds of one request.
const (
	maxTime = 10 * time.Second
	// linger is how long output may stay open after the end, by processes that the program has left.
	linger   = time.Second
	maxNoise = 4 << 10 // bytes of standard error that are shown
	maxSaid  = 1 << 10 // bytes of a mistake that are shown
	// maxDepth and maxEntries bound what a program leaves in its temporary directory.
	maxDepth, maxEntries = 64, 10_000
)

// Program is a backend of others. It is safe for concurrent use.
type Program struct {
	name, file string // file is absolute
	byName     bool   // it was looked for in PATH
	roots      []string
	reserved   []string
}

// ErrNone says that there is no such program.
var ErrNone = errors.New("no program")

// maxName bounds the name of a backend, in bytes.
const maxName = 32

// named reports whether a name can be that of a backend: it is shown, and is part of documents.
func named(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Find returns the program that a word of --target means: one named by its path, or else one in the absolute
// directories of PATH. Files that are reserved are not to be among its own.
func Find(target, path string, reserved []string) (*Program, error) {
	p := &Program{name: target, reserved: reserved}
	if strings.ContainsAny(target, `/`+string(filepath.Separator)) {
		abs, err := filepath.Abs(target)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(filepath.Base(abs), ".exe")
		name, prefixed := strings.CutPrefix(base, Prefix)
		if p.name, p.file = name, abs; !prefixed || !named(name) {
			return nil, fmt.Errorf("%w there: found the file name %s, expected %sNAME", ErrNone, base, Prefix)
		}
		if _, err := exec.LookPath(abs); err != nil {
			return nil, fmt.Errorf("%w there: %w", ErrNone, err)
		}
		return p, nil
	}
	if !named(target) {
		return nil, fmt.Errorf("%w of that name", ErrNone)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // counts from the current directory, whose files are others' choice
		}
		if file, err := exec.LookPath(filepath.Join(dir, Prefix+target)); err == nil {
			p.file, p.byName = file, true
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w %s in PATH", ErrNone, Prefix+target)
}

// Name is what --target takes, and what documents say.
func (p *Program) Name() string { return p.name }

// Outside is an error for a program that was found by its name, and whose way leads through one of some directories: the
// workspaces and work trees around a configuration, whose writers would choose it. The program's own PATH has no
// directory by such a way, since its first line may name an interpreter.
func (p *Program) Outside(roots ...string) error {
	p.roots = roots
	if !p.byName {
		return nil
	}
	through, err := p.through(p.file)
	if err != nil {
		return err
	}
	if through != "" {
		const why = "whose writers choose what it is; name it by its path if it is yours"
		return fmt.Errorf("%s leads through %s, %s", p.file, through, why)
	}
	return nil
}

// through returns the first of the directories that the way to a file leads through, empty for none.
func (p *Program) through(file string) (string, error) {
	places, err := workspace.Way(file)
	if err != nil {
		return "", err
	}
	for _, place := range places {
		for _, root := range p.roots {
			if workspace.Lies(place, root) {
				return root, nil
			}
		}
	}
	return "", nil
}

// path is the PATH of the program: the absolute directories that nobody's repository chooses.
func (p *Program) path(value string) string {
	var out []string
	for _, dir := range filepath.SplitList(value) {
		if through, err := p.through(dir); filepath.IsAbs(dir) && err == nil && through == "" {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// Compile asks for the artifacts of a tool.
func (p *Program) Compile(t *ir.Tool) (*external.Compiled, error) {
	req, err := external.CompileRequest(t)
	if err != nil {
		return nil, err
	}
	data, err := p.ask(req)
	if err != nil {
		return nil, err
	}
	out, err := external.ReadCompiled(data, t, p.reserved)
	if err != nil {
		err = p.unusable(err)
	}
	return out, err
}

// Decide asks what artifacts say of operations.
func (p *Program) Decide(files []external.File, ops []external.Operation) ([]external.Verdict, error) {
	req, err := external.DecideRequest(files, ops)
	if err != nil {
		return nil, err
	}
	data, err := p.ask(req)
	if err != nil {
		return nil, err
	}
	out, err := external.ReadVerdicts(data, len(ops))
	if err != nil {
		err = p.unusable(err)
	}
	return out, err
}

// unusable is the error about a reply, which may have texts of any length.
func (p *Program) unusable(err error) error {
	why := err.Error()
	if len(why) > maxSaid {
		why = strings.ToValidUTF8(why[:maxSaid], "") + "…"
	}
	return fmt.Errorf("the reply of %s cannot be used: %s", p.file, why)
}

// ask starts the program for one request. What it leaves running ends with it, as far as it stays in its group.
func (p *Program) ask(request []byte) (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "accessc-backend-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if left := rmtree.RemoveSmall(dir, maxDepth, maxEntries); left != nil && err == nil {
			err = fmt.Errorf("%s left %s, which was not removed: too much is in it", p.file, dir)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	out, noise := &bounded{most: external.MaxReply, full: cancel}, &bounded{most: maxNoise}
	cmd := exec.CommandContext(ctx, p.file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, p.environment(dir), linger
	defer grouped(cmd)()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), out, noise
	err = cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("%s wrote more than %d bytes", p.file, external.MaxReply)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not end within %v", p.file, maxTime)
	case err != nil:
		return nil, fmt.Errorf("%s: %w%s", p.file, err, noise.said())
	}
	return out.text.Bytes(), nil
}

// environment is what a program needs to be found and to start. Secrets in other variables are none of its business.
func (p *Program) environment(dir string) []string {
	out := []string{"TMPDIR=" + dir, "TEMP=" + dir, "TMP=" + dir, "LANG=C.UTF-8"}
	keep := []string{"PATH", "HOME"}
	if runtime.GOOS == "windows" {
		keep = []string{"PATH", "PATHEXT", "SystemRoot", "USERPROFILE", "LocalAppData"}
	}
	for _, name := range keep {
		if value, set := os.LookupEnv(name); set {
			if name == "PATH" {
				value = p.path(value)
			}
			out = append(out, name+"="+value)
		}
	}
	return out
}

// bounded keeps the beginning of what is written to it. The buffer is no embedded one, whose ReadFrom would take all.
type bounded struct {
	text bytes.Buffer
	most int
	over bool
	full func() // is called when more is written, unless nil
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.text.Len())
	b.text.Write(p[:n])
	if n < len(p) {
		if b.over = true; b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}

// said is what a program says of its failure.
func (b *bounded) said() string {
	if text := strings.TrimSpace(b.text.String()); text != "" {
		return ": " + visible.Message(text)
	}
	return ""
}
