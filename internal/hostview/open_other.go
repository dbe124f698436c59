//go:build !unix

package hostview

import "os"

const openFlags = os.O_RDONLY
