import assert from 'node:assert/strict'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { skipWithoutBox } from '../host/box.ts'
import { dragoman, stage } from '../support/command.ts'

const skip = await skipWithoutBox()
const writing = (place: string) => [
  { call: [{ name: 'run_shell_command', args: { command: `echo x > ${place}; echo y > inside.txt` } }] },
  { say: 'Done.' },
]

test('commands of a run are shut in, even when nothing is asked', { skip }, async () => {
  const at = await stage(writing('{cwd}/../outside.txt'))
  const { code, err } = await dragoman(['--yolo', '-p', 'write'], at)
  assert.equal(code, 0, err)
  assert.ok(existsSync(join(at.work, 'inside.txt')))
  assert.ok(!existsSync(join(at.work, '../outside.txt')))
})

test('--sandbox on, where there is none, is a complaint', { skip: process.platform !== 'linux' }, async () => {
  const at = await stage(writing('outside.txt'))
  const { code, err } = await dragoman(['--yolo', '--sandbox', 'on', '-p', 'write'], {
    ...at,
    env: { ...at.env, PATH: at.home },
  })
  assert.equal(code, 52)
  assert.match(err, /cannot run in a sandbox here: bubblewrap is not installed.*apt install bubblewrap/)
  assert.equal((await dragoman(['--sandbox', 'maybe', '-p', 'x'], at)).code, 42)
})

test('without a sandbox only what is proved harmless runs unasked, and the person is told once how to get one', async () => {
  const calls = ['pwd', 'sh -c pwd'].map((command) => ({ call: [{ name: 'run_shell_command', args: { command } }] }))
  const at = await stage([...calls, { say: 'Done.' }])
  // Programs as the machine has them, but for the one that shuts in.
  const bin = join(at.home, 'bin')
  mkdirSync(bin)
  symlinkSync('/bin/bash', join(bin, 'bash'))
  const world = { ...at, env: { ...at.env, PATH: bin } }
  const first = await dragoman(['-p', 'look', '-o', 'stream-json'], world)
  assert.match(first.err, /No sandbox: .*only read-only commands and commands that you allowed run/)
  assert.equal(first.out.match(/Exit Code: 0/g)?.length, 1, 'only the harmless one ran')
  const second = await dragoman(['-p', 'look', '-o', 'stream-json'], world)
  assert.doesNotMatch(second.err, /No sandbox/)
})

test('doctor --local says what is in force, and names keys without showing them', async () => {
  const at = await stage([])
  const env = { ...at.env, GEMINI_API_KEY: 'canary-key' }
  const { code, out, err } = await dragoman(['doctor', '--local'], { ...at, env })
  assert.equal(code, 0, err)
  for (const name of ['sandbox', 'node', 'shell', 'ripgrep', 'git', 'settings', 'trust', 'keys'])
    assert.match(out, new RegExp(`^${name} +\\S`, 'm'))
  assert.match(out, /GEMINI_API_KEY/)
  assert.doesNotMatch(out, /canary/)
  const json = await dragoman(['doctor', '--local', '--json', '--sandbox', 'off'], { ...at, env })
  assert.deepEqual((JSON.parse(json.out) as { sandbox: unknown }).sandbox, {
    inForce: false,
    why: 'It is turned off.',
  })
})
