//go:build race

package scripts

func init() { Raced = true }
