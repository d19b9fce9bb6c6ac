//! Words of a format, such as the names of its attributes.

/// Which of some words, with a space behind each but perhaps the last, `word` is, counted from 0. One text is smaller
/// than a table of texts.
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
