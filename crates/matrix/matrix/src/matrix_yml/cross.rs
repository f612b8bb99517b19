//! Target lists for other tools: `Cross.toml`, and a table for the scripts in `ci`.

use serde::Serialize;

use crate::matrix_yml::axes::Build;
use crate::matrix_yml::file::Matrix;
use crate::matrix_yml::templates::fill_in;

/// Returns the text of `Cross.toml`, with which `cross test --target TRIPLE` needs no further set-up.
pub fn cross_file(matrix: &Matrix) -> String {
    #[derive(Serialize)]
    struct Values<'a> {
        triples: Vec<&'a str>,
    }
    let targets = matrix.targets.iter().filter(|target| target.build == Build::Gcc);
    let triples = targets.map(|target| target.triple.as_str()).collect();
    fill_in(include_str!("../../templates/Cross.toml"), Values { triples })
}

/// Returns the text of `ci/targets.tsv`, for shell scripts, which cannot read YAML.
pub fn targets_file(matrix: &Matrix) -> String {
    let lines = matrix.targets.iter().map(|target| {
        let linker = target.linker();
        let linker = linker.as_deref().unwrap_or("-");
        format!("{}\t{}\t{}\t{linker}\n", target.id, target.triple, target.build)
    });
    lines.collect()
}
