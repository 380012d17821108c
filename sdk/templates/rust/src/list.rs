//! The list of members as text, a line for each.

/// What every message about a line ends with.
pub const LINE: &str = "a line is 'name address', or 'name -' and why it has none";

/// One line. The texts point into the list.
#[derive(Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub line: usize,
    pub name: &'a str,
    /// The address, or why there is none.
    pub address: Result<&'a str, &'a str>,
}

/// What is wrong with a line, and which.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub why: &'static str,
}

/// The members in turn; comments and empty lines are passed over.
pub fn members(list: &[u8]) -> impl Iterator<Item = Result<Member<'_>, Problem>> {
    list.split(|&byte| byte == b'\n').enumerate().filter_map(|(n, line)| read(n + 1, line).transpose())
}

fn read(line: usize, bytes: &[u8]) -> Result<Option<Member<'_>>, Problem> {
    let problem = |why| Problem { line, why };
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) => text,
        _ => return Err(problem("there is a byte that is no printable ASCII")),
    };
    let (name, rest) = next_word(text);
    if name.is_empty() || name.starts_with('#') {
        return Ok(None);
    }
    let (address, rest) = next_word(rest);
    let rest = rest.trim_start();
    match (address, rest) {
        ("", _) => Err(problem("there is no address")),
        ("-", "") => Ok(Some(Member { line, name, address: Err("the list has no address for it") })),
        ("-", reason) => Ok(Some(Member { line, name, address: Err(reason) })),
        (_, "") => Ok(Some(Member { line, name, address: Ok(address) })),
        _ => Err(problem("there is a third word")),
    }
}

/// The first word, and what follows it.
fn next_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find([' ', '\t']).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(list: &str) -> Result<Vec<(&str, Result<&str, &str>)>, Problem> {
        members(list.as_bytes()).map(|member| member.map(|m| (m.name, m.address))).collect()
    }

    #[test]
    fn comments_and_empty_lines_are_no_members() {
        assert_eq!(read_all("# nobody\n\n"), Ok(vec![]));
    }

    #[test]
    fn a_member_has_an_address_or_a_reason_why_not() {
        assert_eq!(
            read_all("a 10.0.0.1:1\r\nb\t[fd00::2]:2\nc - off since Monday\nd -"),
            Ok(vec![
                ("a", Ok("10.0.0.1:1")),
                ("b", Ok("[fd00::2]:2")),
                ("c", Err("off since Monday")),
                ("d", Err("the list has no address for it")),
            ])
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(read_all("a a:1\nb\n"), Err(Problem { line: 2, why: "there is no address" }));
        assert_eq!(read_all("a a:1 more"), Err(Problem { line: 1, why: "there is a third word" }));
        assert_eq!(read_all("café a:1").unwrap_err().why, "there is a byte that is no printable ASCII");
    }
}
