import { expect } from 'chai';
import fc from 'fast-check';
import { failingStepOf, isStepError } from '../../src/model/errors/failing-step.ts';
import { FINGERPRINT_PATTERN, fingerprintOf } from '../../src/model/errors/fingerprint.ts';
import { normalizedMessage } from '../../src/model/errors/normalized-message.ts';
import { ownFrameOf, parseStack } from '../../src/model/errors/stack.ts';

const MESSAGES: [message: string, normalized: string][] = [
  ['card 4242 of cus_9s6XKzkNRiz8i3 declined', 'card <n> of <id> declined'],
  ["can't read the user's name", "can't read the user's name"],
  ["Cannot read properties of undefined (reading 'id')", 'Cannot read properties of undefined (reading <text>)'],
  ['timeout after 5000ms, 3.14 of -5, 1,000 at 10:30', 'timeout after <n>ms, <n> of <n>, <n> at <n>'],
  ['GET https://shop.example/a?b=1 failed: 503', 'GET <url> failed: <n>'],
  ['mail to bob@example.com bounced', 'mail to <email> bounced'],
  ['{"id":"abc","n":3}', '{<text>:<text>,<text>:<n>}'],
  ['order 7f1b1c1e-1111-4222-8333-aaaaaaaaaaaa is gone', 'order <id> is gone'],
  ['order-7f1b1c1e-1111-4222-8333-aaaaaaaaaaaa is gone', 'order-<id> is gone'],
  ['run 01ARZ3NDEKTSV4RRFFQ69G5FAV at 0xdeadbeef01', 'run <id> at <id>'],
];

const NODE = `DeclinedError: card declined
    at request (/app/node_modules/@acme/pay/dist/index.js:1:2)
    at async charge (file:///app/src/charge.ts:12:9)
    at Array.map (<anonymous>)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at /app/node_modules/tidegate/dist/step.js:10:3`;
const DENO = `Error: no
    at handler (https://deno.land/x/oak@v12/router.ts:3:4)
    at charge (file:///app/charge.ts:12:9)
    at ext:core/01_core.js:300:5`;
const BUN = 'charge@/app/src/charge.ts:12:9\nrun@bun:main:1:1\n@[native code]';
const PYTHON = `Traceback (most recent call last):
  File "/app/shop/a.py", line 1, in first
    raise KeyError("a")
KeyError: 'a'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/tidegate/_steps/run.py", line 8, in run
    await fn()
  File "/app/shop/charge.py", line 12, in charge
    raise ValueError("no")
    ^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.12/json/decoder.py", line 3, in decode
ValueError: no`;
const GO = `goroutine 21 [running]:
runtime/debug.Stack()
\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/acme/pay.(*Client).Do(...)
\t/root/go/pkg/mod/github.com/acme/pay@v1.2.3/client.go:33
main.charge({0x1, 0x2})
\t/go/src/app/charge.go:12 +0x1d
created by net/http.(*Server).Serve in goroutine 1
\t/usr/local/go/src/net/http/server.go:3454 +0x485`;

const STACKS: [title: string, stack: string, libraries: (string | undefined)[], own: object][] = [
  [
    'Node',
    NODE,
    ['@acme/pay', undefined, 'the runtime', 'node:internal', 'tidegate'],
    { name: 'charge', file: '/app/src/charge.ts', line: 12, column: 9 },
  ],
  ['Deno', DENO, ['oak', undefined, 'ext:core'], { name: 'charge', file: '/app/charge.ts', line: 12 }],
  ['Bun', BUN, [undefined, 'bun:main', 'the runtime'], { name: 'charge', file: '/app/src/charge.ts', line: 12 }],
  ['Python', PYTHON, ['tidegate', undefined, 'Python'], { name: 'charge', file: '/app/shop/charge.py', line: 12 }],
  [
    'Go',
    GO,
    ['Go', 'github.com/acme/pay', undefined, 'Go'],
    { name: 'main.charge', file: '/go/src/app/charge.go', line: 12 },
  ],
];

const error = (message: string, stack?: string) => ({ name: 'Error', message, ...(stack !== undefined && { stack }) });

describe('Stack traces', () => {
  for (const [title, stack, libraries, own] of STACKS) {
    it(`of ${title} distinguish frames of libraries from those of the app`, () => {
      const parsed = parseStack(stack);
      expect(parsed.frames.map(({ library }) => library)).to.deep.equal(libraries);
      expect(ownFrameOf(parsed)).to.include(own);
    });
  }

  it('are read from any text without an error, and have no empty frame', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), linesOf(NODE, DENO, BUN, PYTHON, GO)), (text) => {
        const { frames } = parseStack(text);
        expect(frames.length).to.be.at.most(500);
        for (const frame of frames) expect(frame.text).to.not.equal('');
      }),
    );
  });
});

describe('Fingerprints of errors', () => {
  for (const [message, normalized] of MESSAGES) {
    it(`leave out what differs between runs: ${message}`, () => {
      expect(normalizedMessage(message)).to.equal(normalized);
    });
  }

  it('are the same whatever numbers the message has', () => {
    const word = fc.stringMatching(/^[a-zA-Zäöü:(),]{0,8}$/);
    const text = fc.tuple(word, word, word);
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), ([a, b, c], one, other) => {
        const of = (n: number) => fingerprintOf('f', 's', error(`${a} ${b}${n} ${c} ${n}`));
        expect(of(one)).to.equal(of(other));
      }),
    );
  });

  it('are the same whatever IDs, email addresses, URLs and quoted texts the message has', () => {
    const values = fc.tuple(
      fc.uuid(),
      fc.stringMatching(/^[a-z][\w.+-]{0,20}@[a-z][a-z-]{0,9}\.(com|org)$/),
      fc.webUrl(),
      fc.stringMatching(/^[a-z ]{0,20}$/),
    );
    fc.assert(
      fc.property(values, values, (one, other) => {
        const of = ([id, email, url, text]: typeof one) =>
          fingerprintOf('f', undefined, error(`${id} of ${email} at ${url}: "${text}"`));
        expect(of(one)).to.equal(of(other));
      }),
    );
  });

  it('exist for any error, with a bounded length and computed in bounded time', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (name, message, stack) => {
        expect(fingerprintOf('f', name, { name, message, stack })).to.match(FINGERPRINT_PATTERN);
        expect(normalizedMessage(message).length).to.be.at.most(300);
      }),
    );
    const long = '"'.repeat(1_000_000);
    expect(fingerprintOf(long, long, { name: long, message: long, stack: long })).to.match(FINGERPRINT_PATTERN);
  });

  it('differ by function, step, name, message and the frame of the app', () => {
    const base = error('declined', NODE);
    const all = [
      fingerprintOf('f', 's', base),
      fingerprintOf('g', 's', base),
      fingerprintOf('f', 't', base),
      fingerprintOf('f', undefined, base),
      fingerprintOf('f', 's', { ...base, name: 'Other' }),
      fingerprintOf('f', 's', { ...base, message: 'refused' }),
      fingerprintOf('f', 's', { ...base, stack: NODE.replace('async charge', 'async refund') }),
      fingerprintOf('f', 's', error('declined')),
    ];
    expect(new Set(all).size).to.equal(all.length);
  });

  it('are the same after an edit moved the line, in another folder, and below other libraries', () => {
    const moved = NODE.replace('charge.ts:12:9', 'charge.ts:99:1')
      .replaceAll('/app/', '/srv/releases/20260101/')
      .replace('at request (', 'at retry (/app/node_modules/p/i.js:1:1)\n    at request (');
    expect(fingerprintOf('f', 's', error('x', moved))).to.equal(fingerprintOf('f', 's', error('x', NODE)));
  });
});

describe('The failed step of a run', () => {
  const failed = (stepId: string | undefined, message: string, name?: string) => ({
    status: 'Failed' as const,
    error: error(message),
    ...(stepId !== undefined && { stepId }),
    ...(name !== undefined && { name }),
  });

  it('is the last step that failed with the error of the run, or with its cause', () => {
    const history = [failed('a', 'no', 'first'), failed('b', 'no', 'charge'), failed('c', 'else', 'last')];
    expect(failingStepOf(history, error('no'))).to.deep.equal({ id: 'b', name: 'charge' });
    const wrapped = { ...error('the step failed'), cause: error('no') };
    expect(failingStepOf(history, wrapped)).to.deep.equal({ id: 'b', name: 'charge' });
  });

  it('has the name from another entry of the step; there is none if the function itself failed', () => {
    const history = [failed('a', 'no', 'charge'), failed('a', 'again'), failed(undefined, 'again')];
    expect(failingStepOf(history, error('again'))).to.deep.equal({ id: 'a', name: 'charge' });
    expect(failingStepOf([failed(undefined, 'no')], error('no'))).to.equal(undefined);
    expect(failingStepOf([], error('no'))).to.equal(undefined);
  });
});

/** Texts made of the lines of others. */
function linesOf(...texts: string[]): fc.Arbitrary<string> {
  const lines = texts.flatMap((text) => text.split('\n'));
  return fc.array(fc.constantFrom(...lines), { maxLength: 30 }).map((some) => some.join('\n'));
}

describe('The error of a call that a failed step ends', () => {
  const memos = { a: { data: 1 }, b: { error: { name: 'CardError', message: 'card refused' } }, c: null };

  it('is the error of a memo, or has it as a cause', () => {
    expect(isStepError({ name: 'StepError', message: 'card refused' }, memos)).to.equal(true);
    const cause = { name: 'CardError', message: 'card refused' };
    expect(isStepError({ name: 'Error', message: 'order failed', cause }, memos)).to.equal(true);
  });

  it('is neither an error of the function itself nor of an event that a wait received', () => {
    expect(isStepError({ name: 'Error', message: 'order failed' }, memos)).to.equal(false);
    expect(isStepError(undefined, memos)).to.equal(false);
    const event = { name: 'card/refused', data: {}, error: { message: 'card refused' } };
    expect(isStepError({ name: 'Error', message: 'card refused' }, { w: event })).to.equal(false);
  });
});
