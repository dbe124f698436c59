package bounded_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/accessc/accessc/internal/files/bounded"
)

// grown is a file that has more bytes than it says.
type grown struct{ fs.File }

func (g grown) Stat() (fs.FileInfo, error) { return fstest.MapFS{"f": {}}.Stat("f") }

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int64
		whole bool
	}{{"", 0, true}, {"abc", 4, true}, {"abc", 3, true}, {"abc", 2, false}, {"abc", 0, false}} {
		for _, grows := range []bool{false, true} {
			f, err := fstest.MapFS{"f": {Data: []byte(c.text)}}.Open("f")
			if err != nil {
				t.Fatal(err)
			}
			if grows {
				f = grown{f}
			}
			got, err := bounded.Read(f, c.limit)
			switch {
			case c.whole && (err != nil || string(got) != c.text):
				t.Errorf("%+v: %q, %v", c, got, err)
			case !c.whole && (got != nil || !errors.Is(err, bounded.TooLarge(c.limit))):
				t.Errorf("%+v: %q, %v", c, got, err)
			}
		}
	}
}
