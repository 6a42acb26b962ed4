import { expect } from 'chai';
import { verifyWebhook, WebhookVerificationError } from 'tidegate';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { holds } from '../../../../test/conformance/match.ts';

interface Options {
  encoding?: 'hex' | 'base64';
  prefix?: string;
  algorithm?: 'sha256' | 'sha1' | 'sha512';
  tolerance_seconds?: number;
}

interface Case {
  title: string;
  provider: keyof typeof verifyWebhook;
  data: { raw: string; sig: string; id: string; timestamp: string };
  secret: string;
  options?: Options;
  now?: number;
  flaw: string[] | null;
}

const FIELDS = { provider: true, data: true, secret: true, options: true, now: true, flaw: true } as const;

describe('TypeScript conforms: webhooks', () => {
  eachCase<Case>('webhooks', FIELDS, (given) => {
    const { flaw } = given;
    if (flaw === null) verify(given);
    else
      expect(() => verify(given))
        .to.throw(WebhookVerificationError)
        .and.satisfy(saysAll(flaw));
  });
});

function verify({ provider, data, secret, options = {}, now }: Case): void {
  only(options, ['encoding', 'prefix', 'algorithm', 'tolerance_seconds']);
  const { tolerance_seconds, ...hmac } = options;
  const tolerance = {
    ...(now !== undefined && { receivedAtMs: now * 1_000 }),
    ...(tolerance_seconds !== undefined && { toleranceSeconds: tolerance_seconds }),
  };
  verifyWebhook[provider](data, secret, { ...hmac, ...tolerance });
}

function saysAll(words: string[]) {
  return ({ message }: Error) => holds(message, words);
}
