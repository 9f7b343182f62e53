//! Work that continues after the response.

use std::pin::Pin;

/// Work that continues after the response.
pub struct SideTask {
    /// Name of the task.
    pub name: &'static str,
    /// The work.
    pub work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl SideTask {
    /// A task with a name.
    pub fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> SideTask {
        SideTask {
            name,
            work: Box::pin(work),
        }
    }
}
