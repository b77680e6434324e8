export async function encodeLegacyText(text: string, name: string): Promise<Buffer | { missing: string }> {
  const { decodeWithIconv, encodeWithIconv } = await import('./iconv.ts')
  const bytes = encodeWithIconv(text, name)
  const back = decodeWithIconv(bytes, name)
  if (back === text) return bytes
  let at = 0
  while (text[at] === back[at]) at++
  return { missing: String.fromCodePoint(text.codePointAt(at) ?? 0) }
}

/** A wrong guess shows wrong letters but does no harm: the chosen encoding reproduces the same bytes. */
export async function guessLegacyEncoding(bytes: Uint8Array): Promise<string> {
  const sample = sampleWholeLines(bytes)
  for (const [name, fits] of ENCODING_GUESSES) {
    if (!fits(sample)) continue
    if (await roundTrips(bytes, name)) return name
  }
  return 'latin1'
}

type EncodingGuess = readonly [name: string, fits: (bytes: Uint8Array) => boolean]

/** Stricter encodings are tried first. */
const ENCODING_GUESSES: readonly EncodingGuess[] = [
  ['shift_jis', (bytes) => measureExpectedShare(bytes, 'shift_jis', /[\u3040-\u30FF]/u) > 0.15],
  ['euc-jp', (bytes) => measureExpectedShare(bytes, 'euc-jp', /[\u3040-\u30FF]/u) > 0.15],
  ['euc-kr', (bytes) => measureExpectedShare(bytes, 'euc-kr', /[\uAC00-\uD7AF]/u) > 0.9],
  [
    'gb18030',
    (bytes) =>
      measureRunShare(bytes) > 0.8 &&
      measureExpectedShare(bytes, 'gb18030', /[\u3000-\u303F\u4E00-\u9FFF\uFF00-\uFF5E]/u) > 0.95 &&
      measureCommonHanShare(bytes) > 0.7,
  ],
  ['koi8-r', (bytes) => measureRunShare(bytes) > 0.8 && measureRangeShare(bytes, 0xc0, 0xdf) > 0.7],
  ['windows-1251', (bytes) => measureRunShare(bytes) > 0.8 && measureRangeShare(bytes, 0xe0, 0xff) > 0.7],
  [
    'windows-1250',
    (bytes) =>
      measureExpectedShare(bytes, 'windows-1250', /[ąćęłńóśźżĄĆĘŁŃŚŹŻčďěňřšťůžČĎĚŇŘŠŤŮŽőűŐŰ]/u) > 0.9 &&
      measureExpectedShare(bytes, 'windows-1252', /[À-ÖØ-öø-ÿßŠšŽž“”‘’–—…€«»°§©®]/u) < 0.9,
  ],
  ['windows-1252', () => true],
]

/** The share of expected characters beyond ASCII; 0 if the bytes are invalid. */
function measureExpectedShare(bytes: Uint8Array, name: string, expected: RegExp): number {
  try {
    const wide = new TextDecoder(name, { fatal: true }).decode(bytes).match(/[^\0-\x7F]/gu) ?? []
    return wide.length === 0 ? 0 : wide.filter((one) => expected.test(one)).length / wide.length
  } catch {
    return 0
  }
}

/** The share of bytes beyond ASCII that are adjacent to others: low in Western texts, high in Cyrillic and Chinese. */
function measureRunShare(bytes: Uint8Array): number {
  let wide = 0
  let together = 0
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue
    wide++
    if ((bytes[at - 1] ?? 0) >= 0x80 || (bytes[at + 1] ?? 0) >= 0x80) together++
  }
  return wide === 0 ? 0 : together / wide
}

/** The share of bytes beyond ASCII in the range of an alphabet's small letters. */
function measureRangeShare(bytes: Uint8Array, from: number, to: number): number {
  const wide = bytes.filter((byte) => byte >= 0x80)
  return wide.length === 0 ? 0 : wide.filter((byte) => byte >= from && byte <= to).length / wide.length
}

/** Common Chinese characters begin with these bytes; in Cyrillic text few pairs do. */
function measureCommonHanShare(bytes: Uint8Array): number {
  let pairs = 0
  let common = 0
  for (let at = 0; at + 1 < bytes.length; at++) {
    const lead = bytes[at] ?? 0
    if (lead < 0x81) continue
    pairs++
    if (lead >= 0xa1 && lead <= 0xd7 && (bytes[at + 1] ?? 0) >= 0xa1) common++
    at++
  }
  return pairs === 0 ? 0 : common / pairs
}

async function roundTrips(bytes: Uint8Array, name: string): Promise<boolean> {
  const { decodeWithIconv, encodeWithIconv } = await import('./iconv.ts')
  return encodeWithIconv(decodeWithIconv(bytes, name), name).equals(bytes)
}

function sampleWholeLines(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= SAMPLE_BYTES) return bytes
  const end = bytes.lastIndexOf(0x0a, SAMPLE_BYTES)
  return bytes.subarray(0, end < 0 ? SAMPLE_BYTES : end)
}

const SAMPLE_BYTES = 65_536
