//! The crawlers that the node's choice is held against: breadth-first order, and one that knows all weights beforehand.

use std::collections::HashSet;

use crate::graph::Graph;
use crate::judge::Weights;

/// Requests of each crawler.
pub const NUM_REQUESTS: usize = 20;

/// The first URLs in breadth-first order.
pub fn breadth_first(graph: &Graph) -> Vec<usize> {
    // The graph was explored in this order.
    (0..graph.nodes.len().min(NUM_REQUESTS)).collect()
}

/// From the seed, at each request the linked URL whose page weighs most; of equals the one found first.
pub fn greedy(graph: &Graph, weights: &Weights) -> Vec<usize> {
    let mut open = vec![0];
    let mut known: HashSet<usize> = HashSet::from([0]);
    let mut taken = vec![false; weights.of_document.len()];
    let mut requests = Vec::new();
    while requests.len() < NUM_REQUESTS {
        let worth = |place: usize| match weights.document_of[place] {
            Some(document) if !taken[document] => weights.of_document[document],
            Some(_) | None => 0.0,
        };
        let best = (0..open.len()).rev().max_by(|&one, &other| worth(open[one]).total_cmp(&worth(open[other])));
        let Some(best) = best else { break };
        let place = open.remove(best);
        if let Some(document) = weights.document_of[place] {
            taken[document] = true;
        }
        requests.push(place);
        open.extend(graph.nodes[place].to.iter().copied().filter(|&to| known.insert(to)));
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Gives, Node};
    use lohisoftbot_core::url::PageUrl;

    fn graph(links: &[&[usize]]) -> Graph {
        let node = |(number, to): (usize, &&[usize])| Node {
            url: PageUrl::parse(&format!("http://a.test/{number}"), None).unwrap(),
            gives: Gives::Nothing,
            to: to.to_vec(),
        };
        Graph { nodes: links.iter().enumerate().map(node).collect(), is_cut: false }
    }

    fn weights(of_document: &[f64]) -> Weights {
        let document_of = (0..of_document.len()).map(Some).collect();
        Weights { document_of, of_document: of_document.to_vec(), num_twins: 0 }
    }

    #[test]
    fn greedy_takes_the_heaviest_that_is_linked_and_breadth_first_what_stands_first() {
        // 4 weighs most, but only 2 leads there, and 2 comes after 3.
        let graph = graph(&[&[1, 2, 3], &[], &[4], &[], &[]]);
        let weights = weights(&[0.1, 0.0, 0.1, 0.2, 0.6]);
        assert_eq!(greedy(&graph, &weights), [0, 3, 2, 4, 1]);
        assert_eq!(breadth_first(&graph), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_document_weighs_once_and_of_equals_the_first_goes_first() {
        let graph = graph(&[&[1, 2, 3], &[], &[], &[]]);
        let weights = Weights {
            document_of: vec![Some(0), Some(1), Some(1), Some(2)],
            of_document: vec![0.1, 0.6, 0.3],
            num_twins: 0,
        };
        assert_eq!(greedy(&graph, &weights), [0, 1, 3, 2]);
        assert!((weights.kept([0, 1, 2]) - 0.7).abs() < 1e-9);
    }

    #[test]
    fn no_crawler_asks_more_than_twenty_times() {
        let star: Vec<usize> = (1..40).collect();
        let mut links: Vec<&[usize]> = vec![&[]; 40];
        links[0] = &star;
        let graph = graph(&links);
        assert_eq!(greedy(&graph, &weights(&[0.025; 40])), breadth_first(&graph));
        assert_eq!(breadth_first(&graph).len(), NUM_REQUESTS);
    }
}
