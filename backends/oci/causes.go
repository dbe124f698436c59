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
)

// Sentences are the sentences of the causes.
var Sentences = backends.Sentences{
	whyImage: "the base is that of the image: of this host's files the container has those of the workspace, of approved " +
		"targets and of the private home",
	whyPrograms: "programs are looked for in the image at the places where this host has them",
	whyApproved: "assumes that the approval of the target is not taken back after the bundle was written",
	whyRuntime:  "variables that change how Go programs run are taken out of the container, since accessc starts there first",
	whyGroup:    "assumes that the runtime makes a control group: some can be told to do without",
	whyCounted:  "the control group counts the threads and the memory of accessc with those of the tool",
	whyAsk:      "in a container nothing asks while the tool runs",
}
