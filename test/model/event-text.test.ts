import { expect } from 'chai';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { type Event, recordOf, type Source, toEnvelope } from '../../src/model/events/event.ts';
import { FACTS_MAX, readEvent, readSource, writeEvent } from '../../src/model/events/event-encoding.ts';
import { parseExact } from '../../src/model/values/json.ts';
import { anyCharacter } from '../support/any-character.ts';

const NOW = 1_790_000_000_000;

const anyString = fc.string({
  unit: fc.oneof(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }), fc.constant('\n')),
});
const object = fc.dictionary(anyString, fc.jsonValue());
const anyEvent: fc.Arbitrary<Event> = fc.record(
  {
    name: anyString,
    data: object,
    id: anyString,
    ts: fc.integer({ min: 1, max: 2 * NOW }),
    user: object,
    v: anyString,
  },
  { requiredKeys: ['name', 'data'] },
);
const anyOrigin = fc.record({
  internalId: fc.integer({ min: 0, max: 2 ** 48 - 1 }).map((time) => ulid(time)),
  env: fc.constant('production'),
  receivedAt: fc.integer({ min: NOW - 10, max: NOW }),
  source: fc.constantFrom<Source>('api', 'service', 'event-key', 'event:01M7Z7A7B6FJ7DZJVGC757486T'),
  requestId: fc.constantFrom('01M7Z7A7B6FJ7DZJVGC757486T', '"\n\\'),
  index: fc.integer({ min: 0, max: 10_000 }),
});

describe('Encoding of stored events', () => {
  it('round-trips any event', () => {
    fc.assert(
      fc.property(anyEvent, anyOrigin, fc.option(fc.integer({ min: 1 })), (event, origin, number) => {
        const envelope = toEnvelope(event, origin);
        const source = number ?? origin.source;
        const text = writeEvent(envelope, source);
        const { internalId, receivedAt, requestId, index } = origin;
        const { payload } = envelope;
        expect(readEvent(internalId, text)).to.deep.equal({
          internalId,
          receivedAt,
          requestId,
          index,
          payload,
          source,
        });
        expect(readSource(Buffer.from(text).subarray(-FACTS_MAX).toString())).to.equal(source);
        expect(recordOf(readEvent(internalId, text))).to.deep.equal({
          ...JSON.parse(JSON.stringify(event)),
          ts: event.ts ?? receivedAt,
          internal_id: internalId,
          received_at: receivedAt,
          request_id: requestId,
          index,
        });
      }),
    );
  });

  it('preserves every digit of numbers', () => {
    const data = '{"order":12345678901234567890,"price":1.10}';
    const event = parseExact(`{"name":"digits/x","data":${data}}`) as Event;
    const origin = {
      internalId: ulid(NOW),
      env: 'production',
      receivedAt: NOW,
      source: 'api',
      requestId: ulid(),
      index: 0,
    };
    const text = writeEvent(toEnvelope(event, origin as never), 'api');
    const record = recordOf(readEvent(origin.internalId, text), parseExact);
    expect(JSON.stringify(record.data)).to.equal(data);
  });

  it('adds at most 40 bytes to the payload of a single event from a key or a webhook', () => {
    for (const late of [0, -1, 99]) {
      const origin = {
        internalId: ulid(NOW),
        env: 'x',
        receivedAt: NOW + late,
        requestId: ulid(),
        index: 0,
      };
      const envelope = toEnvelope(
        { name: 'x', data: {} },
        { ...origin, source: 'event-key:01M7Z7A7B6FJ7DZJVGC757486T' },
      );
      expect(writeEvent(envelope, 999).length - envelope.payload.length, String(late)).to.be.at.most(40);
    }
  });

  it('repeats neither the ID nor parts of the payload', () => {
    const origin = {
      internalId: ulid(NOW),
      env: 'x',
      receivedAt: NOW,
      source: 'api',
      requestId: 'r',
      index: 0,
    } as const;
    const text = writeEvent(toEnvelope({ name: 'x', data: { n: 1 } }, origin), 7);
    expect(text).to.match(/^\{"name":"x","data":\{"n":1\}\}\n\["r",7(?:,-?\d+)?\]$/);
  });
});
