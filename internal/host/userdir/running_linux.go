package userdir

import (
	"bytes"
	"os"
	"path/filepath"
)

// Running reports whether a process of this user was started with a private home, as a tool and
// the processes that it starts are (proc_pid_environ(5)).
func Running(home string) (running, known bool) {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		return false, false
	}
	want := []byte("\x00HOME=" + home + "\x00")
	for _, name := range environs {
		data, err := os.ReadFile(name)
		if err == nil && bytes.Contains(append([]byte{0}, data...), want) {
			return true, true
		}
	}
	return false, true
}
