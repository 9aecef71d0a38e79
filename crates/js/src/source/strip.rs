//! Makes JavaScript of TypeScript: types go, enums and namespaces become code.
//!
//! The result is printed anew, so its lines are others; the printer's map leads back to the author's.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Statement, TSModuleReference, TSType};
use oxc_ast_visit::{Visit, walk};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan as _, SourceType, Span};
use oxc_transformer::{TransformOptions, Transformer};

use super::{Script, SourceFault, fault_at, faults, outline, parse};

/// The printer looks down all the way at every `if`: what nests without brackets must have an end as well.
const DEPTH: usize = 10_000;

pub(super) fn strip(allocator: &Allocator, text: &str) -> Result<Script, Vec<SourceFault>> {
    let mut program = parse(allocator, text, SourceType::ts().with_unambiguous(true))?.program;
    let mut depth = Depth::default();
    depth.visit_program(&program);
    if let Some(span) = depth.fault {
        let message = format!("the script nests more than {DEPTH} deep");
        return Err(vec![fault_at(text, span.start as usize, &message)]);
    }
    let commonjs: Vec<_> = program.body.iter().filter_map(of_commonjs).collect();
    if !commonjs.is_empty() {
        return Err(commonjs.iter().map(|(at, message)| fault_at(text, *at, message)).collect());
    }
    let scoping = SemanticBuilder::new().with_enum_eval(true).build(&program).semantic.into_scoping();
    let options = TransformOptions::default();
    let path = Path::new("tool.ts");
    let transformed = Transformer::new(allocator, path, &options).build_with_scoping(scoping, &mut program);
    if !transformed.diagnostics.is_empty() {
        let diagnostics = transformed.diagnostics.iter();
        return Err(faults(text, diagnostics.map(|one| (&one.labels[..], &one.message))));
    }
    // Indented code would grow with the square of its depth, and nobody reads it.
    let options = CodegenOptions {
        source_map_path: Some(path.to_owned()),
        indent_width: 0,
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let origins = Origins::new(printed.map.iter().flat_map(|map| map.get_tokens()).map(|token| Origin {
        made: (token.get_dst_line(), token.get_dst_col()),
        source: (token.get_src_line(), token.get_src_col()),
    }));
    let mut script = outline::outline(allocator, &printed.code).map_err(|faults| origins.faults(faults))?;
    script.lines = origins.lines(printed.code.lines().count());
    Ok(script)
}

/// TypeScript's own ways to write `module.exports` and `require`, which scripts do not have.
fn of_commonjs(statement: &Statement<'_>) -> Option<(usize, &'static str)> {
    let message = match statement {
        Statement::TSExportAssignment(_) => "export = is not available to tools; use export",
        Statement::TSImportEqualsDeclaration(import)
            if matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_)) =>
        {
            outline::NO_IMPORTS
        }
        _ => return None,
    };
    Some((statement.span().start as usize, message))
}

/// How deep the syntax tree goes, looked at no deeper than it may.
#[derive(Default)]
struct Depth {
    now: usize,
    fault: Option<Span>,
}

impl Depth {
    fn within(&mut self, span: Span, look: impl FnOnce(&mut Self)) {
        if self.now == DEPTH {
            self.fault.get_or_insert(span);
            return;
        }
        self.now += 1;
        look(self);
        self.now -= 1;
    }
}

impl<'a> Visit<'a> for Depth {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.within(it.span(), |depth| walk::walk_statement(depth, it));
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        self.within(it.span(), |depth| walk::walk_expression(depth, it));
    }

    fn visit_ts_type(&mut self, it: &TSType<'a>) {
        self.within(it.span(), |depth| walk::walk_ts_type(depth, it));
    }
}

/// Where a piece of the printed code comes from; line and column from 0, as maps have them.
struct Origin {
    made: (u32, u32),
    source: (u32, u32),
}

struct Origins(Vec<Origin>);

impl Origins {
    fn new(origins: impl Iterator<Item = Origin>) -> Self {
        let mut origins: Vec<Origin> = origins.collect();
        origins.sort_by_key(|origin| origin.made);
        Self(origins)
    }

    fn faults(&self, mut faults: Vec<SourceFault>) -> Vec<SourceFault> {
        for fault in &mut faults {
            let made = (fault.line as u32 - 1, fault.column as u32 - 1);
            let following = self.0.partition_point(|origin| origin.made <= made);
            if let Some(origin) = following.checked_sub(1).and_then(|index| self.0.get(index)) {
                (fault.line, fault.column) = (origin.source.0 as usize + 1, origin.source.1 as usize + 1);
            }
        }
        faults
    }

    /// For each line that was made, the line that its first piece comes from.
    fn lines(&self, count: usize) -> Vec<u32> {
        let mut lines = vec![0; count];
        for origin in self.0.iter().rev() {
            if let Some(line) = lines.get_mut(origin.made.0 as usize) {
                *line = origin.source.0 + 1;
            }
        }
        // What was made up (the head of an enum) belongs to what stands before it.
        let mut last = 1;
        for line in &mut lines {
            if *line == 0 {
                *line = last;
            }
            last = *line;
        }
        lines
    }
}
