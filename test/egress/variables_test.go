//go:build linux

package egress_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// variables tells a client of the proxy, whose port comes in a file. On Linux accessc sets no such
// variables, since clients reach the proxy without; those that know of it must meet the same rules.
const variables = `until [ -s port ]; do sleep 0.02; done
read p <port; export http_proxy=http://127.0.0.1:$p NODE_USE_ENV_PROXY=1
export https_proxy=$http_proxy HTTP_PROXY=$http_proxy HTTPS_PROXY=$http_proxy
export JAVA_TOOL_OPTIONS="-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=$p -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=$p"
`

// proxyPort waits for the proxy that a process has started, and returns its port. The proxy shows its descriptors to root alone
// (PR_SET_DUMPABLE in prctl(2)): otherwise the test is skipped.
func proxyPort(t *testing.T, parent int) (port uint64) {
	closed := false
	await.Until(t, fmt.Sprintf("process %d starts a proxy", parent), func() bool {
		for pid, args := range others(t) {
			if partProxy.is(args) && parentOf(pid) == parent {
				_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
				port, closed = listensAt(pid), closed || errors.Is(err, fs.ErrPermission)
			}
		}
		return port != 0 || closed
	})
	if port == 0 {
		t.Skip("only root can see at which port the proxy listens")
	}
	return port
}

// parentOf reads proc_pid_stat(5).
func parentOf(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// listensAt is the port of IPv4 at which a process waits for connections (proc_pid_net(5)).
func listensAt(pid int) (port uint64) {
	table, _ := os.ReadFile("/proc/self/net/tcp")
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	var sockets []string
	for _, d := range descriptors {
		to, _ := os.Readlink(d)
		sockets = append(sockets, to)
	}
	for line := range strings.Lines(string(table)) {
		const address, state, inode = 1, 3, 9
		f := strings.Fields(line)
		if len(f) > inode && f[state] == "0A" && slices.Contains(sockets, "socket:["+f[inode]+"]") {
			_, hex, _ := strings.Cut(f[address], ":")
			port, _ = strconv.ParseUint(hex, 16, 16)
		}
	}
	return port
}
