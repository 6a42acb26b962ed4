/** Whether PUBLIC_URL leads to the service from outside, and how long its certificate is valid. */
import { connect } from 'node:tls';
import { type Finding, ok, problem, warning } from './finding.ts';

const TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
/** Certificates are usually renewed a month before they expire. */
const EXPIRES_SOON_DAYS = 14;

export async function checkPublicUrl(publicUrl: string): Promise<Finding[]> {
  const url = new URL(publicUrl);
  return Promise.all([checkReachable(publicUrl), ...(url.protocol === 'https:' ? [checkCertificate(url)] : [])]);
}

async function checkReachable(publicUrl: string): Promise<Finding> {
  const remedy = 'Check DNS, firewall and proxy; the proxy must pass all paths to web.';
  try {
    const response = await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
    const text = await response.text();
    if (response.ok && text.includes('"ok"')) return ok('public_url', `${publicUrl} leads to the service`);
    return problem(
      'public_url',
      `${publicUrl}/livez answers with status ${response.status}, and not as Tidegate does`,
      remedy,
    );
  } catch (error) {
    const { cause, message } = error as { cause?: { message?: string; code?: string }; message: string };
    const why = cause?.code || cause?.message || message;
    return problem('public_url', `PUBLIC_URL ${publicUrl} does not answer from this machine: ${why}`, remedy);
  }
}

/** Also works for a certificate that this machine does not trust. */
async function checkCertificate({ hostname, port }: URL): Promise<Finding> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const options = { host, port: Number(port || 443), servername: host, rejectUnauthorized: false };
  return new Promise((resolve) => {
    const finish = (finding: Finding) => {
      socket.destroy();
      resolve(finding);
    };
    const socket = connect(options, () => {
      const { valid_to } = socket.getPeerCertificate();
      finish(describe(hostname, Date.parse(valid_to), socket.authorized, socket.authorizationError));
    });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no response in time')));
    socket.on('error', ({ message }) => {
      const fix = 'Check the proxy and its certificate.';
      finish(problem('certificate', `no TLS connection to ${hostname}: ${message}`, fix));
    });
  });
}

function describe(host: string, expiresAt: number, isTrusted: boolean, reason: unknown): Finding {
  const days = Math.floor((expiresAt - Date.now()) / DAY_MS);
  const renew = 'Renew the certificate at the proxy, and check why it was not renewed by itself.';
  if (days < 0) return problem('certificate', `the certificate of ${host} has expired`, renew);
  if (!isTrusted) {
    const fix =
      'Use a certificate of a public authority, with its chain, for this name: providers of webhooks refuse others.';
    return problem('certificate', `the certificate of ${host} is not trusted (${reason})`, fix);
  }
  const message = `the certificate of ${host} is valid for ${days} more days`;
  return days < EXPIRES_SOON_DAYS ? warning('certificate', message, renew) : ok('certificate', message);
}
