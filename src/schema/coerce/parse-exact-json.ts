import { tryParseJson, type Json } from '../../model/json.ts'

/** Undefined if a double cannot represent exactly this number. */
export function parseExactNumber(text: string): number | undefined {
  if (!JSON_NUMBER_PATTERN.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) && normalizeNumber(text) === normalizeNumber(String(number)) ? number : undefined
}

/** Undefined if parsing would round a number. */
export function parseExactJson(text: string): Json | undefined {
  const withoutStrings = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""')
  const numbers = withoutStrings.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? []
  if (numbers.some((number) => parseExactNumber(number) === undefined)) return undefined
  return tryParseJson(text) as Json | undefined
}

const JSON_NUMBER_PATTERN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Sign, digits and exponent, so that `1.50`, `15e-1` and `1.5` are equal. */
function normalizeNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  if (digits === '') return `${sign}0`
  return `${sign}${digits}e${Number(exponent) - fraction.length + all.length - digits.length}`
}
