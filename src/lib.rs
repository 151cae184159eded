pub mod practice_web;
