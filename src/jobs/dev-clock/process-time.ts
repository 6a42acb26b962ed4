/** Shifts the time of this process: `Date.now()` and `new Date()`, for the service as for BullMQ and all other packages. Timers, such as the
 *  timeout of a call, stay on the time of the machine. Nothing is shifted until somebody moves the clock, which only dev mode permits. */
import { machineTime } from '../../model/values/clock.ts';

const MachineDate = globalThis.Date;

/** @param offsetMs by how much the process is ahead of the machine; 0: not at all */
export function shiftProcessTime(offsetMs: number): void {
  globalThis.Date = offsetMs === 0 ? MachineDate : shiftedDate(() => machineTime() + offsetMs);
}

function shiftedDate(now: () => number): DateConstructor {
  return new Proxy(MachineDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: (target) => new target(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}
