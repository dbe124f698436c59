package start_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/irtest"
)

// identity is the user that the tools of a test run as: nil is the user of the test.
type identity *syscall.Credential

// nobody is a user without any privilege.
var nobody = identity(&syscall.Credential{Uid: 65534, Gid: 65534})

// everyUser has a test run as every user, as it does at full count.
const everyUser = "ACCESSC_TEST_EVERY_USER"

// users runs a test as the users that its tools can have, side by side. Where that is root, the gate takes the user
// without privileges alone: the modes of files refuse that user what they do not refuse root, and the sandbox is to
// refuse both the same. Root takes part at full count, and in the tests about what root alone may do.
func users(t *testing.T, test func(*testing.T, identity)) {
	t.Helper()
	root := os.Geteuid() == 0
	// This subtest ends when the ones that run side by side have ended.
	t.Run("as", func(t *testing.T) {
		t.Run("user", func(t *testing.T) {
			if root && !irtest.Full() && os.Getenv(everyUser) == "" {
				t.Skip("root takes part at full count (ACCESSC_CHECKS=1)")
			}
			t.Parallel()
			test(t, nil)
		})
		t.Run("nobody", func(t *testing.T) {
			if !root {
				t.Skip("runs as an unprivileged user already")
			}
			t.Parallel()
			test(t, nobody)
		})
	})
}
