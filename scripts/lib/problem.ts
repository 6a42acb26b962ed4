/** Something that the person at the terminal can mend: its message is printed alone, without a stack. */
export class Problem extends Error {
  override name = 'Problem';
}

/** Runs a script's main function; a problem, or an error, ends the script with exit code 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  }
}
