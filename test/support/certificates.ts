/** X.509 certificates of a test's own authorities (RFC 5280), as DER by hand: Node reads certificates and makes none. */
import { type KeyObject, sign, X509Certificate } from 'node:crypto';

const OIDS = {
  commonName: '550403',
  basicConstraints: '551d13',
  alternativeName: '551d11',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  clientAuth: '2b06010505070302',
  sha256: '2a864886f70d01010b',
  sha1: '2a864886f70d010105',
};

export interface CertificateOptions {
  subject: string;
  /** The RSA key that the certificate is about. */
  publicKey: KeyObject;
  issuer: string;
  issuerKey: KeyObject;
  isAuthority?: boolean;
  hosts?: readonly string[];
  usage?: 'serverAuth' | 'clientAuth';
  from?: Date;
  until?: Date;
  hash?: 'sha256' | 'sha1';
}

let serial = 1;

export function makeCertificate({
  subject,
  publicKey,
  issuer,
  issuerKey,
  isAuthority = false,
  hosts = [],
  usage,
  from = new Date(Date.now() - 3_600_000),
  until = new Date(Date.now() + 86_400_000),
  hash = 'sha256',
}: CertificateOptions): X509Certificate {
  const algorithm = sequence(oid(OIDS[hash]), der(0x05));
  const extensions = [
    extension(OIDS.basicConstraints, isAuthority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence()),
    ...(hosts.length > 0
      ? [extension(OIDS.alternativeName, sequence(...hosts.map((host) => der(0x82, Buffer.from(host)))))]
      : []),
    ...(usage ? [extension(OIDS.extendedKeyUsage, sequence(oid(OIDS[usage])))] : []),
  ];
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([serial++ % 128])),
    algorithm,
    name(issuer),
    sequence(time(from), time(until)),
    name(subject),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign(hash, content, issuerKey)]));
  return new X509Certificate(sequence(content, algorithm, signature));
}

function name(text: string): Buffer {
  return sequence(der(0x31, sequence(oid(OIDS.commonName), der(0x0c, Buffer.from(text)))));
}

function time(at: Date): Buffer {
  return der(0x18, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
