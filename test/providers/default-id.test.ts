import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { presetOf } from '../../src/providers/catalog.ts';
import { defaultId } from '../../src/providers/default-id.ts';
import { customVerificationSchema, type Preset, type VerificationScheme } from '../../src/providers/preset.ts';
import { createVerifier } from '../../src/providers/verification/verifier.ts';
import { type GivenRequest, providerRequest, resultOf } from '../support/provider-requests.ts';

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The other signature that every ECDSA key has for the same content: anyone can make it of the first. */
function twinOf(signature: Buffer): Buffer {
  const rLength = signature.readUInt8(3);
  const s = BigInt(`0x${signature.subarray(6 + rLength).toString('hex')}`);
  let twin = Buffer.from((P256_ORDER - s).toString(16).padStart(64, '0'), 'hex');
  while (twin[0] === 0 && (twin[1] as number) < 0x80) twin = twin.subarray(1);
  if ((twin[0] as number) >= 0x80) twin = Buffer.concat([Buffer.of(0), twin]);
  const content = Buffer.concat([signature.subarray(2, 4 + rLength), Buffer.of(2, twin.length), twin]);
  return Buffer.concat([Buffer.of(0x30, content.length), content]);
}

describe('The deduplication ID of a request that only its signature identifies', () => {
  let time: string;
  // When the tests begin, not when their file is loaded: signatures are good for 300 s.
  before(() => {
    time = String(Math.floor(Date.now() / 1_000));
  });
  const body = '{"total":49}';

  async function idsOf(scheme: VerificationScheme, secret: string, requests: GivenRequest[]) {
    const preset = { ...(presetOf('hmac') as Preset), verification: scheme };
    const verifier = createVerifier(scheme, [secret]);
    for (const request of requests) expect(await resultOf(verifier, request)).to.equal('verified');
    return new Set(requests.map((request) => defaultId(preset, providerRequest(request), 'webhook-1')));
  }

  it('is the same for every notation of an HMAC signature', async () => {
    const scheme = customVerificationSchema.parse({
      scheme: 'hmac',
      algorithm: 'sha256',
      encoding: 'base64',
      signature: { at: 'header:x-signature', separator: ',', prefix: 'v1=' },
      signed: '{timestamp}.{body}',
      timestamp: { at: 'header:x-time', unit: 's', tolerance: 300 },
    });
    const signed = (content: string) => createHmac('sha256', 'secret').update(content).digest('base64');
    const signature = signed(`${time}.${body}`);
    const requests = [
      `v1=${signature}`,
      `v1=${signature.replace('=', '')}`,
      `v1=${signed('another')},v1=${signature}`,
      `v1=x, v1=${signature}`,
    ].map((text) => ({ headers: { 'x-signature': text, 'x-time': time }, body }));
    expect((await idsOf(scheme, 'secret', requests)).size).to.equal(1);
    const other = { headers: { 'x-signature': `v1=${signed(`${time}. ${body}`)}`, 'x-time': time }, body: ` ${body}` };
    expect((await idsOf(scheme, 'secret', [...requests, other])).size).to.equal(2);
  });

  it('is the same for both valid ECDSA signatures of the same content', async () => {
    const scheme = presetOf('sendgrid')?.verification as VerificationScheme;
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const signature = sign('sha256', Buffer.from(time + body), privateKey);
    const requests = [signature, twinOf(signature)].map((item) => ({
      headers: {
        'x-twilio-email-event-webhook-signature': item.toString('base64'),
        'x-twilio-email-event-webhook-timestamp': time,
      },
      body,
    }));
    const secret = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    expect((await idsOf(scheme, secret, requests)).size).to.equal(1);
  });
});
