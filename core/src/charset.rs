//! Which charset a page is in (DESIGN: BOM, Content-Type, meta prescan, valid UTF-8, fallback).
