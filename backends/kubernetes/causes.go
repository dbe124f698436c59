package kubernetes

import (
	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The causes of the ledger.
const (
	whyAsk       ir.CauseID = "kubernetes.ask"
	whyNames     ir.CauseID = "kubernetes.names"
	whyByName    ir.CauseID = "kubernetes.by-name"
	whyNoName    ir.CauseID = "kubernetes.no-name"
	whyBrings    ir.CauseID = "kubernetes.brings"
	whyWhole     ir.CauseID = "kubernetes.whole"
	whyGuards    ir.CauseID = "kubernetes.guards"
	whyProtected ir.CauseID = "kubernetes.protected"
	whyUnread    ir.CauseID = "kubernetes.unread"
	whyClosed    ir.CauseID = "kubernetes.closed"
	whyExternal  ir.CauseID = "kubernetes.external"
	whyExecute   ir.CauseID = "kubernetes.execute"
	whySocket    ir.CauseID = "kubernetes.socket"
	whyMoves     ir.CauseID = "kubernetes.moves"
	whyMounts    ir.CauseID = "kubernetes.mounts"
	whyPlaces    ir.CauseID = "kubernetes.places"
	whyImage     ir.CauseID = "kubernetes.image"
	whyReadable  ir.CauseID = "kubernetes.readable"
	whyShared    ir.CauseID = "kubernetes.shared"
	whyPlugin    ir.CauseID = "kubernetes.plugin"
	whyUnion     ir.CauseID = "kubernetes.union"
	whySpecial   ir.CauseID = "kubernetes.special"
	whyCilium    ir.CauseID = "kubernetes.cilium"
	whyKept      ir.CauseID = "kubernetes.kept"
	whyForm      ir.CauseID = "kubernetes.form"
	whyRequests  ir.CauseID = "kubernetes.requests"
	whyAddresses ir.CauseID = "kubernetes.addresses"
	whyLoopback  ir.CauseID = "kubernetes.loopback"
	whyNode      ir.CauseID = "kubernetes.node"
	whyListen    ir.CauseID = "kubernetes.listen"
	whyValues    ir.CauseID = "kubernetes.values"
	whyVariables ir.CauseID = "kubernetes.variables"
	whyPrograms  ir.CauseID = "kubernetes.programs"
	whyArgs      ir.CauseID = "kubernetes.args"
	whyEnvs      ir.CauseID = "kubernetes.envs"
	whyDeadline  ir.CauseID = "kubernetes.deadline"
	whyLimit     ir.CauseID = "kubernetes.limit"
)

// Sentences are the sentences of the causes. Each is a part of a sentence that a reviewer
// can check.
func Sentences() backends.Sentences {
	return backends.Sentences{
		whyNames: "places are known and no names: protected ones can be created in every directory that may be " +
			"written",
		whyByName: "places are known and no names: what a rule by name takes away can be used as the rule around it " +
			"says",
		whyNoName: "places are known and no names: what a rule by name gives stays closed where the rule around it " +
			"gives less",
		whyBrings: "names in a moved directory, and files that are moved, are under the rule around their new place, " +
			"whatever rules by name say",
		whyAsk:   "what the list may covers is not granted while a tool runs here",
		whyWhole: "a place is writable as a whole or not at all, so it is not",
		whyGuards: "a place that holds protected paths is mounted for reading; access.accept = [\"fs.protected\"] " +
			"has it written to, with these paths",
		whyProtected: "the accepted gap opens protected paths: a mount for each would make those that are missing",
		whyUnread:    "a place without read cannot be used at all",
		whyClosed: "an empty directory is mounted over a closed place, and over a file none can be: the pod does not " +
			"start",
		whyExternal: "targets of external rules have no volume",
		whyExecute:  "files that may be read may be started",
		whySocket:   "a socket file that may be read may also be connected to",
		whyMoves: "a directory that leads to a place with rules of its own can be moved away, and a file moved to " +
			"where it may be started",
		whyMounts: "no file moves from one mount to another",
		whyPlaces: "assumes that the volumes hold what the policy means and nobody else changes them, and that the " +
			"places of rules are there: Kubernetes makes those that are missing, as directories, or does not start " +
			"the pod",
		whyImage:    "assumes that the image has the programs and libraries of the base",
		whyReadable: "all of the image can be read and started",
		whyShared:   "files in /dev/shm and the file of /dev/termination-log can be written",
		whyPlugin: "assumes a network plugin that enforces NetworkPolicy before addresses are translated: without " +
			"one the network is open",
		whyUnion: "assumes that no other policy selects the pod by its labels or all pods: policies are a union, and " +
			"another one widens it",
		whySpecial: "where every host is meant, multicast addresses and IPv4 inside IPv6 stay closed",
		whyCilium:  "assumes Cilium 1.18 or later with its proxies for DNS and Envoy: elsewhere names stay closed",
		whyKept: "an address stays open for the life of its DNS answer and a while longer, also for another name " +
			"that has it, as far as the server name is not looked at",
		whyForm: "requests are told apart as TLS with the host's server name, or on port 80 and for scheme http as " +
			"HTTP with its header; other forms stay closed",
		whyRequests: "paths, methods, inspection, credentials and other schemes, and hosts with a denial inside, " +
			"cannot be said, so the host stays closed",
		whyAddresses: "rules are about one port of an address with any scheme; other forms stay closed",
		whyLoopback:  "inside the pod every port can be listened at and reached",
		whyNode:      "connections to and from the node that the pod runs on are always open",
		whyListen: "a policy knows none of the pod's addresses, so connections are accepted at every one or none, " +
			"and with a denial at none",
		whyValues: "the pod has no variables of its user",
		whyVariables: "assumes that the image sets no variables that matter; Kubernetes adds the addresses of its " +
			"API server",
		whyPrograms: "all programs are treated alike",
		whyArgs:     "arguments are not checked",
		whyEnvs:     "every program gets the environment",
		whyDeadline: "the time counts in whole seconds from the scheduling of the pod",
		whyLimit:    "a pod has no limit of this kind",
	}
}
