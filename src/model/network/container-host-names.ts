/** Host names by which containers reach the machine that they run on. Docker adds them to that machine's hosts file, which browsers
 *  consult before DNS, so such a name cannot be rebound. */

/** Names of Docker and of Podman. Other names are rejected, because a hosts file may contain any name. */
const NAMES: ReadonlySet<string> = new Set([
  'host.docker.internal',
  'gateway.docker.internal',
  'kubernetes.docker.internal',
  'host.containers.internal',
]);

export function isContainerHostName(hostname: string): boolean {
  return NAMES.has(hostname);
}

/** The container names for this machine that its hosts file maps to it, and to no other machine.
 *  @param hostsFile its text
 *  @param isOwn whether an IP address belongs to this machine */
export function containerHostNames(hostsFile: string, isOwn: (address: string) => boolean): ReadonlySet<string> {
  const own = new Set<string>();
  const foreign = new Set<string>();
  for (const line of hostsFile.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const found = isOwn(address) ? own : foreign;
    for (const name of names) if (isContainerHostName(name.toLowerCase())) found.add(name.toLowerCase());
  }
  return new Set([...own].filter((name) => !foreign.has(name)));
}
