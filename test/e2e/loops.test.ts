import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dragoman } from '../support/command.ts'
import { rawAnswer, rawStage } from '../support/raw-server.ts'

const MOST = 100

/** Runs a model that makes these commands in turn, for ever; gives how often it was asked and how the run ended. */
function going(commands: readonly string[], until = MOST) {
  return goingWith(
    commands.map((command) => ({ command })),
    until,
  )
}

/** The same with any arguments of that tool. */
async function goingWith(calls: readonly object[], until = MOST) {
  const set = await rawStage('openai-chat', ({ n }) => {
    if (n >= until) return rawAnswer('openai-chat', { text: 'END' })
    const args = calls[n % calls.length] ?? {}
    return rawAnswer('openai-chat', { calls: [{ name: 'run_shell_command', args }] })
  })
  const { out, code } = await dragoman(['-p', 'go', '-o', 'stream-json', '--yolo', '--sandbox', 'off'], set)
  const last = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { reason: string }
  return {
    asked: set.bodies.length,
    reason: last.reason,
    code,
    told: (set.bodies.at(-1) ?? '').split('several times').length - 1,
  }
}

describe('a model that goes round in circles is told, then stopped', () => {
  for (const commands of [
    ['echo a'],
    ['echo a', 'echo b'],
    ['echo a', 'false', 'echo c'],
    ['echo a', 'echo b', 'echo c', 'echo d'],
    ['echo a', 'echo b', 'echo a', 'echo c', 'false'],
    ['sleep 0.05 & echo a'],
  ])
    test(commands.join(', '), async () => {
      const { asked, reason, code, told } = await going(commands)
      assert.deepEqual([reason, code, told], ['loop', 1, 1])
      assert.ok(asked <= 8 * commands.length, `${asked} requests`)
    })

  test('calls whose arguments do not fit the schema, and never run (T164)', async () => {
    const { asked, reason, told } = await goingWith([{ command: { not: 'text' }, directory: 7 }, {}])
    assert.deepEqual([reason, told], ['loop', 1])
    assert.ok(asked <= 16, `${asked} requests`)
  })

  test('a command that says something else each time: later, but not never', async () => {
    const { asked, reason, told } = await going(['date +%s%N'])
    assert.deepEqual([reason, told], ['loop', 1])
    assert.ok(asked > 20 && asked < MOST, `${asked} requests`)
  })

  test('waiting for something that changes is no circle', async () => {
    const { reason, told } = await going(['date +%s%N'], 12)
    assert.deepEqual([reason, told], ['done', 0])
  })
})
