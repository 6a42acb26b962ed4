import { expect } from 'chai';
import { NonRetriableError, RetryAfterError, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';

const client = new Tidegate({ id: 'shop' });
const handler = () => {};

describe('Functions and errors of the TypeScript client', () => {
  it('have four retries and their ID as name by default', () => {
    const fn = client.createFunction({ id: 'send-receipt', triggers: { event: 'order/paid' } }, handler);
    expect(fn).to.deep.include({ name: 'send-receipt', retries: 4, triggers: [{ event: 'order/paid' }] });
  });

  it('are rejected without an ID, without a trigger, or with invalid retries', () => {
    const triggers = { event: 'order/paid' } as const;
    expect(() => client.createFunction({ id: '', triggers }, handler)).to.throw(TypeError, 'needs an id');
    expect(() => client.createFunction({ id: 'a' } as never, handler)).to.throw(TypeError, 'triggers: []');
    expect(() => client.createFunction({ id: 'a', triggers: [] }, handler)).to.not.throw();
    for (const retries of [-1, 1.5, Number.NaN]) {
      expect(() => client.createFunction({ id: 'a', retries, triggers }, handler)).to.throw(TypeError, 'retries');
    }
  });

  it('are rejected with a misspelled, empty or ambiguous trigger', () => {
    for (const trigger of [
      { event: 'order/paid', expression: 'true' },
      { cron: '0 * * * *', event: 'order/paid' },
      { event: 'order/paid', jitter: '30s' },
      {},
    ]) {
      const config = { id: 'a', triggers: trigger as { event: string } };
      expect(() => client.createFunction(config, handler)).to.throw(TypeError, 'event and perhaps if, or cron');
    }
  });

  it('are rejected with a misspelled option, with a suggestion', () => {
    const define = (config: object) => () => client.createFunction(config as never, handler as never);
    const triggers = { event: 'order/paid' };
    for (const [config, message] of [
      [{ id: 'a', trigger: triggers }, 'Function "a" has no option "trigger"; did you mean "triggers"?'],
      [{ id: 'a', triggers, cancelon: [] }, 'Function "a" has no option "cancelon"; did you mean "cancelOn"?'],
      [{ id: 'a', triggers, onfailure: handler }, 'did you mean "onFailure"?'],
      [{ id: 'a', triggers, colour: 1 }, 'has no option "colour"; known are id, name, retries, onExhausted, triggers'],
      [
        { id: 'a', triggers, debounce: { perod: '1s' } },
        'Function "a": debounce has no option "perod"; did you mean "period"?',
      ],
      [
        { id: 'a', triggers, cancelOn: [{ event: 'b', iff: 'true' }] },
        'cancelOn has no option "iff"; did you mean "if"?',
      ],
      [
        { id: 'a', triggers, checkpoint: { bufer: 2 } },
        'Function "a": checkpoint has no option "bufer"; did you mean "buffer"?',
      ],
      [{ id: 'a', triggers, checkpoint: 'on' }, 'checkpoint must be true, false or { buffer, maxRuntime }, got "on"'],
      [
        { id: 'a', triggers, checkpoint: { buffer: 0 } },
        'checkpoint.buffer must be a whole number from 1 to 100, got 0',
      ],
      [
        { id: 'a', triggers, checkpoint: { maxRuntime: 'long' } },
        'checkpoint.maxRuntime must be a duration such as "10s", got "long"',
      ],
    ] as const) {
      expect(define(config), message).to.throw(TypeError, message);
    }
  });

  it('are rejected in the syntax of other versions, and the message shows the right syntax', () => {
    const create = client.createFunction.bind(client) as (...given: unknown[]) => unknown;
    for (const given of [
      [{ id: 'a' }, { event: 'order/paid' }, handler],
      [{ id: 'a', triggers: { event: 'order/paid' } }, handler, {}],
      ['a', 'order/paid', handler],
      ['a', handler],
      [{ id: 'a', triggers: { event: 'order/paid' } }],
    ]) {
      expect(() => create(...given)).to.throw(
        TypeError,
        'createFunction({ id: "a", triggers: { event: "order/paid" } }, handler)',
      );
    }
  });

  it('reject unknown options of clients and serve', () => {
    expect(() => new Tidegate({ id: 'shop', evenKey: 'k' } as never)).to.throw(TypeError, 'did you mean "eventKey"?');
    const options = { client, functions: [], servOrigin: 'https://shop.example' };
    expect(() => serve(options as never)).to.throw(
      TypeError,
      'serve has no option "servOrigin"; did you mean "serveOrigin"?',
    );
  });

  it('keep the cause of a NonRetriableError', () => {
    const cause = new Error('why');
    expect(new NonRetriableError('no', { cause })).to.include({ name: 'NonRetriableError', message: 'no', cause });
  });

  it('round the delay of a RetryAfterError up to whole seconds', () => {
    expect(new RetryAfterError('later', 1_001).retryAfterSeconds).to.equal(2);
    expect(new RetryAfterError('later', 0).retryAfterSeconds).to.equal(0);
    expect(new RetryAfterError('later', '90').retryAfterSeconds).to.equal(90);
    expect(new RetryAfterError('later', new Date(Date.now() + 60_000)).retryAfterSeconds).to.be.within(59, 60);
    expect(new RetryAfterError('later', new Date(0)).retryAfterSeconds).to.equal(0);
    expect(new RetryAfterError('later', new Date(Date.now() + 60_000).toUTCString()).retryAfterSeconds).to.be.within(
      58,
      60,
    );
  });

  it('reject a RetryAfterError with an invalid delay', () => {
    for (const delay of ['soon', '5 minutes', '', Number.NaN, Number.POSITIVE_INFINITY, new Date('no')]) {
      expect(() => new RetryAfterError('later', delay)).to.throw(TypeError, 'RetryAfterError');
    }
  });
});
