/** A repeatable event that code can await. */
export interface Signal {
  /** Resolves at the next `fire`. */
  readonly next: Promise<void>;
  fire(): void;
}

export function createSignal(): Signal {
  let resolveNext: () => void;
  let next: Promise<void>;
  const renew = () => {
    next = new Promise((resolve) => {
      resolveNext = resolve;
    });
  };
  renew();
  return {
    get next() {
      return next;
    },
    fire() {
      resolveNext();
      renew();
    },
  };
}
