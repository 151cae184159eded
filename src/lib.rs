//! LohiSoftBot's adapters and faces: what touches the world.

pub mod dump;
pub mod io;
