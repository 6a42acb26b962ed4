/** Creates callers when a case first needs them. */
import { addUser, cookieOf, keyHeaders, signIn } from '../test/support/auth.ts';
import type { Service } from '../test/support/service.ts';
import { type Caller, nameOfCaller } from './callers.ts';

/** Fills the placeholder of a caller's credentials. */
export function callersOf(service: Service, names: Record<string, string>): (caller: Caller) => Promise<void> {
  const made = new Map<string, Promise<void>>();
  const make = async (caller: Caller, name: string) => {
    if (caller.kind === 'key') {
      const { authorization = '' } = await keyHeaders(service, caller.access, caller.environment);
      names[name] = authorization.replace('Bearer ', '');
      return;
    }
    const email = `roles-${made.size}@example.com`;
    await addUser(service, email, caller.role, caller.roles);
    names[name] = cookieOf(await signIn(service, email)).cookie ?? '';
  };
  return (caller) => {
    const name = nameOfCaller(caller);
    const making = made.get(name) ?? make(caller, name);
    made.set(name, making);
    return making;
  };
}
