(* Names of files, and the patterns of rules by name. A name is its characters, by their numbers. *)

From Coq Require Import List NArith Bool Arith Lia.
Import ListNotations.

Definition name := list N.
Definition path := list name.

Inductive item :=
| Char (c : N)                             (* this character *)
| Class (not : bool) (ranges : list (N * N)) (* a member of a class, or any other character *)
| Any                                      (* "?": any single character *)
| Run.                                     (* "*": any characters, also none *)

Definition pattern := list item.

Definition inside (ranges : list (N * N)) (c : N) : bool :=
  existsb (fun r => (fst r <=? c)%N && (c <=? snd r)%N) ranges.

(* is says whether an item that stands for a single character stands for c. *)
Definition is (i : item) (c : N) : bool :=
  match i with
  | Char d => (d =? c)%N
  | Class not ranges => xorb not (inside ranges c)
  | Any => true
  | Run => false
  end.

(* Matches is what the documentation says of patterns. *)
Inductive Matches : pattern -> name -> Prop :=
| MatchesEnd : Matches [] []
| MatchesOne : forall i p c n, is i c = true -> Matches p n -> Matches (i :: p) (c :: n)
| MatchesNone : forall p n, Matches p n -> Matches (Run :: p) n
| MatchesMore : forall p c n, Matches (Run :: p) n -> Matches (Run :: p) (c :: n).

(* What is left of a pattern after a character: Brzozowski's derivative, as a list of alternatives. *)
Fixpoint after (p : pattern) (c : N) : list pattern :=
  match p with
  | [] => []
  | Run :: q => p :: after q c
  | i :: q => if is i c then [q] else []
  end.

Fixpoint empty (p : pattern) : bool :=
  match p with
  | [] => true
  | Run :: q => empty q
  | _ => false
  end.

(* The alternatives after each character of a name; equal alternatives are kept once. *)
Definition pattern_eq : forall p q : pattern, {p = q} + {p <> q}.
Proof. repeat decide equality. Defined.

Definition afters (ps : list pattern) (c : N) : list pattern :=
  nodup pattern_eq (flat_map (fun p => after p c) ps).

Definition matches (p : pattern) (n : name) : bool := existsb empty (fold_left afters n [p]).

Lemma empty_matches : forall p, empty p = true <-> Matches p [].
Proof.
  induction p as [|i p IH]; simpl.
  - split; auto using MatchesEnd.
  - destruct i; split; intro H; try discriminate; try (inversion H; subst; fail).
    + apply MatchesNone, IH, H.
    + inversion H; subst. apply IH; assumption.
Qed.

Lemma after_matches : forall p c n, Matches p (c :: n) <-> exists q, In q (after p c) /\ Matches q n.
Proof.
  induction p as [|i p IH]; intros c n; simpl.
  - split; [intro H; inversion H | intros [q [[] _]]].
  - assert (One : forall j, j <> Run -> (Matches (j :: p) (c :: n) <->
      exists q, In q (if is j c then [p] else []) /\ Matches q n)).
    { intros j Hj. split.
      - intro H; inversion H; subst; try (exfalso; apply Hj; reflexivity).
        exists p. match goal with E : is j c = true |- _ => rewrite E end. simpl; auto.
      - intros [q [Hin Hq]]. destruct (is j c) eqn:E; simpl in Hin; [|contradiction].
        destruct Hin as [<-|[]]. apply MatchesOne; assumption. }
    destruct i; try (apply One; discriminate).
    split.
    + intro H; inversion H; subst.
      * discriminate.
      * match goal with M : Matches p (c :: n) |- _ => apply IH in M; destruct M as [q [Hin Hq]] end.
        exists q; simpl; auto.
      * exists (Run :: p); simpl; auto.
    + intros [q [[<-|Hin] Hq]].
      * apply MatchesMore; assumption.
      * apply MatchesNone, IH. exists q; auto.
Qed.

Lemma afters_matches : forall n ps,
  existsb empty (fold_left afters n ps) = true <-> exists p, In p ps /\ Matches p n.
Proof.
  induction n as [|c n IH]; intro ps; simpl.
  - rewrite existsb_exists. split; intros [p [Hin H]]; exists p; split; auto; apply empty_matches; assumption.
  - rewrite IH. unfold afters. split.
    + intros [q [Hin Hq]]. rewrite nodup_In, in_flat_map in Hin. destruct Hin as [p [Hp Hin]].
      exists p; split; auto. apply after_matches. exists q; auto.
    + intros [p [Hp H]]. apply after_matches in H. destruct H as [q [Hin Hq]].
      exists q; split; auto. rewrite nodup_In, in_flat_map. exists p; auto.
Qed.

(* The evaluator of patterns is right. *)
Theorem matches_right : forall p n, matches p n = true <-> Matches p n.
Proof.
  intros p n. unfold matches. rewrite afters_matches. split.
  - intros [q [[<-|[]] H]]; assumption.
  - intro H; exists p; simpl; auto.
Qed.

(* Two names are of one class for some names and patterns if none of these tells them apart. *)
Definition name_eq : forall a b : name, {a = b} + {a <> b} := list_eq_dec N.eq_dec.

Inductive atom := Literal (n : name) | Pattern (p : pattern).

Definition holds (a : atom) (n : name) : bool :=
  match a with
  | Literal m => if name_eq m n then true else false
  | Pattern p => matches p n
  end.

Definition alike (atoms : list atom) (a b : name) : Prop := forall x, In x atoms -> holds x a = holds x b.
