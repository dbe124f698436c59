package evidencelog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Counter is what the state directory knows of a log.
type Counter struct {
	Version int `json:"evidence_counter"`
	// Serial is that of the last run, Size the size of the log, in bytes, and Last the hash of its last line.
	Serial int64  `json:"serial"`
	Size   int64  `json:"size"`
	Last   string `json:"last"`
	// Device and Inode are those of the log.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Log    string `json:"log"` // its path
}

// maxCounter bounds a counter, in bytes; a path has up to 4096 and may have to be escaped.
const maxCounter = 32 << 10

var errCounter = errors.New("is no counter of an evidence log")

// CounterOf is the path of the counter of a log, by its canonical path, below a directory of state.
func CounterOf(state, log string) string {
	return filepath.Join(state, "evidence", Hash([]byte(log))[:32]+".json")
}

// parseCounter reads a counter. An empty file has counted nothing.
func parseCounter(text []byte) (*Counter, error) {
	c := &Counter{Version: Version, Last: None}
	if len(text) == 0 {
		return c, nil
	}
	if json.Unmarshal(text, c) != nil || c.Version != Version || len(c.Last) != len(None) || min(c.Serial, c.Size) < 0 {
		return nil, errCounter
	}
	return c, nil
}

// ReadCounter reads the counter of a log, nil for none.
func ReadCounter(path string) (*Counter, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := parseCounter(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// text has the same size for each counter of a log, so that it can be written in place when the disk is full.
func (c *Counter) text() []byte {
	// Strings and integers always have a JSON form.
	data, _ := json.Marshal(c)
	const digits = 5 * 20
	fixed := len(c.Last) + len(c.Log)*6 + digits + 128
	return append(append(data, strings.Repeat(" ", max(fixed-len(data), 0))...), '\n')
}
