package invocations

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestAsk: of all calls that may happen, those that a person is asked about among them, there are never more
// than a tool may have; one that needs an earlier one comes after that has completed. A start that failed uses nothing up. Cause:
// a call that was refused by the host, or ended with an error, was as good as one that had done its work.
func TestAsk(t *testing.T) {
	irtest.Check(t, 3000, 1, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		invoke := func(c Counts) string { return c.Invoke("the tool", "a", &ir.Constraints{MaxInvocations: limit}, nil) }
		c, made, open, done := Counts{}, 0, 0, 0
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			free := made+open < limit
			switch rapid.SampledFrom([]string{"invoke", "ask", "settle", "complete", "fail"}).Draw(t, "step") {
			case "invoke":
				if why := invoke(c); (why == "") != free {
					t.Fatalf("%d made and %d asked of %d: %q", made, open, limit, why)
				} else if free {
					made++
				}
			case "ask":
				if why := c.Ask(invoke); (why == "") != free {
					t.Fatalf("%d made and %d asked of %d: %q", made, open, limit, why)
				} else if free {
					open++
				}
			case "settle":
				if open == 0 {
					continue
				}
				if why := c.Settle(invoke); why != "" {
					t.Fatalf("a call that was made does not count: %s", why)
				}
				made, open = made+1, open-1
			case "complete":
				if c.Complete("a"); made > 0 {
					done++
				}
			case "fail":
				if c.fail("a"); made > 0 {
					made--
				}
			}
			after := c.Invoke("the tool", "b", &ir.Constraints{OnlyAfter: []string{"a"}}, nil)
			if (after == "") != (done > 0) {
				t.Fatalf("%d made, %d asked and %d completed: %q", made, open, done, after)
			}
		}
	})
}

// TestForgedNames: an agent names servers, and one named as the settled questions about a tool made room for
// further invocations of that tool.
func TestForgedNames(t *testing.T) {
	for _, name := range []string{askedPrefix + "a", settledPrefix + "a", "b\na", "\t"} {
		c := Counts{}
		forge := func(c Counts) string { return c.Invoke("the server", name, nil, nil) }
		for _, how := range []func() string{func() string { return forge(c) }, func() string { return c.Ask(forge) }, func() string { return c.Settle(forge) }} {
			if why := how(); why == "" || len(c) > 0 {
				t.Errorf("%q: refused with %q, and the counts are %v", name, why, c)
			}
		}
	}
}

// TestAskMeanwhile: questions at the same time share the counts of the session.
func TestAskMeanwhile(t *testing.T) {
	dir := t.TempDir()
	var asked atomic.Int32
	var wait sync.WaitGroup
	for range 12 {
		wait.Go(func() {
			s, err := Open(dir, "s")
			if err != nil {
				t.Error(err)
				return
			}
			err = s.Take(func(c Counts) error {
				if why := c.Ask(func(c Counts) string {
					return c.Invoke("the tool", "a", &ir.Constraints{MaxInvocations: 3}, nil)
				}); why != "" {
					return errors.New(why)
				}
				return nil
			})
			switch {
			case err == nil:
				asked.Add(1)
			case !strings.Contains(err.Error(), "was invoked, or asked for, 3 times"):
				t.Error(err)
			}
		})
	}
	if wait.Wait(); asked.Load() != 3 {
		t.Errorf("%d questions of 3", asked.Load())
	}
}
