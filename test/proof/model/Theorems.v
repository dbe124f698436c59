(* What is proved, and from which axioms: none. *)

Require Import Names Files Walk Agree Moves Merge.

Print Assumptions matches_right.
Print Assumptions deterministic.
Print Assumptions total.
Print Assumptions winner_right.
Print Assumptions decide_right.
Print Assumptions decide_default.
Print Assumptions walk_right.
Print Assumptions step_alike.
Print Assumptions decide_alike.
Print Assumptions search_all.
Print Assumptions classes_right.
Print Assumptions differences_none.
Print Assumptions differences_exact.
Print Assumptions same_everywhere.
Print Assumptions narrowed_everywhere.
Print Assumptions no_gain_ever.
Print Assumptions gains_right.
Print Assumptions over_assoc.
Print Assumptions over_replaces.
Print Assumptions over_keeps.
Print Assumptions over_once.
