//! A radio that the host's NetworkManager manages.
