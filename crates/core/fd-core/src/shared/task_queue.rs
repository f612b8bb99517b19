//! The tasks that were posted to one worker thread. There is no lock: a thread may be preempted at any step,
//! or not exist in a forked child.

use std::collections::VecDeque;
use std::ptr;

use crate::shared::context::Context;
use crate::words::sync::{AtomicPtr, Ordering, count};

/// A closure to run on a worker thread.
pub(crate) type Task = Box<dyn FnOnce(&Context) + Send>;

struct Node {
    task: Task,
    next: *mut Node,
}

/// The head of a closed queue. No node has this address.
fn closed() -> *mut Node {
    ptr::without_provenance_mut(align_of::<Node>() - 1)
}

/// A stack. Every thread pushes to it, and one step empties it.
pub(crate) struct TaskQueue {
    /// The last task pushed, null, or [`closed`].
    head: AtomicPtr<Node>,
    /// The number of tasks that were posted, each counted before it is in the queue. It never decreases: a
    /// task that a close refuses after the count was posted, and dropped at the end.
    posted: count::AtomicU64,
}

// SAFETY: the queue owns its nodes, and a task is Send. Only the thread whose exchange replaced the head
// takes a node.
unsafe impl Send for TaskQueue {}
// SAFETY: as above.
unsafe impl Sync for TaskQueue {}

impl TaskQueue {
    pub(crate) fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), posted: count::AtomicU64::new(0) }
    }

    /// The number of tasks that were posted so far.
    pub(crate) fn posted(&self) -> u64 {
        self.posted.load(Ordering::Relaxed)
    }

    /// Reserves a place for [`TaskQueue::push_reserved`] if fewer than `limit` tasks wait. `begun` is the
    /// number of tasks that have begun to run. Returns the number of tasks that wait otherwise.
    pub(crate) fn reserve(&self, limit: u64, begun: impl Fn() -> u64) -> Result<(), u64> {
        let waiting = |posted: u64| posted.saturating_sub(begun());
        let reserve = |posted| (waiting(posted) < limit).then_some(posted + 1);
        // No pair: it is a number.
        let reserved = self.posted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve);
        reserved.map(drop).map_err(waiting)
    }

    /// Adds `task`, or returns it if the queue is closed.
    pub(crate) fn push(&self, task: Task) -> Result<(), Task> {
        if self.is_closed() {
            return Err(task);
        }
        self.posted.fetch_add(1, Ordering::Relaxed);
        self.push_reserved(task)
    }

    /// Whether tasks are refused. They are for ever then.
    pub(crate) fn is_closed(&self) -> bool {
        self.head.load(Ordering::Relaxed) == closed()
    }

    /// As [`TaskQueue::push`], in the place of [`TaskQueue::reserve`].
    pub(crate) fn push_reserved(&self, task: Task) -> Result<(), Task> {
        let node = Box::into_raw(Box::new(Node { task, next: ptr::null_mut() }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == closed() {
                // SAFETY: the node was made above and is not in the queue.
                return Err(unsafe { Box::from_raw(node) }.task);
            }
            // SAFETY: the node belongs to this thread until the exchange succeeds.
            unsafe { (*node).next = head };
            // Pair: tasks. The release pairs with the acquire of the thread that takes the node.
            let order = ordering!(TaskRelaxed, AcqRel);
            match self.head.compare_exchange(head, node, order, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => head = now,
            }
        }
    }

    /// Whether there is no task.
    pub(crate) fn is_empty(&self) -> bool {
        // Pair: tasks.
        let head = self.head.load(Ordering::Acquire);
        head.is_null() || head == closed()
    }

    /// Moves all tasks to the end of `tasks`, in the order of the pushes.
    pub(crate) fn take(&self, tasks: &mut VecDeque<Task>) {
        // Pair: tasks.
        let mut head = self.head.load(Ordering::Relaxed);
        while !head.is_null() && head != closed() {
            match self.head.compare_exchange(head, ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed) {
                // SAFETY: the exchange has taken the chain out.
                Ok(_) => return unsafe { append(head, tasks) },
                Err(now) => head = now,
            }
        }
    }

    /// Refuses tasks from now on, and returns those that no thread has taken.
    pub(crate) fn close(&self) -> VecDeque<Task> {
        let mut tasks = VecDeque::new();
        // Pair: tasks.
        let head = self.head.swap(closed(), Ordering::AcqRel);
        if head != closed() {
            // SAFETY: the exchange has taken the chain out.
            unsafe { append(head, &mut tasks) };
        }
        tasks
    }
}

/// Appends the tasks of a chain, oldest first, and frees its nodes. The oldest node is the last of the chain.
///
/// # Safety
/// No other thread has a pointer to a node of the chain.
unsafe fn append(mut node: *mut Node, tasks: &mut VecDeque<Task>) {
    let start = tasks.len();
    while !node.is_null() {
        // SAFETY: `push` made the node with Box::into_raw, and only this thread has it.
        let Node { task, next } = *unsafe { Box::from_raw(node) };
        tasks.push_back(task);
        node = next;
    }
    tasks.make_contiguous()[start..].reverse();
}

impl Drop for TaskQueue {
    fn drop(&mut self) {
        drop(self.close());
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn counting(count: &Arc<AtomicUsize>) -> Task {
        let count = Arc::clone(count);
        Box::new(move |_| drop(count))
    }

    #[test]
    fn a_closed_queue_returns_its_tasks_and_later_ones() {
        let (queue, count) = (TaskQueue::new(), Arc::default());
        assert!(queue.is_empty());
        for _ in 0..3 {
            queue.push(counting(&count)).map_err(drop).unwrap();
        }
        assert!(!queue.is_empty());
        assert_eq!(queue.close().len(), 3);
        assert_eq!(Arc::strong_count(&count), 1, "dropped with the list");
        assert!(queue.push(counting(&count)).is_err() && queue.is_empty());
        assert_eq!((queue.close().len(), Arc::strong_count(&count)), (0, 1));
        let mut taken = VecDeque::new();
        queue.take(&mut taken);
        assert!(taken.is_empty() && queue.push(counting(&count)).is_err(), "taking does not open it again");
    }

    /// Two copies of a counter that decreases have no difference.
    #[test]
    fn the_number_of_posts_never_decreases() {
        let (queue, count) = (TaskQueue::new(), Arc::default());
        queue.push(counting(&count)).map_err(drop).unwrap();
        queue.reserve(2, || 0).unwrap();
        drop(queue.close());
        assert!(queue.push_reserved(counting(&count)).is_err());
        assert_eq!(queue.posted(), 2, "it was dropped at the end");
        assert!(queue.push(counting(&count)).is_err());
        assert_eq!(queue.posted(), 2, "it came after the end");
    }

    #[test]
    fn a_queue_that_is_dropped_drops_its_tasks() {
        let (queue, count) = (TaskQueue::new(), Arc::default());
        queue.push(counting(&count)).map_err(drop).unwrap();
        assert_eq!(Arc::strong_count(&count), 2);
        drop(queue);
        assert_eq!(Arc::strong_count(&count), 1);
    }

    #[test]
    fn tasks_of_many_threads_are_each_taken_once() {
        let (queue, count) = (TaskQueue::new(), Arc::default());
        let mut taken = VecDeque::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| queue.push(counting(&count)).map_err(drop).unwrap()));
            }
            while taken.len() < 2000 {
                queue.take(&mut taken);
            }
        });
        assert!(queue.is_empty());
        assert_eq!(Arc::strong_count(&count), 2001);
        drop(taken);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
