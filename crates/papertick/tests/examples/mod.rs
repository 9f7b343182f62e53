//! Commands in the documents.

/// The request of a `curl` command.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: Option<String>,
    pub(crate) url: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
    /// The response is an endless stream.
    pub(crate) follows: bool,
}

/// The commands in the shell blocks of a document, each as one line, with its line number.
pub(crate) fn commands(document: &str) -> Vec<(usize, String)> {
    let (mut found, mut in_block, mut here) = (Vec::<(usize, String)>::new(), false, None);
    for (number, line) in (1..).zip(document.lines()) {
        if line.starts_with("```") {
            in_block = line == "```sh";
            continue;
        }
        if !in_block {
            continue;
        }
        // The content of a here-document is no command.
        if let Some(end) = &here {
            if line == *end {
                here = None;
            }
            continue;
        }
        if let Some((_, end)) = line.split_once("<<") {
            here = Some(end.trim_matches(['\'', '"']).to_string());
        }
        match found.last_mut().filter(|(_, text)| text.ends_with('\\')) {
            Some((_, text)) => {
                text.pop();
                text.push_str(line.trim());
            }
            None => found.push((number, line.trim().to_string())),
        }
    }
    found.retain(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    found
}

/// Splits a command at spaces outside of quotes; removes comments.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in command.chars() {
        let is_new = words.last().is_some_and(String::is_empty);
        match (quote, letter) {
            (None, '#') if is_new => break,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, ' ') if is_new => {}
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Parses a `curl` command; panics at unknown options.
pub(crate) fn request(command: &str) -> Request {
    let mut words = words(command).into_iter().skip(1);
    let mut request = Request::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => request.method = words.next(),
            "-d" => request.body = words.next().unwrap(),
            "-H" => request.headers.push(words.next().unwrap()),
            "-o" | "--output" | "-u" | "--retry" => drop(words.next()),
            "-N" => request.follows = true,
            "-s" => {}
            ">" | "|" => break,
            flag if flag.starts_with('-') => panic!("{command}: what does {flag} do?"),
            url => request.url = url.to_string(),
        }
    }
    if request.method.is_none() {
        let method = if request.body.is_empty() { "GET" } else { "POST" };
        request.method = Some(method.into());
    }
    request
}
