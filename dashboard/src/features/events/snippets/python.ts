import { isInteger, literal, type Spelling } from './literal.ts';
import type { EventToSend, Place } from './target.ts';

const SPELLING: Spelling = {
  null: 'None',
  true: 'True',
  false: 'False',
  list: ['[', ']'],
  object: ['{', '}'],
  indent: '    ',
  key: (name) => `${JSON.stringify(name)}:`,
  // Its integers have any length; its floats are doubles.
  exact: (digits) => (isInteger(digits) ? digits : `float("${digits}")`),
};

/** A script for the package `tidegate` (clients/python). */
export function pythonOf(event: EventToSend, { origin, env, dev }: Place): string {
  const options = [
    '"my-app"',
    `base_url=${JSON.stringify(origin)}`,
    ...(dev ? ['is_dev=True'] : []),
    ...(env === undefined ? [] : [`env=${JSON.stringify(env)}`]),
  ];
  const fields = Object.entries(event).filter(([, value]) => value !== undefined);
  const written = fields.map(([name, value]) => `        ${name}=${literal(value, SPELLING, 2)},`);
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
