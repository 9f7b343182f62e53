//! Work that goes on after its request was answered.

use std::pin::Pin;

/// Work that goes on after its request was answered.
pub struct SideTask {
    /// Name of the task.
    pub name: &'static str,
    /// What is done.
    pub work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl SideTask {
    /// Names the work.
    pub fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> SideTask {
        SideTask {
            name,
            work: Box::pin(work),
        }
    }
}
