package compiled

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openProgram opens the file of this process, also where another file has its name
// (proc_pid_exe(5)).
func openProgram() (*os.File, error) { return os.Open("/proc/self/exe") }

func modified(st *unix.Stat_t) int64 { return st.Mtim.Nano() }

func changed(st *unix.Stat_t) int64 { return st.Ctim.Nano() }

// privileges are the effective capabilities.
func privileges() string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return "unknown"
	}
	return fmt.Sprint(data[0].Effective, data[1].Effective)
}
