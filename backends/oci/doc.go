// Package oci compiles a policy into parts of a container's configuration (the OCI runtime
// specification's config.json), and puts them into the configuration of a bundle.
//
// In the form with an entry point the container starts accessc, which applies the Linux specification
// of package landlock inside and becomes the tool, or supervises it. So the policy holds as on the
// host; the container adds mounts, limits of its control group, and processes of its own. The
// invariant is that nothing around the entry point grants the tool anything: whatever the image, its
// other mounts and its environment are, the specification decides.
//
// In the form without, for runtimes whose kernel has no Landlock, the container starts the tool by itself, and the
// mounts of package mounts, a filter and namespaces are all that holds it. Its ledger is the ledger of mounts, but for
// the files of the image. Nothing of the bundle but the image opens more.
//
// Not enforced: where the image's files come from. The base names places, and in a container the image
// has its files there. Who may change the bundle and the root file system on the host decides as well.
//
// See decision D259.
//
// The words are the words of runtime-spec 1.3.0, of which only fields are used that 1.0.2 had. It has none
// for Landlock, and none is written.
package oci
