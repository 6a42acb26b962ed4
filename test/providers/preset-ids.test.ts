import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { PRESETS } from '../../src/providers/catalog.ts';

interface Made {
  id?: unknown;
}

/** IDs of the events that a default transform makes; none where it throws, which rejects the request. */
function idsOf(transform: string, evt: unknown, headers: object): unknown[] {
  try {
    const globals = { evt, headers, query: {}, raw: JSON.stringify(evt), atob, URLSearchParams };
    const made: Made | Made[] | null = runInNewContext(`${transform}; transform(evt, headers, query, raw)`, globals);
    return [made ?? []].flat().map(({ id }) => id);
  } catch {
    return [];
  }
}

/** Each body without one of its fields; of a list, each element without it. */
function bodiesWithoutAField(body: unknown): unknown[] {
  const [first] = [body].flat();
  if (typeof first !== 'object' || first === null) return [];
  return Object.keys(first).map((key) => {
    const without = (one: object) => Object.fromEntries(Object.entries(one).filter(([name]) => name !== key));
    return Array.isArray(body) ? body.map(without) : without(body as object);
  });
}

const MISSING = /undefined|null|NaN|\[object/;

describe('The default transforms of providers', () => {
  for (const { id: provider, transform, sample } of PRESETS) {
    it(`of ${provider} make no deduplication ID from a missing field`, () => {
      const { headers, body } = sample;
      for (const evt of [{}, [{}], ...bodiesWithoutAField(body)]) {
        for (const id of idsOf(transform, evt, headers)) {
          if (id !== undefined)
            expect(id, JSON.stringify(evt).slice(0, 200)).to.be.a('string').that.does.not.match(MISSING);
        }
      }
    });
  }

  it('make a deduplication ID for the sample if the provider has no unique ID', () => {
    const withIds = PRESETS.filter(({ transform, sample: { headers, body } }) =>
      idsOf(transform, body, headers).some((id) => id !== undefined),
    );
    expect(withIds.map(({ id }) => id)).to.include.members(['hubspot', 'postmark', 'sendgrid']);
  });
});
