import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman } from '../support/command.ts'
import { RAW_WIRES, type RawWire, rawAnswer, rawStage } from '../support/raw-server.ts'

describe('thousands of calls in one answer', () => {
  for (const wire of Object.keys(RAW_WIRES) as RawWire[])
    test(`${wire}: the first 512 run, each has a result, and the model is told of the rest`, async () => {
      const count = 1500
      const calls = Array.from({ length: count }, () => ({ name: 'read_file', args: { absolute_path: '' } }))
      const set = await rawStage(wire, ({ n }) => rawAnswer(wire, n === 0 ? { calls } : { text: 'END' }))
      for (const [at, call] of calls.entries()) call.args.absolute_path = join(set.work, `f${at}`)
      for (let at = 0; at < 600; at++) writeFileSync(join(set.work, `f${at}`), `content of ${at}\n`)
      const { code, out } = await dragoman(['-p', 'go', '-o', 'stream-json', '--yolo'], set)
      assert.equal(code, 0)
      const results = out.split('\n').filter((line) => line.includes('"type":"tool_result"'))
      assert.equal(results.length, count)
      assert.equal(results.filter((line) => /content of/.test(line)).length, 512)
      const told = set.bodies[1]?.match(/Only the first 512 calls of a response are executed/g) ?? []
      assert.equal(told.length, count - 512)
      assert.match(set.bodies[1] ?? '', /content of 511\b/)
    })
})

describe('arguments of many megabytes', () => {
  const huge = 'h'.repeat(3 * 2 ** 20)
  const cases: readonly [name: string, call: { name: string; args: object }][] = [
    ['a file that is written', { name: 'write_file', args: { file_path: 'huge.txt', content: huge } }],
    ['a tool that does not exist', { name: huge.slice(0, 2 ** 20), args: {} }],
    ['an argument that does not exist', { name: 'read_file', args: { [huge]: 1 } }],
    ['a value of the wrong kind', { name: 'read_file', args: { absolute_path: [huge] } }],
    ['a path that is too long', { name: 'read_file', args: { absolute_path: `/${huge}` } }],
    ['a command that is too long', { name: 'run_shell_command', args: { command: `echo ${huge}` } }],
  ]
  for (const [name, call] of cases)
    test(`${name}: no line for a person is long, and the model is told in few words`, async () => {
      const set = await rawStage('openai-chat', ({ n }) =>
        rawAnswer('openai-chat', n === 0 ? { calls: [call] } : { text: 'END' }),
      )
      if ('file_path' in call.args) Object.assign(call.args, { file_path: join(set.work, 'huge.txt') })
      const { code, err } = await dragoman(['-p', 'go', '--yolo', '--sandbox', 'off'], set)
      assert.equal(code, 0)
      const longest = Math.max(...err.split('\n').map((line) => line.length))
      assert.ok(longest < 1500, `a line of ${longest} characters`)
      const { messages } = JSON.parse(set.bodies[1] ?? '') as { messages: { role: string; content: string }[] }
      const result = messages.findLast(({ role }) => role === 'tool')?.content ?? ''
      assert.ok(result.length > 0 && result.length < 100_000, `a result of ${result.length} characters`)
    })
})
