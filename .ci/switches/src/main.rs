//! Puts changes into the program that are switched on while it runs, so that many are tried on one build.
//!
//! Standard input is a list of changes as cargo-mutants prints them; the arguments are the tree to change and the file
//! that names, at run time, the one that is on. Standard output is the list of their places in the list that are in.
//! What cannot be switched, as a constant cannot, or what lies inside of another change, is left to a build of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::LineColumn;
use serde::Deserialize;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

#[derive(Deserialize)]
struct Mutant {
    file: PathBuf,
    genre: String,
    replacement: String,
    span: Place,
}

#[derive(Deserialize)]
struct Place {
    start: Point,
}

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    line: usize,
    column: usize,
}

impl From<LineColumn> for Point {
    fn from(at: LineColumn) -> Point {
        Point {
            line: at.line,
            column: at.column + 1,
        }
    }
}

/// What a part of a file is replaced by; an empty part is an insertion.
struct Edit {
    part: Range<usize>,
    text: String,
}

/// Finds the edits that make changes of one file switchable.
struct Finder<'a> {
    source: &'a str,
    wanted: BTreeMap<Point, Vec<(usize, &'a Mutant)>>,
    found: Vec<(usize, Vec<Edit>)>,
    constants: usize,
}

impl Finder<'_> {
    fn at(&self, spanned: &impl Spanned) -> Vec<(usize, String, String)> {
        let start = Point::from(spanned.span().start());
        let wanted = self.wanted.get(&start).into_iter().flatten();
        wanted
            .filter(|_| self.constants == 0)
            .map(|(number, mutant)| (*number, mutant.genre.clone(), mutant.replacement.clone()))
            .collect()
    }

    fn text(&self, spanned: &impl Spanned) -> &str {
        &self.source[spanned.span().byte_range()]
    }

    fn constant(&mut self, look: impl FnOnce(&mut Self)) {
        self.constants += 1;
        look(self);
        self.constants -= 1;
    }

    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        let (Some(first), start) = (block.stmts.first(), block.brace_token.span.open()) else {
            return;
        };
        let place = start.byte_range().end;
        for (number, genre, replacement) in self.at(first) {
            if genre == "FnValue" {
                let text = format!(" if {} {{ return {replacement}; }}", on(number));
                let part = place..place;
                self.found.push((number, vec![Edit { part, text }]));
            }
        }
    }
}

/// The condition that a change is on.
fn on(number: usize) -> String {
    format!("crate::mutated({number})")
}

/// Whether an expression binds names, which only the condition it stands in can do.
fn binds(expression: &syn::Expr) -> bool {
    struct Lets(bool);
    impl Visit<'_> for Lets {
        fn visit_expr_let(&mut self, _: &syn::ExprLet) {
            self.0 = true;
        }
    }
    let mut lets = Lets(false);
    lets.visit_expr(expression);
    lets.0
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(|this| visit::visit_item_const(this, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(|this| visit::visit_item_static(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(|this| visit::visit_impl_item_const(this, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.constant(|this| visit::visit_trait_item_const(this, item));
    }

    fn visit_expr_const(&mut self, expression: &'ast syn::ExprConst) {
        self.constant(|this| visit::visit_expr_const(this, expression));
    }

    fn visit_type(&mut self, of: &'ast syn::Type) {
        self.constant(|this| visit::visit_type(this, of));
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        self.constant(|this| visit::visit_pat(this, pattern));
    }

    fn visit_expr_repeat(&mut self, expression: &'ast syn::ExprRepeat) {
        self.visit_expr(&expression.expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.body(&item.sig, &item.block);
        let constant = usize::from(item.sig.constness.is_some());
        self.constants += constant;
        visit::visit_item_fn(self, item);
        self.constants -= constant;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.body(&item.sig, &item.block);
        let constant = usize::from(item.sig.constness.is_some());
        self.constants += constant;
        visit::visit_impl_item_fn(self, item);
        self.constants -= constant;
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        let (left, right) = (&expression.left, &expression.right);
        for (number, genre, replacement) in self.at(&expression.op) {
            if genre != "BinaryOperator" || binds(left) || binds(right) {
                continue;
            }
            let (whole, left, right) = (self.text(expression), self.text(left), self.text(right));
            let text = format!(
                "(if {} {{ {left} {replacement} {right} }} else {{ {whole} }})",
                on(number)
            );
            let part = expression.span().byte_range();
            self.found.push((number, vec![Edit { part, text }]));
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_unary(&mut self, expression: &'ast syn::ExprUnary) {
        for (number, genre, _) in self.at(&expression.op) {
            if genre == "UnaryOperator" {
                let (whole, inner) = (self.text(expression), self.text(&expression.expr));
                let text = format!("(if {} {{ {inner} }} else {{ {whole} }})", on(number));
                let part = expression.span().byte_range();
                self.found.push((number, vec![Edit { part, text }]));
            }
        }
        visit::visit_expr_unary(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        for (number, genre, _) in self.at(arm) {
            if genre == "MatchArm" {
                let mut edits = Vec::new();
                let place = arm.pat.span().byte_range().end;
                let off = format!("!{}", on(number));
                match &arm.guard {
                    None => edits.push((place..place, format!(" if {off}"))),
                    Some((_, guard)) => {
                        let Range { start, end } = guard.span().byte_range();
                        let (open, close) = if binds(guard) { ("", "") } else { ("(", ")") };
                        edits.push((start..start, format!("{off} && {open}")));
                        edits.push((end..end, close.to_owned()));
                    }
                }
                let edits = edits.into_iter().map(|(part, text)| Edit { part, text });
                self.found.push((number, edits.collect()));
            }
        }
        if let Some((_, guard)) = &arm.guard {
            for (number, genre, replacement) in self.at(guard) {
                if genre == "MatchArmGuard" && !binds(guard) {
                    let on = on(number);
                    let before = match replacement.as_str() {
                        "true" => format!("({on} || ("),
                        _ => format!("(!{on} && ("),
                    };
                    let Range { start, end } = guard.span().byte_range();
                    let edits = [(start..start, before), (end..end, "))".to_owned())];
                    let edits = edits.into_iter().map(|(part, text)| Edit { part, text });
                    self.found.push((number, edits.collect()));
                }
            }
        }
        visit::visit_arm(self, arm);
    }
}

/// Changes one file; tells which changes are in.
fn switch(source: &str, mutants: &[(usize, &Mutant)]) -> (String, BTreeSet<usize>) {
    let file = syn::parse_file(source).expect("a source that compiles");
    let mut wanted: BTreeMap<Point, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (number, mutant) in mutants {
        wanted
            .entry(mutant.span.start)
            .or_default()
            .push((*number, mutant));
    }
    let mut finder = Finder {
        source,
        wanted,
        found: Vec::new(),
        constants: 0,
    };
    finder.visit_file(&file);
    let mut taken: Vec<Range<usize>> = Vec::new();
    let (mut edits, mut numbers) = (Vec::new(), BTreeSet::new());
    for (number, of_one) in finder.found {
        let (first, last) = (&of_one[0].part, &of_one[of_one.len() - 1].part);
        let whole = first.start..last.end;
        let apart = |other: &Range<usize>| whole.end < other.start || other.end < whole.start;
        if numbers.contains(&number) || !taken.iter().all(apart) {
            continue;
        }
        taken.push(whole);
        numbers.insert(number);
        edits.extend(of_one);
    }
    edits.sort_by_key(|edit| (edit.part.start, edit.part.end));
    let mut text = source.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.part.clone(), &edit.text);
    }
    (text, numbers)
}

/// The files that are the root of the crate that a file belongs to, and the place of its program.
fn roots(tree: &Path, file: &Path) -> Vec<PathBuf> {
    let package: PathBuf = file.components().take(2).collect();
    ["lib.rs", "main.rs"]
        .map(|name| tree.join(&package).join("src").join(name))
        .into_iter()
        .filter(|root| root.exists())
        .collect()
}

fn main() {
    let arguments: Vec<_> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [tree, switched_on] = arguments.as_slice() else {
        panic!("the tree, and the file that names what is on");
    };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).expect("a list");
    let mutants: Vec<Mutant> = serde_json::from_str(&input).expect("a list of changes");
    let mut files: BTreeMap<&Path, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (number, mutant) in mutants.iter().enumerate() {
        files
            .entry(&mutant.file)
            .or_default()
            .push((number, mutant));
    }
    let mut numbers = BTreeSet::new();
    let mut crates = BTreeSet::new();
    for (file, of_file) in files {
        let path = tree.join(file);
        let source = fs::read_to_string(&path).expect("a file of the tree");
        let (text, switched) = switch(&source, &of_file);
        if !switched.is_empty() {
            fs::write(&path, text).expect("a tree that can be written");
            crates.extend(roots(tree, file));
            numbers.extend(switched);
        }
    }
    for root in crates {
        let mut source = fs::read_to_string(&root).expect("a root of a crate");
        // Read from a file, because a program of a test may get no variables.
        source.push_str(&format!(
            "
/// Whether a change is on.
#[allow(dead_code)]
pub(crate) fn mutated(number: u32) -> bool {{
    extern crate std;
    static ON: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::fs::read_to_string({switched_on:?}).ok()?.trim().parse().ok()) == Some(number)
}}
"
        ));
        fs::write(&root, source).expect("a tree that can be written");
    }
    println!("{}", serde_json::to_string(&numbers).expect("numbers"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change at the first place of a word in a source.
    fn mutant(source: &str, word: &str, genre: &str, replacement: &str) -> Mutant {
        let before = &source[..source.find(word).unwrap()];
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        let line = before.matches('\n').count() + 1;
        Mutant {
            file: PathBuf::new(),
            genre: genre.into(),
            replacement: replacement.into(),
            span: Place {
                start: Point { line, column },
            },
        }
    }

    #[test]
    fn a_change_is_put_behind_a_switch() {
        for (source, word, genre, replacement, expected) in [
            (
                "fn f(a: u8) -> bool { g();\na == 1 }",
                "g()",
                "FnValue",
                "true",
                "fn f(a: u8) -> bool { if crate::mutated(7) { return true; } g();\na == 1 }",
            ),
            (
                "fn f(a: u8) -> bool { a + 2 == 1 }",
                "==",
                "BinaryOperator",
                "!=",
                "fn f(a: u8) -> bool { (if crate::mutated(7) { a + 2 != 1 } else { a + 2 == 1 }) }",
            ),
            (
                "fn f(a: bool) -> bool { !a }",
                "!",
                "UnaryOperator",
                "",
                "fn f(a: bool) -> bool { (if crate::mutated(7) { a } else { !a }) }",
            ),
            (
                "fn f(a: u8) { match a { 1 => g(), _ => h() } }",
                "1",
                "MatchArm",
                "",
                "fn f(a: u8) { match a { 1 if !crate::mutated(7) => g(), _ => h() } }",
            ),
            (
                "fn f(a: u8) { match a { x if x > 1 || x == 0 => g(), _ => h() } }",
                "x if",
                "MatchArm",
                "",
                "fn f(a: u8) { match a { x if !crate::mutated(7) && (x > 1 || x == 0) => g(), _ => h() } }",
            ),
            (
                "fn f(a: u8) { match a { x if x > 1 => g(), _ => h() } }",
                "x > 1",
                "MatchArmGuard",
                "true",
                "fn f(a: u8) { match a { x if (crate::mutated(7) || (x > 1)) => g(), _ => h() } }",
            ),
        ] {
            let mutant = mutant(source, word, genre, replacement);
            let (text, numbers) = switch(source, &[(7, &mutant)]);
            assert_eq!(text, expected);
            assert_eq!(numbers, BTreeSet::from([7]));
        }
    }

    #[test]
    fn what_cannot_be_switched_is_left_as_it_is() {
        for (source, word, genre) in [
            ("const A: u8 = 1 + 2;", "+", "BinaryOperator"),
            ("const fn f(a: u8) -> u8 { a + 1 }", "a + 1", "FnValue"),
            ("const fn f(a: u8) -> u8 { a + 1 }", "+", "BinaryOperator"),
            ("fn f(a: [u8; 1 + 2]) {}", "+", "BinaryOperator"),
            (
                "fn f() { if let Some(a) = b() && a { g() } }",
                "&&",
                "BinaryOperator",
            ),
            (
                "fn f() -> A { A { b: 1, ..A::new() } }",
                "b: 1",
                "StructField",
            ),
        ] {
            let mutant = mutant(source, word, genre, "-");
            let (text, numbers) = switch(source, &[(7, &mutant)]);
            assert_eq!((text.as_str(), numbers.len()), (source, 0));
        }
    }

    #[test]
    fn a_change_within_another_waits_for_a_build_of_its_own() {
        let source = "fn f(a: u8) -> bool { a + 2 == 1 }";
        let outer = mutant(source, "==", "BinaryOperator", "!=");
        let inner = mutant(source, "+", "BinaryOperator", "-");
        let (_, numbers) = switch(source, &[(7, &outer), (8, &inner)]);
        assert_eq!(numbers.len(), 1);
    }
}
