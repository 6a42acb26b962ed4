import { expect } from 'chai';
import { ConfigError, NonRetriableError } from 'tidegate';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { type Encrypted, type EncryptionCase, opened, type Place } from '../../../../test/conformance/encryption.ts';
import { expectMatch, fill, type Names } from '../../../../test/conformance/match.ts';
import { deriveKey } from '../../src/middleware/encryption-key.ts';
import type { ValueKind } from '../../src/middleware/types.ts';
import { rejection, useCleanEnv, useServers } from '../servers.ts';
import { type AppCase, type StartedApp, startApp } from './app.ts';
import { type CallCase, requestOf } from './call.ts';
import { clientOf, encryptionOf, type FunctionCase } from './options.ts';
import type { Program } from './program.ts';
import {
  ask,
  expectRequests,
  expectResponse,
  NO_REPLY,
  REGISTERED,
  type ReplyCase,
  type RequestCase,
  type ResponseCase,
} from './wire.ts';

interface Case {
  title: string;
  encryption: EncryptionCase;
  [field: string]: unknown;
}

const FIELDS = Object.fromEntries(
  'key_id json nonce encrypted places at value encoded decoded flaw program functions call request events replies requests ids answer meaning'
    .split(' ')
    .map((field) => [field, true as const]),
) as Record<string, true> & { encryption: true };

const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };

describe('TypeScript conforms: encryption', () => {
  useCleanEnv();
  const servers = useServers();

  eachCase<Case>('encryption', { ...FIELDS, encryption: true }, async (given) => {
    if ('key_id' in given) await checkKeyId(given as never);
    else if ('json' in given) await checkSealing(given as never);
    else if ('at' in given) await checkValue(given as never);
    else if ('flaw' in given) checkOptions(given as never);
    else if ('events' in given) await checkSend(given as never);
    else await checkCall(given as never);
  });

  async function checkCall(given: CallOfApp): Promise<void> {
    const { encryption, places = [], program, call = {}, functions = [onlyFunction(program)], replies } = given;
    const app: AppCase = { client: { ...CLIENT, encryption }, environment: {}, functions, ...(replies && { replies }) };
    const { origin, service, names }: StartedApp = await startApp(app, servers);
    const { response, body } = await ask(origin, given.request ?? requestOf(call));
    expectResponse({ response, body: opened(body, encryption, places) }, given.answer, names);
    expectRequests(openedRequests(service.requests, encryption, places), given.requests ?? [], names);
  }

  async function checkSend(given: SendCase): Promise<void> {
    only(given, ['title', 'encryption', 'places', 'events', 'replies', 'requests', 'ids']);
    const { encryption, places = [], replies, events, requests, ids } = given;
    const service = await servers.startService(...(replies ?? NO_REPLY));
    const names: Names = { ...REGISTERED, service: service.url };
    const client = clientOf({ ...fill(CLIENT, names), encryption });
    expect(await client.send(events)).to.deep.equal({ ids });
    expectRequests(openedRequests(service.requests, encryption, places), requests, names);
  }
});

interface CallOfApp {
  encryption: EncryptionCase;
  places?: Place[];
  program?: Program;
  functions?: FunctionCase[];
  call?: CallCase;
  request?: RequestCase;
  replies?: ReplyCase[];
  requests?: RequestCase[];
  answer: ResponseCase;
}

interface SendCase {
  encryption: EncryptionCase;
  places?: Place[];
  events: { name: string; data: object }[];
  replies?: ReplyCase[];
  requests: RequestCase[];
  ids: string[];
}

function onlyFunction(program: Program = []): FunctionCase {
  return { id: 'fn', triggers: [{ event: 'order/paid' }], program };
}

function openedRequests<R extends { body: string }>(
  requests: readonly R[],
  encryption: EncryptionCase,
  places: readonly Place[],
): R[] {
  return requests.map((one) => ({ ...one, body: JSON.stringify(opened(JSON.parse(one.body), encryption, places)) }));
}

async function checkKeyId({ encryption, key_id }: { encryption: EncryptionCase; key_id: string }) {
  expect((await deriveKey(encryption.key)).id).to.equal(key_id);
}

interface SealingCase {
  encryption: EncryptionCase;
  json: string;
  nonce: string;
  encrypted: Encrypted;
  places?: Place[];
}

async function checkSealing({ encryption, json, nonce, encrypted, places }: SealingCase) {
  const key = await deriveKey(encryption.key);
  expect(await key.seal(json, places?.[0], new Uint8Array(Buffer.from(nonce, 'base64')))).to.deep.equal(encrypted);
  expect(await encryptionOf(encryption).decode?.(encrypted, 'step', places)).to.deep.equal(JSON.parse(json));
}

interface ValueCase {
  encryption: EncryptionCase;
  places?: Place[];
  at: ValueKind;
  value: unknown;
  encoded?: unknown;
  decoded?: unknown;
  flaw?: string[];
}

const HUGE = 'A'.repeat(1_000_000);

async function checkValue(given: ValueCase) {
  const { encryption, places, at, encoded, decoded, flaw } = given;
  const value = fill(given.value, { huge: HUGE });
  const { encode, decode } = encryptionOf(encryption);
  if ('encoded' in given)
    expectMatch(opened(await encode?.(value, at, places?.[0]), encryption, places ?? []), encoded);
  if ('decoded' in given) expect(await decode?.(value, at, places)).to.deep.equal(decoded);
  if (!flaw) return;
  const error = await rejection(Promise.resolve(decode?.(value, at, places)));
  expect(error).to.be.instanceOf(NonRetriableError);
  for (const word of flaw) expect(error.message).to.include(word);
  expect(error.message).to.have.length.at.most(1_000);
}

function checkOptions({ encryption, flaw }: { encryption: EncryptionCase; flaw: string[] }) {
  for (const word of flaw) expect(() => encryptionOf(encryption)).to.throw(ConfigError, word);
}
