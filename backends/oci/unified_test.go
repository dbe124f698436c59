package oci

import (
	"fmt"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/ir"
)

// TestUnifiedLimits: a bundle sets none of the limits that the policy has by the names of the control group's files,
// and may set others.
func TestUnifiedLimits(t *testing.T) {
	for name, limits := range map[string]struct{ memory, processes bool }{
		"memory.max": {memory: true}, "memory.swap.max": {memory: true}, "pids.max": {processes: true}, "io.max": {},
	} {
		for _, of := range []ir.LimitKind{ir.LimitMemory, ir.LimitProcesses} {
			d := &Document{Config: Config{Linux: Linux{Resources: resources([]ir.Limit{{Kind: of, Value: 1 << 20}})}}}
			c := &specs.Spec{Linux: &specs.Linux{Resources: &specs.LinuxResources{Unified: map[string]string{name: "max"}}}}
			var said []string
			mergeResources(c, d, func(format string, args ...any) {
				said = append(said, fmt.Sprintf(format,
					args...))
			})
			refused := limits.memory && of == ir.LimitMemory || limits.processes && of == ir.LimitProcesses
			if (len(said) > 0) != refused {
				t.Errorf("%s beside a limit of %s: %q", name, of, said)
			}
		}
	}
}
