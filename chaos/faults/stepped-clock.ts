/** Preloaded into each process of the service: steps its wall clock on command, like NTP or a resumed virtual machine. Timers and
 *  performance.now() stay monotonic, as on a real machine. */

const RealDate = Date;
let aheadMs = 0;

class SteppedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(RealDate.now() + aheadMs);
    // @ts-expect-error Date takes these in several shapes
    else super(...args);
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

process.on('message', (message: { clockAheadMs?: number }) => {
  if (message.clockAheadMs === undefined) return;
  aheadMs = message.clockAheadMs;
  globalThis.Date = SteppedDate as DateConstructor;
});
