/** Files that a configuration names. Another person may have written the configuration, and `diff` and `apply` show and send the files: so a
 *  configuration may not read files that are outside its folder or hidden in it. */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { CliError, EXIT, usageError } from '../exit-codes.ts';

/** More than any code that the service takes. */
const MAX_BYTES = 1_048_576;

/** @param what names the reference for people
 *  @throws CliError */
export async function readReferencedFile(folder: string, name: string, what: string): Promise<string> {
  try {
    const path = await realpath(resolve(folder, name));
    const way = relative(await realpath(folder), path);
    if (!isInside(way)) {
      throw usageError(`${what}: ${name} is outside the folder of the configuration`, `Move it into ${folder}`);
    }
    if (way.split(sep).some((segment) => segment.startsWith('.'))) {
      throw usageError(
        `${what}: ${name} is hidden, as files with secrets are (.env, .git/config)`,
        'Give it another name',
      );
    }
    // Opening a FIFO must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return await readRegular(handle, `${what}: ${name}`).finally(() => handle.close());
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${what}: cannot read ${name}: ${(error as Error).message}`, { exitCode: EXIT.usage });
  }
}

function isInside(way: string): boolean {
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function readRegular(handle: FileHandle, what: string): Promise<string> {
  if (!(await handle.stat()).isFile()) throw usageError(`${what} is not a regular file`);
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length = 0;
  let bytesRead: number;
  do {
    ({ bytesRead } = await handle.read(buffer, length, buffer.length - length));
    length += bytesRead;
  } while (bytesRead > 0 && length < buffer.length);
  if (length > MAX_BYTES) throw usageError(`${what} has more than ${MAX_BYTES} bytes`);
  return buffer.toString('utf8', 0, length);
}
