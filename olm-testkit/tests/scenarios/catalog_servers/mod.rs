//! Catalogs that are served by Pods of OLM. No container runs on this tier: what a Pod would serve
//! is served by a process at the address of its Service, which is one of this machine.

mod config_map;
mod image;
mod not_served;
mod polling;
pub mod steps;

pub use config_map::config_map;
pub use image::image;
pub use not_served::not_served;
pub use polling::polling;
