/** A link to set a password. It works once, within 24 hours. */
export interface PasswordLink {
  email: string;
  url: string;
}
