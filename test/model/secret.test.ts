import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { redactSettings, createRedactor, findEnvironmentSecrets } from '../../src/model/security/redactor.ts'
import { canaries, leaks } from '../support/canaries.ts'

const { redact, findCertainSpans } = createRedactor()

describe('secrets that have a form', () => {
  const WAYS: Readonly<Record<string, (secret: string) => string>> = {
    alone: (secret) => secret,
    'in a sentence': (secret) => `Incorrect key provided: ${secret}. You can find it on your page.`,
    'in JSON': (secret) => JSON.stringify({ error: { message: `bad ${secret}`, list: [secret] } }),
    'in JSON in JSON': (secret) => JSON.stringify({ raw: JSON.stringify({ text: `x\n${secret}\ny` }) }),
    'in a header': (secret) => `authorization: Bearer ${secret}\r\n`,
    'in a query': (secret) => `GET /v1beta/models?key=${encodeURIComponent(secret)}&alt=sse`,
    'in a shell': (secret) => `export A_KEY='${secret}' && curl -H "x-api-key: ${secret}"`,
    'in base64': (secret) => `data: ${Buffer.from(secret).toString('base64')}`,
    'in base64 with more around it': (secret) => Buffer.from(`user:${secret}\n`).toString('base64url'),
    'in a log': (secret) => `2026-01-01T00:00:00Z [info] key=${secret} status=401`,
  }
  for (const [way, put] of Object.entries(WAYS)) {
    test(way, () => {
      for (let at = 1; at <= 20; at++) {
        for (const canary of canaries(at)) {
          if (canary.formless) continue
          const text = put(canary.value)
          assert.deepEqual(leaks(redact(text), [canary]), [], `${canary.kind}: ${redact(text)}`)
          assert.notEqual(findCertainSpans(text).length, 0, canary.kind)
        }
      }
    })
  }
})

test('a secret that is known is found in every form, whatever it looks like', () => {
  for (const secret of ['Tr0ub4dor&3"\\ü', 'zX8kQm2vB7nL4pR1tY6wC3hJ9dF5gS0a', 'correct horse battery staple']) {
    const known = createRedactor([secret])
    const forms = [
      secret,
      JSON.stringify(secret),
      JSON.stringify(JSON.stringify(secret)),
      encodeURIComponent(secret),
      ...['', 'a', 'ab', 'abc'].map((before) => Buffer.from(`${before}${secret}zz`).toString('base64')),
      Buffer.from(secret).toString('base64url'),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('latin1'),
    ]
    for (const form of forms) {
      const text = `before ${form} after`
      assert.notEqual(known.redact(text), text, form)
      assert.match(known.redact(text), /^before .*\[(?:key|secret)\].* after$/)
      assert.deepEqual(leaks(known.redact(text), [{ kind: 'known', value: secret }]), [])
    }
  }
})

describe('what is no secret stays', () => {
  const HARMLESS = [
    'The quick brown fox reads src/provider/auth/access-token.ts and node_modules/@scope/package/dist/index.d.ts',
    'const apiKey = process.env.KEY // set OPENAI_API_KEY',
    'commit 3f2b8a4c9d1e5f60718293a4b5c6d7e8f9012345',
    '550e8400-e29b-41d4-a716-446655440000',
    'https://example.com/a?b=c&d=e#f mailto:someone@example.com git@github.com:a/b.git http://localhost:8080/v1',
    'sk-loading-indicator-of-the-page, task-1234567890abcdef, risk-1234567890123',
    `data:image/png;base64,${Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 7919) % 256)).toString('base64')}`,
    '{"max_tokens":4096,"prompt_tokens":12345678,"password":12345678,"secret":null}',
  ]
  for (const text of HARMLESS) {
    test(text.slice(0, 50), () => {
      assert.deepEqual(findCertainSpans(text), [])
      if (!text.includes('apiKey')) assert.equal(redact(text), text)
    })
  }

  test('a word that stands for a key is a word', () => {
    assert.equal(
      createRedactor(['not-needed', 'rehearsal', 'lm-studio', 'k']).redact('a rehearsal, not-needed'),
      'a rehearsal, not-needed',
    )
  })
})

test('cleaned JSON is JSON, and cleaning it again changes nothing', () => {
  for (const canary of canaries(7)) {
    const values = [
      {
        password: canary.value,
        'api-key': canary.value,
        list: [canary.value, 'x'],
        text: `password = ${canary.value}\n"`,
      },
      { raw: JSON.stringify({ command: `echo "${canary.value}" > .env`, secret: 'hunter2-hunter2' }) },
      { code: '-----BEGIN PRIVATE KEY-----', rest: '\\"', more: `-----BEGIN RSA PRIVATE KEY-----\\n" + x` },
      { text: 'secret: "abcdefgh1"', n: -12345678.5, token: null },
    ]
    for (const value of values) {
      const once = createRedactor([canary.value]).redact(JSON.stringify(value))
      assert.doesNotThrow(() => void JSON.parse(once), once)
      assert.equal(createRedactor([canary.value]).redact(once), once)
      assert.equal(redact(once), once)
    }
  }
})

test('a hostile text costs no more than its length', { timeout: 60_000 }, () => {
  for (const unit of ['-----BEGIN PRIVATE KEY-----', 'eyJ', 'sk-', 'https://a:', 'password=', 'A', 'Bearer ', '?key='])
    redact(unit.repeat(Math.ceil(300_000 / unit.length)))
})

test('the secrets among variables, by their names', () => {
  const found = findEnvironmentSecrets({
    OPENAI_API_KEY: ' one-1 ',
    MY_TOKEN: 'two-2',
    DB_PASSWORD: 'three-3',
    HTTPS_PROXY: 'http://me:f%6Fur-4@proxy.example:8080',
    PATH: '/usr/bin',
    KEYBOARD: 'us',
    EMPTY_TOKEN: '',
  })
  assert.deepEqual(found.toSorted(), ['f%6Fur-4', 'four-4', 'one-1', 'three-3', 'two-2'])
})

test('settings keep the names of variables and lose what is secret', () => {
  assert.deepEqual(
    redactSettings(
      {
        search: { service: 'brave', key: 'BRAVE_API_KEY' },
        mcpServers: {
          a: {
            headers: { Authorization: 'anything at all', 'X-Team': 'a' },
            env: { A_TOKEN: '$A_TOKEN', B_SECRET: 'x' },
          },
        },
        providers: { lab: { url: 'https://u:pass-1@lab.example', keys: ['LAB_API_KEY'] } },
      },
      redact,
    ),
    {
      search: { service: 'brave', key: 'BRAVE_API_KEY' },
      mcpServers: {
        a: {
          headers: { Authorization: '[secret]', 'X-Team': 'a' },
          env: { A_TOKEN: '$A_TOKEN', B_SECRET: '[secret]' },
        },
      },
      providers: { lab: { url: 'https://[secret]@lab.example', keys: ['LAB_API_KEY'] } },
    },
  )
})
