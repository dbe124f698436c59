package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/sandbox"
)

// TestFullHelper: a helper has so many tools at a time, further ones get another, and one that was full leaves with its last tool. Each
// tool can hold hundreds of the helper's threads by calls that wait, and the Go runtime ends it at 10,000, with the tools of all: 30 had 8,443.
func TestFullHelper(t *testing.T) {
	if few() {
		t.Skip("needs descriptors for 40 tools")
	}
	h, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all []*sandbox.Process
	sleep := func() {
		p, err := h.Start(ctx, sandbox.Request{Tool: "supervised", Program: "/bin/sleep", Args: []string{"1000"}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	sleep()
	first := helpers()
	for range 39 {
		sleep()
	}
	if n := len(helpers()); len(first) != 1 || n != 2 {
		t.Errorf("%v, then %d helpers of 40 tools", first, n)
	}
	cancel()
	for _, p := range all {
		if _, err := p.Wait(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	eventually(t, "the end of the full helper", func() bool { left := helpers(); return len(left) == 1 && left[0] != first[0] })
}

// TestShortHelper: a start that fails since the helper can have no more descriptors says so, and the next one succeeds. It said that
// the helper did not know the policy.
func TestShortHelper(t *testing.T) {
	h, _ := open(t)
	run := func() error {
		p, err := h.Start(t.Context(), sandbox.Request{Tool: "supervised", Program: "/bin/true"})
		if err == nil {
			_, err = p.Wait()
		}
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	helper := helpers()[0]
	var was unix.Rlimit
	if err := unix.Prlimit(helper, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	short := was
	short.Cur = 3 // and those that are open stay
	if err := unix.Prlimit(helper, unix.RLIMIT_NOFILE, &short, nil); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "descriptors") {
		t.Errorf("got %v", err)
	}
	if err := unix.Prlimit(helper, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
	if err := run(); err != nil {
		t.Error(err)
	}
}
