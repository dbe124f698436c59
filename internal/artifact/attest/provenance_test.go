package attest

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestProvenance: provenance is read as it was signed, in the same bytes for each who signs with an Ed25519 key; it is no
// statement about a build, and what another builder would say is not read.
func TestProvenance(t *testing.T) {
	a := newKey(t, nil)
	s := &Statement{
		Subjects:   []Subject{{"accessc-1.0.0-linux-amd64.tar.gz", hashOf("a")}, {"checksums.txt", hashOf("b")}},
		Provenance: &Provenance{Version: "v1.0.0", Commit: strings.Repeat("c", 40), Go: "go1.26.0"},
	}
	data := sign(t, s, a)
	if string(sign(t, s, a)) != string(data) {
		t.Error("the second signature differs")
	}
	e, err := ReadProvenance(data)
	if err != nil {
		t.Fatal(err)
	}
	if said, _, err := e.Verify(1, a.Public()); err != nil || !reflect.DeepEqual(said, s) {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := Read(data); !errors.Is(err, ErrForm) {
		t.Errorf("it was read as a statement about a build: %v", err)
	}
	if _, err := ReadProvenance(sign(t, sample(), a)); !errors.Is(err, ErrForm) {
		t.Errorf("a build was read as provenance: %v", err)
	}
	for old, new := range map[string]string{
		provenanceBuild: "https://other.example/build", provenanceBuilder: "https://other.example", "refs/tags/v1.0.0": "refs/tags/v2.0.0",
		"git+https://github.com/accessc/accessc@": "git+https://other.example/accessc@", `"gitCommit"`: `"sha1"`,
		`"builder":`: `"host":"x","builder":`, `{"go":`: `{"os":"x","go":`, `{"version":`: `{"flags":"x","version":`, "go1.26.0": "",
		strings.Repeat("c", 40): "cc",
	} {
		e := field(t, data)
		payload, _ := base64.StdEncoding.DecodeString(e.Payload)
		text := strings.Replace(string(payload), old, new, 1)
		if text == string(payload) {
			t.Fatalf("found no %s in %s", old, payload)
		}
		e.Payload = base64.StdEncoding.EncodeToString([]byte(text))
		if _, err := ReadProvenance(marshal(t, e)); !errors.Is(err, ErrForm) {
			t.Errorf("%s was read: %v", text, err)
		}
	}
}
