/** What an error of the service tells of a transform's code. */

export interface Fault {
  title: string;
  /** In the service's own words. */
  text: string;
  /** 1-based, where it is known. */
  line?: number;
  column?: number;
  console: { level: string; text: string }[];
}

interface Facts {
  message?: string;
  line?: number;
  column?: number;
  logs?: { level: string; text: string }[];
}

const FIELD = /it returned an event that is not valid: (?:field "(\w+)": )?(.*)$/s;

export function faultOf(error: Error): Fault {
  const facts: Facts = (error as { facts?: Facts }).facts ?? {};
  const [, lineInText] = /\bline (\d+): /.exec(error.message) ?? [];
  const line = facts.line ?? (lineInText ? Number(lineInText) : undefined);
  const place = { ...(line && { line }), ...(facts.column && { column: facts.column }) };
  return { title: titleOf(error), text: said(error), ...place, console: facts.logs ?? [] };
}

/** Without what the title and the marked line tell already. */
function said({ message }: Error): string {
  const text = message
    .replace(/^The transform [^:]*: (?:line \d+: )?/, '')
    .replace(/^it returned an event that is not valid: (?:field )?/, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function titleOf(error: Error): string {
  const { code } = error as { code?: string };
  if (code === 'transform_invalid') return 'This code cannot be read';
  if (code !== 'transform_failed') return 'The service could not try it';
  const invalid = FIELD.exec(error.message);
  if (!invalid) return / was stopped/.test(error.message) ? 'It was stopped' : 'It threw an error';
  const [, field, text = ''] = invalid;
  if (field === undefined) return 'It returned no event';
  if (text.includes('which are reserved')) return 'This name is the service’s own';
  if (/^got (?:undefined|no such field|nothing)\b/.test(text)) return `The event has no ${field}`;
  return `The event’s ${field} is not valid`;
}
