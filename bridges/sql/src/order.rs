//! The order in which a scan reads its rows, if only the first ones of an order are wanted.

use std::cmp::Ordering;
use std::ops::Range;

use datafusion_common::ScalarValue;
use datafusion_physical_expr::PhysicalSortExpr;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr::projection::ProjectionExprs;

use crate::zones::Zone;

/// The order of the rows that are wanted first. It is no promise: rows are sorted above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The first column of the order, by its name in files.
    pub column: String,
    /// Whether its greatest values come first.
    pub descending: bool,
}

impl Order {
    /// Returns the order of rows of a scan with a projection, if it begins with a column.
    pub fn of(order: &[PhysicalSortExpr], projection: &ProjectionExprs) -> Option<Self> {
        let first = order.first()?;
        let sorted = first.expr.downcast_ref::<Column>()?;
        let projected = projection.iter().nth(sorted.index())?;
        let column = projected.expr.downcast_ref::<Column>()?;
        Some(Order { column: column.name().to_owned(), descending: first.options.descending })
    }

    /// Sorts steps by the bounds of their zones, which follow each other. Steps without a bound come first.
    pub fn sort(&self, steps: &mut Vec<Range<u64>>, zones: &[Zone]) {
        let mut zones = zones.iter().peekable();
        let mut keyed: Vec<_> = std::mem::take(steps)
            .into_iter()
            .map(|step| {
                let mut bounds = Vec::new();
                // A zone that reaches further is part of the next step, too.
                while let Some(zone) = zones.next_if(|zone| zone.rows.end <= step.end) {
                    bounds.push(zone);
                }
                bounds.extend(zones.peek().filter(|zone| zone.rows.start < step.end));
                (self.bound(&bounds), step)
            })
            .collect();
        keyed.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => {
                let order = a.partial_cmp(b).unwrap_or(Ordering::Equal);
                if self.descending { order.reverse() } else { order }
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        steps.extend(keyed.into_iter().map(|(_, step)| step));
    }

    fn bound(&self, zones: &[&Zone]) -> Option<ScalarValue> {
        let bounds = zones.iter().map(|zone| if self.descending { zone.max.clone() } else { zone.min.clone() });
        extreme(bounds, self.descending)
    }
}

/// Returns the greatest or least of all values; `None` if one is unknown, or without values.
pub(crate) fn extreme(values: impl Iterator<Item = Option<ScalarValue>>, greatest: bool) -> Option<ScalarValue> {
    let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
    let mut found: Option<ScalarValue> = None;
    for value in values {
        let value = value?;
        let better = match &found {
            None => true,
            Some(found) => value.partial_cmp(found)? == wanted,
        };
        if better {
            found = Some(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(rows: Range<u64>, min: i64, max: i64) -> Zone {
        Zone { rows, min: Some(min.into()), max: Some(max.into()), nulls: None }
    }

    #[test]
    fn steps_by_their_zones() {
        // The second zone is in two steps; nothing is known of the last one.
        let zones = [zone(0..10, 5, 6), zone(10..25, 1, 9), zone(25..30, 7, 8)];
        for (descending, wanted) in [(false, [30..40, 10..20, 20..30, 0..10]), (true, [30..40, 10..20, 20..30, 0..10])]
        {
            let order = Order { column: "t".to_owned(), descending };
            let mut steps = vec![0..10, 10..20, 20..30, 30..40];
            order.sort(&mut steps, &zones);
            assert_eq!(steps, wanted, "{descending}");
        }
        let order = Order { column: "t".to_owned(), descending: true };
        let mut steps = vec![0..1, 1..2, 2..3];
        order.sort(&mut steps, &[zone(0..1, 0, 1), zone(1..2, 2, 3), zone(2..3, 4, 5)]);
        assert_eq!(steps, [2..3, 1..2, 0..1]);
    }
}
