package kernelfs

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestAgain: a mount below the workspace is closed if it shows a place of the policy under another name, or shows what is around one,
// and so is each mount in it. A mount on the directory that it shows, and mounts of other files, are open.
func TestAgain(t *testing.T) {
	const host = "1 0 8:1 / / rw - ext4 disk rw\n"
	for name, c := range map[string]struct{ mounts, closed string }{
		"directory":       {"20 1 8:1 /w/secret /w/sb rw - ext4 disk rw", "/w/sb"},
		"file":            {"20 1 8:1 /w/.env /w/envb rw - ext4 disk rw", "/w/envb"},
		"itself":          {"20 1 8:1 /w /w/rb rw - ext4 disk rw", "/w/rb"},
		"around":          {"20 1 8:1 / /w/up rw - ext4 disk rw", "/w/up"},
		"blank":           {`20 1 8:1 /w/a\040b /w/c\040d rw - ext4 disk rw`, "/w/c d"},
		"target":          {"20 1 8:1 /t/x /w/x rw - ext4 disk rw", "/w/x"},
		"in a target":     {"20 1 8:1 /w/x /t/x rw - ext4 disk rw", "/t/x"},
		"base":            {"20 1 8:1 /usr/share /w/x rw - ext4 disk rw", "/w/x"},
		"from a target":   {"20 1 8:1 /t /w/t rw - ext4 disk rw\n21 20 0:9 / /w/t/m rw - tmpfs x rw", "/w/t /w/t/m"},
		"disk":            {"20 1 8:2 / /w/d rw - ext4 disk2 rw\n21 1 8:2 /s /w/sb rw - ext4 disk2 rw", "/w/d /w/sb"},
		"disk, in itself": {"20 1 8:2 / /w/d rw - ext4 disk2 rw\n21 20 8:2 /y /w/d/x rw - ext4 disk2 rw", "/w/d /w/d/x"},
		"disk, by a layer": {
			"20 1 8:2 / /m rw - ext4 disk2 rw\n21 1 0:9 / /w/o rw - overlay o rw,lowerdir=/m/a:/o\n22 1 8:2 /a/s /w/sb rw - ext4 disk2 rw", "/w/o /w/sb",
		},
		"overlay, in part":         {"20 1 0:9 / /w/o rw - overlay o rw,lowerdir=/p:/o\n21 1 0:9 /s /w/sb rw - overlay o rw,lowerdir=/p:/o", "/w/o /w/sb"},
		"overlay of one disk":      {"20 1 0:9 / /w/o rw - overlay o rw,lowerdir=/p:/p/x", ""},
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
		"overlay of other files":   {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o::/d,upperdir=/u,workdir=/w/x", ""},
		"overlay, relative":        {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=l/A:/o", "/w/o"},
		"overlay of the root": {
			"3 1 0:9 / / rw - overlay o ro,lowerdir=l/A\n20 3 0:9 /o /w/o rw - overlay o ro,lowerdir=l/A", "",
		},
		"overlay by a link":     {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/k", "/w/o"},
		"overlay, link inside":  {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/up", "/w/o"},
		"overlay, link beside":  {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/o", ""},
		"overlay, endless link": {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/loop", "/w/o"},
		"overlay unreadable":    {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/root", "/w/o"},
		"overlay of a gone one": {"20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/o:/l/gone/x", "/w/o"},
		"overlay on an overlay": {
			"20 1 0:9 / /o rw - overlay o ro,lowerdir=/p:/w/secret\n21 1 0:10 / /w/o rw - overlay o ro,lowerdir=/p:/o/x", "/w/o",
		},
		"part of an overlay": {"20 1 0:9 /a /w/o rw - overlay o ro,lowerdir=/p:/t", "/w/o"},
		"shared memory":      {"20 1 0:9 / /dev/shm rw - tmpfs o rw\n21 1 0:9 /a /w/m rw - tmpfs o rw", "/w/m"},
		"overlay by descriptors": {
			"2 1 0:2 / /proc rw - proc p rw\n20 1 0:9 / /w/o rw - overlay o ro,lowerdir=/proc/self/fd/5", "/w/o",
		},
		"overlay around": {"2 1 0:2 / /sys rw - sysfs s rw\n3 1 0:9 / / rw - overlay o ro,lowerdir=/sys:/w", "/sys"},
		"below the base": {
			"20 1 8:1 /w/secret /usr/x rw - ext4 disk rw\n21 1 8:1 / /usr/y rw - ext4 disk rw\n22 1 8:1 /o /usr/z rw - ext4 disk rw", "/usr/x /usr/y",
		},
		"a mount in the base as well": {
			"20 1 8:2 /s /w/b rw - ext4 disk2 rw\n21 1 8:2 /s/a /usr/x rw - ext4 disk2 rw\n22 1 8:2 / /usr/y rw - ext4 disk2 rw", "/usr/x /usr/y",
		},
		"the base's own mount": {"20 1 8:2 / /usr rw - ext4 disk2 rw\n21 1 8:2 /share /w/x rw - ext4 disk2 rw", "/w/x"},
		"elsewhere":            {"20 1 8:1 /w/secret /wx rw - ext4 disk rw\n21 1 8:1 /usr/a /usr/b rw - ext4 disk rw", ""},
	} {
		all, err := Parse([]byte(host+c.mounts+"\n"), []string{"/w", "/t"}, []string{"/usr"}, linked)
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

// linked has the links of /l.
func linked(path string) (string, error) {
	switch path {
	case "/l/k":
		return "../l/w", nil
	case "/l/w":
		return "/w/./secret", nil
	case "/l/up":
		return "../w/link", nil
	case "/w/link", "/l/o":
		return "/p", nil
	case "/l/loop":
		return "loop", nil
	case "/l/root":
		return "", fs.ErrPermission
	case "/l/gone":
		return "", fs.ErrNotExist
	}
	return "", nil
}

// TestSame: a root that is on a mount of its own, or below a mount around it, was compared with no other: the
// workspace was open as a target by another name.
func TestSame(t *testing.T) {
	const host = "1 0 8:1 / / rw - ext4 disk rw\n9 1 0:9 / /dev/shm rw - tmpfs m rw\n"
	for name, c := range map[string]struct{ mounts, same string }{
		"own names":              {"", ""},
		"below a mount":          {"20 1 8:1 /u /m rw - ext4 disk rw", "/m/w:/u/w"},
		"mount point":            {"20 1 8:1 /u/w /m/w rw - ext4 disk rw", "/m/w:/u/w"},
		"part":                   {"20 1 8:1 /u/w/secret /m/w rw - ext4 disk rw", "/m/w:/u/w/secret"},
		"around":                 {"20 1 8:1 /u /m/w rw - ext4 disk rw", "/m/w:/u/w"},
		"home":                   {"20 1 8:1 /u/w/secret /s/h rw - ext4 disk rw", "/s/h:/u/w/secret"},
		"two targets":            {"20 1 8:1 /t /m/w rw - ext4 disk rw", "/m/w:/t"},
		"home is a target":       {"20 1 8:1 /t/a /s/h rw - ext4 disk rw", "/s/h:/t/a"},
		"shared memory":          {"20 1 0:9 /a /t rw - tmpfs m rw", "/t:/dev/shm/a"},
		"on itself":              {"20 1 8:1 /m/w /m/w rw - ext4 disk rw\n21 1 8:1 /u/w /u/w rw - ext4 disk rw", ""},
		"on itself, and around":  {"20 1 8:1 /s/h /s/h rw - ext4 disk rw\n21 1 8:1 /s /t rw - ext4 disk rw", "/t:/s/h"},
		"other files":            {"20 1 8:2 /u/w /m/w rw - ext4 disk2 rw\n21 1 8:1 /u/v /s/h rw - ext4 disk rw", ""},
		"workspace elsewhere":    {"20 1 8:1 /x/w /u/w rw - ext4 disk rw", ""},
		"workspace's other name": {"20 1 8:1 /m/w/x /u/w rw - ext4 disk rw", "/m/w:/u/w"},
		"overlay":                {"20 1 0:10 / /m rw - overlay o rw,lowerdir=/p:/u", "/m/w:/u/w"},
		"overlay, relative":      {"20 1 0:10 / /m rw - overlay o rw,lowerdir=p:u", "/m/w:"},
		"overlay by a link":      {"20 1 0:10 / /m/w rw - overlay o rw,lowerdir=/p:/l/u", "/m/w:/u/w"},
		"root's overlay":         {"20 1 0:10 / / rw - overlay o rw,lowerdir=l/A:l/B", ""},
		"base":                   {"20 1 8:1 /u/w /usr rw - ext4 disk rw", "/usr:/u/w"},
		"in a closed target":     {"20 1 8:1 /t /m/w rw - ext4 disk rw", "/m/w:/t /m/w/lib:/t"},
		"base of a target":       {"20 1 8:1 /t /usr rw - ext4 disk rw", ""},
	} {
		all, err := Parse([]byte(host+c.mounts+"\n"), nil, nil, nil)
		if c.mounts == "" {
			all, err = Parse([]byte(host), nil, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		base := []string{"/usr"}
		if name == "in a closed target" {
			base = append(base, "/m/w/lib")
		}
		var got []string
		link := func(path string) (string, error) {
			if path == "/l/u" {
				return "/u/w", nil
			}
			return "", nil
		}
		for _, m := range Same(all, []string{"/u/w", "/s/h", "/t", "/m/w"}, base, link) {
			got = append(got, m.Point+":"+m.Again)
		}
		if got := strings.Join(got, " "); got != c.same {
			t.Errorf("%s: %q, not %q", name, got, c.same)
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
`), nil, nil, nil)
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
