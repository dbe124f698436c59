package compiled

import (
	"os"

	"golang.org/x/sys/unix"
)

// openProgram opens the file of this process.
func openProgram() (*os.File, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

func modified(st *unix.Stat_t) int64 { return st.Mtim.Nano() }

func changed(st *unix.Stat_t) int64 { return st.Ctim.Nano() }

// privileges are none beside the user's.
func privileges() string { return "" }
