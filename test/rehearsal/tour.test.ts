import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import type { CallPart, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import { BUILTIN_SCRIPTS } from '../../src/rehearsal/builtin-scripts/all-scripts.ts'
import { createTourProject } from '../../src/rehearsal/builtin-scripts/tour-sample-project.ts'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { ask, said } from './support.ts'
import { clearAway } from '../support/clear.ts'

const run = promisify(execFile)

/** The tools that the tour needs, no better than it needs them. */
function toolsIn(folder: string): Record<string, (input: Record<string, string>) => Promise<string>> {
  return {
    list_directory: async ({ path = '' }) => (await readdir(path)).join('\n'),
    read_file: ({ absolute_path: path = '' }) => readFile(path, 'utf8'),
    search_file_content: async ({ pattern = '', path = '' }) => {
      const lines: string[] = []
      for (const name of await readdir(path)) {
        const found = (await readFile(join(path, name), 'utf8'))
          .split('\n')
          .filter((line) => new RegExp(pattern).test(line))
        lines.push(...found.map((line) => `${name}: ${line}`))
      }
      return lines.join('\n')
    },
    replace: async ({ file_path: path = '', old_string: old = '', new_string: next = '' }) => {
      const text = await readFile(path, 'utf8')
      assert.equal(text.split(old).length, 2)
      await writeFile(path, text.replace(old, next))
      return 'Replaced.'
    },
    run_shell_command: async ({ command }) => {
      assert.equal(command, 'npm test')
      return testOutput(folder)
    },
  }
}

async function testOutput(folder: string): Promise<string> {
  // Under the test runner the child would report to it, and not in words.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const failed = (error: { stdout: string }) => error
  return (await run(process.execPath, ['--test'], { cwd: folder, env }).catch(failed)).stdout
}

async function play(wire: WireId, folder: string, declined: readonly string[] = []) {
  const rehearsal = await startRehearsalServer({ scripts: BUILTIN_SCRIPTS, templateValues: { cwd: folder }, paceMs: 0 })
  const tools = toolsIn(folder)
  const specs: ToolSpec[] = Object.keys(tools).map((name) => ({
    name,
    description: name,
    schema: { type: 'object', properties: {} },
  }))
  const turns: Turn[] = [said('Show me what you can do.')]
  const called: string[] = []
  const carryOut = async ({ id, name, input = {} }: CallPart): Promise<ResultPart> => {
    called.push(name)
    const text = declined.includes(name) ? 'The person declined.' : await tools[name]?.(input as Record<string, string>)
    return { kind: 'result', id, name, status: 'ok', content: [{ kind: 'text', text: text ?? '' }] }
  }
  for (;;) {
    const { turn, answered } = await ask(rehearsal, wire, { turns, tools: specs, model: 'tour' })
    assert.equal(answered.status, 200, answered.text)
    const { calls } = splitRunnableCalls(turn)
    turns.push(turn)
    if (calls.length === 0) break
    turns.push({ role: 'results', parts: await Promise.all(calls.map(carryOut)) })
  }
  const texts = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  const after = await ask(rehearsal, wire, { turns: [...turns, said('More!')], tools: specs, model: 'tour' })
  assert.match(JSON.stringify(after.turn.parts), /The tour is over/)
  assert.deepEqual(rehearsal.failures, [])
  await rehearsal.close()
  return { called, texts: texts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])) }
}

async function withProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-'))
  try {
    for (const [path, content] of Object.entries(createTourProject())) await writeFile(join(folder, path), content)
    await use(folder)
  } finally {
    clearAway(folder)
  }
}

describe('the tour', () => {
  for (const wire of wireIds) {
    test(`mends the scratch project, over ${wire}`, async () => {
      await withProject(async (folder) => {
        assert.match(await testOutput(folder), /fail 1/)
        const { called, texts } = await play(wire, folder)
        assert.deepEqual(called, [
          'list_directory',
          'read_file',
          'read_file',
          'search_file_content',
          'replace',
          'run_shell_command',
        ])
        assert.match(texts[0] ?? '', /scripted rehearsal, not a model/)
        assert.match(texts.at(-1) ?? '', /The test passes/)
        assert.match(await testOutput(folder), /pass 1/)
        assert.match(await readFile(join(folder, 'sum.js'), 'utf8'), /a \+ b/)
      })
    })
  }

  test('says so where the edit was declined', async () => {
    await withProject(async (folder) => {
      const { texts } = await play('gemini', folder, ['replace'])
      assert.match(texts.at(-1) ?? '', /failed or did not run/)
      assert.match(texts.at(-1) ?? '', /scripted rehearsal, not a model/)
    })
  })
})
