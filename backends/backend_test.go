package backends_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
)

// TestCheckHeader: a document of another format, version or form is refused by the part that
// is wrong with it, and a document that is no JSON is left to its reader.
func TestCheckHeader(t *testing.T) {
	kind := errors.New("not usable")
	for _, c := range []struct{ format, version, form, want string }{
		{"accessc/x", "2", "portable", ""},
		{"accessc/x", "2", "resolved", ""},
		{"accessc/y", "2", "portable", `format "accessc/y" is not "accessc/x"`},
		{"accessc/x", "1", "portable", "written by an older accessc"},
		{"accessc/x", "3", "portable", "written by a newer accessc"},
		{"accessc/x", "2", "elsewhere", `form "elsewhere"`},
		{"accessc/x", "2", "", `form ""`},
	} {
		text := fmt.Sprintf(`{"format": %q, "format_version": %s, "form": %q}`, c.format, c.version, c.form)
		err := backends.CheckHeader(kind, []byte(text), "accessc/x", 2)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case c.want != "" && (!errors.Is(err, kind) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want an error with %q", text, err, c.want)
		}
	}
	if err := backends.CheckHeader(kind, []byte(`{"format"`), "accessc/x", 2); err != nil {
		t.Error(err)
	}
}
