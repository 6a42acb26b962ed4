/** Checks that a certificate leads to a trusted root. Revocation is not checked. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

const MAX_CERTIFICATES = 6;
const MIN_BITS = { rsa: 2_048, ec: 256 };
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,16000}-----END CERTIFICATE-----/g;

export interface TrustedKey {
  key: KeyObject;
  /** Validity of the whole chain, Unix milliseconds. */
  from: number;
  until: number;
}

/** Roots by their subject. */
export type Roots = ReadonlyMap<string, readonly X509Certificate[]>;

export function rootsOf(certificates: readonly X509Certificate[]): Roots {
  return Map.groupBy(certificates, ({ subject }) => subject);
}

let publicRoots: Roots | undefined;

/** Mozilla's roots, as bundled with this version of Node. Read on first use: that takes about 10 ms. */
export function trustedRoots(): Roots {
  publicRoots ??= rootsOf(rootCertificates.map((pem) => new X509Certificate(pem)));
  return publicRoots;
}

/** @param text PEM certificates, the signing one first
 *  @param isHost whether a name of the first certificate is the provider's
 *  @returns the key of the first certificate
 *  @throws Error that describes the problem */
export function trustedKeyOf(text: string, roots: Roots, isHost: (name: string) => boolean): TrustedKey {
  const certificates = (text.match(PEM) ?? []).slice(0, MAX_CERTIFICATES).map((pem) => new X509Certificate(pem));
  const [first] = certificates;
  if (!first) throw new Error('it is not a certificate in PEM');
  if (first.ca) throw new Error('the first certificate is one of an authority');
  if (!namesOf(first).some(isHost)) throw new Error('the certificate is of another host');
  if (first.keyUsage && !first.keyUsage.includes(SERVER_AUTH))
    throw new Error('the certificate is not one of a server');
  const chain = chainOf(certificates, roots);
  for (const certificate of chain) checkKey(certificate);
  // A root's own signature does not count, because it signs itself.
  if (chain.slice(0, -1).some(({ signatureAlgorithm = '' }) => /md5|sha1/i.test(signatureAlgorithm))) {
    throw new Error('a certificate of the chain has a weak signature');
  }
  const from = Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime()));
  const until = Math.min(...chain.map(({ validToDate }) => validToDate.getTime()));
  return { key: first.publicKey, from, until };
}

/** From the first certificate to a root. */
function chainOf(certificates: readonly X509Certificate[], roots: Roots): X509Certificate[] {
  const chain = certificates.slice(0, 1);
  for (let current = chain[0]; current; current = chain.at(-1)) {
    const certificate = current;
    const root = roots.get(certificate.issuer)?.find((issuer) => hasIssued(issuer, certificate));
    if (root) return [...chain, root];
    const issuer = certificates.find(
      (candidate) => !chain.includes(candidate) && candidate.ca && hasIssued(candidate, certificate),
    );
    if (!issuer) break;
    chain.push(issuer);
  }
  throw new Error('the certificate does not lead to a trusted root');
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** @throws Error if the key is too short */
function checkKey({ publicKey: { asymmetricKeyType: type, asymmetricKeyDetails } }: X509Certificate): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (type === 'rsa' ? bits < MIN_BITS.rsa || bits > 16_384 : type !== 'ec') {
    throw new Error('a certificate of the chain has a weak key');
  }
}

/** DNS names; the common name if there are none. */
function namesOf({ subjectAltName, subject }: X509Certificate): string[] {
  const names = (subjectAltName ?? '').split(', ').filter((name) => name.startsWith('DNS:'));
  if (names.length > 0) return names.map((name) => name.slice('DNS:'.length).toLowerCase());
  return [...subject.matchAll(/^CN=([^\n]+)$/gm)].map(([, name = '']) => name.toLowerCase());
}
