package evidencelog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// chain appends lines to a log that other processes append to. The counter is locked while it does (flock(2)), and
// knows the last line and the size behind it.
type chain struct {
	file    *os.File
	counter *os.File
	log     string
	out     []byte
	text    []byte // room for the counter
	// serial is that of the run, last the hash of the last line that this chain has written.
	serial int64
	last   string
}

// signature begins every line of an evidence log.
const signature = `{"evidence_log":`

var (
	errForeign  = errors.New("is no evidence log, and not empty")
	errReplaced = errors.New("another file has taken the place of the log")
)

func open(file *os.File, counter string) (chain, error) {
	c := chain{file: file, log: file.Name()}
	head := make([]byte, len(signature))
	if n, _ := file.ReadAt(head, 0); n > 0 && string(head) != signature {
		return c, errForeign
	}
	if err := os.MkdirAll(filepath.Dir(counter), 0o700); err != nil {
		return c, err
	}
	var err error
	c.counter, err = os.OpenFile(counter, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	return c, err
}

func (c *chain) close() error {
	err := errors.Join(unix.Fdatasync(int(c.file.Fd())), c.file.Close(), c.counter.Close())
	return err
}

// held calls a function with the counter as it is, and keeps what it makes of it.
func (c *chain) held(change func(*Counter) error) error {
	if err := c.lock(unix.LOCK_EX); err != nil {
		return err
	}
	defer c.lock(unix.LOCK_UN)
	if c.text == nil {
		c.text = make([]byte, maxCounter)
	}
	n, _ := c.counter.ReadAt(c.text, 0)
	now, err := parseCounter(c.text[:n])
	if err != nil {
		return fmt.Errorf("%s: %w", c.counter.Name(), err)
	}
	before := *now
	now.Log = c.log
	if err := change(now); err != nil {
		return err
	}
	if *now == before {
		return nil
	}
	_, err = c.counter.WriteAt(now.text(), 0)
	return err
}

func (c *chain) lock(how int) error {
	for {
		if err := unix.Flock(int(c.counter.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// begin counts a run, and writes its first lines.
func (c *chain) begin(first func(serial int64) (lines []byte, ends []int)) error {
	return c.held(func(now *Counter) error {
		st, err := c.stat()
		if err != nil {
			return err
		}
		if now.Device != st.Dev || now.Inode != st.Ino {
			// The log was put elsewhere since the last run, as logs are; this file goes on where that ended.
			now.Size, now.Device, now.Inode = 0, st.Dev, st.Ino
		}
		now.Serial++
		c.serial = now.Serial
		lines, ends := first(now.Serial)
		return c.write(now, lines, ends)
	})
}

func (c *chain) stat() (st unix.Stat_t, err error) {
	err = unix.Fstat(int(c.file.Fd()), &st)
	return st, err
}

// append writes lines.
func (c *chain) append(lines []byte, ends []int) error {
	return c.held(func(now *Counter) error { return c.write(now, lines, ends) })
}

// write writes lines, each with the hash of the line before: all, or none of them.
func (c *chain) write(now *Counter, lines []byte, ends []int) error {
	st, err := c.stat()
	if err != nil {
		return err
	}
	if now.Device != st.Dev || now.Inode != st.Ino {
		return errReplaced
	}
	previous, torn := now.Last, false
	if st.Size > now.Size {
		if previous, torn, err = c.beyond(now, st.Size); err != nil {
			return err
		}
	}
	out, start := c.out[:0], 0
	if torn {
		out = append(out, '\n')
	}
	for _, end := range ends {
		first := len(out)
		out = append(append(append(append(out, lines[start:end]...), `,"previous":"`...), previous...), `"}`...)
		previous, start = Hash(out[first:]), end
		out = append(out, '\n')
	}
	c.out = out
	if cap(out) > 4*maxWaiting {
		c.out = nil
	}
	if n, err := c.file.Write(out); err != nil {
		if n > 0 {
			// The next line finds half a line, if this fails, too.
			err = errors.Join(err, c.file.Truncate(st.Size))
		}
		return err
	}
	now.Size, now.Last = st.Size+int64(len(out)), previous
	c.last = previous
	return nil
}

// beyond is the hash of the last line of a file that has more than is counted: a writer was killed before it counted.
// A line without its end is torn.
func (c *chain) beyond(now *Counter, size int64) (last string, torn bool, err error) {
	from := now.Size
	if size-from > MaxLine {
		from = size - MaxLine
	}
	text := make([]byte, size-from)
	if _, err := c.file.ReadAt(text, from); err != nil {
		return "", false, err
	}
	whole, ended := bytes.CutSuffix(text, []byte{'\n'})
	if i := bytes.LastIndexByte(whole, '\n'); i >= 0 {
		whole = whole[i+1:]
	}
	return Hash(whole), !ended, nil
}
