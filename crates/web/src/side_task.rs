//! Work that continues after the response.

use std::pin::Pin;

/// Work that continues after the response.
pub struct SideTask {
    pub name: &'static str,
    pub work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl SideTask {
    pub fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> SideTask {
        SideTask {
            name,
            work: Box::pin(work),
        }
    }
}
