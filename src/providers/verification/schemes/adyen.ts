/** Adyen signs items of a notification, each one within the body
 *  (https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures/). Only the fields below are signed. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isJsonObject } from '../../../model/values/json.ts';
import { bytesOf } from '../encodings.ts';
import { type Failure, failed, type Verifier } from '../verification.ts';

const SHA256_BYTES = 32;
/** Adyen sends one item as JSON. */
const MAX_ITEMS = 100;

const SIGNED = [
  ['pspReference'],
  ['originalReference'],
  ['merchantAccountCode'],
  ['merchantReference'],
  ['amount', 'value'],
  ['amount', 'currency'],
  ['eventCode'],
  ['success'],
] as const;

interface SignedItem {
  content: string;
  signature: Buffer;
}

/** @param secrets HMAC keys, newest first
 *  @throws Error for an invalid key */
export function adyenVerifier(secrets: readonly string[]): Verifier {
  const keys = secrets.map(keyOf);
  return (request) => {
    const items = itemsOf(request.json);
    if ('result' in items) return items;
    // One secret must have signed all items.
    const matches = keys.map((key) => items.map((item) => isSigned(item, key)).every(Boolean));
    const secretIndex = matches.indexOf(true);
    if (secretIndex >= 0) return { result: 'verified', secretIndex };
    return failed(
      'signature_mismatch',
      'an hmacSignature in the body does not fit its item and the HMAC key. Compare the key with that of the webhook in the Customer Area',
    );
  };
}

function itemsOf(body: unknown): SignedItem[] | Failure {
  const list = isJsonObject(body) ? body.notificationItems : undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_ITEMS) {
    return failed('body_malformed', `the body has no notificationItems, or more than ${MAX_ITEMS}`);
  }
  const items: SignedItem[] = [];
  for (const entry of list as unknown[]) {
    const item = isJsonObject(entry) ? entry.NotificationRequestItem : undefined;
    if (!isJsonObject(item))
      return failed('body_malformed', 'an entry of notificationItems has no NotificationRequestItem');
    const text = valueAt(item, ['additionalData', 'hmacSignature']);
    if (text === '') return failed('signature_missing', 'an item has no additionalData.hmacSignature');
    const signature = bytesOf(text, 'base64');
    if (signature?.length !== SHA256_BYTES) {
      return failed('signature_malformed', `an hmacSignature is not ${SHA256_BYTES} bytes in base64`);
    }
    items.push({ content: SIGNED.map((path) => valueAt(item, path)).join(':'), signature });
  }
  return items;
}

function isSigned({ content, signature }: SignedItem, key: KeyObject): boolean {
  return timingSafeEqual(createHmac('sha256', key).update(content).digest(), signature);
}

/** An absent value is signed as an empty text. */
function valueAt(item: Record<string, unknown>, path: readonly string[]): string {
  let value: unknown = item;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function keyOf(secret: string): KeyObject {
  const bytes = bytesOf(secret.trim(), 'hex');
  if (!bytes) throw new Error('the HMAC key is not hexadecimal');
  return createSecretKey(bytes);
}
