//! How a script can be ended that goes on behind its answer: by checks in its own text. Pure.
//!
//! Nothing in the protocol ends what follows an `await` and only that: a termination also drops
//! the microtasks that are queued in the page, a neighbour's answer among them (measured), and a
//! breakpoint holds the page. So the text gets a check where it goes on by itself: behind every
//! `await`, and at the head of functions given to timers and to `then`. A script that was ended
//! stops at its next check, for ever, as if what it waits for never came; nothing else notices.
//!
//! What a script has put into the page stays: a check counts only in a function that was under
//! way when the script was ended, not in one that the page calls afterwards.

use std::collections::HashSet;
use std::fmt::Write as _;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, AwaitExpression, BindingPattern, CallExpression,
    Expression, ForOfStatement, Function, FunctionBody, Statement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

/// Longer texts get no checks: the time that parsing takes is the caller's.
const LONGEST_TEXT: usize = 32 << 10;
/// The parser recurses as deep as the text nests; mapped, not used.
const PARSER_STACK: usize = 256 << 20;
/// Where a text goes on by itself, one of these words stands.
const WORDS: [&str; 8] =
    ["await", "setTimeout", "setInterval", "request", "queueMicrotask", ".then", ".catch", ".finally"];

/// `text` with checks, as it stands between `open` and `close`; `None` if there is none to make.
/// The checks call on `$tv`, see [`surrounding`].
pub(super) fn with_checks(open: &str, text: &str, close: &str) -> Option<String> {
    let in_question =
        text.len() <= LONGEST_TEXT && !text.contains("$tv") && WORDS.iter().any(|it| text.contains(it));
    if !in_question {
        return None;
    }
    stacker::grow(PARSER_STACK, || {
        let source = format!("{open}{text}\n{close}");
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &source, SourceType::script()).parse();
        if parsed.panicked || !parsed.diagnostics.is_empty() {
            return None;
        }
        let [Statement::ExpressionStatement(statement)] = parsed.program.body.as_slice() else { return None };
        let Expression::ArrowFunctionExpression(script) = &statement.expression else { return None };
        // A function may stand before the timer that it is given to.
        let mut names = Checks::default();
        names.visit_arrow_function_body(&script.body);
        let mut checks = Checks { named: names.named, ..Checks::default() };
        checks.visit_arrow_function_body(&script.body);
        if checks.count == 0 {
            return None;
        }
        let marked = checks.apply(&source);
        Some(marked[open.len()..marked.len() - close.len() - 1].to_owned())
    })
}

/// A script whose text has checks, inside the function that gives them what they call on.
pub(super) fn surrounding(script: &str, name: &str) -> String {
    format!(
        "(($tv,$tv0)=>{script})({{__proto__:null,get n(){{return new Promise(()=>{{}})}},r:(v)=>v,\
         e:()=>{{const s=globalThis[{REGISTRY}];return s!==undefined&&s.has('{name}')}}}},false)"
    )
}

/// An expression that ends the script called `name` at its next check.
pub(super) fn end(name: &str) -> String {
    format!("void(globalThis[{REGISTRY}]??=new Set()).add('{name}')")
}

/// Where a page notes the scripts that were ended. It comes into being with the first.
const REGISTRY: &str = "Symbol.for('tabvisor.ended')";

/// A text to insert at `at`.
struct Edit {
    at: u32,
    text: String,
}

#[derive(Default)]
struct Checks {
    /// In the order in which texts for the same place follow each other, if none ends there.
    before: Vec<Edit>,
    /// The same for what closes.
    after: Vec<Edit>,
    /// The functions around the place that is visited: whether they have to know if the script
    /// was ended before they began. The script itself is not among them.
    around: Vec<bool>,
    /// Functions, by where they begin, that are called when a timer or a promise says so.
    called_later: HashSet<u32>,
    /// Names of such functions.
    named: HashSet<String>,
    count: usize,
}

impl Checks {
    fn before(&mut self, at: u32, text: impl Into<String>) {
        self.before.push(Edit { at, text: text.into() });
    }

    fn after(&mut self, at: u32, text: impl Into<String>) {
        self.after.push(Edit { at, text: text.into() });
    }

    /// A condition: the script was ended, and the function that this stands in was under way.
    fn ended(&mut self) -> String {
        self.count += 1;
        if let Some(innermost) = self.around.last_mut() {
            *innermost = true;
        }
        format!("$tv.e()&&!$tv{}", self.around.len())
    }

    fn function(&mut self, begin: u32, body: Span, directives: Option<u32>, visit: impl FnOnce(&mut Self)) {
        let guard = if self.called_later.contains(&begin) {
            format!("if({})return $tv.n;", self.ended())
        } else {
            String::new()
        };
        let is_block = directives.is_some();
        let place = self.before.len();
        self.before(directives.unwrap_or(body.start), "");
        self.around.push(false);
        visit(self);
        let own = self.around.len();
        let begun = match self.around.pop() {
            Some(true) => format!("const $tv{own}=$tv.e();"),
            _ => String::new(),
        };
        if guard.is_empty() && begun.is_empty() {
            return;
        }
        if is_block {
            self.before[place].text = format!(";{guard}{begun}");
        } else {
            self.before[place].text = format!("{{{guard}{begun}return ");
            self.after(body.end, "}");
        }
    }

    fn block(&mut self, begin: u32, body: &FunctionBody<'_>) {
        let head = body.directives.last().map_or(body.span.start + 1, |it| it.span.end);
        self.function(begin, body.span, Some(head), |it| walk::walk_function_body(it, body));
    }

    fn apply(mut self, source: &str) -> String {
        // Stable: texts for one place stay in their order. What closes there comes first.
        self.after.sort_by_key(|it| it.at);
        self.before.sort_by_key(|it| it.at);
        let mut edits: Vec<(u32, u8, String)> = Vec::new();
        edits.extend(self.after.into_iter().map(|it| (it.at, 0, it.text)));
        edits.extend(self.before.into_iter().map(|it| (it.at, 1, it.text)));
        edits.sort_by_key(|(at, order, _)| (*at, *order));
        let mut marked = String::with_capacity(source.len() * 2);
        let mut done = 0;
        for (at, _, text) in edits {
            let at = at as usize;
            let _ = write!(marked, "{}{text}", &source[done..at]);
            done = at;
        }
        marked + &source[done..]
    }
}

impl<'a> Visit<'a> for Checks {
    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.before(it.span.start, "$tv.r(");
        walk::walk_await_expression(self, it);
        let check = format!(",{}&&await $tv.n)", self.ended());
        self.after(it.span.end, check);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if !it.r#await {
            return walk::walk_for_of_statement(self, it);
        }
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        let check = format!("{{if({})await $tv.n;", self.ended());
        self.before(it.body.span().start, check);
        self.visit_statement(&it.body);
        self.after(it.body.span().end, "}");
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if calls_later(&it.callee) {
            for argument in &it.arguments {
                match argument {
                    Argument::ArrowFunctionExpression(function) => {
                        self.called_later.insert(function.span.start);
                    }
                    Argument::FunctionExpression(function) => {
                        self.called_later.insert(function.span.start);
                    }
                    Argument::Identifier(name) => {
                        self.named.insert(name.name.to_string());
                    }
                    _ => {}
                }
            }
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(name), Some(init)) = (&it.id, &it.init)
            && self.named.contains(name.name.as_str())
        {
            self.called_later.insert(init.span().start);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        if it.id.as_ref().is_some_and(|name| self.named.contains(name.name.as_str())) {
            self.called_later.insert(it.span.start);
        }
        self.visit_formal_parameters(&it.params);
        if let Some(body) = &it.body {
            self.block(it.span.start, body);
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.visit_formal_parameters(&it.params);
        let begin = it.span.start;
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => self.block(begin, body),
            body => self.function(begin, body.span(), None, |checks| checks.visit_arrow_function_body(body)),
        }
    }
}

/// Whether this takes functions to call them later.
fn calls_later(callee: &Expression<'_>) -> bool {
    const TIMERS: [&str; 5] =
        ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback", "queueMicrotask"];
    match callee {
        Expression::Identifier(name) => TIMERS.contains(&name.name.as_str()),
        Expression::StaticMemberExpression(member) => {
            let name = member.property.name.as_str();
            TIMERS.contains(&name) || ["then", "catch", "finally"].contains(&name)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str) -> Option<String> {
        with_checks("()=>(", text, ")")
    }

    fn body(text: &str) -> Option<String> {
        with_checks("async()=>{", text, "}")
    }

    #[test]
    fn a_text_that_does_not_go_on_by_itself_stays_as_it_is() {
        for text in
            ["1 + 1", "'await'", "() => { while (true) {} }", "$tv + await x", "setTimeout", "await ("]
        {
            assert_eq!(expression(text), None, "{text}");
        }
        assert_eq!(body("return 1"), None);
        assert_eq!(body(&format!("await 1{}", " ".repeat(LONGEST_TEXT))), None);
    }

    #[test]
    fn what_follows_an_await_is_checked() {
        assert_eq!(body("await a; b").unwrap(), "$tv.r(await a,$tv.e()&&!$tv0&&await $tv.n); b");
        assert_eq!(
            expression("async x => await await x").unwrap(),
            "async x => {const $tv1=$tv.e();return $tv.r(await $tv.r(await x,\
             $tv.e()&&!$tv1&&await $tv.n),$tv.e()&&!$tv1&&await $tv.n)}"
        );
        assert_eq!(
            expression("async () => { 'use strict'\nfor await (const x of y) n++ }").unwrap(),
            "async () => { 'use strict';const $tv1=$tv.e();\n\
             for await (const x of y) {if($tv.e()&&!$tv1)await $tv.n;n++} }"
        );
    }

    #[test]
    fn what_a_timer_or_a_promise_calls_is_checked() {
        let guard = "if($tv.e()&&!$tv0)return $tv.n;";
        assert_eq!(
            body("setInterval(() => n++, 9)").unwrap(),
            format!("setInterval(() => {{{guard}return n++}}, 9)")
        );
        assert_eq!(
            body("p.then(function () { n++ })").unwrap(),
            format!("p.then(function () {{;{guard} n++ }})")
        );
        assert_eq!(
            body("function tick() { n++; setTimeout(tick, 9) } tick()").unwrap(),
            format!("function tick() {{;{guard} n++; setTimeout(tick, 9) }} tick()")
        );
        assert_eq!(
            body("const tick = () => n++; window.setTimeout(tick)").unwrap(),
            format!("const tick = () => {{{guard}return n++}}; window.setTimeout(tick)")
        );
    }

    #[test]
    fn a_text_that_nests_deeply_is_only_a_text() {
        for (open, close) in
            [("(", ")"), ("!", ""), ("x=>", ""), ("[", "]"), ("await ", ""), ("`${", "}`"), ("a?b:", "")]
        {
            let times = LONGEST_TEXT / (open.len() + close.len()) - 20;
            let text = format!("{}await 1{}", open.repeat(times), close.repeat(times));
            let _ = body(&text);
        }
    }
}
