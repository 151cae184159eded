//! PageRank by power iteration: L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking" (1999).
//!
//! Shares no code with the crawler's own estimate, which it judges.

/// The share of a surfer's steps that follow a link.
pub const DAMPING: f64 = 0.85;
/// The iteration ends when all ranks together change by less than this.
pub const TOLERANCE: f64 = 1e-10;
/// It ends here at the latest: the change shrinks by the damping at each step, so it comes below the tolerance in some 150.
const MAX_STEPS: usize = 1_000;

/// The rank of each node of a graph that is given as the targets of each node; all ranks together are 1.
///
/// A link counts once, however often it stands there; a node without links spreads its rank over all nodes alike.
pub fn page_rank(targets: &[Vec<usize>]) -> Vec<f64> {
    let num_nodes = targets.len();
    let even = 1.0 / num_nodes.max(1) as f64;
    let mut ranks = vec![even; num_nodes];
    for _ in 0..MAX_STEPS {
        let dangling: f64 = targets.iter().zip(&ranks).filter(|(to, _)| to.is_empty()).map(|(_, rank)| rank).sum();
        let mut next = vec![(1.0 - DAMPING) * even + DAMPING * dangling * even; num_nodes];
        for (to, rank) in targets.iter().zip(&ranks) {
            let share = DAMPING * rank / to.len().max(1) as f64;
            to.iter().for_each(|&target| next[target] += share);
        }
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change < TOLERANCE {
            break;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(targets: &[&[usize]], wanted: &[f64]) {
        let targets: Vec<Vec<usize>> = targets.iter().map(|to| to.to_vec()).collect();
        let ranks = page_rank(&targets);
        for (rank, wanted) in ranks.iter().zip(wanted) {
            assert!((rank - wanted).abs() < 1e-6, "{targets:?}: {ranks:?}, wanted {wanted:?}");
        }
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9 || targets.is_empty());
    }

    #[test]
    fn ranks_are_those_that_were_worked_out_by_hand() {
        // All alike, by symmetry.
        check(&[&[1], &[2], &[0]], &[1.0 / 3.0; 3]);
        // a and b link to c, c to a: b = 0.05, a = 0.05 + 0.85 c, c = 0.05 + 0.85 (a + b).
        let c = (0.05 + 0.85 * (0.05 + 0.05)) / (1.0 - 0.85 * 0.85);
        check(&[&[2], &[2], &[0]], &[0.05 + 0.85 * c, 0.05, c]);
        // a links to b, b to nothing: a = 0.075 + 0.425 b, a + b = 1.
        let b = 0.925 / 1.425;
        check(&[&[1], &[]], &[1.0 - b, b]);
        check(&[&[]], &[1.0]);
        check(&[], &[]);
    }
}
