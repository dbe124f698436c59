package revision

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/files/rmtree"
)

// Bounds of one revision: real configurations are smaller by orders of magnitude.
const (
	maxObject  = 16 << 20  // bytes of one object
	maxBytes   = 256 << 20 // bytes of all objects
	maxObjects = 100_000
	maxLink    = 4096 // bytes of a symlink's target, PATH_MAX
)

// maxTime bounds everything that is asked of git for one revision.
var maxTime = time.Minute

// ask runs one command of git in the repository and returns its output.
func (r *Repository) ask(ctx context.Context, git string, args ...string) (string, error) {
	out, err := r.tell(ctx, git, maxAnswer, args...)
	return strings.TrimSpace(out), err
}

// maxAnswer bounds a short answer of git, in bytes.
const maxAnswer = 64 << 10

// tell is ask for an output of up to a number of bytes, as it is.
func (r *Repository) tell(ctx context.Context, git string, most int, args ...string) (string, error) {
	all := []string{"--no-pager"}
	for _, setting := range closed {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, git, append(all, args...)...)
	cmd.Dir = r.root
	cmd.Env = environment(r.dir)
	if !r.Bare() {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+r.Top)
	}
	cmd.WaitDelay = time.Second
	out, errs := bounded{most: most}, bounded{most: maxAnswer}
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", errSlow()
	case err != nil && errs.Len() > 0:
		_, why, _ := strings.Cut("\n"+errs.String(), "\nfatal: ")
		why, _, _ = strings.Cut(why, "\n")
		err = errors.New(cmp.Or(why, strings.TrimSpace(errs.String())))
	}
	return out.String(), err
}

func errSlow() error { return fmt.Errorf("git took longer than %v", maxTime) }

// bounded keeps the first part of the data written to it.
type bounded struct {
	bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// objects is a running git cat-file --batch. It is safe for concurrent use.
type objects struct {
	mu      sync.Mutex
	dir     string
	cancel  context.CancelFunc
	ctx     context.Context
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	count   int
	bytes   int64
	failure error
}

// openObjects starts git in a git directory of its own that borrows the repository's objects.
// Objects that these borrow from (gitrepository-layout(5), objects/info/alternates) are found
// as well: they are data, and are verified against their names like all.
func openObjects(git, store string, sha256 bool) (*objects, error) {
	dir, err := os.MkdirTemp("", "accessc-revision-*")
	if err != nil {
		return nil, err
	}
	o := &objects{dir: dir}
	if err := o.start(git, store, sha256); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *objects) start(git, store string, sha256 bool) error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if sha256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(o.dir, name), 0o700); err != nil {
			return err
		}
	}
	o.ctx, o.cancel = context.WithTimeout(context.Background(), maxTime)
	o.cmd = exec.CommandContext(o.ctx, git, "cat-file", "--batch")
	o.cmd.Dir = o.dir
	o.cmd.Env = environment(o.dir, "GIT_OBJECT_DIRECTORY="+store)
	o.cmd.WaitDelay = time.Second
	in, err := o.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	o.in, o.out = in, bufio.NewReader(out)
	return o.cmd.Start()
}

func (o *objects) close() {
	if o.cmd != nil && o.cmd.Process != nil {
		o.in.Close()
		o.cancel()
		_ = o.cmd.Wait() // it was stopped; there is nothing that its status says
	} else if o.cancel != nil {
		o.cancel()
	}
	rmtree.Remove(o.dir)
}

// read returns an object of a kind, verified against its name. After a failure the position in
// the stream is undefined, and every further answer is the same failure.
func (o *objects) read(id, kind string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure != nil {
		return nil, o.failure
	}
	data, err := o.next(id, kind)
	if err != nil {
		if o.ctx.Err() != nil {
			err = errSlow()
		}
		o.failure = err
	}
	return data, err
}

func (o *objects) next(id, kind string) ([]byte, error) {
	if o.count++; o.count > maxObjects {
		return nil, fmt.Errorf("the revision has more than %d objects to read", maxObjects)
	}
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return nil, fmt.Errorf("git ended: %w", err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git ended: %w", err)
	}
	words := strings.Fields(head)
	if len(words) == 2 && words[1] == "missing" {
		return nil, fmt.Errorf("the repository lacks the object %s; if the clone is partial: git fetch --refetch", id)
	}
	if len(words) != 3 || words[0] != id {
		return nil, fmt.Errorf("git does not give the object %s", id)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	switch o.bytes += max(size, 0); {
	case err != nil || size < 0:
		return nil, fmt.Errorf("git does not give the object %s", id)
	case words[1] != kind:
		return nil, fmt.Errorf("the object %s is a %s, expected a %s", id, words[1], kind)
	case size > maxObject:
		return nil, fmt.Errorf("found %d bytes, expected at most %d", size, maxObject)
	case o.bytes > maxBytes:
		return nil, fmt.Errorf("the revision has more than %d bytes to read", maxBytes)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(o.out, data); err != nil {
		return nil, fmt.Errorf("git ended: %w", err)
	}
	data = data[:size]
	if nameOf(len(id), kind, data) != id {
		return nil, fmt.Errorf("the object %s does not match its name; run git fsck", id)
	}
	return data, nil
}

// nameOf is the name that an object must have: the hash of its kind, size and content, by
// the function that has names of that many digits.
func nameOf(digits int, kind string, data []byte) string {
	var h hash.Hash = sha1.New()
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
