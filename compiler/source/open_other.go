//go:build !unix

package source

import "os"

func openLayer(path string) (*os.File, error) { return os.Open(path) }
