package kernelfs

import (
	"slices"
	"strings"
	"testing"
)

// TestAgain: a mount below the workspace is closed if it shows a place of the policy under another name, or shows what is around one,
// and so is each mount in it. A mount on the directory that it shows, and mounts of other files, are open.
func TestAgain(t *testing.T) {
	const host = "1 0 8:1 / / rw - ext4 disk rw\n"
	for name, c := range map[string]struct{ mounts, closed string }{
		"directory":                {"20 1 8:1 /w/secret /w/sb rw - ext4 disk rw", "/w/sb"},
		"file":                     {"20 1 8:1 /w/.env /w/envb rw - ext4 disk rw", "/w/envb"},
		"itself":                   {"20 1 8:1 /w /w/rb rw - ext4 disk rw", "/w/rb"},
		"around":                   {"20 1 8:1 / /w/up rw - ext4 disk rw", "/w/up"},
		"blank":                    {`20 1 8:1 /w/a\040b /w/c\040d rw - ext4 disk rw`, "/w/c d"},
		"target":                   {"20 1 8:1 /t/x /w/x rw - ext4 disk rw", "/w/x"},
		"in a target":              {"20 1 8:1 /w/x /t/x rw - ext4 disk rw", "/t/x"},
		"base":                     {"20 1 8:1 /usr/share /w/x rw - ext4 disk rw", "/w/x"},
		"from a target":            {"20 1 8:1 /t /w/t rw - ext4 disk rw\n21 20 0:9 / /w/t/m rw - tmpfs x rw", "/w/t /w/t/m"},
		"disk":                     {"20 1 8:2 / /w/d rw - ext4 disk2 rw\n21 1 8:2 /s /w/sb rw - ext4 disk2 rw", "/w/sb"},
		"disk twice":               {"20 1 8:2 /a /w/d rw - ext4 disk2 rw\n21 1 8:2 /a /w/e rw - ext4 disk2 rw", "/w/d /w/e"},
		"disk in another":          {"20 1 8:2 / /m rw - ext4 disk2 rw\n21 1 8:2 /s /w/sb rw - ext4 disk2 rw", ""},
		"closed outer":             {"20 1 8:1 / /w/up rw - ext4 disk rw\n21 1 8:1 /o /w/o rw - ext4 disk rw", "/w/up"},
		"bound workspace":          {"20 1 8:1 /home/u/w /w rw - ext4 disk rw\n21 20 8:1 /home/u/w/secret /w/sb rw - ext4 disk rw", "/w/sb"},
		"workspace alone":          {"20 1 8:1 /home/u/w /w rw - ext4 disk rw\n21 1 8:1 /home/u/w /x rw - ext4 disk rw", ""},
		"on itself":                {"20 1 8:1 /w/secret /w/secret ro - ext4 disk rw\n21 1 8:1 /usr /usr ro - ext4 disk rw", ""},
		"over itself":              {"20 1 8:2 / /w/d rw - ext4 disk2 rw\n21 20 8:2 / /w/d ro - ext4 disk2 rw", ""},
		"other files":              {"20 1 8:1 /wx /w/x rw - ext4 disk rw\n21 1 8:1 /home/o /w/o rw - ext4 disk rw\n22 1 8:2 /w /w/y rw - ext4 disk2 rw", ""},
		"overlay of the workspace": {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/w/secret,upperdir=/u", "/w/o"},
		"overlay's upper layer":    {"20 1 0:9 / /w/o rw - overlay o rw,lowerdir=/o,upperdir=/w/secret,workdir=/x", "/w/o"},
		"overlay by one layer":     {"20 1 0:9 / /w/o rw - overlay o rw,lowerdir+=/o,lowerdir+=/t/x", "/w/o"},
		"overlay, quoted":          {`20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/a\134\054b:/w/c\134:d`, "/w/o"},
		"overlay over the kernel":  {"2 1 0:2 / /sys rw - sysfs s rw\n20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/sys/fs:/o\n21 20 0:10 / /w/o/t rw - tmpfs t rw", "/sys /w/o /w/o/t"},
		"overlay of other files":   {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:l/A,upperdir=/u,workdir=/w/x", ""},
		"overlay by descriptors":   {"2 1 0:2 / /proc rw - proc p rw\n20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/proc/self/fd/5", ""},
		"overlay around":           {"2 1 0:2 / /sys rw - sysfs s rw\n3 1 0:9 / / rw - overlay o ro,lowerdir=/sys:/w", "/sys"},
		"elsewhere":                {"20 1 8:1 /w/secret /wx rw - ext4 disk rw\n21 1 8:1 /usr/a /usr/b rw - ext4 disk rw", ""},
	} {
		all, err := Parse([]byte(host+c.mounts+"\n"), []string{"/w", "/t"}, []string{"/usr"})
		if err != nil {
			t.Fatal(err)
		}
		var closed []string
		for _, m := range all {
			if m.Closed {
				closed = append(closed, m.Point)
			}
		}
		if got := strings.Join(closed, " "); got != c.closed {
			t.Errorf("%s: closed are %q, not %q", name, got, c.closed)
		}
	}
}

// TestNames: a place has a name by each mount that shows it, or shows it in part.
func TestNames(t *testing.T) {
	all, err := Parse([]byte(`1 0 8:1 / / rw - ext4 disk rw
20 1 8:1 /w/st /bst rw - ext4 disk rw
21 1 8:1 /w /v rw - ext4 disk rw
22 1 8:1 /w/st/accessc/home /h rw - ext4 disk rw
23 1 8:2 /w/st /other rw - ext4 disk2 rw
24 1 8:1 /etc /etc ro - ext4 disk rw
`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/bst/accessc":  "/bst/accessc /w/st/accessc /v/st/accessc /h",
		"/w/st/accessc": "/w/st/accessc /bst/accessc /v/st/accessc /h",
		"/other/x":      "/other/x",
		"/etc/x":        "/etc/x",
		"/bsta":         "/bsta",
	} {
		if got := strings.Join(Names(all, path), " "); got != want {
			t.Errorf("%s has the names %s, not %s", path, got, want)
		}
	}
	if got := Names(nil, "/x"); !slices.Equal(got, []string{"/x"}) {
		t.Error(got)
	}
}
