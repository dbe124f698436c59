//go:build accessc_noegress || !(linux || darwin)

package main

import "errors"

func serveEgress() error { return errors.New("this program was built without the egress proxy") }
