package oci

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Causes of ledger cells. Landlock's stand beside them.
const (
	whyImage    ir.CauseID = "oci.image"
	whyPrograms ir.CauseID = "oci.programs"
	whyApproved ir.CauseID = "oci.approved"
	whyRuntime  ir.CauseID = "oci.runtime"
	whyGroup    ir.CauseID = "oci.group"
	whyCounted  ir.CauseID = "oci.counted"
	whyAsk      ir.CauseID = "oci.ask"
	whyWhole    ir.CauseID = "oci.whole"
	whyDevices  ir.CauseID = "oci.devices"
	whyFilter   ir.CauseID = "oci.filter"
	whyLink     ir.CauseID = "oci.link"
	whyMoved    ir.CauseID = "oci.moved"
)

// Sentences are the sentences of the causes.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyImage: "the base is that of the image: of this host's files the container has those of the workspace, of " +
			"approved targets and of the private home",
		whyPrograms: "programs are looked for in the image at the places where this host has them",
		whyApproved: "assumes that the approval of the target is not taken back after the bundle was written",
		whyRuntime: "variables that change how Go programs run are taken out of the container, since accessc starts " +
			"there first",
		whyGroup:   "assumes that the runtime makes a control group: some can be told to do without",
		whyCounted: "the control group counts the threads and the memory of accessc with those of the tool",
		whyWhole:   "all files of the image can be read, and its programs started",
		whyDevices: "the container has the devices that every runtime makes",
		whyFilter: "assumes that the runtime applies the filter of system calls, or lets no socket and no vsock " +
			"device of the host be reached: gVisor's does the latter",
		whyMoved: "assumes that no other tool that may write in the workspace or in an approved target puts a " +
			"symbolic link at the place or on the way to it: the runtime follows it whenever the container starts",
		whyLink: "no mount makes a symbolic link, so a target is reached by its own path where the link's directory " +
			"is covered",
		whyAsk: "in a container nothing asks while the tool runs",
	}
}
