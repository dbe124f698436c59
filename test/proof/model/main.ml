(* Answers questions by the model: a line of numbers each, the question's kind first. Lists begin with their length. *)

open Model

let rest = ref []

let number () =
  match !rest with
  | [] -> failwith "the line ends too early"
  | x :: xs -> rest := xs; x

let rec times n f = if n = 0 then [] else let x = f () in x :: times (n - 1) f
let list f () = times (number ()) f
let name = list number
let path = list name

let item () =
  match number () with
  | 0 -> Char (number ())
  | 1 -> let not = number () = 1 in
         Class (not, list (fun () -> let a = number () in let b = number () in (a, b)) ())
  | 2 -> Any
  | _ -> Run

let caps () =
  let n = number () in
  let bit i = n land (1 lsl i) <> 0 in
  { read = bit 0; create = bit 1; update = bit 2; delete = bit 3; execute = bit 4 }

let bits c =
  List.fold_left (fun n (i, set) -> if set then n lor (1 lsl i) else n) 0
    [0, c.read; 1, c.create; 2, c.update; 3, c.delete; 4, c.execute]

let rule () =
  let place = path () in
  let names = list (list item) () in
  { place; names; grants = caps () }

let policy = list rule

let layer () =
  let front = list number () in
  let back = list number () in
  let replace = number () = 1 in
  let dedup = match number () with 0 -> None | 1 -> Some true | _ -> Some false in
  { front; back; replace; dedup; default = number () = 1 }

let say = print_int
let next n = print_char ' '; say n
let numbers l = next (List.length l); List.iter next l

(* Paths are numbered from zero on: -1 stands for a search that was too long. *)
let paths = function
  | None -> say (-1)
  | Some ts -> say (List.length ts);
               List.iter (fun t -> next (List.length t); List.iter numbers t) ts

let fuel = 1_000_000

let answer () =
  match number () with
  | 1 -> let p = policy () in
         let ts = list path () in
         say (List.length ts); List.iter (fun t -> next (bits (decide p t))) ts
  | 2 -> let p = policy () in let q = policy () in paths (differences same fuel p q)
  | 3 -> let p = policy () in let q = policy () in paths (differences within fuel p q)
  | 4 -> let p = policy () in let src = path () in let dst = path () in paths (gains fuel p src dst)
  | 5 -> let a = layer () in let b = layer () in
         let l = over (fun x y -> x = y) a b in
         say 0; numbers l.front; numbers l.back; next (if l.replace then 1 else 0);
         next (match l.dedup with None -> 0 | Some true -> 1 | Some false -> 2); next (if l.default then 1 else 0)
  | n -> failwith ("no question of kind " ^ string_of_int n)

let () =
  try
    while true do
      rest := List.map int_of_string (String.split_on_char ' ' (read_line ()));
      answer ();
      if !rest <> [] then failwith "the line is too long";
      print_newline ()
    done
  with End_of_file -> ()
