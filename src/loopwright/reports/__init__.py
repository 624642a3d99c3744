"""Reports: what a schedule does to a program, as one self-contained HTML page.

`subject.py` is what a report is about. Each section is a file with `section(subject) -> Section`;
`page.py` puts them together.
"""
