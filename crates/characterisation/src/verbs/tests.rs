use super::*;

#[test]
fn lines_print_as_they_are_parsed() {
    for form in FORMS {
        let line: Line = form.example.parse().unwrap_or_else(|error| panic!("{}\n{error}", form.example));
        assert_eq!(line.to_string(), form.example);
    }
}
