// Creates sample reports with the real executable, from artificial results:
//
//   node samples.mjs POLLMATRIX FOLDER
//
// FOLDER/mixed has two systems and one that was not run, many statuses and both layers. FOLDER/hostile has
// texts that attack the page. FOLDER/large has 20,000 cells. Each folder has report.html and results.json.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Text that would end scripts and attributes, begin tags, run, and reorder its surroundings. */
export const HOSTILE = `</script><img src=x onerror="globalThis.broken = 1">\u202Egnp.exe'"&--><!--\u2028{{ 7 * 7 }}`;
/** The same text as the report shows it. */
export const SHOWN = HOSTILE.replace("\u202E", "\\u{202e}").replace("\u2028", "\\u{2028}");

function run(target, os, more = {}) {
  return {
    pollmatrix: "0.1.0",
    commit: "0123456789ab",
    executable: `executable of ${target}`,
    matrix: "a matrix",
    selection: "everything",
    target,
    runner: "native",
    triple: target,
    os,
    kernel: os === "linux" ? "6.18.0" : "14.1-RELEASE",
    machine: "x86_64",
    arch: "x86_64",
    cpus: 4,
    seed: "0x2a",
    repeat: 2,
    started: "2026-01-02T03:04:05Z",
    finished: "2026-01-02T03:14:05Z",
    resumed: 0,
    interrupted: false,
    ...more,
  };
}

function check(what, expected, observed, more = {}) {
  return { what, expected, observed, source: "poll(2)", holds: expected.includes(observed), ...more };
}

function cell(target, scenario, variant, backend, more = {}) {
  const [transport, trigger, counts] = variant.split("-");
  const [threads, groups] = counts.match(/\d+/g).map(Number);
  const id = `${scenario}/${variant}@${backend}`;
  const status = more.status ?? "pass";
  return {
    id,
    scenario,
    backend,
    target,
    layer: "contract",
    status,
    ...(status === "pass" ? {} : { reason: `why it is ${status}` }),
    params: { transport, trigger, threads, groups },
    attempts: { passed: status === "pass" ? 2 : 0, total: 2 },
    seed: "0x2a",
    duration_ms: 12,
    reproducer: `pollmatrix run '${id}' --seed 0x2a`,
    checks: [check("bytes", ["5"], "5")],
    counters: { takeovers: 3 },
    notes: ["show activity\nloops: 3"],
    ...more,
  };
}

const scenario = (title, layer, clauses, more = {}) => ({ title, layer, clauses, pollmatrix: "0.1.0", ...more });

const SCENARIOS = {
  "deletion/own-handler": scenario("A handler may delete its own FD", "contract", ["S4", "bug 12"]),
  "migration/idle-takeover": scenario("An idle FD that is taken over is reported to its new thread only", "contract", [
    "S3",
  ]),
  "raw/pipe-drained": scenario("What a drained pipe answers when its writer is gone", "characterisation", ["V26"], {
    question: "What does a poller say of a pipe at its end?",
    verbs: "pipe; write 1; close w; read 1; wait",
    links: [
      { text: "poll(2)", url: "https://man.example.org/poll.2" },
      { text: "no address", url: "javascript:alert(1)" },
    ],
  }),
};

function system(target, os, queue) {
  const cells = [];
  for (const backend of [queue, "poll", "select"]) {
    for (const variant of ["pipe-level-2t1g", "tcp-level-2t1g", "tcp-level-4t2g", "unix-level-2t1g"]) {
      cells.push(cell(target, "deletion/own-handler", variant, backend));
      cells.push(cell(target, "migration/idle-takeover", variant, backend));
    }
    // Any number holds, and all backends have different ones.
    const iterations = check("iterations of the loop", ["at most 300"], String(100 + cells.length), { holds: true });
    change(cells, `deletion/own-handler/tcp-level-4t2g@${backend}`, { status: "pass", checks: [iterations] });
    const observed = {
      epoll: "IN|HUP",
      kqueue: "R(data=0)+EOF",
      poll: os === "linux" ? "HUP" : "IN|HUP",
      select: "r--",
    }[backend];
    const answer = check("the first wait", ["HUP", "IN|HUP", "r--", "R(data=0)+EOF"], observed, {
      source: "measured, https://example.org/table",
      evidence: "M",
      since: os === "linux" ? "6.1" : "12.3",
    });
    const layer = "characterisation";
    cells.push(cell(target, "raw/pipe-drained", "pipe-level-1t1g", backend, { layer, checks: [answer] }));
  }
  return cells;
}

/** Changes the result of a cell. */
function change(cells, id, more) {
  const found = cells.find((cell) => cell.id === id);
  if (found.status !== more.status) {
    found.attempts = { passed: 0, total: 2 };
    found.reason = `why it is ${more.status}`;
  }
  Object.assign(found, more);
}

function linux() {
  const target = "x86_64-linux-gnu";
  const cells = system(target, "linux", "epoll");
  change(cells, "migration/idle-takeover/tcp-level-2t1g@epoll", {
    status: "fail",
    reason: "reports: expected 1/0:before 1/1:after, observed 1/0:before 1/0:after, see https://example.org/bugs/7.",
    checks: [
      check("bytes", ["5"], "5"),
      check("reports", ["1/0:before 1/1:after", "1/1:before"], "1/0:before 1/0:after", { source: "S3: one per write" }),
    ],
    stderr: "thread 'worker' panicked at worker.rs:7",
    timeline: {
      lanes: [{ name: "worker 1/0" }, { name: "worker 1/1", dropped: 2 }],
      events: [
        { ns: 1000, lane: 0, act: "report", fd: 9 },
        { ns: 2000, lane: 1, act: "take-over", fd: 9 },
        { ns: 3000, lane: 0, act: "return", fd: 9 },
        { ns: 4000, lane: 1, act: "wrong", detail: "reports" },
      ],
    },
  });
  change(cells, "migration/idle-takeover/tcp-level-4t2g@poll", {
    status: "known-fail",
    checks: [
      check("bytes", ["5"], "4", { evidence: "I", since: "6.1", until: "6.9", url: "https://example.org/bugs/8" }),
    ],
  });
  change(cells, "deletion/own-handler/unix-level-2t1g@select", { status: "timeout" });
  change(cells, "deletion/own-handler/tcp-level-2t1g@select", { status: "flaky", attempts: { passed: 1, total: 2 } });
  change(cells, "deletion/own-handler/pipe-level-2t1g@select", { status: "broken" });
  for (const own of cells.filter(({ backend }) => backend === "epoll")) {
    cells.push(
      cell(target, own.scenario, own.id.split("/")[2].split("@")[0], "kqueue", {
        status: "unsupported",
        reason: "kqueue does not exist on linux",
        layer: own.layer,
        checks: [],
      }),
    );
  }
  cells.push(cell(target, "migration/idle-takeover", "tcp-edge-2t1g", "epoll"));
  return { schema: 2, runs: [run(target, "linux")], not_run: [], scenarios: SCENARIOS, cells };
}

function freebsd() {
  const target = "x86_64-freebsd";
  const runs = [run(target, "freebsd", { runner: "prefix", emulator: "./in-a-machine" })];
  return { schema: 2, runs, not_run: [], scenarios: SCENARIOS, cells: system(target, "freebsd", "kqueue") };
}

// Names with such letters are refused when results are read (tests/end_to_end/hostile.rs).
function hostile() {
  const target = "hostile";
  const id = `group/name${"long".repeat(200)}`;
  const one = cell(target, id, "tcp-level-1t1g", "backend", {
    status: "fail",
    reason: `reason ${HOSTILE}`,
    reproducer: `reproducer ${HOSTILE}`,
    checks: [
      check(`what ${HOSTILE}`, [`expected ${HOSTILE}`], `observed ${HOSTILE}`, {
        source: HOSTILE,
        since: HOSTILE,
        until: HOSTILE,
        url: `javascript:${HOSTILE}`,
        evidence: "?",
      }),
    ],
    counters: { [`counter ${HOSTILE}`]: 1 },
    notes: [`note ${HOSTILE}`],
    stderr: `stderr ${HOSTILE}\u001B[31m`,
  });
  const texts = Object.fromEntries(
    [
      "pollmatrix",
      "commit",
      "executable",
      "matrix",
      "selection",
      "emulator",
      "triple",
      "kernel",
      "machine",
      "libc",
      "fault",
      "started",
      "finished",
    ].map((name) => [name, `${name} ${HOSTILE}`]),
  );
  const described = scenario(`title ${HOSTILE}`, "contract", [`clause ${HOSTILE}`], {
    question: `question ${HOSTILE}`,
    verbs: `verbs ${HOSTILE}`,
    links: [{ text: `link ${HOSTILE}`, url: `https://example.org/"onmouseover="globalThis.broken=1` }],
  });
  return {
    schema: 2,
    runs: [run(target, "linux", texts)],
    not_run: [{ target: "never", os: "linux", reason: `why not ${HOSTILE}` }],
    scenarios: { [id]: described },
    cells: [one],
  };
}

/** Returns results of 100 scenarios with 20 variants each, in 10 columns. */
function large() {
  const targets = [
    "x86_64-linux-gnu",
    "aarch64-linux-gnu",
    "s390x-linux-gnu",
    "riscv64-linux-gnu",
    "armv7-linux-gnueabihf",
  ];
  const statuses = ["fail", "flaky", "permitted", "timeout"];
  const cells = [];
  const scenarios = {};
  for (let number = 0; number < 100; number += 1) {
    const id = `group-${number % 5}/scenario-${number}`;
    scenarios[id] = scenario(`Property ${number} holds`, "contract", [`S${number % 14}`]);
    for (let place = 0; place < 20; place += 1) {
      const variant = `${["tcp", "unix"][place % 2]}-level-${place + 1}t1g`;
      for (const target of targets) {
        for (const backend of ["epoll", "poll"]) {
          const index = cells.length;
          const status = index % 97 === 0 ? statuses[(index / 97) % 4] : "pass";
          const checks = Array.from({ length: 12 }, (_, place) =>
            check(`check ${place}`, ["0"], status === "fail" && place === 5 ? "1" : "0"),
          );
          checks.push(check("takeovers counted", [String(index)], String(index)));
          cells.push(cell(target, id, variant, backend, { status, checks }));
        }
      }
    }
  }
  return { schema: 2, runs: targets.map((target) => run(target, "linux")), not_run: [], scenarios, cells };
}

function merge(pollmatrix, folder, name, inputs, options = []) {
  const report = join(folder, name);
  mkdirSync(report, { recursive: true });
  const files = inputs.map((results, index) => {
    const file = join(folder, `${name}-${index}.json`);
    writeFileSync(file, JSON.stringify(results));
    return file;
  });
  const merged = spawnSync(pollmatrix, ["merge", ...files, "--report-dir", report, ...options], { encoding: "utf8" });
  // Exit code 1: some cells fail, on purpose.
  if (merged.status !== 1) {
    throw new Error(`pollmatrix merge: exit ${merged.status}\n${merged.stdout}\n${merged.stderr ?? merged.error}`);
  }
}

if (import.meta.filename === process.argv[1]) {
  const [pollmatrix, folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("usage: node samples.mjs POLLMATRIX FOLDER");
    process.exit(2);
  }
  merge(
    pollmatrix,
    folder,
    "mixed",
    [linux(), freebsd()],
    ["--not-run", "x86_64-openbsd=built, not run: no such machine"],
  );
  merge(pollmatrix, folder, "hostile", [hostile()]);
  merge(pollmatrix, folder, "large", [large()]);
}
