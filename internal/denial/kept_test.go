package denial_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/test/irtest"
)

// TestUnseen: the note of a run without refusals is the document that encoding/json makes of it, whether a supervisor
// watched or not.
func TestUnseen(t *testing.T) {
	irtest.Check(t, 1000, 1, func(t *rapid.T) {
		k := denial.Kept{
			Tool: rapid.String().Draw(t, "tool"), Unnamed: rapid.Bool().Draw(t, "unnamed"), Given: rapid.Bool().Draw(t, "given"),
			GivenCommand: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "command"),
			Status:       rapid.IntRange(-1, 255).Draw(t, "status"), Traced: rapid.Bool().Draw(t, "traced"),
		}
		at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "time"), 0)
		stamp := at.UTC().Format(time.RFC3339)
		unseen, seen := denial.Unseen(k, at), denial.NewLog(nil).Keep(k, at)
		k.Format, k.Version, k.Denials = denial.KeptFormat, denial.KeptVersion, []denial.Entry{}
		same(t, seen, k, func(k *denial.Kept) { k.Ended = stamp })
		same(t, unseen, k, func(k *denial.Kept) { k.Unwatched, k.Begun = true, stamp })
	})
}

func same(t *rapid.T, got []byte, k denial.Kept, change func(*denial.Kept)) {
	change(&k)
	want, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	if want = append(visible.Bytes(want), '\n'); string(got) != string(want) {
		t.Fatalf("%s\nwant %s", got, want)
	}
}
