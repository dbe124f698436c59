(* Moving and linking files, and what the tool can do with them afterwards. *)

From Coq Require Import List NArith Bool Arith Lia.
Require Import Names Files Walk Agree.
Import ListNotations.

(* No capability that matters for a file is new. *)
Definition matters (a b : caps) : bool :=
  implb (read b) (read a) && implb (update b) (update a) && implb (execute b) (execute a).

(* A permitted move takes a file, or a directory with all that may be in it, to where nothing in it gains. *)
Definition NoGain (p : policy) (src dst : path) : Prop :=
  forall rest, ValidPath rest -> matters (decide p (src ++ rest)) (decide p (dst ++ rest)) = true.

(* A disk: for each file the paths that lead to it. *)
Definition file := nat.
Definition disk := file -> path -> Prop.

(* What the tool does: it moves whatever lies below a path, or gives what lies at a path a further name. A move onto
   another file removes that file's name. *)
Inductive act := Move (src dst : path) | Link (src dst : path).

Definition after_act (a : act) (d : disk) : disk := fun f t =>
  match a with
  | Move src dst => (exists rest, t = dst ++ rest /\ d f (src ++ rest)) \/ (d f t /\ prefix src t = false)
  | Link src dst => d f t \/ (t = dst /\ d f src)
  end.

Definition permitted (p : policy) (a : act) : Prop :=
  match a with
  | Move src dst => NoGain p src dst
  | Link src dst => matters (decide p src) (decide p dst) = true
  end.

Definition run (acts : list act) (d : disk) : disk := fold_left (fun d a => after_act a d) acts d.

Lemma matters_refl : forall a, matters a a = true.
Proof. intro a. unfold matters. destruct (read a), (update a), (execute a); reflexivity. Qed.

Lemma matters_trans : forall a b c, matters a b = true -> matters b c = true -> matters a c = true.
Proof.
  assert (T : forall x y z, implb y x = true -> implb z y = true -> implb z x = true).
  { intros [] [] []; simpl; auto. }
  intros a b c. unfold matters. rewrite !andb_true_iff. intros [[? ?] ?] [[? ?] ?]. repeat split; eapply T; eassumption.
Qed.

Definition Valid (d : disk) : Prop := forall f t, d f t -> ValidPath t.
Definition ValidAct (a : act) : Prop := match a with Move s d | Link s d => ValidPath s /\ ValidPath d end.

Lemma after_valid : forall a d, ValidAct a -> Valid d -> Valid (after_act a d).
Proof.
  intros [s t|s t] d [Vs Vt] V f u H; simpl in H.
  - destruct H as [[rest [-> H]]|[H _]]; [|apply (V f u H)].
    apply V in H. unfold ValidPath in *. apply Forall_app in H. apply Forall_app. tauto.
  - destruct H as [H|[-> H]]; [apply (V f u H)|assumption].
Qed.

(* Whatever sequence of permitted acts the tool does, at no name has a file a capability that it had at none of its
   names before. *)
Theorem no_gain_ever : forall p acts d f t, Valid d -> Forall ValidAct acts -> Forall (permitted p) acts ->
  run acts d f t -> exists t0, d f t0 /\ matters (decide p t0) (decide p t) = true.
Proof.
  intros p acts. induction acts as [|a acts IH]; intros d f t V Va P H; simpl in H.
  - exists t. split; [assumption|apply matters_refl].
  - inversion Va as [|x xs Va1 Va2]; subst. inversion P as [|x xs P1 P2]; subst.
    destruct (IH (after_act a d) f t (after_valid a d Va1 V) Va2 P2 H) as [u [Hu M]].
    destruct a as [src dst|src dst]; simpl in Hu, P1.
    + destruct Hu as [[rest [-> Hr]]|[Hu _]]; [|eauto].
      exists (src ++ rest). split; [assumption|]. apply matters_trans with (decide p (dst ++ rest)); [|assumption].
      apply P1. apply V in Hr. apply Forall_app in Hr. apply Hr.
    + destruct Hu as [Hu|[-> Hs]]; [eauto|]. exists src. split; [assumption|].
      apply matters_trans with (decide p dst); assumption.
Qed.

(* A look at finitely many pairs of states decides whether anything in a moved directory gains. *)
Definition gains (fuel : nat) (p : policy) (src dst : path) : option (list path) :=
  match classes fuel (atoms p) with
  | None => None
  | Some ns =>
      option_map
        (fun found => map (fun x => rev (snd x))
          (filter (fun x => negb (matters (output p (fst (fst x))) (output p (snd (fst x))))) found))
        (search both name both_eq (steps p p) ns fuel [] [((walk p src, walk p dst), [])])
  end.

Lemma within_fold : forall p t s, Within p s -> Within p (fold_left (step p) t s).
Proof.
  intros p t. induction t as [|n t IH]; intros s W; simpl; [assumption|]. apply IH. clear IH.
  unfold Within, step in *. simpl. revert W. generalize (ways s). induction p as [|r p IH]; intros ws W; inversion W; subst.
  - constructor.
  - simpl. constructor; [|apply IH; assumption]. destruct y as [[|a q]|]; simpl; auto.
    destruct (name_eq a n); auto. destruct H1 as [u E]. exists (u ++ [a]). rewrite <- app_assoc. assumption.
Qed.

Lemma fold_alike : forall p t u s, Within p s -> Forall2 (alike (atoms p)) t u ->
  fold_left (step p) t s = fold_left (step p) u s.
Proof.
  intros p t u s W F. revert s W. induction F as [|a b t u A F IH]; intros s W; simpl; [reflexivity|].
  rewrite (step_alike p s a b W A). apply IH. apply (within_fold p [b] s W).
Qed.

Theorem gains_right : forall fuel p src dst, gains fuel p src dst = Some [] -> NoGain p src dst.
Proof.
  intros fuel p src dst H rest V. unfold gains in H.
  destruct (classes fuel (atoms p)) as [ns|] eqn:C; [|discriminate].
  destruct (search both name both_eq (steps p p) ns fuel [] [((walk p src, walk p dst), [])]) as [found|] eqn:S; [|discriminate].
  simpl in H. injection H as H. apply search_all in S. destruct S as [W All].
  apply classes_right in C. destruct C as [_ C].
  assert (R : exists u, incl u ns /\ Forall2 (alike (atoms p)) rest u).
  { induction V as [|n t Vn V IH].
    - exists []. split; [intros z []|constructor].
    - destruct IH as [u [I F]]. destruct (C n Vn) as [m [M A]]. exists (m :: u).
      split; [intros z [<-|Z]; auto | constructor; assumption]. }
  destruct R as [u [I F]]. specialize (All u I). rewrite steps_fold in All.
  apply in_map_iff in All. destruct All as [[s w] [E Hs]]. simpl in E. subst s.
  rewrite <- !walk_right. unfold walk. rewrite !fold_left_app. fold (walk p src) (walk p dst).
  rewrite !(fold_alike p rest u _ (walk_within p _) F).
  destruct (matters (output p (fold_left (step p) u (walk p src))) (output p (fold_left (step p) u (walk p dst)))) eqn:E;
    [reflexivity|]. exfalso.
  assert (X : In (fold_left (step p) u (walk p src), fold_left (step p) u (walk p dst), w)
    (filter (fun x => negb (matters (output p (fst (fst x))) (output p (snd (fst x))))) found)).
  { apply filter_In. simpl. rewrite E. auto. }
  destruct (filter (fun x => negb (matters (output p (fst (fst x))) (output p (snd (fst x))))) found); [exact X|discriminate].
Qed.
