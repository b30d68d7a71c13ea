//! Properties: filled below.
