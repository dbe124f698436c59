package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestArchive compares an archive with the one that cpio(1) reads: numbers of eight
// digits, everything padded to four bytes from the start of the archive.
func TestArchive(t *testing.T) {
	var out bytes.Buffer
	a := cpio{out: &out}
	a.dir("d", 0o755)
	a.file("d/f", 0o644, []byte("hello"))
	a.symlink("l", "d/f")
	a.device("console", 0o600, 5, 1)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	header := func(ino, mode, links, size, major, minor, name int) string {
		return fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ino, mode, 0, 0, links, 0, size, 0, 0, major, minor, name, 0)
	}
	want := header(1, 0o040755, 2, 0, 0, 0, 2) + "d\x00" +
		header(2, 0o100644, 1, 5, 0, 0, 4) + "d/f\x00\x00\x00" + "hello\x00\x00\x00" +
		header(3, 0o120777, 1, 3, 0, 0, 2) + "l\x00" + "d/f\x00" +
		header(4, 0o020600, 1, 0, 5, 1, 8) + "console\x00\x00\x00" +
		header(5, 0, 1, 0, 0, 0, 11) + "TRAILER!!!\x00\x00\x00\x00"
	if got := out.String(); !bytes.EqualFold([]byte(got), []byte(want)) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if out.Len()%4 != 0 {
		t.Errorf("%d bytes are no whole number of words", out.Len())
	}
}
