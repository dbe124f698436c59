package main

import "os"

// searchable asks whether a directory can be looked at: this system has no access(2).
func searchable(path string) error {
	_, err := os.Stat(path)
	return err
}
