// Package attest reads and writes attestations: who vouches for which build.
//
// An attestation is an envelope (DSSE, https://github.com/secure-systems-lab/dsse) around a statement
// (in-toto v1, https://github.com/in-toto/attestation/tree/main/spec/v1), which names files by their hashes
// and says something about them. Package dsse of the standard's authors makes and checks signatures.
//
// A document is hostile until its signature is checked, and so reading is bounded, and strict: one spelling of
// every document, no unknown or repeated member, one encoding of every byte. Keys have one type each, and
// only the key says how a signature is checked: an envelope has no word in it.
//
// The package opens no files, and knows no clock. It does not say who may sign; package signers does.
package attest
