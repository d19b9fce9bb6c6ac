//! Malformed tables, one per rule.
