(* The laws by which lists of several layers become one list. A layer's list is an edit: items before and behind those
   of the layers below it, or in their place. *)

From Coq Require Import List Bool Arith Lia.
Import ListNotations.

Section Merge.
  Variables (item : Type) (eq : forall a b : item, {a = b} + {a <> b}).

  Record layer := Layer {
    front : list item; back : list item;
    replace : bool;        (* drops the items of the layers below *)
    dedup : option bool;   (* drops later equal items; None: as the layers below say *)
    default : bool         (* gives way to whatever a later layer says *)
  }.

  (* Later equal items go, order kept. *)
  Fixpoint once_after (seen l : list item) : list item :=
    match l with
    | [] => []
    | x :: l => if in_dec eq x seen then once_after seen l else x :: once_after (x :: seen) l
    end.

  Definition tidy (l : layer) : layer :=
    match dedup l with
    | Some true => Layer (once_after [] (front l)) (once_after (rev (front l)) (back l)) (replace l) (dedup l) (default l)
    | _ => l
    end.

  Definition sticky (below above : option bool) : option bool :=
    match above with Some _ => above | None => below end.

  (* join is over without the removal of equal items. *)
  Definition join (below above : layer) : layer :=
    let d := sticky (dedup below) (dedup above) in
    if default below || replace above
    then Layer (front above) (back above) (replace above) d (default above)
    else Layer (front above ++ front below) (back below ++ back above) (replace below) d (default above).

  (* over merges a layer over the layers below it. *)
  Definition over (below above : layer) : layer := tidy (join below above).

  Definition items (l : layer) : list item := front l ++ back l.

  Lemma once_same : forall l s t, (forall x, In x s <-> In x t) -> once_after s l = once_after t l.
  Proof.
    induction l as [|x l IH]; intros s t H; simpl; [reflexivity|].
    destruct (in_dec eq x s) as [I|I], (in_dec eq x t) as [J|J].
    - apply IH, H.
    - exfalso. apply J, H, I.
    - exfalso. apply I, H, J.
    - f_equal. apply IH. intro y. simpl. rewrite (H y). tauto.
  Qed.

  Lemma once_app : forall l m s, once_after s (l ++ m) = once_after s l ++ once_after (l ++ s) m.
  Proof.
    induction l as [|x l IH]; intros m s; simpl; [reflexivity|].
    destruct (in_dec eq x s) as [I|I].
    - rewrite IH. f_equal. apply once_same. intro y. simpl. rewrite !in_app_iff. split; [tauto|].
      intros [<-|Y]; [right; assumption|tauto].
    - simpl. f_equal. rewrite IH. f_equal. apply once_same. intro y. rewrite !in_app_iff. simpl. rewrite in_app_iff. tauto.
  Qed.

  Lemma once_in : forall l s x, In x (once_after s l) <-> In x l /\ ~ In x s.
  Proof.
    induction l as [|y l IH]; intros s x; simpl; [tauto|].
    destruct (in_dec eq y s) as [I|I]; [rewrite IH|simpl; rewrite IH; simpl].
    - split; [tauto|]. intros [[<-|H] N]; [contradiction|tauto].
    - split.
      + intros [<-|[H N]]; [tauto|]. split; [tauto|]. intro X. apply N. auto.
      + intros [[<-|H] N]; [auto|]. destruct (eq y x) as [E|E]; [auto|]. right. split; [assumption|]. intros [X|X]; auto.
  Qed.

  (* What was dropped would be dropped again. *)
  Lemma once_again : forall l s t, incl s t -> once_after t (once_after s l) = once_after t l.
  Proof.
    induction l as [|x l IH]; intros s t H; simpl; [reflexivity|].
    destruct (in_dec eq x s) as [I|I].
    - destruct (in_dec eq x t) as [J|J]; [apply IH, H | exfalso; apply J, H, I].
    - simpl. destruct (in_dec eq x t) as [J|J].
      + apply IH. intros y [<-|Y]; auto.
      + f_equal. apply IH. intros y [<-|Y]; simpl; auto.
  Qed.

  Lemma once_front : forall l m s t, incl s t -> once_after t (once_after s l ++ m) = once_after t (l ++ m).
  Proof.
    intros l m s t H. rewrite !once_app, once_again by assumption. f_equal. apply once_same.
    intro y. rewrite !in_app_iff, once_in. split; [tauto|]. intros [Y|Y]; [|auto].
    destruct (in_dec eq y s) as [I|I]; auto.
  Qed.

  Lemma once_behind : forall l m s t, incl s (l ++ t) -> once_after t (l ++ once_after s m) = once_after t (l ++ m).
  Proof. intros l m s t H. rewrite !once_app, once_again by assumption. reflexivity. Qed.

  Definition plain (l : layer) : Prop := default l = false /\ dedup l <> Some false.

  Lemma tidy_plain : forall l, plain l -> plain (tidy l).
  Proof. intros [f b r [[]|] d] H; apply H. Qed.

  Lemma join_plain : forall a b, plain a -> plain b -> plain (join a b).
  Proof.
    intros [fa ba ra da ea] [fb bb rb db eb] [Ha Na] [Hb Nb]; simpl in *; subst.
    unfold join, plain; simpl. destruct rb; simpl; (split; [reflexivity|]); destruct db as [[]|]; simpl; congruence.
  Qed.

  Lemma tidy_below : forall a b, plain a -> plain b -> tidy (join (tidy a) b) = tidy (join a b).
  Proof.
    intros [fa ba ra [[]|] ea] [fb bb rb db eb] [Ha Na] [Hb Nb]; simpl in *; subst; try congruence; try reflexivity.
    unfold join; simpl. destruct rb; [destruct db; reflexivity|]. simpl.
    assert (D : match db with Some _ => db | None => Some true end = Some true) by (destruct db as [[]|]; congruence).
    unfold sticky. rewrite D. unfold tidy; simpl. f_equal.
    - rewrite once_behind; [reflexivity|]. intros y [].
    - rewrite !rev_app_distr.
      rewrite (once_same _ _ (rev fa ++ rev fb)).
      2:{ intro y. rewrite !in_app_iff, <- !in_rev, once_in. simpl. tauto. }
      apply once_front. intros y Y. apply in_app_iff. auto.
  Qed.

  Lemma tidy_above : forall a b, plain a -> plain b -> tidy (join a (tidy b)) = tidy (join a b).
  Proof.
    intros [fa ba ra da ea] [fb bb rb [[]|] eb] [Ha Na] [Hb Nb]; simpl in *; subst; try congruence; try reflexivity.
    unfold join; simpl. destruct rb; unfold tidy; simpl; f_equal.
    - apply once_again. intros y [].
    - rewrite (once_same _ _ (rev fb)).
      2:{ intro y. rewrite <- !in_rev, once_in. simpl. tauto. }
      apply once_again, incl_refl.
    - apply once_front. intros y [].
    - rewrite !rev_app_distr, (once_same _ _ (rev fa ++ rev fb)).
      2:{ intro y. rewrite !in_app_iff, <- !in_rev, once_in. simpl. tauto. }
      apply once_behind. intros y Y. rewrite !in_app_iff. auto.
  Qed.

  Lemma join_assoc : forall a b c, plain a -> plain b -> plain c -> join (join a b) c = join a (join b c).
  Proof.
    intros [fa ba ra da ea] [fb bb rb db eb] [fc bc rc dc ec] [Ha Na] [Hb Nb] [Hc Nc]; simpl in *; subst.
    unfold join, sticky; simpl. destruct rb, rc, db, dc; simpl; rewrite ?app_assoc; reflexivity.
  Qed.

  (* Layers may be joined in any grouping: none is a mere default, and none turns the removal of equal items off. *)
  Theorem over_assoc : forall a b c, plain a -> plain b -> plain c -> over (over a b) c = over a (over b c).
  Proof.
    intros a b c A B C. unfold over.
    rewrite tidy_below, tidy_above by (try apply join_plain; assumption). rewrite join_assoc by assumption. reflexivity.
  Qed.

  (* A list that the layer above replaces, or that is a mere default, leaves nothing. *)
  Theorem over_replaces : forall a b, default a || replace b = true -> dedup a = None -> dedup b = None ->
    items (over a b) = items b.
  Proof.
    intros a b H A B. unfold over, join. rewrite H, A, B. reflexivity.
  Qed.

  (* Without dedup all items stay: in front, or behind. *)
  Theorem over_keeps : forall a b, plain a -> plain b -> replace b = false -> dedup a = None -> dedup b = None ->
    items (over a b) = front b ++ items a ++ back b.
  Proof.
    intros a b [A _] [B _] R Da Db. unfold over, join. rewrite A, R, Da, Db. unfold tidy, items; simpl.
    rewrite !app_assoc. reflexivity.
  Qed.

  (* With dedup in force no item is twice, the first stays. *)
  Theorem over_once : forall a b, dedup (join a b) = Some true ->
    NoDup (items (over a b)) /\ forall x, In x (items (over a b)) <-> In x (items (join a b)).
  Proof.
    assert (N : forall l s, NoDup (once_after s l)).
    { induction l as [|x l IH]; intro s; simpl; [constructor|]. destruct (in_dec eq x s); [apply IH|].
      constructor; [|apply IH]. rewrite once_in. simpl. tauto. }
    intros a b H. unfold over, tidy. rewrite H. unfold items; simpl.
    rewrite (once_same (back (join a b)) _ (front (join a b) ++ [])).
    2:{ intro y. rewrite <- in_rev, in_app_iff. simpl. tauto. }
    rewrite <- once_app. split; [apply N|]. intro x. rewrite once_in. simpl. tauto.
  Qed.
End Merge.
