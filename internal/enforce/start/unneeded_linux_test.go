package start

import "testing"

// TestUnneeded: a missing wrapper is nothing to mend on a host that confines tools by itself, and one that works
// stays as it is. It stood there as "no", with a fix, so people installed it.
func TestUnneeded(t *testing.T) {
	for _, c := range []struct {
		is   State
		want State
		fix  string
	}{{Missing, Unneeded, ""}, {Partial, Partial, "newer"}} {
		got := Finding{Name: wrapperName, State: c.is, Detail: "x", Fix: "newer"}.unneeded()
		if got.State != c.want || got.Fix != c.fix {
			t.Errorf("%s: got %+v", c.is, got)
		}
	}
	for _, f := range Examine().Findings {
		if ABI() >= 1 && f.Name == wrapperName && f.State == Missing {
			t.Errorf("this host confines tools, and has %+v", f)
		}
	}
}
