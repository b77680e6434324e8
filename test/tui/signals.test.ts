import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTerminalSignals, type NotificationMethod } from '../../src/cli/tui/terminal-signals.ts'

function open(method: NotificationMethod, env: Record<string, string> = {}, folder = '/home/ann/pond') {
  const written: string[] = []
  let now = 0
  const signals = createTerminalSignals({
    folder,
    method,
    hasTitle: true,
    write: (text) => void written.push(text),
    env,
    now: () => now,
  })
  return { signals, written, wait: (ms: number) => void (now += ms) }
}

describe('notifications', () => {
  for (const [method, env, expected] of [
    ['bell', {}, '\u0007'],
    ['osc9', {}, '\u001B]9;dragoman, pond: ready; now\u0007'],
    ['osc777', {}, '\u001B]777;notify;Dragoman;dragoman, pond: ready, now\u0007'],
    ['auto', { TERM_PROGRAM: 'WezTerm' }, '\u001B]9;dragoman, pond: ready; now\u0007'],
    ['auto', { TERM: 'foot' }, '\u001B]777;notify;Dragoman;dragoman, pond: ready, now\u0007'],
    ['auto', { TERM: 'xterm-256color' }, '\u0007'],
    ['off', {}, undefined],
  ] as const)
    test(`${method} ${JSON.stringify(env)}: only when no key was pressed for a while`, () => {
      const { signals, written, wait } = open(method, env)
      const before = written.length
      signals.notify('ready; now')
      assert.equal(written.length, before, 'the person is there')
      wait(60_000)
      signals.notify('ready; now')
      assert.deepEqual(written.slice(before), expected === undefined ? [] : [expected])
      signals.onKey()
      signals.notify('ready; now')
      assert.equal(written.length, before + (expected === undefined ? 0 : 1))
    })

  test('the name of a folder cannot end the sequence or begin another', () => {
    const { signals, written, wait } = open('osc9', {}, '/x/a\u0007\u001B]52;c;ZXZpbA==\u0007b')
    wait(60_000)
    signals.setState('waiting')
    signals.notify('ready')
    for (const text of written) assert.doesNotMatch(text.slice(1, -1), /[\u0007\u001B]/)
  })
})

test('the title says whether the model works or waits, and is given back at the end', () => {
  const { signals, written } = open('off')
  signals.setState('working')
  signals.setState('working')
  signals.setState('waiting')
  signals.setState('idle')
  signals.close()
  const titles = ['dragoman · pond', '● dragoman · pond', '? dragoman · pond', 'dragoman · pond']
  assert.deepEqual(written, ['\u001B[22;2t', ...titles.map((title) => `\u001B]2;${title}\u0007`), '\u001B[23;2t'])
})
