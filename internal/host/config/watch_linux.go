package config

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is the time of the last change of a file or its inode. Programs set the one of the contents back, as
// cp -p does, and cannot set this one.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
