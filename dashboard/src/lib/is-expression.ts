/** Whether a text of the search box is an expression: it has an operator, a quote or a bracket, or names a field of a payload. Any other text is
 *  searched literally: an ID, a name, an error text. */
export function isExpression(text: string): boolean {
  return (
    /["'()<>=!&|[\]]|\bin\s+(?:data|user|output|event)\b/.test(text) ||
    /^(?:data|user|output|event)\.[\w.]+$/.test(text)
  );
}
