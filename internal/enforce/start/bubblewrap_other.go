//go:build !linux

package start

// EnterCommand is the hidden command of a start by bubblewrap.
const EnterCommand = "__enter"

// Wrap starts a tool by bubblewrap, which is for Linux.
func Wrap(Request, []byte) error { return failed("bubblewrap is for Linux") }

// UnmetWrapped returns the requirements that a start by bubblewrap does not meet.
func UnmetWrapped([]byte) (gaps []Gap, accepted []string, err error) {
	return nil, nil, failed("bubblewrap is for Linux")
}

// Enter becomes the tool inside of a sandbox that bubblewrap has made.
func Enter([]string) error { return failed("bubblewrap is for Linux") }
