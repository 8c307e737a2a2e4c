(* SPDX-License-Identifier: BSD-2-Clause *)
(* SPDX-FileCopyrightText: 2026 The camkes-rt developers *)
(** What lower tasks can do while a job of priority [p] or above is under way. docs/analysis.md says what
    the theorems cover, and what they do not. *)

Require Import Arith Lia List Sorted.
Import ListNotations.

Section Traces.

Variables Task Lock : Type.

(** A trace: the state at each instant. [level] is the priority without inheritance: that of the task, or the
    ceiling of the [fixed] CPI that it is in, if that is higher. *)
Record trace := {
  base : Task -> nat;
  pending : nat -> Task -> Prop;  (* it has a job that has not ended *)
  level : nat -> Task -> nat;
  holds : nat -> Task -> Lock -> Prop;
  waits : nat -> Task -> Lock -> Prop;
  runs : nat -> Task -> Prop      (* it executes until the next instant *)
}.

Variable T : trace.

(** The priorities that a task has: its level, and those of each task that waits for a lock that it holds. *)
Inductive effective (t : nat) : Task -> nat -> Prop :=
  | own : forall c, effective t c (level T t c)
  | inherited : forall x l c q,
      waits T t x l -> holds T t c l -> effective t x q -> effective t c q.

Definition reaches (t : nat) (c : Task) (p : nat) := exists q, effective t c q /\ p <= q.

(** What a scheduler with priority inheritance and ceilings does. *)
Record scheduled : Prop := {
  level_is_above_base : forall t c, base T c <= level T t c;
  who_is_at_a_ceiling_has_a_job : forall t c, base T c < level T t c -> pending T t c;
  one_executes : forall t c d, runs T t c -> runs T t d -> c = d;
  (* none that has a job, ready or not, is above the one that executes *)
  the_most_urgent_executes : forall t c a, runs T t c -> pending T t a -> reaches t c (level T t a);
  (* only who executes requests something or enters a ceiling, and only who executes gives a lock back *)
  rises : forall t c, level T t c < level T (S t) c -> runs T t c;
  begins_to_wait : forall t c l, waits T (S t) c l -> waits T t c l \/ runs T t c;
  acquires : forall t c l, holds T (S t) c l -> holds T t c l \/ waits T t c l \/ runs T t c;
  releases : forall t c l, holds T t c l -> ~ holds T (S t) c l -> runs T t c;
  held_by_one : forall t c d l, holds T t c l -> holds T t d l -> c = d;
  waits_for_one : forall t c k l, waits T t c k -> waits T t c l -> k = l;
  who_waits_does_not_execute : forall t c l, waits T t c l -> ~ runs T t c;
  (* a lock that is given back goes to one that waits for it, and none is more urgent *)
  handed_over : forall t c l x, holds T t c l -> ~ holds T (S t) c l -> waits T t x l ->
    exists y, waits T t y l /\ holds T (S t) y l /\
      forall z q, waits T t z l -> effective t z q -> reaches t y q
}.

Hypothesis rules : scheduled.

(** The priority, and the locks for which a request of it can wait: who is at this priority, or has such a
    lock, requests no others. *)
Variable p : nat.
Variable relevant : Lock -> Prop.
Hypothesis relevant_is_closed : forall t c l,
  waits T t c l -> (p <= level T t c \/ exists k, relevant k /\ holds T t c k) -> relevant l.

(** A task is in a section while it is at a ceiling of at least [p], has a relevant lock, or waits for one. *)
Definition inside t c := p <= level T t c \/ exists l, relevant l /\ holds T t c l.
Definition in_section t c := inside t c \/ exists l, relevant l /\ waits T t c l.

(** A window in which a job of at least this priority is there all the time. *)
Variables first last : nat.
Hypothesis busy : forall t, first <= t < last -> exists a, pending T t a /\ p <= base T a.

Lemma urgent_is_inside : forall t c, reaches t c p -> inside t c.
Proof.
  intros t c [q [E L]].
  induction E as [c | x l c q W H E IH].
  - now left.
  - right. exists l. split; [| exact H].
    apply (relevant_is_closed t x l W). exact (IH L).
Qed.

Lemma executing_is_urgent : forall t c, first <= t < last -> runs T t c -> reaches t c p.
Proof.
  intros t c B R.
  destruct (busy t B) as [a [P L]].
  destruct (the_most_urgent_executes rules t c a R P) as [q [E Q]].
  exists q. split; [exact E |].
  pose proof (level_is_above_base rules t a). lia.
Qed.

Lemma executing_is_inside : forall t c, first <= t < last -> runs T t c -> inside t c.
Proof.
  intros t c B R. apply urgent_is_inside. now apply executing_is_urgent.
Qed.

(** Who is in a section at an instant of the window was so one before, since he cannot have entered it. *)
Lemma was_in_section : forall t c, first <= t < last -> in_section (t + 1) c -> in_section t c.
Proof.
  intros t c B I. replace (t + 1) with (S t) in I by lia.
  assert (C : runs T t c -> in_section t c) by (intro R; left; now apply executing_is_inside).
  destruct I as [[L | [l [V H]]] | [l [V W]]].
  - destruct (le_lt_dec p (level T t c)) as [Q | Q].
    + left. now left.
    + apply C. apply (rises rules). lia.
  - destruct (acquires rules t c l H) as [A | [A | A]].
    + left. right. now exists l.
    + right. now exists l.
    + now apply C.
  - destruct (begins_to_wait rules t c l W) as [A | A].
    + right. now exists l.
    + now apply C.
Qed.

(** Theorem 1. A task executes in the window only in the section that it was in when the window began: from
    then on until it executes it is in a section all the time. So a lower task executes in one section. *)
Theorem one_section : forall t c, first <= t < last -> runs T t c ->
  forall s, first <= s <= t -> in_section s c.
Proof.
  intros t c B R s [F L].
  remember (t - s) as d eqn:D. revert s F L D.
  induction d as [| d IH]; intros s F L D.
  - assert (s = t) by lia. subst s. left. now apply executing_is_inside.
  - apply was_in_section; [lia |]. apply IH; lia.
Qed.

(** The section that a task is in at [t] is at a ceiling, which it entered at [s]. *)
Definition at_ceiling_since s t c :=
  s < t /\ ~ in_section s c /\ forall u, s < u <= t -> p <= level T u c.

Lemma entered_while_executing : forall s t c, at_ceiling_since s t c -> runs T s c.
Proof.
  intros s t c [L [N A]]. apply (rises rules).
  assert (p <= level T (S s) c) by (apply A; lia).
  destruct (le_lt_dec p (level T s c)) as [Q | Q]; [| lia].
  exfalso. apply N. left. now left.
Qed.

(** Theorem 2. Of all lower tasks one at most is in a section at a ceiling. *)
Theorem one_ceiling : forall t c d s u, base T c < p -> base T d < p ->
  at_ceiling_since s t c -> at_ceiling_since u t d -> c = d.
Proof.
  assert (W : forall t c d s u, base T c < p ->
    at_ceiling_since s t c -> at_ceiling_since u t d -> s < u -> False).
  { intros t c d s u BC C D L.
    pose proof (entered_while_executing u t d D) as R.
    destruct C as [_ [_ A]]. destruct D as [LU [N _]].
    assert (P : p <= level T u c) by (apply A; lia).
    assert (J : pending T u c) by (apply (who_is_at_a_ceiling_has_a_job rules); lia).
    destruct (the_most_urgent_executes rules u d c R J) as [q [E Q]].
    apply N. left. apply urgent_is_inside. exists q. split; [exact E | lia]. }
  intros t c d s u BC BD C D.
  destruct (lt_eq_lt_dec s u) as [[L | L] | L].
  - exfalso. exact (W t c d s u BC C D L).
  - subst u. apply (one_executes rules s); eapply entered_while_executing; eassumption.
  - exfalso. exact (W t d c u s BD D C L).
Qed.

(** A lock is the outermost of a task's section: it is in no other when it waits for it, and gives it back as
    the last one. *)
Definition outermost c l :=
  (forall t, waits T t c l -> ~ inside t c) /\
  (forall t, holds T t c l -> ~ holds T (S t) c l ->
     level T t c < p /\ forall k, relevant k -> holds T t c k -> k = l).

(** Someone of at least this priority waits for a lock and gets it at [t]. *)
Definition granted t l := exists y, waits T t y l /\ holds T (S t) y l /\ reaches t y p.

(** Whom a task inherits such a priority from. *)
Lemma inherits_through : forall t c l, reaches t c p -> level T t c < p ->
  (forall k, relevant k -> holds T t c k -> k = l) -> exists x, waits T t x l /\ reaches t x p.
Proof.
  intros t c l [q [E L]] B O.
  destruct E as [c | x k c q W H E].
  - lia.
  - assert (U : reaches t x p) by (exists q; now split).
    assert (k = l).
    { apply O; [| exact H]. apply (relevant_is_closed t x k W). exact (urgent_is_inside t x U). }
    subst k. now exists x.
Qed.

Lemma given_back : forall t c l, first <= t < last -> outermost c l ->
  holds T t c l -> ~ holds T (S t) c l -> granted t l.
Proof.
  intros t c l B [_ O] H N.
  destruct (O t H N) as [L K].
  pose proof (executing_is_urgent t c B (releases rules t c l H N)) as U.
  destruct (inherits_through t c l U L K) as [x [W [q [E Q]]]].
  destruct (handed_over rules t c l x H N W) as [y [WY [HY A]]].
  exists y. repeat split; try assumption.
  destruct (A x q W E) as [r [F G]]. exists r. split; [exact F | lia].
Qed.

Lemma some_instant_between : forall (P : nat -> Prop) s t, (forall u, P u \/ ~ P u) ->
  s < t -> P s -> ~ P t -> exists r, s <= r < t /\ P r /\ ~ P (S r).
Proof.
  intros P s t D L. remember (t - s) as d eqn:E. revert s L E.
  induction d as [| d IH]; intros s L E A N; [lia |].
  destruct (D (S s)) as [Q | Q].
  - destruct (Nat.eq_dec (S s) t) as [X | X]; [subst t; contradiction |].
    destruct (IH (S s)) as [r [I J]]; try lia; try assumption.
    exists r. split; [lia | exact J].
  - exists s. repeat split; try assumption; lia.
Qed.

Hypothesis held_or_not : forall t c l, holds T t c l \/ ~ holds T t c l.

(** Theorem 3a. Between two lower tasks that have a lock, each as the outermost of its section, someone of at
    least the priority gets it. *)
Theorem granted_between : forall l c d s t, first <= s -> s < t -> t < last -> c <> d ->
  outermost c l -> holds T s c l -> holds T t d l -> exists r, s <= r < t /\ granted r l.
Proof.
  intros l c d s t F L E N O H G.
  assert (X : ~ holds T t c l) by (intro A; apply N; exact (held_by_one rules t c d l A G)).
  destruct (some_instant_between (fun u => holds T u c l) s t (fun u => held_or_not u c l) L H X)
    as [r [I [A B]]].
  exists r. split; [exact I |]. apply (given_back r c l); try assumption. lia.
Qed.

(** So many tasks, one after the other, and when each of them has the lock. *)
Fixpoint follow_each_other (now : Task * nat) (later : list (Task * nat)) :=
  match later with
  | [] => True
  | next :: rest => snd now < snd next /\ fst now <> fst next /\ follow_each_other next rest
  end.

Definition has_it l (each : Task * nat) :=
  first <= snd each < last /\ outermost (fst each) l /\ holds T (snd each) (fst each) l.

(** Theorem 3b. For each of them but one there is an instant at which someone of at least the priority gets
    the lock, and all of these are different. *)
Theorem as_often_as_requested : forall l later now, follow_each_other now later ->
  Forall (has_it l) (now :: later) ->
  exists grants, length grants = length later /\ StronglySorted lt grants /\
    Forall (fun r => snd now <= r < last /\ granted r l) grants.
Proof.
  intros l later. induction later as [| next rest IH]; intros now F A.
  - exists []. repeat split; constructor.
  - destruct F as [L [N F]].
    inversion A as [| ? ? [B [O H]] A']; subst.
    destruct (IH next F A') as [grants [Len [Sorted All]]].
    inversion A' as [| ? ? [B' [O' H']] _]; subst.
    destruct (granted_between l (fst now) (fst next) (snd now) (snd next)) as [r [I G]]; try assumption; try lia.
    exists (r :: grants). repeat split.
    + simpl. now rewrite Len.
    + constructor; [exact Sorted |].
      eapply Forall_impl; [| exact All]. simpl. intros g [J _]. lia.
    + constructor.
      * split; [lia | exact G].
      * eapply Forall_impl; [| exact All]. simpl. intros g [J K]. split; [lia | exact K].
Qed.

(** Theorem 3c. And if the last of them got the lock in the window, then when it executes first someone of at
    least the priority waits for the lock who did not wait for it, or not at this priority, at [g], when it
    got it. *)
Theorem one_more_waits : forall l c d g t, first <= g -> g < t -> t < last ->
  outermost d l -> holds T g c l -> ~ holds T (S g) c l -> waits T g d l ->
  (forall u, g < u <= t -> holds T u d l) -> (forall u, g < u < t -> ~ runs T u d) -> runs T t d ->
  exists x, waits T t x l /\ reaches t x p /\ ~ (waits T g x l /\ reaches g x p).
Proof.
  intros l c d g t F L E [O _] HC NC W H N R.
  assert (NI : ~ inside g d) by exact (O g W).
  assert (I : forall k, g + k <= t -> level T (g + k) d < p /\
    (forall m, relevant m -> holds T (g + k) d m -> m = l) /\
    (forall m, waits T (g + k) d m -> m = l)).
  { induction k as [| k IH]; intro K.
    - rewrite Nat.add_0_r. repeat split.
      + destruct (le_lt_dec p (level T g d)) as [Q | Q]; [| exact Q].
        exfalso. apply NI. now left.
      + intros m V A. exfalso. apply NI. right. now exists m.
      + intros m A. exact (waits_for_one rules g d m l A W).
    - destruct IH as [B [C D]]; [lia |].
      assert (X : ~ runs T (g + k) d).
      { destruct k as [| k].
        - rewrite Nat.add_0_r. exact (who_waits_does_not_execute rules g d l W).
        - apply N. lia. }
      replace (g + S k) with (S (g + k)) by lia. repeat split.
      + destruct (le_lt_dec p (level T (S (g + k)) d)) as [Q | Q]; [| exact Q].
        exfalso. apply X. apply (rises rules). lia.
      + intros m V A. destruct (acquires rules _ _ _ A) as [Y | [Y | Y]].
        * exact (C m V Y).
        * exact (D m Y).
        * contradiction.
      + intros m A. destruct (begins_to_wait rules _ _ _ A) as [Y | Y].
        * exact (D m Y).
        * contradiction. }
  destruct (I (t - g)) as [B [C _]]; [lia |].
  replace (g + (t - g)) with t in B, C by lia.
  assert (BT : first <= t < last) by lia.
  destruct (inherits_through t d l (executing_is_urgent t d BT R) B C) as [x [WX UX]].
  exists x. repeat split; try assumption.
  intros [WG [q [EQ Q]]].
  destruct (handed_over rules g c l x HC NC WG) as [y [_ [HY A]]].
  assert (y = d) by (apply (held_by_one rules (S g) y d l HY); apply H; lia). subst y.
  destruct (A x q WG EQ) as [r [ER QR]].
  apply NI. apply urgent_is_inside. exists r. split; [exact ER | lia].
Qed.

End Traces.

(** The rules do not contradict each other, and the theorems speak of something: a task of priority 1 has a
    lock when one of priority 2 is released, and executes in its section while that one waits for the lock. *)
Module Example.

Inductive task := low | high.

Definition system : trace task unit := {|
  base := fun c => match c with low => 1 | high => 2 end;
  pending := fun t c => match c with low => True | high => 1 <= t <= 3 end;
  level := fun _ c => match c with low => 1 | high => 2 end;
  holds := fun t c _ => match c with low => t <= 2 | high => t = 3 end;
  waits := fun t c _ => match c with low => False | high => t = 2 end;
  runs := fun t c => match c with low => t = 0 \/ t = 2 \/ 4 <= t | high => t = 1 \/ t = 3 end
|}.

Lemma inherits : reaches _ _ system 2 low 2.
Proof.
  exists 2. split; [| lia].
  apply (inherited _ _ system 2 high tt low 2); simpl; try lia.
  exact (own _ _ system 2 high).
Qed.

Lemma system_is_scheduled : scheduled task unit system.
Proof.
  constructor; simpl.
  - intros _ [|]; lia.
  - intros t [|]; lia.
  - intros t [|] [|]; try reflexivity; lia.
  - intros t c a R P.
    destruct c, a; try (eexists; split; [apply own | simpl; lia]).
    assert (t = 2) by lia. subst t. exact inherits.
  - intros t [|]; lia.
  - intros t [|] _; lia.
  - intros t [|] _; lia.
  - intros t [|] _; lia.
  - intros t [|] [|] _; try reflexivity; lia.
  - intros t c [] [] _ _. reflexivity.
  - intros t [|] _; lia.
  - intros t c [] [|] H N W; [contradiction |].
    exists high. split; [exact W |]. split; [lia |].
    intros [|] q V E; [contradiction |]. exists q. split; [exact E | lia].
Qed.

Theorem the_section_is_the_one_before : forall s, 1 <= s <= 2 ->
  in_section task unit system 2 (fun _ => True) s low.
Proof.
  intros s L.
  apply (one_section task unit system system_is_scheduled 2 (fun _ => True)) with (first := 1) (last := 4) (t := 2);
    simpl; auto; try lia.
  intros t B. exists high. simpl. lia.
Qed.

End Example.

(** No more is assumed than what the theorems say. *)
Print Assumptions one_section.
Print Assumptions one_ceiling.
Print Assumptions as_often_as_requested.
Print Assumptions one_more_waits.
