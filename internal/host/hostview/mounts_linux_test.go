package hostview

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMountsAreReadAgain: the list that was taken apart before is used only while the kernel says the same, and none
// after a list that cannot be read.
func TestMountsAreReadAgain(t *testing.T) {
	l := mountLists{file: filepath.Join(t.TempDir(), "mountinfo")}
	const first = "1 0 8:1 / / rw - ext4 disk rw\n"
	for _, c := range []struct {
		text  string
		lines int
	}{
		{first, 1}, {first, 1}, {first + "20 1 8:1 /w /v rw - ext4 disk rw\n", 2}, {"1 0 8:1\n", 0}, {"", 0}, {first, 1},
		{"2" + first[1:], 1},
	} {
		if err := os.WriteFile(l.file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := l.read()
		if len(all) != c.lines || (err == nil) != (c.lines > 0) {
			t.Errorf("%q: %d mounts, %v", c.text, len(all), err)
		}
		if c.lines > 0 && len(all) > 0 && all[0].ID != uint64(c.text[0]-'0') {
			t.Errorf("%q: the first has the number %d", c.text, all[0].ID)
		}
	}
	l.file += "none"
	if _, err := l.read(); err == nil {
		t.Error("a list that is not there was read")
	}
}
