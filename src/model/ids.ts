const BASE62_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The id of the n-th call of a turn. With a random key it is globally unique, and valid wherever no special form is required. */
export function createCallId(key: string, ordinal: number): string {
  let digits = ''
  let rest = ordinal
  do {
    digits = BASE62_DIGITS[rest % 62] + digits
    rest = Math.floor(rest / 62)
  } while (rest > 0)
  return key + digits.padStart(4, '0')
}

/** A turn key made from random bytes: 20 letters and digits. */
export function createTurnKey(random: Uint8Array): string {
  let key = ''
  for (let at = 0; at < 20; at++) key += BASE62_DIGITS[(random[at % random.length] ?? 0) % 62]
  return key
}
