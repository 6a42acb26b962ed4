import { isInteger, type LiteralSyntax, literal } from './literal.ts';
import type { EventToSend, SendTarget } from './target.ts';

const SYNTAX: LiteralSyntax = {
  null: 'None',
  true: 'True',
  false: 'False',
  list: ['[', ']'],
  object: ['{', '}'],
  indent: '    ',
  key: (name) => `${JSON.stringify(name)}:`,
  // Integers are unbounded; floats are doubles.
  exact: (digits) => (isInteger(digits) ? digits : `float("${digits}")`),
};

/** A script for the package `tidegate` (clients/python). */
export function pythonSnippet(event: EventToSend, { origin, env, dev }: SendTarget): string {
  const options = [
    '"my-app"',
    `base_url=${JSON.stringify(origin)}`,
    ...(dev ? ['is_dev=True'] : []),
    ...(env === undefined ? [] : [`env=${JSON.stringify(env)}`]),
  ];
  const fields = Object.entries(event).filter(([, value]) => value !== undefined);
  const written = fields.map(([name, value]) => `        ${name}=${literal(value, SYNTAX, 2)},`);
  return [
    'import tidegate',
    '',
    ...(dev ? [] : ['# The key is read from SERVICE_EVENT_KEY.']),
    `client = tidegate.Tidegate(${options.join(', ')})`,
    '',
    'ids = client.send_sync(',
    '    tidegate.Event(',
    ...written,
    '    )',
    ')',
    'print(ids)',
    '',
  ].join('\n');
}
