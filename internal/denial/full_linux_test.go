package denial

import (
	"os"
	"testing"
)

// TestFull: a device without room costs lines and nothing else.
func TestFull(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLog(f)
	l.Add(sample())
	if l.lost != 1 || l.Total() != 1 || l.Close() != nil {
		t.Errorf("lost %d of %d", l.lost, l.total)
	}
}
