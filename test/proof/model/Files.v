(* Rules about files, and who decides. *)

From Coq Require Import List NArith Bool Arith Lia.
Require Import Names.
Import ListNotations.

Record caps := Caps { read : bool; create : bool; update : bool; delete : bool; execute : bool }.

Definition none := Caps false false false false false.

(* A rule is about its place and all below it; a rule by name about the names below its place that match a pattern, and
   all below these. *)
Record rule := Rule { place : path; names : list pattern; grants : caps }.

(* The rules of a policy, in the order in which ties are decided. *)
Definition policy := list rule.

Definition by_name (r : rule) : bool := match names r with [] => false | _ => true end.

Definition called (r : rule) (n : name) : bool := existsb (fun p => matches p n) (names r).

Fixpoint prefix (p t : path) : bool :=
  match p, t with
  | [], _ => true
  | a :: p, b :: t => if name_eq a b then prefix p t else false
  | _, _ => false
  end.

(* Covers r t k: the rule is about the target by the first k components of its path. *)
Definition Covers (r : rule) (t : path) (k : nat) : Prop :=
  prefix (place r) t = true /\
  if by_name r
  then length (place r) < k <= length t /\ exists n, nth_error t (k - 1) = Some n /\ called r n = true
  else k = length (place r).

(* Decides p t i k: the i-th rule is about the target by k components, no rule is about it by more components, and none
   behind it by as many. This is what the documentation says. *)
Definition Decides (p : policy) (t : path) (i k : nat) : Prop :=
  (exists r, nth_error p i = Some r /\ Covers r t k) /\
  forall j r m, nth_error p j = Some r -> Covers r t m -> m < k \/ (m = k /\ j <= i).

(* The evaluator. deepest is the number of components by which the names below a place match, looking from the end. *)
Fixpoint deepest (r : rule) (t : path) (k : nat) : option nat :=
  match k with
  | 0 => None
  | S j => if length (place r) <? k
           then match nth_error t j with
                | Some n => if called r n then Some k else deepest r t j
                | None => deepest r t j
                end
           else None
  end.

Definition covers (r : rule) (t : path) : option nat :=
  if prefix (place r) t
  then if by_name r then deepest r t (length t) else Some (length (place r))
  else None.

(* The rule with the most components, the last of those with as many. *)
Fixpoint winner (p : policy) (t : path) (i : nat) (best : option (nat * nat)) : option (nat * nat) :=
  match p with
  | [] => best
  | r :: p =>
      let better := match covers r t, best with
                    | Some k, Some (_, m) => if m <=? k then Some (i, k) else best
                    | Some k, None => Some (i, k)
                    | None, _ => best
                    end in
      winner p t (S i) better
  end.

Definition decide (p : policy) (t : path) : caps :=
  match winner p t 0 None with
  | Some (i, _) => match nth_error p i with Some r => grants r | None => none end
  | None => none
  end.

Lemma prefix_length : forall p t, prefix p t = true -> length p <= length t.
Proof.
  induction p as [|a p IH]; intros [|b t] H; simpl in *; try lia; try discriminate.
  destruct (name_eq a b); [|discriminate]. apply IH in H. lia.
Qed.

Lemma deepest_right : forall r t k m,
  k <= length t ->
  deepest r t k = Some m <->
  (length (place r) < m <= k /\ (exists n, nth_error t (m - 1) = Some n /\ called r n = true) /\
   forall j, m < j <= k -> length (place r) < j ->
     forall n, nth_error t (j - 1) = Some n -> called r n = false).
Proof.
  intros r t. induction k as [|j IH]; intros m Hk; simpl.
  - split; [discriminate|]. intros [? _]. lia.
  - destruct (length (place r) <? S j) eqn:L.
    2:{ apply Nat.ltb_ge in L. split; [discriminate|]. intros [? _]. lia. }
    apply Nat.ltb_lt in L.
    destruct (nth_error t j) as [n|] eqn:E.
    2:{ apply nth_error_None in E. lia. }
    destruct (called r n) eqn:C.
    + split.
      * intro H; injection H as <-. split; [lia|]. split.
        { exists n. replace (S j - 1) with j by lia. auto. }
        intros i Hi. lia.
      * intros [Hm [_ Hmax]]. destruct (Nat.eq_dec m (S j)) as [->|Hne]; [reflexivity|].
        exfalso. specialize (Hmax (S j)). replace (S j - 1) with j in Hmax by lia.
        rewrite (Hmax ltac:(lia) ltac:(lia) n E) in C. discriminate.
    + rewrite IH by lia. split; intros [Hm [Hex Hmax]].
      * split; [lia|]. split; [assumption|]. intros i Hi Hl n' En'.
        destruct (Nat.eq_dec i (S j)) as [->|Hne].
        { replace (S j - 1) with j in En' by lia. congruence. }
        apply (Hmax i ltac:(lia) Hl n' En').
      * assert (m <> S j).
        { intros ->. destruct Hex as [n' [En' Cn']]. replace (S j - 1) with j in En' by lia. congruence. }
        split; [lia|]. split; [assumption|]. intros i Hi Hl. apply Hmax; lia.
Qed.

Lemma deepest_none : forall r t k,
  k <= length t -> deepest r t k = None ->
  forall j n, length (place r) < j <= k -> nth_error t (j - 1) = Some n -> called r n = false.
Proof.
  intros r t. induction k as [|i IH]; intros Hk H j n Hj En; [lia|]. simpl in H.
  assert (L : length (place r) <? S i = true) by (apply Nat.ltb_lt; lia). rewrite L in H.
  destruct (nth_error t i) as [a|] eqn:E.
  2:{ apply nth_error_None in E. lia. }
  destruct (called r a) eqn:C; [discriminate|].
  destruct (Nat.eq_dec j (S i)) as [->|Hne].
  - replace (S i - 1) with i in En by lia. congruence.
  - apply (IH ltac:(lia) H j n ltac:(lia) En).
Qed.

(* covers is the greatest number of components by which the rule is about the target. *)
Lemma covers_some : forall r t k, covers r t = Some k ->
  Covers r t k /\ forall m, Covers r t m -> m <= k.
Proof.
  intros r t k. unfold covers, Covers. destruct (prefix (place r) t) eqn:P; [|discriminate].
  destruct (by_name r); intro H.
  - apply deepest_right in H; [|lia]. destruct H as [Hk [Hex Hmax]]. split; [auto|].
    intros m [_ [Hm [n [En Cn]]]]. destruct (le_lt_dec m k); [assumption|].
    rewrite (Hmax m ltac:(lia) ltac:(lia) n En) in Cn. discriminate.
  - injection H as <-. split; [auto|]. intros m [_ ->]. lia.
Qed.

Lemma covers_none : forall r t, covers r t = None -> forall m, ~ Covers r t m.
Proof.
  intros r t. unfold covers, Covers. destruct (prefix (place r) t) eqn:P.
  2:{ intros _ m [H _]. discriminate. }
  destruct (by_name r); [|discriminate]. intros H m [_ [Hm [n [En Cn]]]].
  rewrite (deepest_none r t (length t) ltac:(lia) H m n Hm En) in Cn. discriminate.
Qed.

(* What winner has found among the first rules. *)
Definition Best (p : policy) (t : path) (best : option (nat * nat)) : Prop :=
  match best with
  | Some (i, k) => Decides p t i k
  | None => forall j r m, nth_error p j = Some r -> ~ Covers r t m
  end.

Lemma nth_error_snoc : forall (A : Type) (l : list A) x j y,
  nth_error (l ++ [x]) j = Some y -> (j < length l /\ nth_error l j = Some y) \/ (j = length l /\ x = y).
Proof.
  intros A l x j y H. destruct (lt_eq_lt_dec j (length l)) as [[L|E]|G].
  - left. rewrite nth_error_app1 in H; auto.
  - right. rewrite nth_error_app2 in H by lia. subst j. rewrite Nat.sub_diag in H. simpl in H. split; congruence.
  - exfalso. assert (N : nth_error (l ++ [x]) j = None) by (apply nth_error_None; rewrite app_length; simpl; lia). congruence.
Qed.

Lemma best_step : forall p r t best, Best p t best ->
  Best (p ++ [r]) t match covers r t, best with
    | Some k, Some (_, m) => if m <=? k then Some (length p, k) else best
    | Some k, None => Some (length p, k)
    | None, _ => best
    end.
Proof.
  intros p r t best B. unfold Best in *.
  assert (New : nth_error (p ++ [r]) (length p) = Some r).
  { rewrite nth_error_app2 by lia. rewrite Nat.sub_diag. reflexivity. }
  assert (Old : forall i x, nth_error p i = Some x -> nth_error (p ++ [r]) i = Some x).
  { intros i x H. rewrite nth_error_app1; auto. apply nth_error_Some. congruence. }
  destruct (covers r t) as [k|] eqn:C.
  - destruct (covers_some _ _ _ C) as [Ck Cmax]. destruct best as [[i m]|].
    + destruct B as [[x [Ex Cx]] Bmax].
      assert (Hi : i < length p) by (apply nth_error_Some; congruence).
      destruct (m <=? k) eqn:L.
      * apply Nat.leb_le in L. split; [exists r; auto|]. intros j y n Ej Cy.
        destruct (nth_error_snoc _ _ _ _ _ Ej) as [[Hj E]|[-> <-]].
        { destruct (Bmax j y n E Cy) as [?|[-> ?]]; lia. }
        { specialize (Cmax n Cy). lia. }
      * apply Nat.leb_gt in L. split; [exists x; auto|]. intros j y n Ej Cy.
        destruct (nth_error_snoc _ _ _ _ _ Ej) as [[Hj E]|[-> <-]]; [eauto|].
        specialize (Cmax n Cy). lia.
    + split; [exists r; auto|]. intros j y n Ej Cy.
      destruct (nth_error_snoc _ _ _ _ _ Ej) as [[Hj E]|[-> <-]].
      { exfalso. apply (B j y n E Cy). }
      { specialize (Cmax n Cy). lia. }
  - pose proof (covers_none _ _ C) as Cn. destruct best as [[i m]|].
    + destruct B as [[x [Ex Cx]] Bmax]. split; [exists x; auto|]. intros j y n Ej Cy.
      destruct (nth_error_snoc _ _ _ _ _ Ej) as [[Hj E]|[-> <-]]; [eauto|]. exfalso. apply (Cn n Cy).
    + intros j y n Ej Cy. destruct (nth_error_snoc _ _ _ _ _ Ej) as [[Hj E]|[-> <-]].
      { apply (B j y n E Cy). } { apply (Cn n Cy). }
Qed.

Lemma winner_best : forall q p t best, Best p t best -> Best (p ++ q) t (winner q t (length p) best).
Proof.
  induction q as [|r q IH]; intros p t best B; simpl.
  - rewrite app_nil_r. assumption.
  - replace (p ++ r :: q) with ((p ++ [r]) ++ q) by (rewrite <- app_assoc; reflexivity).
    replace (S (length p)) with (length (p ++ [r])) by (rewrite app_length; simpl; lia).
    apply IH, best_step, B.
Qed.

(* The evaluator finds the rule that the documentation names. *)
Theorem winner_right : forall p t, Best p t (winner p t 0 None).
Proof.
  intros p t. apply (winner_best p [] t None). intros j r m H. destruct j; discriminate.
Qed.

(* At most one rule decides. *)
Theorem deterministic : forall p t i k j m, Decides p t i k -> Decides p t j m -> i = j /\ k = m.
Proof.
  intros p t i k j m [[r [Er Cr]] Hi] [[s [Es Cs]] Hj].
  specialize (Hi j s m Es Cs). specialize (Hj i r k Er Cr). lia.
Qed.

(* A rule decides, or no rule is about the target. *)
Theorem total : forall p t, (exists i k, Decides p t i k) \/ forall j r m, nth_error p j = Some r -> ~ Covers r t m.
Proof.
  intros p t. pose proof (winner_right p t) as B. destruct (winner p t 0 None) as [[i k]|]; simpl in B; eauto.
Qed.

(* The capabilities are those of the rule that decides, none without such a rule. *)
Theorem decide_right : forall p t i k r, Decides p t i k -> nth_error p i = Some r -> decide p t = grants r.
Proof.
  intros p t i k r D E. unfold decide. pose proof (winner_right p t) as B.
  destruct (winner p t 0 None) as [[j m]|]; simpl in B.
  - destruct (deterministic _ _ _ _ _ _ D B) as [-> _]. rewrite E. reflexivity.
  - exfalso. destruct D as [[s [Es Cs]] _]. apply (B i s k Es Cs).
Qed.

Theorem decide_default : forall p t, (forall j r m, nth_error p j = Some r -> ~ Covers r t m) -> decide p t = none.
Proof.
  intros p t H. unfold decide. pose proof (winner_right p t) as B.
  destruct (winner p t 0 None) as [[i k]|]; simpl in B; [|reflexivity].
  exfalso. destruct B as [[r [Er Cr]] _]. apply (H i r k Er Cr).
Qed.
