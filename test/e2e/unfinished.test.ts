import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { RAW_WIRES, type RawWire, rawAnswer, rawStage } from '../support/raw-server.ts'

const WIRES = Object.keys(RAW_WIRES) as RawWire[]

/** How each vendor says that an answer is not whole. */
const ENDS: Record<'length' | 'filter', Record<RawWire, string>> = {
  length: {
    'openai-chat': 'length',
    'openai-responses': 'max_output_tokens',
    anthropic: 'max_tokens',
    gemini: 'MAX_TOKENS',
  },
  filter: {
    'openai-chat': 'content_filter',
    'openai-responses': 'content_filter',
    anthropic: 'refusal',
    gemini: 'SAFETY',
  },
}

interface Line {
  readonly type: string
  readonly [key: string]: unknown
}

function linesOf(out: string): Line[] {
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** The entries of the only session in a home. */
function logIn(home: string): Line[] {
  const sessions = join(home, '.local/share/dragoman/sessions')
  const [file] = readdirSync(sessions, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.jsonl'))
  const entries = readFileSync(join(sessions, file ?? ''), 'utf8')
    .trim()
    .split('\n')
  return entries.map((line) => JSON.parse(line) as { entry?: Line } & Line).map((line) => line.entry ?? line)
}

describe('an answer that the vendor cut off or withheld', () => {
  for (const why of ['length', 'filter'] as const)
    for (const wire of WIRES)
      test(`${why} on ${wire}: said in every form, with its own reason, and no success`, async () => {
        const set = await rawStage(wire, ({ n }) =>
          rawAnswer(wire, n < 3 ? { text: 'Half an ans', finish: ENDS[why][wire] } : { text: 'END' }),
        )
        const text = await dragoman(['-p', 'go'], set)
        assert.deepEqual([text.code, text.out], [1, 'Half an ans\n'])
        assert.match(text.err, why === 'length' ? /truncated.*output limit/ : /incomplete.*content filter/)
        const json = await dragoman(['-p', 'go', '-o', 'json'], set)
        const { response, error } = JSON.parse(json.out) as { response: string; error: { type: string } }
        assert.deepEqual([json.code, response, error.type], [1, 'Half an ans', why])
        const stream = await dragoman(['-p', 'go', '-o', 'stream-json'], set)
        const last = linesOf(stream.out).at(-1)
        assert.deepEqual([stream.code, last?.type, last?.['status'], last?.['reason']], [1, 'result', 'error', why])
        const resumed = await dragoman(['-p', 'go on', '--resume'], set)
        assert.deepEqual([resumed.code, resumed.out], [0, 'END\n'])
      })

  for (const why of ['length', 'filter'] as const)
    for (const wire of WIRES)
      test(`${why} on ${wire}: a call in it does not run, and the model is told (T37, T55)`, async () => {
        const args = { command: 'echo ran > ran.txt' }
        const set = await rawStage(wire, ({ n }) =>
          n === 0
            ? rawAnswer(wire, { calls: [{ name: 'run_shell_command', args }], finish: ENDS[why][wire] })
            : rawAnswer(wire, { text: 'END' }),
        )
        const { code, out } = await dragoman(['-p', 'go', '--yolo', '--sandbox', 'off'], set)
        assert.deepEqual([code, out, existsSync(join(set.work, 'ran.txt'))], [0, 'END\n', false])
        assert.match(
          set.bodies[1] ?? '',
          why === 'length' ? /did not run.*length limit/ : /did not run.*content filter/,
        )
      })

  test('an empty answer that was withheld leaves a history that can be sent', async () => {
    const set = await rawStage('openai-chat', ({ n }) =>
      rawAnswer('openai-chat', n === 0 ? { finish: 'content_filter' } : { text: 'END' }),
    )
    assert.equal((await dragoman(['-p', 'first'], set)).code, 1)
    assert.equal((await dragoman(['-p', 'second', '--resume'], set)).code, 0)
    const { messages } = JSON.parse(set.bodies[1] ?? '') as { messages: { role: string; content: unknown }[] }
    assert.ok(messages.every(({ role, content }) => role !== 'assistant' || (content !== '' && content !== null)))
  })
})

describe('no success without an answer', () => {
  test('101 Switching Protocols: a sentence, and 1', async () => {
    const set = await rawStage('openai-chat', ({ response }) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    })
    const { code, err } = await dragoman(['-p', 'go'], set)
    assert.equal(code, 1)
    assert.match(err, /answered 101 \(Switching Protocols\)/)
    assert.equal(logIn(set.home).at(-1)?.type ?? logIn(set.home).at(-1)?.['kind'], 'close')
  })

  test('a silent server: told of while it lasts, and given up within the time that the settings allow', async () => {
    const set = await rawStage('openai-chat', () => undefined)
    mkdirSync(join(set.home, '.config/dragoman'), { recursive: true })
    writeFileSync(join(set.home, '.config/dragoman/config.json'), '{ "requestTimeout": 2 }')
    const begun = Date.now()
    const { code, err } = await dragoman(['-p', 'go'], set)
    assert.equal(code, 1)
    assert.match(err, /… Waiting for a response from 127\.0\.0\.1:\d+ \(\d.*\); timeout after 2 s\./)
    assert.match(err, /did not begin to answer within 2 s/)
    assert.ok(Date.now() - begun < 60_000)
  })

  test('one Ctrl-C ends a run that waits for a silent server', async () => {
    let asked: () => void = () => undefined
    const request = new Promise<void>((resolve) => (asked = resolve))
    const set = await rawStage('openai-chat', () => asked())
    const { code, err } = await dragoman(['-p', 'go'], set, {
      started: (child) => void request.then(() => child.kill('SIGINT')),
    })
    assert.equal(code, 130)
    assert.match(err, /interrupted/)
  })

  for (const [wire, status, body] of [
    [
      'openai-chat',
      404,
      { error: { message: 'The model `m` does not exist or you do not have access to it.', code: 'model_not_found' } },
    ],
    [
      'openai-responses',
      400,
      { error: { message: "The requested model 'm' does not exist.", code: 'model_not_found' } },
    ],
    ['anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: m' } }],
    [
      'gemini',
      404,
      { error: { code: 404, message: 'models/m is not found for API version v1beta.', status: 'NOT_FOUND' } },
    ],
  ] as const)
    test(`a model that does not exist ends with 42 (${wire})`, async () => {
      const set = await rawStage(wire, ({ response }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
      assert.equal((await dragoman(['-p', 'go'], set)).code, 42)
    })
})

describe('pipes', () => {
  test('a reader that goes away stops the run: no success, the log says so, and it can be resumed', async () => {
    const set = await rawStage('openai-chat', ({ n }) =>
      rawAnswer(
        'openai-chat',
        n < 6
          ? { text: 'x', calls: [{ name: 'run_shell_command', args: { command: `echo ${n} >> made; sleep 0.2` } }] }
          : { text: 'END' },
      ),
    )
    const line = `set -o pipefail; "$0" "$1" -p go -o stream-json --yolo --sandbox off | head -5 > /dev/null; echo "\${PIPESTATUS[0]}"`
    const shell = spawn('bash', ['-c', line, process.execPath, join(root, 'bin/dragoman')], {
      cwd: set.work,
      env: set.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    shell.stdout.on('data', (text: Buffer) => (out += text.toString()))
    shell.stderr.on('data', (text: Buffer) => (err += text.toString()))
    await new Promise((resolve) => shell.on('close', resolve))
    assert.equal(out.trim(), '1')
    assert.match(err, /^(?:dragoman: stopped, because standard output was closed.*)?\n?$/)
    const last = logIn(set.home).at(-1)
    assert.deepEqual([last?.['kind'], last?.['reason']], ['close', 'output-lost'])
    assert.ok(existsSync(join(set.work, 'made')))
    assert.ok(readFileSync(join(set.work, 'made'), 'utf8').split('\n').length < 7, 'the run did not go on')
    assert.equal((await dragoman(['-p', 'go on', '--resume', '--yolo', '--sandbox', 'off'], set)).code, 0)
  })

  test('a pipe on standard input that stays open and empty is told of', async () => {
    const set = await rawStage('openai-chat', () => rawAnswer('openai-chat', { text: 'END' }))
    const { code, out, err } = await dragoman(['-p', 'go'], set, {
      open: true,
      started: (child) => child.stderr?.once('data', () => child.stdin?.end()),
    })
    assert.deepEqual([code, out], [0, 'END\n'])
    assert.match(err, /Waiting for standard input to close/)
  })
})
