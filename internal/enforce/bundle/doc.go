// Package bundle changes a bundle of the OCI runtime specification so that its container starts a tool under its
// policy. The bundle lies where no tool can change it; its configuration is written last, whole or not at all.
package bundle
