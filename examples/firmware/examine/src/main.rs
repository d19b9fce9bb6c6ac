//! Examines the functions of an image: `llvm-objdump -d --no-show-raw-insn IMAGE | examine IMAGE` fails if a function
//! panics, formats floats, or can call itself directly or through others.
//!
//! A call through a pointer counts as a call of every function whose address occurs in the image, except in the
//! interrupt table. In an image with closures that call trait objects, all of them then seem to call each other: with
//! `direct` as the second argument, calls through pointers are not followed for recursion.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::ExitCode;
use std::{env, fs, io};

use object::{Object as _, ObjectSection as _};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Parts of the mangled names of functions that no image may contain.
const FORBIDDEN: [&str; 4] = ["9panicking", "7flt2dec", "3fmt5float", "a_panic_survived"];
/// The panic of a future that is polled after completion. Every `async fn` contains it, but no executor does that.
const RESUMED: &str = "panic_const_async_fn_resumed";
/// The function that it calls.
const BEHIND_RESUMED: &str = "9panicking9panic_fmt";

fn main() -> ExitCode {
    match examine() {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("examine: {e}");
            ExitCode::FAILURE
        }
    }
}

/// A function, the addresses that it calls, and whether it calls through a pointer.
#[derive(Default)]
struct Function {
    name: String,
    calls: BTreeSet<u64>,
    indirect: bool,
}

fn examine() -> Result<String> {
    let image = env::args_os().nth(1).ok_or("usage: llvm-objdump -d --no-show-raw-insn IMAGE | examine IMAGE")?;
    let data = fs::read(&image)?;
    let mut listing = String::new();
    io::stdin().read_to_string(&mut listing)?;
    let (functions, mut words) = listed(&listing)?;
    for section in object::File::parse(&*data)?.sections() {
        if matches!(section.name()?, ".rodata" | ".data") {
            let (chunks, _) = section.data()?.as_chunks();
            words.extend(chunks.iter().map(|word| u64::from(u32::from_le_bytes(*word))));
        }
    }
    judge(functions, &words, env::args_os().nth(2).is_some_and(|word| word == "direct"))
}

/// Returns a summary of the functions, or an error for a forbidden one. `words`: all words that may be addresses.
fn judge(mut functions: BTreeMap<u64, Function>, words: &BTreeSet<u64>, direct: bool) -> Result<String> {
    if functions.is_empty() {
        return Err("that is no listing".into());
    }
    let pointed: BTreeSet<u64> = words
        .iter()
        .filter(|word| *word & 1 == 1)
        .map(|word| word - 1)
        .filter(|at| functions.contains_key(at))
        .collect();
    for function in functions.values_mut().filter(|function| function.indirect && !direct) {
        function.calls.extend(&pointed);
    }
    let awaits = functions.values().any(|function| function.name.contains(RESUMED));
    for function in functions.values() {
        let resumed = awaits && (function.name.contains(RESUMED) || function.name.contains(BEHIND_RESUMED));
        if FORBIDDEN.iter().any(|part| function.name.contains(part)) && !resumed {
            return Err(format!("has {}", function.name).into());
        }
        let to = |part| function.calls.iter().any(|at| functions.get(at).is_some_and(|f| f.name.contains(part)));
        if awaits && to(BEHIND_RESUMED) && !function.name.contains(RESUMED) {
            return Err(format!("{} panics", function.name).into());
        }
    }
    let deepest = deepest(&functions)?;
    Ok(format!(
        "{} functions, {} called through pointers, calls {deepest} deep at most",
        functions.len(),
        pointed.len()
    ))
}

/// Parses a listing. Returns the functions by address, and the words in their code.
fn listed(listing: &str) -> Result<(BTreeMap<u64, Function>, BTreeSet<u64>)> {
    let (mut functions, mut words) = (BTreeMap::new(), BTreeSet::new());
    let (mut here, mut halves) = (0, BTreeMap::new());
    for line in listing.lines() {
        if let Some((at, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            here = u64::from_str_radix(at, 16)?;
            functions.insert(here, Function { name: name.to_owned(), ..Function::default() });
            continue;
        }
        let Some((_, line)) = line.split_once(": ") else { continue };
        let text = line.split('@').next().unwrap_or_default();
        let mut parts = text.split(|c: char| c.is_whitespace() || c == ',').filter(|part| !part.is_empty());
        let mut parts =
            parts.by_ref().skip_while(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()));
        let (Some(code), operands) = (parts.next(), parts.collect::<Vec<_>>()) else { continue };
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches('#').trim_start_matches("0x"), 16).ok();
        let Some(function) = functions.get_mut(&here) else { continue };
        match (code, &*operands) {
            (".word", [word]) => words.extend(number(word)),
            // An address in two halves.
            ("movw", [register, half]) => drop(halves.insert((*register).to_owned(), number(half))),
            ("movt", [register, half]) => {
                let (low, high) = (halves.remove(*register).flatten(), number(half));
                words.extend(low.zip(high).map(|(low, high)| high << 16 | low));
            }
            ("blx", [_]) => function.indirect = true,
            ("bx", [register]) => function.indirect |= *register != "lr",
            ("bl", [to, ..]) => function.calls.extend(number(to)),
            // A jump to another function. A jump to the start of its own function is a loop.
            (code, [.., to, name]) if code.starts_with('b') && name.starts_with('<') => {
                function.calls.extend(number(to).filter(|to| *to != here && !name.contains('+')));
            }
            _ => {}
        }
    }
    Ok((functions, words))
}

/// Returns the length of the longest chain of calls, or an error if there is recursion.
fn deepest(functions: &BTreeMap<u64, Function>) -> Result<usize> {
    // The depths of completed functions; `None` while the callees of a function are visited.
    let mut depths: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    for start in functions.keys() {
        let mut stack = vec![*start];
        while let Some(at) = stack.last().copied() {
            let calls = functions.get(&at).map(|function| &function.calls);
            let calls = calls.into_iter().flatten().filter(|to| functions.contains_key(to));
            if depths.get(&at).is_some_and(Option::is_some) {
                stack.pop();
                continue;
            }
            let first = depths.insert(at, None).is_none();
            let mut depth = 0;
            let open: Vec<u64> = calls
                .filter(|to| match depths.get(to) {
                    Some(Some(callee)) => {
                        depth = depth.max(*callee);
                        false
                    }
                    _ => true,
                })
                .copied()
                .collect();
            if open.is_empty() {
                depths.insert(at, Some(depth + 1));
            } else if let Some(again) = open.iter().find(|to| depths.contains_key(to)).filter(|_| first) {
                let name = |at: &u64| functions.get(at).map_or("", |function| &*function.name);
                return Err(format!("{} can come to call itself, through {}", name(again), name(&at)).into());
            } else {
                stack.extend(open);
            }
        }
    }
    Ok(depths.values().flatten().max().copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined(listing: &str, more: &[u64]) -> String {
        let (functions, mut words) = listed(listing).unwrap();
        words.extend(more);
        judge(functions, &words, false).unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn direct_calls_only() {
        let judged = |listing: &str| {
            let (functions, words) = listed(listing).unwrap();
            judge(functions, &words, true).unwrap_or_else(|e| e.to_string())
        };
        const POINTER: &str =
            "000000c0 <main>:\n      c0:      \tblx\tr3\n      c4: c1 00 00 00  \t.word\t0x000000c1\n";
        assert_eq!(examined(POINTER, &[]), "main can come to call itself, through main");
        assert_eq!(judged(POINTER), "1 functions, 1 called through pointers, calls 1 deep at most");
        let called = "000000c0 <main>:\n      c0:      \tbl\t0xd0 <one> @\n\n000000d0 <one>:\n      d0:      \tbl\t0xc0 <main> @\n";
        assert_eq!(judged(called), "main can come to call itself, through one");
    }

    #[test]
    fn calls_are_followed() {
        const PLAIN: &str = "\
000000c0 <main>:
      c0:      \tbl\t0xd0 <one>            @ imm = #0xc
      c4:      \tb\t0xc0 <main>            @ imm = #-0x8

000000d0 <one>:
      d0:      \tbeq\t0xd4 <one+0x4>       @ imm = #0x0
      d2:      \tbx\tlr
      d4:      \tb.w\t0xe0 <two>           @ imm = #0x8

000000e0 <two>:
      e0:      \tblx\tr3
      e4: c1 00 00 20  \t.word\t0x200000c1
";
        assert_eq!(examined(PLAIN, &[]), "3 functions, 0 called through pointers, calls 3 deep at most");
        assert_eq!(examined(PLAIN, &[0xd0]), "3 functions, 0 called through pointers, calls 3 deep at most");
        assert_eq!(examined(PLAIN, &[0xd1]), "one can come to call itself, through two");
        assert_eq!(examined(&PLAIN.replace("200000c1", "000000c1"), &[]), "main can come to call itself, through two");
        assert_eq!(
            examined(&PLAIN.replace("blx\tr3", "bl\t0xe0 <two>"), &[]),
            "two can come to call itself, through two"
        );
        let halves = "movw\tr3, #0xd1\n      e2:      \tmovt\tr3, #0x0\n      e6:      \tblx\tr3";
        assert_eq!(examined(&PLAIN.replace("blx\tr3", halves), &[]), "one can come to call itself, through two");
        assert_eq!(examined("", &[]), "that is no listing");
    }

    #[test]
    fn panics_and_floats_are_found() {
        let one = |name: &str| examined(&format!("000000c0 <{name}>:\n      c0:      \tbx\tlr\n"), &[]);
        assert_eq!(one("main"), "1 functions, 0 called through pointers, calls 1 deep at most");
        for name in
            ["_RNvNtCs1_4core9panicking9panic_fmt", "_RNvNtNtCs1_4core3num7flt2dec9to_string", "a_panic_survived"]
        {
            assert_eq!(one(name), format!("has {name}"));
        }
        let resumed = "000000c0 <_RN9panicking11panic_const28panic_const_async_fn_resumed>:
      c0:      \tbl\t0xd0 <_RN9panicking9panic_fmt> @

000000d0 <_RN9panicking9panic_fmt>:
      d0:      \tbx\tlr
";
        assert_eq!(examined(resumed, &[]), "2 functions, 0 called through pointers, calls 2 deep at most");
        let more = format!("{resumed}\n000000e0 <_R3two>:\n      e0:      \tbl\t0xd0 <_RN9panicking9panic_fmt> @\n");
        assert_eq!(examined(&more, &[]), "_R3two panics");
    }
}
