package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// settings are the options of the command line for every row.
type settings struct {
	checks  float64
	run     string
	limit   time.Duration
	cpus    int
	verbose bool
}

// boot runs one row and reads its output. The console of the kernel and the output of the tests
// are kept beside its image.
func boot(img image, initrd string, s settings) result {
	if img.err != nil {
		return result{row: img.row, notRun: img.err}
	}
	dir := filepath.Dir(img.file)
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64",
		// Emulation is slower than KVM, and the same on every machine.
		// QEMU 7.2 corrupts the flags at a cmpxchg16b, which Linux 6.12 uses to allocate memory
		// where the processor has it.
		"-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "max,-cx16", "-smp", strconv.Itoa(s.cpus), "-m", "1536",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "file:"+filepath.Join(dir, "console"), "-serial", "stdio",
		"-kernel", img.file, "-initrd", initrd, "-append", img.parameters(s))
	begin := time.Now()
	out, err := output(cmd)
	r := read(img.row, out)
	r.took = time.Since(begin)
	switch {
	case ctx.Err() != nil:
		r.problem("it was stopped after %v; the kernel's console is %s", s.limit, filepath.Join(dir, "console"))
	case err != nil:
		r.problem("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "output"), []byte(out), 0o644); err != nil {
		r.problem("%v", err)
	}
	return r
}

// parameters are the kernel's. It passes unknown ones on as the environment of the first
// process. A test that hangs is stopped before the guest is, so that it reports the place.
func (img image) parameters(s settings) string {
	p := fmt.Sprintf("console=ttyS0 panic=-1 quiet %s ACCESSC_CHECKS=%v TIMEOUT=%v SKIP=%s", img.boot, s.checks, s.limit*3/4, img.skips())
	if seed := os.Getenv("ACCESSC_SEED"); seed != "" {
		p += " ACCESSC_SEED=" + seed
	}
	if s.run != "" {
		p += " RUN=" + s.run
	}
	return p
}
