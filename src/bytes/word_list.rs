//! Words of a format, such as the names of its attributes.

/// Returns the index of `word` in `words`, which are separated by single spaces. One text takes less flash than a table
/// of texts.
pub(crate) fn place(words: &str, word: &[u8]) -> Option<usize> {
    words.as_bytes().split(|byte| *byte == b' ').position(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_only() {
        let places = ["no", "non_bool", "non", "o", "bool", "no non_bool", " "]
            .map(|word| place("no non_bool", word.as_bytes()));
        assert_eq!(places, [Some(0), Some(1), None, None, None, None, None]);
        assert_eq!(place("", b"no"), None);
    }
}
