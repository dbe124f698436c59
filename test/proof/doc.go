// Package proof holds the laws of policies that are proved, and compares accessc with what is proved.
//
// The directory model states in Coq what the documentation says of rules for files: which rule decides, by path and by
// name, how lists of layers merge, and which moves are permitted. It proves that
//
//   - at most one rule decides, and the evaluator finds it (Files.v);
//   - a policy is constant on each class of a finite partition of all paths (Walk.v);
//   - two policies that agree on a representative of each class agree on all paths, and each difference that a
//     comparison names is one; likewise for policies that may only narrow (Agree.v);
//   - no sequence of permitted moves and links gives a file a capability that it had at none of its names (Moves.v);
//   - layers may be merged in any grouping (Merge.v).
//
// Nothing is assumed: Theorems.v prints the axioms of each theorem, and the tests demand that there are none.
//
// The model's evaluators, extracted to OCaml, are asked the same random questions as accessc (task proof, which needs
// Debian's coq and ocaml). Questions with their answers are in testdata, so that every run of the tests asks accessc
// those.
//
// Not in the model: protected and external paths, the base, symlinks, file systems that fold case, lists of programs,
// hosts, variables, and what a system does with an artifact.
package proof
