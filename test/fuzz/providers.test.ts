import { expect } from 'chai';
import type { HttpCase } from '../../fuzz/case.ts';
import { checkResponse } from '../../fuzz/check-response.ts';
import {
  attackedWebhooks,
  isForged,
  LIES,
  SECRET_MARK,
  SIGNERS,
  type Signing,
  signatureOf,
} from '../../fuzz/providers.ts';
import { presetOf } from '../../src/providers/catalog.ts';
import type { VerificationScheme } from '../../src/providers/preset.ts';
import { customVerificationSchema } from '../../src/providers/preset.ts';
import { createVerifier } from '../../src/providers/verification/verifier.ts';
import { resultOf } from '../support/provider-requests.ts';

const TARGET = '/e/key?a=1';
const BODY = Buffer.from('b=2&a=1');
const HOST = 'service.example';

interface Input {
  provider: string;
  secrets: string[];
  settings?: Record<string, string>;
  verification?: object;
}

describe('Requests that scripts/fuzz signs', () => {
  const inputs = Object.fromEntries(attackedWebhooks()) as unknown as Record<string, Input>;

  const verify = (signing: Signing) => {
    const { provider, secrets, settings, verification } = inputs[signing.by] as Input;
    const scheme = verification ? customVerificationSchema.parse(verification) : presetOf(provider)?.verification;
    const headers: Record<string, string> = {};
    for (const [name, value] of signatureOf(signing, TARGET, BODY, HOST, Date.now())) {
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    const url = `http://${HOST}/e/key`;
    return resultOf(createVerifier(scheme as VerificationScheme, secrets, settings ?? {}), {
      headers,
      search: 'a=1',
      body: BODY,
      urls: [url],
    });
  };

  for (const by of SIGNERS) {
    it(`${by}: are the provider's, and forged with each lie`, async () => {
      expect(await verify({ by })).to.equal('verified');
      for (const lie of LIES.filter((lie) => isForged({ by, lie: lie }))) {
        expect(await verify({ by, lie }), lie).not.to.equal('verified');
      }
    });
  }

  describe('whose response is wrong', () => {
    const given = (expects: 'forged' | 'genuine'): HttpCase => ({
      kind: 'http',
      area: '/e/ provider',
      method: 'POST',
      target: '/e/key',
      headers: [],
      expects,
    });
    const check = (expects: 'forged' | 'genuine', status: number, body: object) => {
      const headers = { 'content-type': 'application/json' };
      return checkResponse(
        given(expects),
        { status, headers, body: JSON.stringify(body), ms: 1, ended: 'answered' },
        0,
      );
    };

    it('are findings: an accepted forgery, a rejected genuine request, a secret', () => {
      expect(check('forged', 200, { ids: ['a'] })).to.include('a forged request');
      expect(check('forged', 401, { code: 'verification_failed' })).to.equal(undefined);
      expect(check('genuine', 401, { code: 'verification_failed' })).to.include('rejected');
      expect(check('genuine', 400, { code: 'input_invalid', detail: SECRET_MARK })).to.include('secret');
      expect(check('genuine', 200, { ids: [] })).to.equal(undefined);
    });

    it('are findings: an unbounded response, and an unintended 5xx', () => {
      expect(check('genuine', 200, { text: 'x'.repeat(100_000) })).to.include('bytes');
      expect(check('genuine', 500, { code: 'internal' })).to.include('500');
      expect(check('forged', 503, { code: 'verification_unavailable' })).to.equal(undefined);
    });
  });
});
