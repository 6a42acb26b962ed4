/** An API error about a transform, as the editor and the result show it. */
import { capitalize } from '../../../lib/capitalize.ts';

export interface TransformError {
  title: string;
  message: string;
  /** 1-based, if known. */
  line?: number;
  column?: number;
  console: { level: string; text: string }[];
}

interface ErrorDetails {
  message?: string;
  line?: number;
  column?: number;
  logs?: { level: string; text: string }[];
}

const FIELD = /it returned an event that is not valid: (?:field "(\w+)": )?(.*)$/s;

export function parseTransformError(error: Error): TransformError {
  const facts: ErrorDetails = (error as { facts?: ErrorDetails }).facts ?? {};
  const [, lineInText] = /\bline (\d+): /.exec(error.message) ?? [];
  const line = facts.line ?? (lineInText ? Number(lineInText) : undefined);
  const position = { ...(line && { line }), ...(facts.column && { column: facts.column }) };
  return { title: titleOf(error), message: messageOf(error), ...position, console: facts.logs ?? [] };
}

/** The message without the parts that the title and the line number already show. */
function messageOf({ message }: Error): string {
  const text = message
    .replace(/^The transform [^:]*: (?:line \d+: )?/, '')
    .replace(/^it returned an event that is not valid: (?:field )?/, '');
  return capitalize(text);
}

function titleOf(error: Error): string {
  const { code } = error as { code?: string };
  // The code runs once without a request: code outside of the function may throw.
  if (code === 'transform_invalid')
    return /\bSyntaxError: /.test(error.message) ? 'Syntax error' : 'Error outside the function';
  if (code !== 'transform_failed') return 'Cannot run the transform';
  const invalid = FIELD.exec(error.message);
  if (!invalid) return / was stopped/.test(error.message) ? 'Transform stopped' : 'Transform threw an error';
  const [, field, text = ''] = invalid;
  if (field === undefined) return 'Transform returned no event';
  if (text.includes('which are reserved')) return 'Reserved event name';
  if (/^got (?:undefined|no such field|nothing)\b/.test(text)) return `Missing field: ${field}`;
  return `Invalid field: ${field}`;
}
