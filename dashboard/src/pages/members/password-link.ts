/** By which somebody chooses a password: works once, for 24 hours. */
export interface PasswordLink {
  email: string;
  url: string;
}
