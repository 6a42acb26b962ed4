/** Names by which programs in containers reach the machine that they run on. Docker writes them to the hosts file of that machine, which its
 *  browsers read before they ask any DNS server: a name that is there cannot be rebound. */

/** No others: a hosts file may have any name. Of Docker, and of Podman. */
const NAMES: ReadonlySet<string> = new Set([
  'host.docker.internal',
  'gateway.docker.internal',
  'kubernetes.docker.internal',
  'host.containers.internal',
]);

export function isContainerHostName(hostname: string): boolean {
  return NAMES.has(hostname);
}

/** The names of containers for this machine that its hosts file gives to it, and to no other machine.
 *  @param hostsFile its text
 *  @param isOwn whether an IP address is one of this machine */
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
