import { type LiteralSyntax, literal } from './literal.ts';
import type { EventToSend, SendTarget } from './target.ts';

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;

const SYNTAX: LiteralSyntax = {
  null: 'null',
  true: 'true',
  false: 'false',
  list: ['[', ']'],
  object: ['{', '}'],
  indent: '  ',
  // A plain __proto__ would set the prototype and not be sent.
  key: (name) =>
    name === '__proto__' ? '["__proto__"]:' : PLAIN_NAME.test(name) ? `${name}:` : `${JSON.stringify(name)}:`,
  exact: (digits) => `exact('${digits}')`,
};

/** A module for the package `tidegate` (clients/typescript). */
export function typescriptSnippet(event: EventToSend, { origin, env, dev }: SendTarget): string {
  const options = [
    `id: 'my-app'`,
    `baseUrl: ${JSON.stringify(origin)}`,
    ...(dev ? ['isDev: true'] : []),
    ...(env === undefined ? [] : [`env: ${JSON.stringify(env)}`]),
  ];
  const sent = literal(event, SYNTAX);
  return [
    `import { Tidegate } from 'tidegate';`,
    '',
    ...(dev ? [] : ['// The key is read from SERVICE_EVENT_KEY.']),
    `const client = new Tidegate({ ${options.join(', ')} });`,
    ...(sent.includes(`exact('`) ? ['', ...EXACT_HELPER] : []),
    '',
    `const { ids } = await client.send(${sent});`,
    'console.log(ids);',
    '',
  ].join('\n');
}

const EXACT_HELPER = [
  '// Keeps digits that a JavaScript number cannot hold (Node 22 or newer).',
  'const exact = (digits: string) => (JSON as unknown as { rawJSON(text: string): number }).rawJSON(digits);',
];
