const ALLOWED = 'Letters, digits, “_”, “.” and “-”, beginning with a letter or a digit';

/** Of a field for a name that is part of URLs (src/api/views/name.ts). The browser says what is allowed before anything is sent. */
export const NAME_FIELD = {
  hint: ALLOWED,
  title: ALLOWED,
  pattern: '[A-Za-z0-9][A-Za-z0-9_.\\-]*',
  maxLength: 64,
  required: true,
};
