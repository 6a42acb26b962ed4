/** Whether a text of the search box is an expression (docs/search.md): it has an operator, a quote or a bracket. Anything else is looked for as it is:
 *  an ID, a name, an error text. */
export function isExpression(text: string): boolean {
  return /["'()<>=!&|[\]]|\S\s+in\s+\S/.test(text) || /^(?:data|user|output|event)\.[\w.]+$/.test(text);
}
