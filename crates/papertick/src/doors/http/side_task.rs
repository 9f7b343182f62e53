//! Work that goes on after its request was answered.

use std::pin::Pin;

/// Work that goes on after its request was answered.
pub(crate) struct SideTask {
    /// Name of the task.
    pub(crate) name: &'static str,
    /// What is done.
    pub(crate) work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl SideTask {
    /// Names the work.
    pub(crate) fn new(
        name: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> SideTask {
        SideTask {
            name,
            work: Box::pin(work),
        }
    }
}
