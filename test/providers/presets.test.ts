/** What is true of every preset of the catalog. A new one has nothing to add here. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { compileOrder } from '../../src/model/expressions/expression.ts';
import { orderTextOf } from '../../src/model/flow-control/order-text.ts';
import { PRESETS, presetOf, readPreset } from '../../src/providers/catalog.ts';
import { defaultId } from '../../src/providers/default-id.ts';
import { type Field, locationsIn, type Preset } from '../../src/providers/preset.ts';
import { ProviderRequest } from '../../src/providers/provider-request.ts';
import { compileSigned } from '../../src/providers/verification/signed-content.ts';
import { type Service, startService } from '../support/service.ts';

const FOLDER = join(import.meta.dirname, '../../src/providers/presets');

function requestOf({ methods, sample }: Preset): ProviderRequest {
  const headers = Object.fromEntries(
    Object.entries(sample.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const body = Buffer.from(typeof sample.body === 'string' ? sample.body : JSON.stringify(sample.body));
  return new ProviderRequest({ method: methods[0] ?? 'POST', urls: () => [], headers, search: sample.query, body });
}

/** What a transform may make of a value, as the schema says of `eventName`. */
function tidied(value: string): string[] {
  const dotted = value.replaceAll(/[:/]/g, '.');
  const afterColon = value.slice(value.lastIndexOf(':') + 1);
  return [value, dotted, afterColon].flatMap((form) => [form, form.toLowerCase()]);
}

/** All that the description of event names allows for the sample. */
function eventNamesOf(preset: Preset): string[] {
  return preset.eventName.split(', or ').flatMap((form) => namesIn(form, requestOf(preset)));
}

function namesIn(form: string, request: ProviderRequest): string[] {
  let names = [''];
  for (const part of form.split(/(\{[^{}]*\})/)) {
    const [location] = locationsIn(part);
    const value = location && request.valueAt(location);
    const forms = location === undefined ? [part] : value === undefined ? [] : tidied(value);
    names = names.flatMap((name) => forms.map((form) => name + form));
  }
  return names;
}

/** Where the scheme finds signature, time or token. */
function fieldsOf({ verification }: Preset): Field[] {
  if (!verification) return [];
  const fields: (Field | undefined)[] = [];
  if ('signature' in verification) fields.push(verification.signature, verification.timestamp);
  if ('token' in verification) fields.push(verification.token);
  return fields.filter((field) => field !== undefined);
}

/** Checks all, and tells all that fail. */
function each(check: (preset: Preset) => void): void {
  const failures: string[] = [];
  for (const preset of PRESETS) {
    try {
      check(preset);
    } catch (error) {
      failures.push(`${preset.id}: ${(error as Error).message}`);
    }
  }
  expect(failures).to.deep.equal([]);
}

describe('Presets of providers', () => {
  it('are all in the catalog, under the name of their file', () => {
    const files = readdirSync(FOLDER).map((file) => file.replace('.ts', ''));
    expect(PRESETS.map(({ id }) => id)).to.have.members(files);
    for (const id of files) expect(presetOf(id)?.id).to.equal(id);
  });

  it('have unique names', () => {
    const names = PRESETS.map(({ name }) => name.toLowerCase());
    expect(names.length).to.equal(new Set(names).size);
  });

  it('name the URL once in the setup steps', () => {
    each(({ setup }) => expect(setup.join('\n').split('{url}').length - 1).to.equal(1));
  });

  it('link to a page of the provider over HTTPS', () => {
    each(({ docs }) => expect(docs).to.match(/^https:\/\//));
  });

  it('describe what is signed in terms that the verifier knows', () => {
    each(({ verification }) => {
      if (verification && 'signed' in verification) expect(() => compileSigned(verification.signed)).not.to.throw();
    });
  });

  it('have a pattern of secrets that compiles and matches the beginning of their example', () => {
    each(({ secret: { pattern, example } }) => {
      if (pattern === undefined) return;
      expect(() => new RegExp(pattern)).not.to.throw();
      const beginning = /^\^\(?(\w+)/.exec(pattern)?.[1];
      if (example && beginning) expect(example.startsWith(beginning)).to.equal(true);
    });
  });

  it('have a sample with signature and time where the scheme expects them', () => {
    each((preset) => {
      for (const { at, prefix = '' } of fieldsOf(preset))
        expect(requestOf(preset).valueAt(at.replace('*', '0')) ?? 'nothing', at).to.include(prefix);
    });
  });

  it('find the deduplication ID of their sample, if the provider has one', () => {
    each((preset) => {
      const { eventId, deliveryId } = preset;
      if (eventId ?? deliveryId) expect(defaultId(preset, requestOf(preset), 'w')).to.be.a('string');
    });
  });

  it('name events as the sample shows', () => {
    each((preset) => expect(eventNamesOf(preset)).to.include(preset.sample.eventName));
  });

  it('each have their own test: a file with their name, or a case of the tests for all providers', () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.test.ts') && file !== 'presets.test.ts',
    );
    const cases = files
      .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
      .filter((text) => text.includes('itVerifies'))
      .join('\n');
    const names = files.map((file) => basename(file, '.test.ts'));
    each(({ id }) => expect(names.includes(id) || cases.includes(`'${id}'`)).to.equal(true));
  });

  describe('with their default transform', () => {
    let service: Service;
    before(async () => {
      service = await startService({ workers: 0 });
    });
    after(() => service.stop());

    it('turn their sample into one event with name, time and data, and leave the ID and the signature to the service', async () => {
      const responses = await Promise.all(
        PRESETS.map(({ transform, sample: { headers, query, body } }) =>
          service.post('/v1/transforms/test', {
            transform,
            headers,
            body,
            query: Object.fromEntries(new URLSearchParams(query)),
          }),
        ),
      );
      for (const [i, { status, body }] of responses.entries()) {
        const preset = PRESETS[i] as Preset;
        const { id, transform, sample, eventId, deliveryId } = preset;
        expect(status, `${id}: ${JSON.stringify(body)}`).to.equal(200);
        const [event, ...others] = body.data.events;
        expect(others, id).to.deep.equal([]);
        expect(event.name, id).to.equal(sample.eventName);
        expect(Object.keys(event.data), id).not.to.deep.equal([]);
        if (/\bts:/.test(transform)) expect(event.ts, `ts of ${id}`).to.be.a('number');
        if (eventId ?? deliveryId) expect(event, id).not.to.have.property('id');
        const [signature] = fieldsOf(preset).filter(({ at }) => at.startsWith('header:'));
        const text = signature && requestOf(preset).valueAt(signature.at);
        if (text) expect(JSON.stringify(event), id).not.to.include(text);
      }
    });
  });

  it('have an order that the sample has values for', () => {
    each(({ order, sample }) => {
      if (!order) return;
      const headers = Object.entries(sample.headers).map(([name, value]) => [name.toLowerCase(), value]);
      const scope = { event: {}, request: { headers: Object.fromEntries(headers), body: sample.body } };
      const evaluated = (source: string) => compileOrder(source).valueOf(scope).value;
      expect(evaluated(order.key)).to.be.a('string');
      expect(orderTextOf(evaluated(order.by))).to.be.a('string');
    });
  });

  describe('that are broken', () => {
    const stripe = presetOf('stripe') as Preset;

    it('fail with their file and each wrong field', () => {
      const { docs: _, ...broken } = {
        ...stripe,
        eventName: 7,
        verification: { ...stripe.verification, algorithm: 'md5' },
      };
      expect(() => readPreset('broken.ts', broken))
        .to.throw(Error)
        .with.property('message')
        .that.includes('presets/broken.ts')
        .and.includes('at docs')
        .and.includes('at eventName')
        .and.includes('at verification.algorithm');
    });

    it('fail with an unknown field or an unknown kind of location', () => {
      expect(() => readPreset('broken.ts', { ...stripe, eventID: 'body:id' })).to.throw(/broken\.ts.*eventID/s);
      expect(() => readPreset('broken.ts', { ...stripe, eventId: 'cookie:id' })).to.throw(/broken\.ts.*at eventId/s);
      expect(() => readPreset('broken.ts', { ...stripe, eventId: 'a-{cookie:id}' })).to.throw(
        /broken\.ts.*at eventId/s,
      );
    });

    it('fail when their ID differs from the name of the file', () => {
      expect(() => readPreset('strype.ts', stripe)).to.throw(
        'presets/strype.ts: id: expected the name of the file; got "stripe"',
      );
    });

    it('fail without a default export', () => {
      expect(() => readPreset('empty.ts', undefined)).to.throw(/presets\/empty\.ts/);
    });
  });
});
