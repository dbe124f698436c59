package suggest

import "testing"

func TestHint(t *testing.T) {
	words := []string{"read", "write", "fs"}
	for found, want := range map[string]string{
		"raed": `did you mean "read"?`, "WRITE": `did you mean "write"?`, "wirte": `did you mean "write"?`,
		"rea": `did you mean "read"?`, "f": `did you mean "fs"?`, "": "", "connect": "", "xy": "",
	} {
		if got := Hint(found, words); got != want {
			t.Errorf("%q: found %q, expected %q", found, got, want)
		}
	}
}
