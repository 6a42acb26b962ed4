/** Resolves as `work` does; rejects with `late()` if that takes longer. The work itself continues, and its later failure is ignored. */
export async function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooLate.reject(late()), ms);
  try {
    return await Promise.race([work, tooLate.promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
