/** Prints what would change, or has changed. Never a secret. */
import type { Json } from '../api-client.ts';
import { type Color, type Output, printable } from '../output.ts';
import { describeEntry, type Kind, NAME_OF_KIND } from './document.ts';
import type { Change, FieldChange, Plan } from './plan.ts';
import { hasSecrets, referencesIn } from './references.ts';

const SIGN = { create: '+', update: '~', delete: '-' } as const;
const COLOR: Record<Change['action'], Color> = { create: 'green', update: 'yellow', delete: 'red' };
const VALUE_MAX = 120;
const LINES_MAX = 60;

export function printPlan(output: Output, { changes, unmanaged }: Plan): void {
  for (const change of changes) {
    const { action, kind, entry, fields, blockedBy } = change;
    output.line(
      output.paint(COLOR[action], printable(`${SIGN[action]} ${NAME_OF_KIND[kind]} ${describeEntry(entry)}`)),
    );
    if (blockedBy) output.line(output.paint('red', `    ${printable(blockedBy)}`));
    if (action === 'update') for (const field of fields) printField(output, kind, field);
  }
  const counts = (['create', 'update', 'delete'] as const).map(
    (action) => changes.filter((one) => one.action === action).length,
  );
  if (changes.length > 0) output.line();
  output.line(
    changes.length === 0 ? 'No changes.' : `${counts[0]} to create, ${counts[1]} to update, ${counts[2]} to delete.`,
  );
  if (unmanaged.length === 0) return;
  const names = unmanaged.map(({ kind, entry, isInUse }) => {
    return `${NAME_OF_KIND[kind]} ${describeEntry(entry)}${isInUse ? ' (this command uses it)' : ''}`;
  });
  output.note(printable(`Not in the file, and left alone: ${names.join(', ')}`));
}

/** As JSON. */
export function presentPlan({ changes, unmanaged }: Plan): Json {
  return {
    changes: changes.map(({ action, kind, entry, id = null, fields, blockedBy = null }) => {
      return {
        action,
        kind,
        name: entry.name,
        environment: entry.environment ?? null,
        id,
        fields,
        blocked_by: blockedBy,
      };
    }),
    unmanaged: unmanaged.map(({ kind, entry, id, isInUse }) => ({
      kind,
      name: entry.name,
      environment: entry.environment ?? null,
      id,
      in_use: isInUse,
    })),
  };
}

function printField(output: Output, kind: Kind, { field, before, after }: FieldChange): void {
  if (hasSecrets(kind, field) && field !== 'reconciliation') {
    const names = referencesIn(after).map(({ env }) => env);
    output.line(`    ${field}: ${names.length > 0 ? `set from ${names.join(', ')}` : 'removed'}`);
  } else if (isText(before) && isText(after)) {
    output.line(`    ${field}:`);
    for (const { sign, line } of lineDiff(before, after).slice(0, LINES_MAX)) {
      output.line(
        output.paint(sign === '+' ? 'green' : sign === '-' ? 'red' : 'gray', printable(`      ${sign} ${line}`)),
      );
    }
  } else {
    output.line(printable(`    ${field}: ${short(before)} → ${short(after)}`));
  }
}

function isText(value: Json): value is string {
  return typeof value === 'string' && value.includes('\n');
}

function short(value: Json): string {
  const text = JSON.stringify(value ?? null);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

/** The lines between the first and the last line that differ. */
function lineDiff(before: string, after: string): { sign: ' ' | '-' | '+'; line: string }[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [
    ...a.slice(Math.max(0, start - 1), start).map((line) => ({ sign: ' ' as const, line })),
    ...a.slice(start, a.length - end).map((line) => ({ sign: '-' as const, line })),
    ...b.slice(start, b.length - end).map((line) => ({ sign: '+' as const, line })),
  ];
}
