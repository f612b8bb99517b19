// Statuses and how many have them.

/** A status' letter. Never a colour alone. */
const badge = (status, text = status.letter) => element("span", { class: `tally ${status.style}` }, text);

/** `P12 F1`, as every other form of the report writes it. */
function tallyParts(counts) {
  const parts = [];
  STATUSES.forEach((status, index) => {
    if (counts[index] > 0) {
      parts.push(parts.length > 0 ? " " : null, badge(status, `${status.letter}${counts[index]}`));
    }
  });
  return parts.length > 0 ? parts.filter((part) => part !== null) : ["-"];
}
