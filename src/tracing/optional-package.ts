/** Packages of OpenTelemetry that the service does not install, for settings that few use. */
import { ConfigError } from '../config.ts';

/** @throws ConfigError when the package is not installed, with the command that installs it */
export async function optionalExport<T>(packageName: string, exported: string, neededFor: string): Promise<T> {
  try {
    const { [exported]: value } = (await import(packageName)) as Record<string, T>;
    return value as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError(`${neededFor} needs the package ${packageName}. Install it: npm install ${packageName}`);
  }
}
