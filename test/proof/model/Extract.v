(* The evaluators of the model as OCaml, for the tests that ask them beside accessc. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
Require Import Names Files Walk Agree Moves Merge.

Extraction "model.ml" decide differences same within gains over.
