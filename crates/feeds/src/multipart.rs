//! Streaming parser for forms with files (`multipart/form-data`).
//!
//! It buffers only what may be the start of a boundary or a part header, so a form can have any length.

use crate::malformed::Malformed;

/// Longest boundary, bytes (RFC 2046).
const BOUNDARY_MAX: usize = 70;

/// Longest part header, bytes.
const HEAD_MAX: usize = 4096;

/// End of a part header.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Most parts of a form.
const PARTS_MAX: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormEvent {
    /// A part starts; its name, or empty without one.
    Part(String),
    /// Bytes of the current part.
    Data(Vec<u8>),
    End,
}

/// A form that is being received.
#[derive(Debug, Clone)]
pub struct Multipart {
    /// Line break, two dashes and the boundary.
    delimiter: Vec<u8>,
    buffer: Vec<u8>,
    state: ParserState,
    parts: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    /// Before the first boundary.
    Before,
    /// After a boundary: a line break, or two dashes at the end.
    Boundary,
    /// In a part header.
    Head,
    Data,
    /// The end was reported.
    Over,
}

impl Multipart {
    /// A parser for a content type. `None` if it is not a form with a valid boundary.
    pub fn new(content_type: &str) -> Option<Multipart> {
        let (kind, parameters) = content_type.split_once(';')?;
        if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        let boundary = parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("boundary")
                .then(|| unquoted(value.trim()))
        })?;
        if !(1..=BOUNDARY_MAX).contains(&boundary.len()) {
            return None;
        }
        Some(Multipart {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            // A line break precedes every boundary, so that the first one needs no special case.
            buffer: b"\r\n".to_vec(),
            state: ParserState::Before,
            parts: 0,
        })
    }

    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.state != ParserState::Over {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next event. `None` until more bytes are added.
    ///
    /// # Errors
    /// The form is invalid or exceeds a limit.
    pub fn next_event(&mut self) -> Result<Option<FormEvent>, Malformed> {
        loop {
            match self.state {
                ParserState::Before => match find(&self.buffer, &self.delimiter) {
                    Some(at) => {
                        self.buffer.drain(..at + self.delimiter.len());
                        self.state = ParserState::Boundary;
                    }
                    None => {
                        self.buffer.drain(..self.data_bytes());
                        return Ok(None);
                    }
                },
                ParserState::Boundary => match self.buffer.get(..2) {
                    None => return Ok(None),
                    Some(b"--") => {
                        self.state = ParserState::Over;
                        self.buffer = Vec::new();
                        return Ok(Some(FormEvent::End));
                    }
                    Some(b"\r\n") => {
                        self.parts += 1;
                        if self.parts > PARTS_MAX {
                            return Err(Malformed("too-many-parts"));
                        }
                        // A part without a header has only the empty line.
                        self.state = ParserState::Head;
                    }
                    Some(_) => return Err(Malformed("boundary")),
                },
                ParserState::Head => {
                    let Some(at) = find(&self.buffer, HEAD_END) else {
                        // The end of the header may be incomplete.
                        if self.buffer.len() >= HEAD_MAX + HEAD_END.len() {
                            return Err(Malformed("part-head"));
                        }
                        return Ok(None);
                    };
                    if at > HEAD_MAX {
                        return Err(Malformed("part-head"));
                    }
                    let head: Vec<u8> = self.buffer.drain(..at + HEAD_END.len()).collect();
                    self.state = ParserState::Data;
                    return Ok(Some(FormEvent::Part(name(&String::from_utf8_lossy(&head)))));
                }
                ParserState::Data => {
                    let found = find(&self.buffer, &self.delimiter);
                    let length = found.unwrap_or_else(|| self.data_bytes());
                    if length > 0 {
                        return Ok(Some(FormEvent::Data(self.buffer.drain(..length).collect())));
                    }
                    if found.is_none() {
                        return Ok(None);
                    }
                    self.buffer.drain(..self.delimiter.len());
                    self.state = ParserState::Boundary;
                }
                ParserState::Over => return Ok(None),
            }
        }
    }

    /// Number of buffered bytes that cannot be part of a delimiter.
    fn data_bytes(&self) -> usize {
        let partial = (1..self.delimiter.len())
            .rev()
            .find(|length| self.buffer.ends_with(&self.delimiter[..*length]));
        self.buffer.len() - partial.unwrap_or_default()
    }
}

/// The name of a part from its header.
fn name(head: &str) -> String {
    let line = head.lines().find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field
            .trim()
            .eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    });
    let named = line.unwrap_or_default().split(';').find_map(|parameter| {
        let (field, value) = parameter.split_once('=')?;
        (field.trim().eq_ignore_ascii_case("name")).then(|| unquoted(value.trim()))
    });
    named.unwrap_or_default()
}

fn unquoted(value: &str) -> String {
    let inner = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    inner.unwrap_or(value).to_owned()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        let at = from + at;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"x-y\"";

    /// Name and content of each part of a form, and whether the form was complete.
    type ReadForm = (Vec<(String, Vec<u8>)>, bool);

    fn read(form: &[u8], step: usize) -> Result<ReadForm, Malformed> {
        let mut multipart = Multipart::new(TYPE).expect("it is a form");
        let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
        let mut is_over = false;
        for bytes in form.chunks(step) {
            multipart.push(bytes);
            while let Some(piece) = multipart.next_event()? {
                match piece {
                    FormEvent::Part(name) => parts.push((name, Vec::new())),
                    FormEvent::Data(data) => parts.last_mut().expect("one began").1.extend(data),
                    FormEvent::End => is_over = true,
                }
            }
            assert!(multipart.buffer.len() <= HEAD_MAX + step + BOUNDARY_MAX);
        }
        Ok((parts, is_over))
    }

    fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut form = Vec::new();
        for (name, content) in parts {
            let head = format!(
                "--x-y\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a.img\"\r\nContent-Type: a/b\r\n\r\n"
            );
            form.extend_from_slice(head.as_bytes());
            form.extend_from_slice(content);
            form.extend_from_slice(b"\r\n");
        }
        form.extend_from_slice(b"--x-y--\r\n");
        form
    }

    #[test]
    fn parts_are_separated_for_any_chunks() {
        let parts: [(&str, &[u8]); 3] = [
            ("file", b"\r\n--x-\r\n--x-z\r\n\r\n--\r\n"),
            ("", b""),
            ("webui", &[0; 300]),
        ];
        let bytes = form(&parts);
        let expected: Vec<(String, Vec<u8>)> = parts
            .iter()
            .map(|(name, content)| ((*name).to_owned(), content.to_vec()))
            .collect();
        for step in 1..bytes.len() {
            let read = read(&bytes, step);
            assert_eq!(read, Ok((expected.clone(), true)), "{step}");
        }
        for cut in 1..bytes.len() - 4 {
            let (_, is_over) = read(&bytes[..cut], 7).expect("it is a form so far");
            assert!(!is_over, "{cut}");
        }
        let with_preamble = [b"something\r\n", bytes.as_slice(), b"and more"].concat();
        assert_eq!(read(&with_preamble, 5), Ok((expected, true)));
    }

    #[test]
    fn limits_hold_for_any_chunks() {
        let with_head = |length: usize| {
            let start = "\r\nX: ";
            let head = format!("{start}{}", "a".repeat(length - start.len()));
            format!("--x-y{head}\r\n\r\n1\r\n--x-y--").into_bytes()
        };
        let with_parts = |count: usize| form(&vec![("", &b"1"[..]); count]);
        for step in [1, 3, 100_000] {
            for (bytes, expected) in [
                (with_head(HEAD_MAX), None),
                (with_head(HEAD_MAX + 1), Some("part-head")),
                (with_parts(PARTS_MAX), None),
                (with_parts(PARTS_MAX + 1), Some("too-many-parts")),
            ] {
                let refused = read(&bytes, step).err();
                assert_eq!(refused, expected.map(Malformed), "in steps of {step}");
            }
        }
    }

    #[test]
    fn invalid_forms_are_refused() {
        for content_type in [
            "application/octet-stream",
            "multipart/form-data",
            "multipart/mixed; boundary=x",
            "multipart/form-data; boundary=",
            "multipart/form-data; charset=x",
        ] {
            assert!(Multipart::new(content_type).is_none(), "{content_type}");
        }
        let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
        assert!(Multipart::new(&long).is_none());
        for (form, reason) in [
            (b"--x-yz\r\n\r\n".to_vec(), "boundary"),
            (
                [b"--x-y\r\n".as_slice(), &[b'a'; 5000]].concat(),
                "part-head",
            ),
            (form(&[("a", b"".as_slice()); 17]), "too-many-parts"),
        ] {
            assert_eq!(read(&form, 100), Err(Malformed(reason)));
        }
        assert_eq!(read(&[b'x'; 10_000], 64), Ok((Vec::new(), false)));
    }

    proptest! {
        #[test]
        fn any_content_is_passed_through(content: Vec<u8>, step in 1..64_usize) {
            let bytes = form(&[("file", &content)]);
            let expected = (vec![("file".to_owned(), content)], true);
            prop_assert_eq!(read(&bytes, step), Ok(expected));
        }
    }
}
