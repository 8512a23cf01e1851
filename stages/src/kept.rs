//! What the kept summaries of a pipeline say of its rounds: the basis of the digest.

use std::collections::BTreeMap;

use claudex_loop::text;

use crate::contract::{AnalysisMode, Flags, Stage, Summary};

/// The summaries that counted, by round and stage.
pub type Kept = BTreeMap<(u32, Stage), Summary>;

/// The longest gap that is shown, in characters.
const MAX_GAP_CHARS: usize = 200;

/// A gap in what is known, over the rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) text: String,
    pub(crate) first_seen: u32,
    /// The first round that does not name it any more.
    pub(crate) resolved_in: Option<u32>,
}

/// Returns the flags of a stage's summary in a round.
pub(crate) fn flags(kept: &Kept, round: u32, stage: Stage) -> Option<&Flags> {
    kept.get(&(round, stage)).map(|summary| &summary.flags)
}

/// Returns the rounds before this one, oldest first.
pub(crate) fn rounds(kept: &Kept, before: u32) -> Vec<u32> {
    let mut rounds: Vec<u32> = kept
        .keys()
        .map(|(round, _)| *round)
        .filter(|round| *round < before)
        .collect();
    rounds.dedup();
    rounds
}

/// Returns how thoroughly a round was done.
pub(crate) fn mode(kept: &Kept, round: u32) -> Option<AnalysisMode> {
    let stages = [
        Stage::AnalysisQuestions,
        Stage::ResponseAnalysis,
        Stage::Research,
        Stage::Setup,
    ];
    stages
        .into_iter()
        .find_map(|stage| flags(kept, round, stage)?.analysis_mode)
}

/// Returns the gaps that the rounds before this one name, in the order in which they were seen first. One is open as long as each
/// round that looked names it.
pub(crate) fn gaps(kept: &Kept, before: u32) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for round in rounds(kept, before) {
        let Some(named) = flags(kept, round, Stage::ResponseAnalysis)
            .and_then(|flags| flags.gap_descriptions.as_ref())
        else {
            continue;
        };
        let named: Vec<String> = named
            .iter()
            .map(|gap| text::one_line(gap, MAX_GAP_CHARS))
            .collect();
        let mut still = BTreeMap::new();
        for gap in named.into_iter().filter(|gap| !gap.is_empty()) {
            let key = gap.to_lowercase();
            let index = open
                .remove(&key)
                .or_else(|| still.get(&key).copied())
                .unwrap_or_else(|| {
                    gaps.push(Gap {
                        text: gap,
                        first_seen: round,
                        resolved_in: None,
                    });
                    gaps.len() - 1
                });
            still.insert(key, index);
        }
        for index in open.into_values() {
            gaps[index].resolved_in = Some(round);
        }
        open = still;
    }
    gaps
}

/// Returns a text as a cell of a table.
pub(crate) fn cell(words: &str) -> String {
    text::one_line(words, MAX_GAP_CHARS).replace('|', "\\|")
}
