import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';
import { type Encrypted, type EncryptionCase, keyIdOf, openText, type Place, sealed, sealText } from './encryption.ts';
import { fill } from './match.ts';
import { expectMeaning, type Meaning, type PlayedResponse } from './meaning.ts';

interface Case {
  title: string;
  encryption: EncryptionCase;
  key_id?: string;
  json?: string;
  nonce?: string;
  encrypted?: Encrypted;
  places?: Place[];
  events?: unknown;
  requests?: { path: string; body: { data: unknown }[] }[];
  answer?: PlayedResponse;
  meaning?: Meaning;
  [ofTheClient: string]: unknown;
}

const FIELDS = Object.fromEntries(
  'encryption key_id json nonce encrypted places at value encoded decoded flaw program functions call request events replies requests ids answer meaning'
    .split(' ')
    .map((field) => [field, true as const]),
);

describe('The service conforms: encryption', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'meaning/x' }] }]);
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  eachCase<Case>(
    'encryption',
    FIELDS,
    ({ encryption, key_id, json, nonce, encrypted, places: [place] = [] }) => {
      if (key_id) expect(keyIdOf(encryption.key)).to.equal(key_id);
      if (json === undefined || !encrypted || !nonce) return;
      expect(sealText(json, encryption.key, place, Buffer.from(nonce, 'base64'))).to.deep.equal(encrypted);
      expect(openText(encrypted, [encryption.key], place)).to.equal(json);
    },
    ({ key_id, json }) => key_id !== undefined || json !== undefined,
  );

  eachCase<Case>(
    'encryption',
    FIELDS,
    ({ encryption, answer, meaning }) => {
      const played = sealed(fill(answer, { any: 'any' }), encryption) as PlayedResponse;
      return expectMeaning(service, host, played, meaning as Meaning);
    },
    ({ meaning }) => meaning !== undefined,
  );

  eachCase<Case>(
    'encryption',
    FIELDS,
    async ({ encryption, requests = [] }) => {
      for (const { path, body } of sealed(requests, encryption) as typeof requests) {
        const { status, body: sent } = await service.post(path, body);
        expect(status).to.equal(200);
        const stored = await service.waitFor(`/v1/events/${sent.ids[0]}`, (response) => response.status === 200);
        expect(stored.body.data.data).to.deep.equal(body[0]?.data);
      }
    },
    ({ events }) => events !== undefined,
  );
});
