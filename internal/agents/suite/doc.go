// Package suite is the conformance suite of the foreign programs: what each package beside it that is named after a
// program must pass, by the value that it gives, and the worlds and generators of its own tests. Tests alone import it.
//
// It holds that the types of a format lose nothing, that a reader refuses what it does not understand, that an import
// permits no more than an evaluation of the settings, that written settings agree with the policy or a row of the
// ledger says in which direction they differ, and that hooks are answered, refused and installed as they should be.
package suite
