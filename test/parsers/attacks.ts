/** Worst-case texts of a given size, by kind of parser. */

export type Attack = readonly [title: string, text: string];

/** Repeats the text up to the size. */
export function fill(part: string, bytes: number, before = '', after = ''): string {
  const room = bytes - Buffer.byteLength(before + after);
  return before + part.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(part)))) + after;
}

/** Makes a regular expression backtrack: a long run of the repeated part, and an unexpected end. */
export function runs(bytes: number, parts: readonly string[], end = '!'): Attack[] {
  return parts.map((part) => [`${JSON.stringify(part)} without end`, fill(part, bytes, '', end)]);
}

export function queries(bytes: number): Attack[] {
  return [
    ['a& without end', fill('a&', bytes)],
    ['another name each time', numbered(bytes, (n) => `${n.toString(36)}=1&`)],
    ['the same name each time', fill('a=1&', bytes)],
    ['& without end', fill('&', bytes)],
    ['= without end', fill('=', bytes)],
    ['percent signs', fill('%', bytes)],
    ['escapes', fill('%41', bytes)],
    ['escapes that are no UTF-8', fill('%ff', bytes)],
    ['plus signs', fill('+', bytes)],
    ['999 long fields', fill(`${'a'.repeat(Math.floor(bytes / 999) - 3)}=&`, bytes)],
    ['names of the prototype', fill('__proto__=1&', bytes)],
    ['array indices', numbered(bytes, (n) => `a[${n}]=1&`)],
  ];
}

export function json(bytes: number, { around = ['', ''] }: { around?: readonly [string, string] } = {}): Attack[] {
  const [before, after] = around;
  const whole = (part: string, start: string, end: string) => fill(part, bytes, before + start, end + after);
  const half = Math.floor((bytes - before.length - after.length) / 2);
  return [
    ['deep lists', before + '['.repeat(half) + ']'.repeat(half) + after],
    ['deep lists that do not close', fill('[', bytes, before)],
    ['deep objects', `${before + '{"a":'.repeat(Math.floor(half / 3))}1${'}'.repeat(Math.floor(half / 3))}${after}`],
    ['499 levels, again and again', whole(`${'['.repeat(499)}${']'.repeat(499)},`, '[', '0]')],
    ['empty lists', whole('[],', '[', '0]')],
    ['empty objects', whole('{},', '[', '0]')],
    ['the same key each time', whole('"a":1,', '{', '"a":2}')],
    [
      'another key each time',
      `${before}{${numbered(bytes - before.length - after.length - 20, (n) => `"${n.toString(36)}":1,`)}"z_":1}${after}`,
    ],
    [
      'keys that are array indices',
      `${before}{${numbered(bytes - before.length - after.length - 20, (n) => `"${n * 7_919}":1,`)}"z_":1}${after}`,
    ],
    ['digits', whole('9', '[', ']')],
    ['digits after a point', whole('9', '[0.', ']')],
    ['numbers that a double cannot hold', whole('1234567890123456789,', '[', '1]')],
    ['exponents', whole('1e400,', '[', '1]')],
    ['one number that a double cannot hold beside many that it can', whole('1,', '[12345678901234567890,', '1]')],
    ['escapes', whole('\\u0041', '"', '"')],
    ['halves of surrogate pairs', whole('\\ud800', '["', '"]')],
    ['backslashes', whole('\\\\', '"', '"')],
    ['strings', whole('"",', '[', '""]')],
    ['a string', whole('a', '"', '"')],
    ['a string of two bytes a character', whole('é', '"', '"')],
    ['white space', whole(' ', '', '1')],
    ['nulls', whole('null,', '[', 'null]')],
  ];
}

export function multiparts(bytes: number): Attack[] {
  const part = (disposition: string) => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n\r\n`;
  return [
    ['small parts', fill(part('name=a'), bytes, '', '--b--\r\n')],
    ['small files', fill(part('name=a; filename=b'), bytes, '', '--b--\r\n')],
    ['999 parts', `${fill('x', 500, '', '') + part('name="a"').repeat(999)}--b--\r\n`],
    [
      '999 files of all the rest',
      `${`${part('name=a; filename=b').slice(0, -2)}${'x'.repeat(Math.floor(bytes / 999) - 70)}\r\n`.repeat(999)}--b--\r\n`,
    ],
    ['boundaries', fill('--b', bytes)],
    ['boundaries that nearly are', fill('\r\n--', bytes, '--b\r\nContent-Disposition: form-data; name=a\r\n\r\n')],
    ['dashes', fill('-', bytes, '--b\r\nContent-Disposition: form-data; name=a\r\n\r\n')],
    ['line ends', fill('\r\n', bytes, '--b')],
    ['headers', fill('A: b\r\n', bytes, '--b\r\n', '\r\n\r\n\r\n--b--')],
    ['one header', fill('a', bytes, '--b\r\nContent-Disposition: form-data; name="', '"\r\n\r\n\r\n--b--')],
    ['quotes in a name', fill('\\"', bytes, '--b\r\nContent-Disposition: form-data; name="', '"\r\n\r\n\r\n--b--')],
    ['parameters of a header', fill('; a=b', bytes, '--b\r\nContent-Disposition: form-data', '\r\n\r\n\r\n--b--')],
    ['white space in a header', fill(' ', bytes, '--b\r\nContent-Disposition:', '\r\n\r\n\r\n--b--')],
  ];
}

export function numbered(bytes: number, one: (n: number) => string): string {
  const parts: string[] = [];
  let length = 0;
  for (let n = 0; ; n++) {
    const part = one(n);
    length += part.length;
    if (length > bytes) return parts.join('');
    parts.push(part);
  }
}
