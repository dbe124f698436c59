// Package kubernetes compiles a policy into objects of Kubernetes, as a single list that kubectl applies:
// a pod, or a template of agent-sandbox (sigs.k8s.io/agent-sandbox), with the policies of the
// network that select it, policies of Cilium where rules name hosts.
//
// The invariant is that the pod's files and network are open only where the policy grants them,
// except as stated in the ledger. A volume is mounted for reading and writing, for reading, or not
// at all, and the deepest mount decides; so a place is written to only where the policy grants
// create, update and delete alike. Policies of the network of one pod are a union, so none of these
// opens more than the rules do, and other people's policies are an assumption of the ledger.
//
// The objects are portable: the workspace is a claim, the private directories are empty volumes,
// the image is a name that no registry has, until its user replaces it. Not enforced by these
// means: starting readable files, which programs of the image run, moves, sockets, arguments.
// See decision D263.
package kubernetes
