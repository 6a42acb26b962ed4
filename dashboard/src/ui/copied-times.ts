/** Copies the absolute times of a selection, because "2 min ago" means nothing where it is pasted. */
export function copyAbsoluteTimes(event: ClipboardEvent): void {
  const selection = getSelection();
  const text = selection && absoluteTextOf(selection);
  if (!text) return;
  event.clipboardData?.setData('text/plain', text);
  event.preventDefault();
}

/** @returns undefined if no whole time is selected */
function absoluteTextOf(selection: Selection): string | undefined {
  const times = [...document.querySelectorAll('time')].filter((time) => selection.containsNode(time));
  const texts = times.flatMap(({ firstChild, dateTime }) =>
    firstChild instanceof Text ? [{ node: firstChild, shown: firstChild.data, dateTime }] : [],
  );
  if (texts.length === 0) return undefined;
  // The selection knows its line breaks only while it is on the page. Nothing is drawn in between.
  for (const { node, dateTime } of texts) node.data = dateTime;
  const text = selection.toString();
  for (const { node, shown } of texts) node.data = shown;
  return text;
}
