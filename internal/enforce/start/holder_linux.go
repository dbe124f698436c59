package start

import (
	"encoding/json"
	"os"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// holder says whose supervisor this process is under, as far as that can be known: the tool in which it runs has a file
// that names it, and what runs that tool in turn is out of its sight.
// See decision D50.
func holder() string {
	const unknown = "by a container's runtime or another program; nothing here says which"
	// The variable is the tool's to change: no pipe is waited for.
	f, err := os.OpenFile(os.Getenv(ir.ContextVariable), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return unknown
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return unknown
	}
	data, err := bounded.Read(f, maxContext)
	var in struct{ Root, Tool string }
	if err != nil || json.Unmarshal(data, &in) != nil || in.Tool == "" {
		return unknown
	}
	return "by the accessc that started the tool " + visible.Text(in.Tool) + " in " + visible.Text(in.Root) + ", or by something that it runs in"
}

// maxContext bounds a context file, in bytes.
const maxContext = 4 << 20
