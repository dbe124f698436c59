//go:build !accessc_noegress

package main

import (
	"os"

	"github.com/accessc/accessc/internal/egress"
)

// serveEgress is the egress proxy of one run, on descriptors 3 and 4.
func serveEgress() error { return egress.Run(os.NewFile(3, "control"), os.NewFile(4, "setup")) }
