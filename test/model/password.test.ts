import { expect } from 'chai';
import { hashPassword, isPassword } from '../../src/model/auth/password.ts';

describe('Passwords', () => {
  it('are verified against a hash with its own salt and parameters', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    expect(one)
      .to.match(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
      .and.not.to.equal(two);
    expect(await isPassword('correct horse', one)).to.equal(true);
    expect(await isPassword('correct horsf', one)).to.equal(false);
  });

  it('are verified in any Unicode composition', async () => {
    expect(
      await isPassword('re\u0301sume\u0301 et caetera', await hashPassword('r\u00e9sum\u00e9 et caetera')),
    ).to.equal(true);
  });

  it('are verified with the parameters of their hash', async () => {
    const weaker = 'scrypt$1024$8$1$c2FsdHNhbHRzYWx0c2FsdA$';
    const { scryptSync } = await import('node:crypto');
    const key = scryptSync('from long ago', Buffer.from('saltsaltsaltsalt'), 32, { N: 1024, r: 8, p: 1 });
    expect(await isPassword('from long ago', weaker + key.toString('base64url'))).to.equal(true);
  });

  it('without a hash are never valid', async () => {
    expect(await isPassword('', undefined)).to.equal(false);
  });
});
