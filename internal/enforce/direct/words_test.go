package direct

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/text/usage"
)

// TestParse: a command line is read wholly, or refused by what is wrong with it.
func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"--artifact f t": "f||t|",
		"--artifact=f --sha256 a --in-container t -- -x": "f|a|t|-x",
		"--report - --artifact f t --":                   "f||t|",
		"--accept net.host --artifact f t":               "f||t|",
		"t":                                              "--artifact names",
		"--artifact f":                                   "name the tool",
		"--artifact f --":                                "there is no flag --",
		"--artifact f t x":                               "after the tool t",
		"--artifact f t --sha256 a":                      "after the tool t",
		"--artifact --sha256 a t":                        "--artifact needs a value",
		"--artifact= t":                                  "--artifact needs a value",
		"--artifact - t":                                 "--artifact needs a value",
		"--artifact f -C=d t":                            "-C needs a value",
		"--artifact f -Cd t":                             "there is no flag -Cd",
		"--artifact f --in-container=no t":               "--in-container takes no value",
		"--artifact f --accept net.hots t":               `did you mean "net.host"?`,
		"--artifact f --record r t":                      "there is no flag --record",
	} {
		a, err := Parse(strings.Fields(line))
		var mistake usage.Error
		if errors.As(err, &mistake) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, not %s", line, err, want)
			}
			continue
		}
		got := strings.Join(slices.Concat([]string{a.File, a.Sum, a.Tool}, []string{strings.Join(a.Args, " ")}), "|")
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, not %s", line, got, err, want)
		}
	}
}
