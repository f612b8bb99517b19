//! M8: the shared update list.

use std::sync::Arc;

use super::{Bound, model};
use crate::words::update_list::{Link, Links, Next, UpdateList};

struct Lists {
    lists: [UpdateList; 2],
    links: Vec<Link>,
}

impl Links for Lists {
    fn link(&self, fd: usize) -> &Link {
        &self.links[fd]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Add(usize),
    Remove(usize),
}

impl Lists {
    /// Creates two lists and three entries. The first `start` entries are in the first list.
    fn new(start: usize) -> Arc<Self> {
        let lists = Arc::new(Self {
            lists: [UpdateList::new(0), UpdateList::new(1)],
            links: (0..3).map(|_| Link::new()).collect(),
        });
        (0..start).for_each(|fd| lists.add(0, fd));
        lists
    }

    fn add(&self, list: usize, fd: usize) {
        self.lists[list].add(self, fd);
    }

    fn remove(&self, list: usize, fd: usize) {
        self.lists[list].remove(self, fd);
    }

    fn act(&self, op: Op) {
        match op {
            Op::Add(fd) => self.add(0, fd),
            Op::Remove(fd) => self.remove(0, fd),
        }
    }

    /// The entries of a list. No thread may change it meanwhile. Asserts S13.
    fn whole(&self, list: usize) -> Vec<usize> {
        self.lists[list].check_whole(self, 3)
    }
}

fn spawn(lists: &Arc<Lists>, act: impl FnOnce(&Lists) + Send + 'static) -> loom::thread::JoinHandle<()> {
    let lists = Arc::clone(lists);
    loom::thread::spawn(move || act(&lists))
}

/// M8: every pair of operations on a list of up to three entries. S13.
#[test]
fn m8_list_grid() {
    let model = model("m8_list_grid", 2, Bound::quick(3));
    let ops = [Op::Add(0), Op::Add(1), Op::Add(2), Op::Remove(0), Op::Remove(1), Op::Remove(2)];
    for start in 0..=3 {
        for first in ops {
            for second in ops {
                eprintln!("{start} entries: {first:?} ∥ {second:?}");
                model.check(move || {
                    let lists = Lists::new(start);
                    let other = spawn(&lists, move |lists| lists.act(first));
                    lists.act(second);
                    other.join().unwrap();
                    let list = lists.whole(0);
                    for fd in 0..3 {
                        let touched = |op| matches!(op, Op::Add(f) | Op::Remove(f) if f == fd);
                        let last: Vec<_> = [first, second].into_iter().filter(|op| touched(*op)).collect();
                        let added = |op: &Op| matches!(op, Op::Add(_));
                        // Either of an addition and a removal of one entry can be the last one.
                        let expected = match last[..] {
                            [] => Some(fd < start),
                            [ref op] => Some(added(op)),
                            [ref a, ref b] => (added(a) == added(b)).then(|| added(a)),
                            _ => None,
                        };
                        assert!(
                            expected.is_none_or(|expected| list.contains(&fd) == expected),
                            "S13: {fd} in {list:?}"
                        );
                    }
                });
            }
        }
    }
}

/// M8: three threads on three entries, with neighbours that are removed at once, and other combinations. S13.
#[test]
fn m8_list_of_three_threads() {
    let model = model("m8_list_of_three_threads", 3, Bound::THREE_WAIT);
    let cases = [
        (3, [Op::Remove(0), Op::Remove(1), Op::Remove(2)]),
        (3, [Op::Remove(1), Op::Remove(2), Op::Add(1)]),
        (2, [Op::Remove(1), Op::Add(2), Op::Remove(0)]),
        (1, [Op::Remove(0), Op::Add(0), Op::Add(1)]),
    ];
    for (start, ops) in cases {
        eprintln!("{start} entries: {ops:?}");
        model.check(move || {
            let lists = Lists::new(start);
            let others = [ops[1], ops[2]].map(|op| spawn(&lists, move |lists| lists.act(op)));
            lists.act(ops[0]);
            others.into_iter().for_each(|other| other.join().unwrap());
            let list = lists.whole(0);
            for fd in 0..3 {
                let of: Vec<_> = ops
                    .into_iter()
                    .filter(|op| matches!(op, Op::Add(f) | Op::Remove(f) if *f == fd))
                    .collect();
                if let [op] = of[..] {
                    assert_eq!(list.contains(&fd), op == Op::Add(fd), "S13: {fd} in {list:?}");
                }
            }
        });
    }
}

/// M8: an entry that changes groups ∥ an addition to its old list, and one to its new list (suspect 16).
/// S13.
#[test]
fn m8_list_change() {
    let model = model("m8_list_change", 2, Bound::quick(3));
    for list in [0, 1] {
        for start in [1, 2] {
            model.check(move || {
                let lists = Lists::new(start);
                let other = spawn(&lists, move |lists| lists.add(list, 2));
                lists.remove(0, start - 1);
                lists.add(1, start - 1);
                other.join().unwrap();
                let mut expected = [(0..start - 1).collect::<Vec<_>>(), vec![start - 1]];
                expected[list].push(2);
                for index in [0, 1] {
                    let mut found = walk(&lists, index);
                    found.sort_unstable();
                    assert_eq!(found, expected[index], "S13: list {index}");
                }
            });
        }
    }
}

fn walk(lists: &Lists, list: usize) -> Vec<usize> {
    let mut found = vec![];
    let mut at = lists.lists[list].head();
    while let Some(fd) = at {
        found.push(fd);
        assert!(found.len() <= 3, "S13: cycle: {found:?}");
        at = match lists.lists[list].after(lists, fd) {
            Next::Fd(next) => Some(next),
            Next::End => None,
            Next::Lost => panic!("S13: {fd} is not linked"),
        };
    }
    found
}
