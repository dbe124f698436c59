// Package sides reads what two sides of a comparison of permissions are: work trees, revisions and manifests, with the
// workspaces in them, by the layers that are committed. Package explain says how they differ.
package sides
