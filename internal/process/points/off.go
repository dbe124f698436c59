//go:build !accessc_points

package points

// Reach does nothing.
func Reach(Name) {}

// ReachOf does nothing.
func ReachOf(Name, string) {}
