/** Host names of this machine, for dev mode. */
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { containerHostNames, isContainerHostName } from '../../model/network/container-host-names.ts';
import { isLoopback } from '../../settings/checks.ts';

/** Path on Linux and macOS, where the service runs. */
const HOSTS_FILE = '/etc/hosts';
/** Programs also use these names to connect to this machine. No page of another machine can have them as its host. */
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** @param hostname as in `URL` */
export function isThisMachine(hostname: string): boolean {
  if (isLoopback(hostname) || UNSPECIFIED.has(hostname)) return true;
  return isContainerHostName(hostname) && containerHostNames(hostsFile(), isOwnAddress).has(hostname);
}

/** The file is read each time, because Docker may start later than the service. Only requests from containers need it. */
function hostsFile(): string {
  try {
    return readFileSync(HOSTS_FILE, 'utf8');
  } catch {
    return '';
  }
}

function isOwnAddress(address: string): boolean {
  if (isLoopback(address) || address === '::1') return true;
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address));
}
