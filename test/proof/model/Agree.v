(* Two policies compared for all paths by a look at finitely many: a set of pairs of states that no step leaves. *)

From Coq Require Import List NArith Bool Arith Lia.
Require Import Names Files Walk.
Import ListNotations.

(* What a file can be called: no zero, no slash, not empty, not "." nor "..". *)
Definition writable (c : N) : bool := negb (c =? 0)%N && negb (c =? 47)%N.
Definition reserved : list name := [[]; [46%N]; [46%N; 46%N]].
Definition valid (n : name) : bool :=
  forallb writable n && if in_dec name_eq n reserved then false else true.

(* Characters between which no item of a pattern tells a difference: a class of characters begins at an edge. *)
Definition edges (i : item) : list N :=
  match i with
  | Char c => [c; N.succ c]
  | Class _ ranges => flat_map (fun r => [fst r; N.succ (snd r)]) ranges
  | Any | Run => []
  end.

Definition floor (es : list N) (c : N) : N :=
  fold_right (fun e m => if (e <=? c)%N && (m <=? e)%N then e else m) 1%N es.

Lemma floor_below : forall es c, (1 <= c)%N -> (floor es c <= c)%N.
Proof.
  induction es as [|e es IH]; intros c H; simpl; [lia|].
  destruct ((e <=? c)%N && (floor es c <=? e)%N) eqn:E; [|apply IH, H].
  apply andb_prop in E. destruct E as [E _]. apply N.leb_le in E. assumption.
Qed.

Lemma floor_in : forall es c, In (floor es c) (1%N :: es).
Proof.
  induction es as [|e es IH]; intros c; simpl; [auto|].
  destruct ((e <=? c)%N && (floor es c <=? e)%N); [auto|]. destruct (IH c); auto.
Qed.

Lemma floor_greatest : forall es c e, In e es -> (e <= c)%N -> (e <= floor es c)%N.
Proof.
  induction es as [|x es IH]; intros c e I H; simpl; [destruct I|]. destruct I as [->|I].
  - assert (X : (e <=? c)%N = true) by (apply N.leb_le; assumption). rewrite X. simpl.
    destruct (floor es c <=? e)%N eqn:F; [lia|]. apply N.leb_gt in F. lia.
  - specialize (IH c e I H). destruct ((x <=? c)%N && (floor es c <=? x)%N) eqn:E; [|assumption].
    apply andb_prop in E. destruct E as [_ E]. apply N.leb_le in E. lia.
Qed.

Lemma edge_alike : forall es c e, (1 <= c)%N -> In e es -> (e <=? c)%N = (e <=? floor es c)%N.
Proof.
  intros es c e H I. pose proof (floor_below es c H). pose proof (floor_greatest es c e I).
  destruct (e <=? c)%N eqn:A; symmetry.
  - apply N.leb_le in A. apply N.leb_le. auto.
  - apply N.leb_gt in A. apply N.leb_gt. lia.
Qed.

Lemma is_floor : forall es i c, (1 <= c)%N -> incl (edges i) es -> is i c = is i (floor es c).
Proof.
  intros es i c H I. assert (E : forall e, In e (edges i) -> (e <=? c)%N = (e <=? floor es c)%N).
  { intros e X. apply edge_alike; auto. }
  destruct i as [d|not ranges| |]; simpl in *; try reflexivity.
  - assert (A := E d (or_introl eq_refl)). assert (B := E (N.succ d) (or_intror (or_introl eq_refl))).
    assert (S : forall x, (d =? x)%N = (d <=? x)%N && negb (N.succ d <=? x)%N).
    { intro x. destruct (N.eqb_spec d x), (N.leb_spec d x), (N.leb_spec (N.succ d) x); simpl; lia || reflexivity. }
    rewrite !S, A, B. reflexivity.
  - f_equal. clear I. unfold inside. induction ranges as [|[lo hi] rs IH]; simpl in *; [reflexivity|].
    rewrite IH by (intros e X; apply E; auto). f_equal.
    assert (S : forall x, (x <=? hi)%N = negb (N.succ hi <=? x)%N).
    { intro x. destruct (N.leb_spec x hi), (N.leb_spec (N.succ hi) x); simpl; lia || reflexivity. }
    rewrite (S c), (S (floor es c)), (E lo) by auto. rewrite (E (N.succ hi)) by auto. reflexivity.
Qed.

(* What a list of atoms has become after some characters. *)
Definition as_pattern (a : atom) : pattern :=
  match a with Literal n => map Char n | Pattern p => p end.

Definition progress := list (list pattern).
Definition progress_eq : forall a b : progress, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

Definition begin (xs : list atom) : progress := map (fun a => [as_pattern a]) xs.
Definition advance (g : progress) (c : N) : progress := map (fun ps => afters ps c) g.

Lemma literal_pattern : forall m n, Matches (map Char m) n <-> m = n.
Proof.
  induction m as [|c m IH]; intros n; simpl; split; intro H.
  - inversion H. reflexivity.
  - subst. constructor.
  - inversion H; subst. simpl in *. match goal with E : (c =? _)%N = true |- _ => apply N.eqb_eq in E; subst end.
    f_equal. apply IH. assumption.
  - subst. constructor; [simpl; apply N.eqb_refl | apply IH; reflexivity].
Qed.

Lemma holds_pattern : forall a n, holds a n = existsb empty (fold_left afters n [as_pattern a]).
Proof.
  intros [m|p] n; simpl; [|reflexivity].
  pose proof (matches_right (map Char m) n) as R. unfold matches in R. rewrite literal_pattern in R.
  destruct (name_eq m n) as [E|E].
  - symmetry. apply R. assumption.
  - symmetry. apply not_true_is_false. intro X. apply E, R, X.
Qed.

Lemma advance_fold : forall n xs, fold_left advance n (begin xs) = map (fun a => fold_left afters n [as_pattern a]) xs.
Proof.
  intros n xs. unfold begin.
  assert (E : forall g, fold_left advance n (map (fun a => g a) xs) = map (fun a => fold_left afters n (g a)) xs).
  { induction n as [|c n IH]; intro g; simpl; [reflexivity|]. unfold advance at 2. rewrite map_map. apply IH. }
  apply (E (fun a => [as_pattern a])).
Qed.

Lemma same_progress : forall xs a b,
  fold_left advance a (begin xs) = fold_left advance b (begin xs) -> alike xs a b.
Proof.
  intros xs a b H x I. rewrite !advance_fold in H. rewrite !holds_pattern. f_equal.
  induction xs as [|y xs IH]; [contradiction|]. simpl in H. injection H as H1 H2.
  destruct I as [->|I]; auto.
Qed.

(* The items of what is left of patterns are items of the patterns. *)
Definition items_of (xs : list atom) : list item := flat_map as_pattern xs.
Definition Uses (is : list item) (g : progress) : Prop := forall ps p, In ps g -> In p ps -> incl p is.

Lemma after_incl : forall p c q, In q (after p c) -> incl q p.
Proof.
  induction p as [|i p IH]; intros c q H; simpl in H; [contradiction|].
  assert (One : forall j, In q (if is j c then [p] else []) -> incl q (i :: p)).
  { intros j X. destruct (is j c); [destruct X as [<-|[]]; apply incl_tl, incl_refl | contradiction]. }
  destruct i; try match goal with |- incl _ (?i :: _) => exact (One i H) end.
  destruct H as [<-|H]; [apply incl_refl | apply incl_tl, (IH c q H)].
Qed.

Lemma begin_uses : forall xs, Uses (items_of xs) (begin xs).
Proof.
  intros xs ps p Hps Hp. unfold begin in Hps. apply in_map_iff in Hps. destruct Hps as [a [<- Ha]].
  destruct Hp as [<-|[]]. intros i Hi. unfold items_of. apply in_flat_map. exists a; auto.
Qed.

Lemma advance_uses : forall is g c, Uses is g -> Uses is (advance g c).
Proof.
  intros is g c U ps p Hps Hp. unfold advance in Hps. apply in_map_iff in Hps. destruct Hps as [qs [<- Hqs]].
  unfold afters in Hp. rewrite nodup_In, in_flat_map in Hp. destruct Hp as [q [Hq Hp]].
  apply incl_tran with q; [apply (after_incl _ _ _ Hp) | apply (U qs q Hqs Hq)].
Qed.

Lemma after_floor : forall es p c, (1 <= c)%N -> (forall i, In i p -> incl (edges i) es) ->
  after p c = after p (floor es c).
Proof.
  intros es p c H. induction p as [|i p IH]; intro I; simpl; [reflexivity|].
  assert (E : is i c = is i (floor es c)) by (apply is_floor; [|apply I; simpl]; auto).
  destruct i; try (rewrite E; reflexivity).
  f_equal. apply IH. intros j Hj. apply I. simpl; auto.
Qed.

Lemma advance_floor : forall es is g c, (1 <= c)%N -> Uses is g -> (forall i, In i is -> incl (edges i) es) ->
  advance g c = advance g (floor es c).
Proof.
  intros es is g c H U I. unfold advance. apply map_ext_in. intros ps Hps. unfold afters. f_equal.
  assert (X : forall qs, incl qs ps -> flat_map (fun p => after p c) qs = flat_map (fun p => after p (floor es c)) qs).
  { induction qs as [|q qs IH]; intro Y; simpl; [reflexivity|]. f_equal.
    - apply after_floor; [assumption|]. intros i Hi. apply I. apply (U ps q Hps (Y q (or_introl eq_refl))), Hi.
    - apply IH. intros z Hz. apply Y. simpl; auto. }
  apply X, incl_refl.
Qed.

(* A search that ends when no step leads to anything new. *)
Section Search.
  Variables (A L : Type) (eq : forall a b : A, {a = b} + {a <> b}) (next : A -> L -> A) (labels : list L).

  (* Each state with a way to it, the last label first. *)
  Fixpoint search (fuel : nat) (seen todo : list (A * list L)) : option (list (A * list L)) :=
    match fuel, todo with
    | _, [] => Some seen
    | 0, _ => None
    | S fuel, (a, w) :: todo =>
        if in_dec eq a (map fst seen) then search fuel seen todo
        else search fuel ((a, w) :: seen) (map (fun l => (next a l, l :: w)) labels ++ todo)
    end.

  Definition Way (a0 : A) (x : A * list L) : Prop :=
    fst x = fold_left next (rev (snd x)) a0 /\ incl (snd x) labels.

  Lemma search_right : forall a0 fuel seen todo found,
    (forall x, In x seen \/ In x todo -> Way a0 x) ->
    (forall a l, In a (map fst seen) -> In l labels -> In (next a l) (map fst (seen ++ todo))) ->
    search fuel seen todo = Some found ->
    (forall x, In x found -> Way a0 x) /\
    (forall a, In a (map fst (seen ++ todo)) -> In a (map fst found)) /\
    (forall a l, In a (map fst found) -> In l labels -> In (next a l) (map fst found)).
  Proof.
    intros a0. induction fuel as [|fuel IH]; intros seen todo found W C H; simpl in H.
    - destruct todo; [|discriminate]. injection H as <-. rewrite app_nil_r in *. split; [|auto].
      intros x X. apply W. auto.
    - destruct todo as [|[a w] todo].
      + injection H as <-. rewrite app_nil_r in *. split; [|auto]. intros x X. apply W. auto.
      + destruct (in_dec eq a (map fst seen)) as [I|I].
        * destruct (IH seen todo found) as (R1 & R2 & R3); auto.
          { intros x [X|X]; apply W; simpl; auto. }
          { intros b l Hb Hl. specialize (C b l Hb Hl). rewrite map_app in *. simpl in C.
            rewrite in_app_iff in *. simpl in C. destruct C as [C|[<-|C]]; auto. }
          split; [assumption|]. split; [|assumption]. intros b Hb. apply R2. rewrite map_app in *. simpl in Hb.
          rewrite in_app_iff in *. simpl in Hb. destruct Hb as [Hb|[<-|Hb]]; auto.
        * assert (Wa : Way a0 (a, w)) by (apply W; simpl; auto).
          destruct (IH ((a, w) :: seen) (map (fun l => (next a l, l :: w)) labels ++ todo) found)
            as (R1 & R2 & R3); auto.
          { intros x [[<-|X]|X]; [assumption|apply W; auto|]. apply in_app_iff in X.
            destruct X as [X|X]; [|apply W; simpl; auto]. apply in_map_iff in X. destruct X as [l [<- Hl]].
            destruct Wa as [E J]. simpl in E, J. split; simpl.
            - rewrite fold_left_app. simpl. rewrite <- E. reflexivity.
            - intros z [<-|Hz]; auto. }
          { intros b l Hb Hl. simpl in Hb. rewrite !map_app, map_map in *. simpl. rewrite !in_app_iff.
            destruct Hb as [<-|Hb].
            - right. right. left. apply in_map_iff. exists l; auto.
            - specialize (C b l Hb Hl). simpl in C. rewrite in_app_iff in C. simpl in C. tauto. }
          split; [assumption|]. split; [|assumption]. intros b Hb. apply R2. rewrite map_app in Hb.
          apply in_app_iff in Hb. simpl in Hb. simpl. rewrite !map_app, !in_app_iff. tauto.
  Qed.

  Theorem search_all : forall a0 fuel found, search fuel [] [(a0, [])] = Some found ->
    (forall x, In x found -> Way a0 x) /\
    forall w, incl w labels -> In (fold_left next w a0) (map fst found).
  Proof.
    intros a0 fuel found H. apply search_right with (a0 := a0) in H.
    - destruct H as (R1 & R2 & R3). split; [assumption|]. intro w. induction w as [|l w IH] using rev_ind; intro I.
      + apply R2. simpl. auto.
      + rewrite fold_left_app. simpl. apply R3; [apply IH|]; intros; try (apply I; apply in_app_iff; simpl; auto).
        intros z Z. apply I. apply in_app_iff. auto.
    - intros x [[]|[<-|[]]]. split; simpl; [reflexivity | intros z []].
    - intros a l [].
  Qed.
End Search.

(* A name for each class that some atoms make. *)
Definition own : list N := [1; 47; 48]%N.
Definition alphabet (xs : list atom) : list N := filter writable (nodup N.eq_dec (own ++ flat_map edges (items_of xs))).
Definition classes (fuel : nat) (atoms : list atom) : option (list name) :=
  let xs := atoms ++ map Literal reserved in
  option_map (fun found => filter valid (map (fun x => rev (snd x)) found))
    (search progress N progress_eq advance (alphabet xs) fuel [] [(begin xs, [])]).

Lemma advance_names : forall xs n, forallb writable n = true ->
  exists m, incl m (alphabet xs) /\ fold_left advance m (begin xs) = fold_left advance n (begin xs).
Proof.
  intros xs n. set (es := own ++ flat_map edges (items_of xs)).
  induction n as [|c n IH] using rev_ind; intro H.
  - exists []. split; [intros z []|reflexivity].
  - rewrite forallb_app in H. apply andb_prop in H. destruct H as [H Hc]. simpl in Hc. rewrite andb_true_r in Hc.
    destruct (IH H) as [m [I E]]. exists (m ++ [floor es c]).
    unfold writable in Hc. apply andb_prop in Hc. destruct Hc as [C0 C47].
    rewrite negb_true_iff in C0, C47. apply N.eqb_neq in C0, C47.
    assert (One : (1 <= c)%N) by lia. split.
    + intros z Z. apply in_app_iff in Z. destruct Z as [Z|[<-|[]]]; [apply I, Z|].
      unfold alphabet. apply filter_In. split.
      * rewrite nodup_In. destruct (floor_in es c) as [<-|F]; [|assumption]. unfold own. simpl. auto.
      * unfold writable. rewrite andb_true_iff, !negb_true_iff, !N.eqb_neq. split.
        { assert (X : (1 <= floor es c)%N) by (apply floor_greatest; [unfold es, own; simpl; auto | assumption]). lia. }
        { intro F. pose proof (floor_below es c One).
          assert (X : (48 <= floor es c)%N) by (apply floor_greatest; [unfold es, own; simpl; auto | lia]). lia. }
    + rewrite !fold_left_app. cbn [fold_left]. rewrite E. symmetry. apply advance_floor with (items_of xs); [assumption| |].
      * assert (U : forall w g, Uses (items_of xs) g -> Uses (items_of xs) (fold_left advance w g)).
        { induction w as [|x w IHw]; intros g G; simpl; [assumption|]. apply IHw, advance_uses, G. }
        apply U, begin_uses.
      * intros i Hi z Z. unfold es. apply in_app_iff. right. apply in_flat_map. exists i; auto.
Qed.

Lemma valid_alike : forall a b xs, forallb writable a = true -> forallb writable b = true ->
  alike (xs ++ map Literal reserved) a b -> valid a = valid b.
Proof.
  intros a b xs Wa Wb H. unfold valid. rewrite Wa, Wb. cbn [andb].
  assert (R : forall r, In r reserved -> (r = a <-> r = b)).
  { intros r I. assert (X : In (Literal r) (xs ++ map Literal reserved)) by (apply in_app_iff; right; apply in_map, I).
    specialize (H _ X). simpl in H. destruct (name_eq r a), (name_eq r b); split; intro; congruence. }
  destruct (in_dec name_eq a reserved) as [I|I], (in_dec name_eq b reserved) as [J|J]; try reflexivity; exfalso.
  - apply J. assert (E : a = b) by (apply (R a I); reflexivity). subst. assumption.
  - apply I. assert (E : b = a) by (apply (R b J); reflexivity). subst. assumption.
Qed.

Theorem classes_right : forall fuel xs ns, classes fuel xs = Some ns ->
  (forall m, In m ns -> valid m = true) /\ forall n, valid n = true -> exists m, In m ns /\ alike xs n m.
Proof.
  intros fuel xs ns H. unfold classes in H. set (ys := xs ++ map Literal reserved) in *.
  destruct (search progress N progress_eq advance (alphabet ys) fuel [] [(begin ys, [])]) as [found|] eqn:S; [|discriminate].
  simpl in H. injection H as <-. apply search_all in S. destruct S as [W All]. split.
  - intros m M. apply filter_In in M. apply M.
  - intros n V. assert (Wn : forallb writable n = true) by (unfold valid in V; apply andb_prop in V; apply V).
    destruct (advance_names ys n Wn) as [m [I E]].
    specialize (All m I). apply in_map_iff in All. destruct All as [[g w] [G F]]. simpl in G. subst g.
    destruct (W _ F) as [Gw Iw]. simpl in Gw, Iw.
    assert (A : alike ys n (rev w)).
    { apply same_progress. rewrite <- E. assumption. }
    assert (Ww : forallb writable (rev w) = true).
    { apply forallb_forall. intros c Hc. apply in_rev in Hc. apply Iw in Hc. unfold alphabet in Hc.
      apply filter_In in Hc. apply Hc. }
    exists (rev w). split.
    + apply filter_In. split; [|rewrite <- (valid_alike n (rev w) xs Wn Ww A); assumption].
      apply in_map_iff. exists (fold_left advance m (begin ys), w). auto.
    + intros x X. apply A. apply in_app_iff. auto.
Qed.

(* Two policies side by side. *)
Definition both := (state * state)%type.
Definition both_eq : forall a b : both, {a = b} + {a <> b}.
Proof. decide equality; apply state_eq. Defined.

Definition steps (p q : policy) (s : both) (n : name) : both := (step p (fst s) n, step q (snd s) n).

(* differences looks at a pair of states for each class of paths, and reports whether related holds of what the policies
   give there, with a path where it does not. None means that fuel was too little. *)
Definition differences (related : caps -> caps -> bool) (fuel : nat) (p q : policy) : option (list path) :=
  match classes fuel (atoms p ++ atoms q) with
  | None => None
  | Some ns =>
      option_map
        (fun found => map (fun x => rev (snd x))
          (filter (fun x => negb (related (output p (fst (fst x))) (output q (snd (fst x))))) found))
        (search both name both_eq (steps p q) ns fuel [] [((start p, start q), [])])
  end.

Lemma steps_fold : forall p q t s u, fold_left (steps p q) t (s, u) = (fold_left (step p) t s, fold_left (step q) t u).
Proof. induction t as [|n t IH]; intros s u; simpl; [reflexivity|]. apply IH. Qed.

Definition ValidPath (t : path) : Prop := Forall (fun n => valid n = true) t.

(* Agreement on the representatives is agreement everywhere. *)
Theorem differences_none : forall related fuel p q, differences related fuel p q = Some [] ->
  forall t, ValidPath t -> related (decide p t) (decide q t) = true.
Proof.
  intros related fuel p q H t V. unfold differences in H.
  destruct (classes fuel (atoms p ++ atoms q)) as [ns|] eqn:C; [|discriminate].
  destruct (search both name both_eq (steps p q) ns fuel [] [((start p, start q), [])]) as [found|] eqn:S; [|discriminate].
  simpl in H. injection H as H. apply search_all in S. destruct S as [W All].
  apply classes_right in C. destruct C as [_ C].
  assert (R : exists u, incl u ns /\ Forall2 (alike (atoms p ++ atoms q)) t u).
  { induction V as [|n t Vn V IH].
    - exists []. split; [intros z []|constructor].
    - destruct IH as [u [I F]]. destruct (C n Vn) as [m [M A]]. exists (m :: u).
      split; [intros z [<-|Z]; auto | constructor; assumption]. }
  destruct R as [u [I F]].
  assert (Ep : decide p t = decide p u).
  { apply decide_alike. clear - F. induction F; constructor; auto. intros z Z. apply H. apply in_app_iff. auto. }
  assert (Eq : decide q t = decide q u).
  { apply decide_alike. clear - F. induction F; constructor; auto. intros z Z. apply H. apply in_app_iff. auto. }
  rewrite Ep, Eq, <- !walk_right. specialize (All u I). rewrite steps_fold in All. fold (walk p u) (walk q u) in All.
  apply in_map_iff in All. destruct All as [[s w] [E Hs]]. simpl in E. subst s.
  destruct (related (output p (walk p u)) (output q (walk q u))) eqn:E; [reflexivity|]. exfalso.
  assert (X : In (walk p u, walk q u, w)
    (filter (fun x => negb (related (output p (fst (fst x))) (output q (snd (fst x))))) found)).
  { apply filter_In. simpl. rewrite E. auto. }
  destruct (filter (fun x => negb (related (output p (fst (fst x))) (output q (snd (fst x))))) found); [exact X|discriminate].
Qed.

(* Each path that differences names is a difference. *)
Theorem differences_exact : forall related fuel p q ts t, differences related fuel p q = Some ts -> In t ts ->
  ValidPath t /\ related (decide p t) (decide q t) = false.
Proof.
  intros related fuel p q ts t H I. unfold differences in H.
  destruct (classes fuel (atoms p ++ atoms q)) as [ns|] eqn:C; [|discriminate].
  destruct (search both name both_eq (steps p q) ns fuel [] [((start p, start q), [])]) as [found|] eqn:S; [|discriminate].
  simpl in H. injection H as <-. apply search_all in S. destruct S as [W _].
  apply classes_right in C. destruct C as [C _].
  apply in_map_iff in I. destruct I as [[s w] [<- I]]. apply filter_In in I. destruct I as [I N]. simpl in *.
  destruct (W _ I) as [E J]. simpl in E, J. subst s. rewrite steps_fold in N. simpl in N.
  fold (walk p (rev w)) (walk q (rev w)) in N. rewrite !walk_right in N. apply negb_true_iff in N. split; [|assumption].
  apply Forall_forall. intros n Hn. apply C, J. apply in_rev. assumption.
Qed.

(* same: both policies give the same. within: the second gives no more, as a layer that may only narrow. *)
Definition caps_eq : forall a b : caps, {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.
Definition same (a b : caps) : bool := if caps_eq a b then true else false.
Definition within (a b : caps) : bool :=
  implb (read b) (read a) && implb (create b) (create a) && implb (update b) (update a) &&
  implb (delete b) (delete a) && implb (execute b) (execute a).

Theorem same_everywhere : forall fuel p q, differences same fuel p q = Some [] ->
  forall t, ValidPath t -> decide p t = decide q t.
Proof.
  intros fuel p q H t V. pose proof (differences_none _ _ _ _ H t V) as R. unfold same in R.
  destruct (caps_eq (decide p t) (decide q t)); [assumption|discriminate].
Qed.

Theorem narrowed_everywhere : forall fuel p q, differences within fuel p q = Some [] ->
  forall t, ValidPath t -> within (decide p t) (decide q t) = true.
Proof. intros fuel p q H. exact (differences_none _ _ _ _ H). Qed.
