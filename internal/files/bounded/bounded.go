// Package bounded reads files up to a size.
package bounded

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// TooLarge is the error about a file of more bytes than its number.
type TooLarge int64

// Error implements error.
func (n TooLarge) Error() string { return fmt.Sprintf("larger than %d bytes", int64(n)) }

// Read returns the rest of a file of at most limit bytes. A larger file is refused, also a file
// that grows while it is read: a part of a file may mean something else than the whole.
func Read(f fs.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > limit:
		return nil, TooLarge(limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > limit {
		return nil, TooLarge(limit)
	}
	return buf.Bytes(), nil
}
