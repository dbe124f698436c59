(* The same decision, found on the way down a path: a finite state is handed from each component to the next, and the
   step depends only on what the rules can tell of the component. *)

From Coq Require Import List NArith Bool Arith Lia.
Require Import Names Files.
Import ListNotations.

(* For each rule what is left of its place, None where the path has left the way to it; and the rule that decides. *)
Record state := State { ways : list (option path); best : option nat }.

Definition state_eq : forall a b : state, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

Definition onward (w : option path) (n : name) : option path :=
  match w with
  | Some (a :: q) => if name_eq a n then Some q else None
  | w => w
  end.

(* begins says whether a rule begins to be about what lies at the next component. *)
Definition begins (r : rule) (w : option path) (n : name) : bool :=
  match w with
  | Some [] => called r n
  | Some [a] => negb (by_name r) && if name_eq a n then true else false
  | _ => false
  end.

Fixpoint latest (p : policy) (ws : list (option path)) (n : name) (i : nat) (found : option nat) : option nat :=
  match p, ws with
  | r :: p, w :: ws => latest p ws n (S i) (if begins r w n then Some i else found)
  | _, _ => found
  end.

Definition step (p : policy) (s : state) (n : name) : state :=
  State (map (fun w => onward w n) (ways s)) (latest p (ways s) n 0 (best s)).

Fixpoint whole (p : policy) (i : nat) (found : option nat) : option nat :=
  match p with
  | [] => found
  | r :: p => whole p (S i) (match place r with [] => if by_name r then found else Some i | _ => found end)
  end.

Definition start (p : policy) : state := State (map (fun r => Some (place r)) p) (whole p 0 None).

Definition walk (p : policy) (t : path) : state := fold_left (step p) t (start p).

Definition output (p : policy) (s : state) : caps :=
  match best s with
  | Some i => match nth_error p i with Some r => grants r | None => none end
  | None => none
  end.

(* What is left of a place behind a path. *)
Fixpoint left (q t : path) : option path :=
  match q, t with
  | a :: q', b :: t => if name_eq a b then left q' t else None
  | q, _ => Some q
  end.

Lemma left_snoc : forall q t n, left q (t ++ [n]) = onward (left q t) n.
Proof.
  induction q as [|a q IH]; intros [|b t] n; simpl; try reflexivity.
  - destruct (name_eq a n); destruct q; reflexivity.
  - destruct (name_eq a b); [apply IH | reflexivity].
Qed.

Lemma left_prefix : forall q t, prefix q t = true <-> left q t = Some [].
Proof.
  induction q as [|a q IH]; intros [|b t]; simpl; split; intro H; try reflexivity; try discriminate.
  - destruct (name_eq a b); [apply IH, H | discriminate].
  - destruct (name_eq a b); [apply IH, H | discriminate].
Qed.

Lemma left_some : forall q t w, left q t = Some w -> w <> [] -> q = t ++ w.
Proof.
  induction q as [|a q IH]; intros [|b t] w H Hw; simpl in *.
  - injection H as <-. contradiction.
  - injection H as <-. contradiction.
  - injection H as <-. reflexivity.
  - destruct (name_eq a b) as [->|]; [|discriminate]. f_equal. apply IH; assumption.
Qed.

Lemma left_app : forall t w, left (t ++ w) t = Some w.
Proof.
  induction t as [|a t IH]; intros w; simpl.
  - destruct w; reflexivity.
  - destruct (name_eq a a); [apply IH | contradiction].
Qed.

Lemma prefix_snoc : forall q t n, prefix q (t ++ [n]) = true -> length q <= length t -> prefix q t = true.
Proof.
  induction q as [|a q IH]; intros [|b t] n H L; simpl in *; try reflexivity; try lia.
  destruct (name_eq a b); [|discriminate]. apply IH with n; [assumption|lia].
Qed.

Lemma prefix_more : forall q t n, prefix q t = true -> prefix q (t ++ [n]) = true.
Proof.
  induction q as [|a q IH]; intros [|b t] n H; simpl in *; try reflexivity; try discriminate.
  destruct (name_eq a b); [apply IH, H | discriminate].
Qed.

(* A longer path: a rule is about it as before, or begins to be at its last component. *)
Lemma covers_snoc : forall r t n k, Covers r (t ++ [n]) k <->
  Covers r t k \/ (k = S (length t) /\ begins r (left (place r) t) n = true).
Proof.
  intros r t n k. unfold Covers.
  assert (Last : nth_error (t ++ [n]) (length t) = Some n).
  { rewrite nth_error_app2 by lia. rewrite Nat.sub_diag. reflexivity. }
  destruct (by_name r) eqn:B.
  - assert (Begin : begins r (left (place r) t) n = true <-> left (place r) t = Some [] /\ called r n = true).
    { unfold begins. rewrite B. destruct (left (place r) t) as [[|a [|b w]]|]; simpl; split; intro H;
        try discriminate; try (destruct H; discriminate); tauto. }
    rewrite Begin. split.
    + intros [P [Hk [m [Em Cm]]]]. rewrite app_length in Hk. simpl in Hk.
      assert (P' : prefix (place r) t = true) by (apply prefix_snoc with n; [assumption|lia]).
      destruct (Nat.eq_dec k (S (length t))) as [->|Hne].
      * right. replace (S (length t) - 1) with (length t) in Em by lia.
        rewrite Last in Em. injection Em as <-.
        split; [reflexivity|]. split; [apply left_prefix; assumption | assumption].
      * left. split; [assumption|]. split; [lia|]. exists m. rewrite nth_error_app1 in Em by lia. auto.
    + intros [[P [Hk [m [Em Cm]]]]|[-> [L C]]].
      * split; [apply prefix_more, P|]. split; [rewrite app_length; simpl; lia|].
        exists m. rewrite nth_error_app1 by lia. auto.
      * apply left_prefix in L. pose proof (prefix_length _ _ L).
        split; [apply prefix_more, L|]. split; [rewrite app_length; simpl; lia|].
        exists n. replace (S (length t) - 1) with (length t) by lia. auto.
  - assert (Begin : begins r (left (place r) t) n = true <-> left (place r) t = Some [n]).
    { unfold begins, called. rewrite B. unfold by_name in B. destruct (names r) eqn:N; [|discriminate].
      destruct (left (place r) t) as [[|a [|b w]]|]; simpl; split; intro H; try discriminate.
      - destruct (name_eq a n) as [->|]; [reflexivity|discriminate].
      - injection H as ->. destruct (name_eq n n); [reflexivity|contradiction]. }
    rewrite Begin. split.
    + intros [P ->]. destruct (le_lt_dec (length (place r)) (length t)) as [L|G].
      * left. split; [apply prefix_snoc with n; assumption | reflexivity].
      * right. pose proof (prefix_length _ _ P) as Hl. rewrite app_length in Hl. simpl in Hl.
        split; [lia|]. apply left_prefix in P. rewrite left_snoc in P.
        destruct (left (place r) t) as [[|a w]|] eqn:E; simpl in P; try discriminate.
        { apply left_prefix, prefix_length in E. lia. }
        destruct (name_eq a n) as [->|]; [|discriminate]. injection P as ->. reflexivity.
    + intros [[P ->]|[-> L]].
      * split; [apply prefix_more, P | reflexivity].
      * apply left_some in L; [|discriminate]. rewrite L.
        split; [apply left_prefix; rewrite <- (app_nil_r (t ++ [n])) at 1; apply left_app
               | rewrite app_length; simpl; lia].
Qed.

Lemma covers_length : forall r t k, Covers r t k -> k <= length t.
Proof.
  intros r t k [P H]. destruct (by_name r); [lia|]. subst k. apply prefix_length, P.
Qed.

(* What latest finds: the last rule that begins, else what was found before. *)
Lemma latest_right : forall p ws n i found, length ws = length p ->
  match latest p ws n i found with
  | Some j => (exists d r w, j = i + d /\ nth_error p d = Some r /\ nth_error ws d = Some w /\ begins r w n = true /\
                 forall e s v, nth_error p e = Some s -> nth_error ws e = Some v -> begins s v n = true -> e <= d)
              \/ (found = Some j /\
                  forall e s v, nth_error p e = Some s -> nth_error ws e = Some v -> begins s v n = false)
  | None => found = None /\
            forall e s v, nth_error p e = Some s -> nth_error ws e = Some v -> begins s v n = false
  end.
Proof.
  induction p as [|r p IH]; intros [|w ws] n i found L; simpl in *; try discriminate.
  - destruct found; [right|]; split; try reflexivity; intros [|e] s v E; discriminate E.
  - injection L as L. specialize (IH ws n (S i) (if begins r w n then Some i else found) L).
    destruct (latest p ws n (S i) (if begins r w n then Some i else found)) as [j|].
    + destruct IH as [(d & r' & w' & -> & Er & Ew & Hb & Hmax)|[F Hno]].
      * left. exists (S d), r', w'. repeat split; auto; try lia.
        intros [|e] s v Es Ev Bs; [lia|]. simpl in *. specialize (Hmax e s v Es Ev Bs). lia.
      * destruct (begins r w n) eqn:B.
        { injection F as <-. left. exists 0, r, w. repeat split; auto; try lia.
          intros [|e] s v Es Ev Bs; [lia|]. simpl in *. rewrite (Hno e s v Es Ev) in Bs. discriminate. }
        { right. split; [assumption|]. intros [|e] s v Es Ev; simpl in *; [congruence | eauto]. }
    + destruct IH as [F Hno]. destruct (begins r w n) eqn:B; [discriminate|].
      split; [assumption|]. intros [|e] s v Es Ev; simpl in *; [congruence | eauto].
Qed.

(* The same at the root. *)
Lemma whole_right : forall p i found,
  match whole p i found with
  | Some j => (exists d r, j = i + d /\ nth_error p d = Some r /\ Covers r [] 0 /\
                 forall e s m, nth_error p e = Some s -> Covers s [] m -> e <= d)
              \/ (found = Some j /\ forall e s m, nth_error p e = Some s -> ~ Covers s [] m)
  | None => found = None /\ forall e s m, nth_error p e = Some s -> ~ Covers s [] m
  end.
Proof.
  assert (At : forall r, (match place r with [] => if by_name r then False else True | _ => False end) <->
                         exists m, Covers r [] m).
  { intro r. unfold Covers. destruct (place r) eqn:P; simpl; destruct (by_name r); split; intro H; try contradiction; try exact I.
    - destruct H as [m [_ [H _]]]. lia.
    - exists 0; auto.
    - destruct H as [m [H _]]; discriminate.
    - destruct H as [m [H _]]; discriminate. }
  induction p as [|r p IH]; intros i found; simpl.
  - destruct found; [right|]; split; try reflexivity; intros [|e] s m E; discriminate E.
  - set (f := match place r with [] => if by_name r then found else Some i | _ => found end).
    specialize (IH (S i) f). specialize (At r).
    assert (F : (f = Some i /\ Covers r [] 0) \/ (f = found /\ forall m, ~ Covers r [] m)).
    { unfold f. destruct (place r) eqn:P; [destruct (by_name r) eqn:B|]; [right|left|right];
        (split; [reflexivity|]); try (intros m C; apply At; exists m; assumption).
      unfold Covers. rewrite P, B. auto. }
    destruct (whole p (S i) f) as [j|].
    + destruct IH as [(d & s & -> & Es & Cs & Hmax)|[Fj Hno]].
      * left. exists (S d), s. repeat split; auto; try lia; try apply Cs.
        intros [|e] x m Ex Cx; [lia|]. simpl in *. specialize (Hmax e x m Ex Cx). lia.
      * destruct F as [[F C]|[F C]].
        { rewrite F in Fj. injection Fj as <-. left. exists 0, r. repeat split; auto; try lia; try apply C.
          intros [|e] x m Ex Cx; [lia|]. simpl in *. exfalso. apply (Hno e x m Ex Cx). }
        { right. split; [congruence|]. intros [|e] x m Ex; simpl in *; [injection Ex as <-; apply C | eauto]. }
    + destruct IH as [Fn Hno]. destruct F as [[F C]|[F C]]; [congruence|].
      split; [congruence|]. intros [|e] x m Ex; simpl in *; [injection Ex as <-; apply C | eauto].
Qed.

(* The state behind a path. *)
Definition Fits (p : policy) (t : path) (s : state) : Prop :=
  ways s = map (fun r => left (place r) t) p /\
  match best s with
  | Some i => exists k, Decides p t i k
  | None => forall j r m, nth_error p j = Some r -> ~ Covers r t m
  end.

Lemma start_fits : forall p, Fits p [] (start p).
Proof.
  intro p. split; simpl.
  - apply map_ext. intro r. destruct (place r); reflexivity.
  - pose proof (whole_right p 0 None) as W. destruct (whole p 0 None) as [j|].
    + destruct W as [(d & r & -> & Er & Cr & Hmax)|[F _]]; [|discriminate].
      exists 0. split; [exists r; auto|]. intros e s m Es Cs. right.
      split; [apply covers_length in Cs; simpl in Cs; lia | apply (Hmax e s m Es Cs)].
    + apply W.
Qed.

Lemma step_fits : forall p t s n, Fits p t s -> Fits p (t ++ [n]) (step p s n).
Proof.
  intros p t s n [W B]. split; simpl.
  - rewrite W, map_map. apply map_ext. intro r. symmetry. apply left_snoc.
  - assert (L : length (ways s) = length p) by (rewrite W; apply map_length).
    pose proof (latest_right p (ways s) n 0 (best s) L) as H. rewrite W in H.
    assert (Way : forall e r, nth_error p e = Some r ->
      nth_error (map (fun r => left (place r) t) p) e = Some (left (place r) t)).
    { intros e r E. apply map_nth_error with (f := fun r => left (place r) t) in E. assumption. }
    rewrite W. destruct (latest p (map (fun r => left (place r) t) p) n 0 (best s)) as [j|].
    + destruct H as [(d & r & w & -> & Er & Ew & Hb & Hmax)|[F Hno]].
      * rewrite (Way d r Er) in Ew. injection Ew as <-. exists (S (length t)). split.
        { exists r. split; [assumption|]. apply covers_snoc. auto. }
        intros e x m Ex Cx. apply covers_snoc in Cx. destruct Cx as [Cx|[-> Bx]].
        { left. apply covers_length in Cx. lia. }
        { right. split; [reflexivity|]. simpl. apply (Hmax e x _ Ex (Way e x Ex) Bx). }
      * rewrite F in B. destruct B as [k [[r [Er Cr]] Hmax]]. exists k. split.
        { exists r. split; [assumption|]. apply covers_snoc. auto. }
        intros e x m Ex Cx. apply covers_snoc in Cx. destruct Cx as [Cx|[-> Bx]]; [eauto|].
        rewrite (Hno e x _ Ex (Way e x Ex)) in Bx. discriminate.
    + destruct H as [F Hno]. rewrite F in B. intros e x m Ex Cx.
      apply covers_snoc in Cx. destruct Cx as [Cx|[-> Bx]]; [apply (B e x m Ex Cx)|].
      rewrite (Hno e x _ Ex (Way e x Ex)) in Bx. discriminate.
Qed.

Lemma walk_fits : forall p t, Fits p t (walk p t).
Proof.
  intros p t. unfold walk. induction t as [|n t IH] using rev_ind.
  - apply start_fits.
  - rewrite fold_left_app. simpl. apply step_fits, IH.
Qed.

(* The walk finds what the evaluator finds. *)
Theorem walk_right : forall p t, output p (walk p t) = decide p t.
Proof.
  intros p t. unfold output. destruct (walk_fits p t) as [_ B]. destruct (best (walk p t)) as [i|].
  - destruct B as [k D]. pose proof D as [[r [Er _]] _]. rewrite Er. symmetry. apply (decide_right p t i k r D Er).
  - symmetry. apply decide_default, B.
Qed.

(* What the rules of a policy can tell of a component. *)
Definition atoms (p : policy) : list atom :=
  flat_map (fun r => map Literal (place r) ++ map Pattern (names r)) p.

Definition Within (p : policy) (s : state) : Prop :=
  Forall2 (fun r w => match w with Some q => exists u, place r = u ++ q | None => True end) p (ways s).

Lemma walk_within : forall p t, Within p (walk p t).
Proof.
  intros p t. unfold Within. destruct (walk_fits p t) as [-> _].
  assert (E : forall l, Forall2 (fun r w => match w with Some q => exists u, place r = u ++ q | None => True end) l
    (map (fun r => left (place r) t) l)).
  { induction l as [|r l IH]; simpl; constructor; auto.
    destruct (left (place r) t) as [[|a q]|] eqn:E; auto.
    - exists (place r). symmetry. apply app_nil_r.
    - exists t. apply left_some; [assumption|discriminate]. }
  apply E.
Qed.

Lemma called_alike : forall r a b, alike (map Pattern (names r)) a b -> called r a = called r b.
Proof.
  intros r a b. unfold called. induction (names r) as [|p ps IH]; simpl; intro H; [reflexivity|].
  f_equal; [apply (H (Pattern p)); simpl; auto | apply IH; intros x Hx; apply H; simpl; auto].
Qed.

(* The policy cannot tell names of one class apart. *)
Theorem step_alike : forall p s a b, Within p s -> alike (atoms p) a b -> step p s a = step p s b.
Proof.
  intros p s a b W H. unfold step. f_equal.
  - unfold Within in W. revert W H. generalize (ways s). induction p as [|r p IH]; intros ws W H; inversion W; subst.
    + reflexivity.
    + simpl. f_equal.
      * destruct y as [[|x q]|]; try reflexivity. simpl. destruct H2 as [u E].
        assert (I : In (Literal x) (atoms (r :: p))).
        { unfold atoms. simpl. rewrite !in_app_iff. left. left. apply in_map. rewrite E. apply in_elt. }
        pose proof (H _ I) as X. simpl in X. destruct (name_eq x a), (name_eq x b); congruence.
      * apply IH; [assumption|]. intros x Hx. apply H. unfold atoms in *. simpl. rewrite in_app_iff. auto.
  - unfold Within in W. revert W H. generalize (ways s) 0 (best s).
    induction p as [|r p IH]; intros ws i f W H; inversion W; subst.
    + reflexivity.
    + simpl.
      assert (B : begins r y a = begins r y b).
      { unfold begins. destruct y as [[|x [|z q]]|]; try reflexivity.
        - apply called_alike. intros z Hz. apply H. unfold atoms. simpl. rewrite !in_app_iff. auto.
        - f_equal. destruct H2 as [u E].
          assert (I : In (Literal x) (atoms (r :: p))).
          { unfold atoms. simpl. rewrite !in_app_iff. left. left. apply in_map. rewrite E. apply in_elt. }
          apply (H _ I). }
      rewrite B. apply IH; [assumption|]. intros x Hx. apply H. unfold atoms in *. simpl. rewrite in_app_iff. auto.
Qed.

(* A policy is constant on each class of the partition: paths whose components are alike, one by one, get the same. *)
Theorem decide_alike : forall p t u, Forall2 (alike (atoms p)) t u -> decide p t = decide p u.
Proof.
  intros p t u H. rewrite <- !walk_right. f_equal. unfold walk. revert u H.
  induction t as [|a t IH] using rev_ind; intros u H.
  - inversion H. reflexivity.
  - apply Forall2_app_inv_l in H. destruct H as (v & w & Hv & Hw & ->).
    inversion Hw as [|x b y l Hab Hl]; subst. inversion Hl; subst.
    rewrite !fold_left_app. simpl. rewrite (IH v Hv).
    apply step_alike; [apply (walk_within p v) | assumption].
Qed.
