/** Source code lines that an app sends with an error (docs/protocol.md#answers). */

export interface ErrorSource {
  /** Path that the app reports: relative to its working directory, or absolute. */
  file: string;
  /** Line on which the error was thrown, counted from 1. */
  line: number;
  /** The line and its neighbors, in order. */
  lines: { line: number; text: string }[];
}

const MAX_FILE_LENGTH = 500;
const MAX_LINES = 7;
const MAX_SOURCE_LINE_LENGTH = 200;
const MAX_LINE_NUMBER = 100_000_000;

/** @returns the source as a field of the error; no field if the source is absent or malformed, so that the error itself stays intact */
export function readErrorSource(sent: unknown): { source?: ErrorSource } {
  if (typeof sent !== 'object' || sent === null) return {};
  const { file, line, lines } = sent as Record<string, unknown>;
  if (typeof file !== 'string' || file === '' || !isLineNumber(line) || !Array.isArray(lines)) return {};
  const kept = lines.slice(0, MAX_LINES).flatMap(readLine);
  return kept.length > 0 ? { source: { file: file.slice(0, MAX_FILE_LENGTH).toWellFormed(), line, lines: kept } } : {};
}

function readLine(sent: unknown): ErrorSource['lines'] {
  if (typeof sent !== 'object' || sent === null) return [];
  const { line, text } = sent as Record<string, unknown>;
  if (!isLineNumber(line) || typeof text !== 'string') return [];
  return [{ line, text: text.slice(0, MAX_SOURCE_LINE_LENGTH).toWellFormed() }];
}

function isLineNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_LINE_NUMBER;
}
