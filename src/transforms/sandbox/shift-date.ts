/** Shifts the time inside of an isolate, when the clock of dev mode is moved. The isolate receives this function as
 *  source text, like the bootstrap, and runs it before everything else. */
export function shiftDate(aheadMs: number): void {
  const { construct } = Reflect;
  const MachineDate = Date;
  const machineNow = Date.now;
  const now = () => machineNow() + aheadMs;
  const Shifted = new Proxy(MachineDate, {
    construct: (target, args, newTarget) => construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: (target) => new target(now()).toString(),
  });
  MachineDate.now = now;
  Object.defineProperty(MachineDate.prototype, 'constructor', { value: Shifted });
  (globalThis as { Date: unknown }).Date = Shifted;
}
