/** Signatures that providers publish in their documentation, with secret and content. */
import { expect } from 'chai';
import { presetOf } from '../../src/providers/catalog.ts';
import type { VerificationScheme } from '../../src/providers/preset.ts';
import { ProviderRequest } from '../../src/providers/provider-request.ts';
import { createVerifier } from '../../src/providers/verification/verifier.ts';

interface Vector {
  id: string;
  secret: string;
  headers: Record<string, string>;
  body: string;
}

const VECTORS: Vector[] = [
  {
    id: 'github',
    secret: "It's a Secret to Everybody",
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
  },
  ...['bitbucket', 'jira'].map((id) => ({
    id,
    secret: "It's a Secret to Everybody",
    headers: { 'x-hub-signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9' },
    body: 'Hello World!',
  })),
  {
    id: 'svix',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  },
  {
    id: 'standard-webhooks',
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    headers: {
      'webhook-id': 'msg_loFOjxBNrRLzqYUf',
      'webhook-timestamp': '1731705121',
      'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
    body: '{"event_type":"ping","data":{"success":true}}',
  },
];

function verify({ id, secret, headers, body }: Vector) {
  const verifier = createVerifier(presetOf(id)?.verification as VerificationScheme, [secret]);
  const request = new ProviderRequest({
    method: 'POST',
    urls: () => [],
    headers,
    search: '',
    body: Buffer.from(body),
  });
  const fetchDocument = () => Promise.reject(new Error('not needed'));
  const seconds = Object.entries(headers).find(([name]) => name.endsWith('timestamp'))?.[1];
  return verifier(request, { nowMs: Number(seconds ?? 0) * 1_000, fetchDocument });
}

describe('Signatures that providers publish', () => {
  for (const vector of VECTORS) {
    it(`${vector.id}: the published signature verifies, but not for another body`, async () => {
      expect((await verify(vector)).result).to.equal('verified');
      expect(await verify({ ...vector, body: `${vector.body}!` })).to.include({ reason: 'signature_mismatch' });
    });
  }

  it('a secret that must be Base64 but is not is rejected instead of being used as another key', () => {
    for (const secret of ['whsec_', 'whsec_not base64', 'whsec_ümlaut']) {
      expect(() => createVerifier(presetOf('svix')?.verification as VerificationScheme, [secret])).to.throw('base64');
    }
  });
});
