export interface JsonError {
  /** 1-based. */
  line: number;
  column: number;
  message: string;
}

/** Position of the first syntax error; undefined: valid JSON. */
export function findJsonError(text: string): JsonError | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const at = offsetIn(message, text);
    const before = text.slice(0, at).split('\n');
    const plain = message.replace(/ in JSON at position.*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '');
    return { line: before.length, column: (before.at(-1) ?? '').length + 1, message: plain };
  }
}

/** Engines report a position, a line and column, or only the end of the text. */
function offsetIn(message: string, text: string): number {
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (!line || !column) return text.length;
  const lines = text.split('\n').slice(0, Number(line) - 1);
  return lines.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1;
}
