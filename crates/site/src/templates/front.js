// The report was the front page before: its addresses, such as #status=fail, lead to the report.
if (location.hash.includes("=")) {
  location.replace(`report.html${location.hash}`);
}
