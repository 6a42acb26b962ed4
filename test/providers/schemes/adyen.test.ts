import { hmacValidator } from '@adyen/api-library';
import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, string } from 'fast-check';
import { adyenVerifier } from '../../../src/providers/verification/schemes/adyen.ts';
import { resultOf, verifyRequest } from '../../support/provider-requests.ts';

const KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

const ITEM = {
  additionalData: { cardSummary: '1142' },
  amount: { currency: 'EUR', value: 4_900 },
  eventCode: 'AUTHORISATION',
  merchantAccountCode: 'TeaHouseECOM',
  merchantReference: 'order-1042',
  pspReference: 'NC6HT9CRT65ZGN82',
  success: 'true',
};

type Item = Omit<Partial<typeof ITEM>, 'amount'> & { amount?: object; originalReference?: string };

describe('The verification scheme adyen', () => {
  const verifier = adyenVerifier([KEY]);
  const library = new hmacValidator();
  const signed = (item: Item, key = KEY) => {
    const hmacSignature = library.calculateHmac(item as never, key);
    return { NotificationRequestItem: { ...item, additionalData: { ...item.additionalData, hmacSignature } } };
  };
  const bodyOf = (...notificationItems: unknown[]) => ({ body: JSON.stringify({ live: 'false', notificationItems }) });
  const result = (...items: unknown[]) => resultOf(verifier, bodyOf(...items));

  it("verifies what Adyen's own library signs, with any fields missing and any characters", async () => {
    expect(await result(signed(ITEM))).to.equal('verified');
    expect(await result(signed({ ...ITEM, originalReference: 'X' }), signed(ITEM))).to.equal('verified');
    expect(await result(signed({ ...ITEM, merchantReference: 'Zoë 🐦: \\ "1"' }))).to.equal('verified');
    expect(await result(signed({ ...ITEM, amount: {} }))).to.equal('verified');
    const both = adyenVerifier(['ab'.repeat(32), KEY]);
    expect(await verifyRequest(both, bodyOf(signed(ITEM)))).to.deep.equal({ result: 'verified', secretIndex: 1 });
  });

  it('rejects items of which some are signed with one secret and some with another', async () => {
    const other = 'ab'.repeat(32);
    const both = adyenVerifier([other, KEY]);
    expect(await resultOf(both, bodyOf(signed(ITEM), signed(ITEM, other)))).to.equal('signature_mismatch');
  });

  it('says what is missing or malformed', async () => {
    for (const body of ['', 'null', '[]', '{}', '{"notificationItems":{}}', '{"notificationItems":[]}', '\ud800']) {
      expect(await resultOf(verifier, { body }), body).to.equal('body_malformed');
    }
    expect(await result(null)).to.equal('body_malformed');
    expect(await result({ NotificationRequestItem: 7 })).to.equal('body_malformed');
    expect(await result(...Array(101).fill(signed(ITEM)))).to.equal('body_malformed');
    expect(await result({ NotificationRequestItem: ITEM })).to.equal('signature_missing');
    expect(await result(signed(ITEM), { NotificationRequestItem: ITEM })).to.equal('signature_missing');
    const withSignature = (hmacSignature: unknown) => ({
      NotificationRequestItem: { ...ITEM, additionalData: { hmacSignature } },
    });
    expect(await result(withSignature('AAAA'))).to.equal('signature_malformed');
    expect(await result(withSignature('A'.repeat(100_000)))).to.equal('signature_malformed');
    expect(await result(withSignature({}))).to.equal('signature_missing');
  });

  it('rejects keys that are not hexadecimal', () => {
    for (const key of ['', 'xyz', 'abc']) expect(() => adyenVerifier([key]), key).to.throw('not hexadecimal');
  });

  it('rejects every item with a changed value', async () => {
    const names = constantFrom('eventCode', 'merchantAccountCode', 'merchantReference', 'pspReference', 'success');
    const changed = asyncProperty(names, string(), async (name, value) => {
      const { NotificationRequestItem: item } = signed(ITEM);
      const isSame = item[name as 'eventCode'] === value;
      return isSame || (await result({ NotificationRequestItem: { ...item, [name]: value } })) !== 'verified';
    });
    await assert(changed, { numRuns: 200 });
  });
});
