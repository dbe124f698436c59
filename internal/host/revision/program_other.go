//go:build !windows

package revision

var programNames = []string{"git"}
