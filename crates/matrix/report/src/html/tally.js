// Statuses with their numbers of cells.

/** Returns the letter of a status in its colour. A colour never stands alone. */
const badge = (status, text = status.letter) => element("span", { class: `tally ${status.style}` }, text);

/** Returns `P12 F1`, as in every other form of the report. */
function tallyParts(counts) {
  const parts = [];
  STATUSES.forEach((status, index) => {
    if (counts[index] > 0) {
      parts.push(parts.length > 0 ? " " : null, badge(status, `${status.letter}${counts[index]}`));
    }
  });
  return parts.length > 0 ? parts.filter((part) => part !== null) : ["-"];
}
