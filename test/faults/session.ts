import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { createSessionNotices } from '../../src/session/session-notices.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { dragoman, stage } from '../support/command.ts'
import { onBrokenDisk, systemError } from '../support/faulty-disk.ts'
import type { Plays } from '../support/faults.ts'
import { freshFolder, logWith } from '../support/log-case.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { type Workspace, workspace } from '../tool/workspace.ts'

/** Sessions that others get in the way of. */
export const sessionPlays: Plays = {
  'fa-093': async () => {
    const here = await stage([{ say: 'Long. '.repeat(50), pace: 200 }, { say: 'Short.' }, { say: 'Shorter.' }])
    const first = dragoman(['-p', 'one'], here)
    while (here.server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const second = await dragoman(['-p', 'two', '--resume'], here)
    assert.equal(second.code, 42)
    assert.match(
      second.err,
      /^dragoman: the session \S+ is in use by process \d+; end that process, or fork the session\n$/,
    )
    assert.equal((await dragoman(['sessions', 'show', 'latest'], here)).code, 0)
    const forked = await dragoman(['-p', 'three', '--fork', 'latest'], here)
    assert.equal(forked.code, 0, forked.err)
    assert.equal((await first).code, 0)
    assert.equal((await dragoman(['-p', 'four', '--resume'], here)).code, 0)
    assert.deepEqual(here.server.failures, [])
  },
  'fa-094': async () => {
    const log = await logWith(2)
    // Our own number, but of a process that began at another time.
    writeFileSync(join(log.folder, 'log.lock'), `${process.pid} 1`)
    assert.deepEqual((await log.reopen()).texts, ['0', '1', 'more'])
  },
  'fa-095': async () => {
    const log = await logWith(2)
    const breaks = {
      linkSync: () => () => {
        throw systemError('ENOTSUP')
      },
    }
    await onBrokenDisk(breaks, async () => {
      const opened = await log.store.open('log')
      assert.match(createSessionNotices(opened).join(' '), /has no locks/)
      await assert.rejects(() => log.store.open('log'), /in use/)
      opened.append({ kind: 'note', text: 'more' })
      await opened.close()
    })
    assert.equal((await log.store.read('log')).entries.length, 4)
    assert.deepEqual((await log.reopen()).damages, [])
  },
  'fa-098': async () => {
    using at = workspace({ 'a.txt': 'mine\n' })
    const file_path = join(at.root, 'a.txt')
    const { results } = await worked(
      at,
      [
        { call: [{ name: 'read_file', args: { absolute_path: file_path } }] },
        { call: [{ name: 'switch', args: {} }] },
        { call: [{ name: 'write_file', args: { file_path, content: 'from an old reading\n' } }] },
      ],
      [
        tool({
          name: 'switch',
          description: 'The person switches the branch.',
          parameters: { type: 'object', properties: {} },
          effects: () => [],
          execute: () => {
            writeFileSync(file_path, 'of the other branch\n')
            return 'switched'
          },
        }),
      ],
    )
    assert.match(results[2] ?? '', /changed after you read it/)
    assert.equal(readFileSync(file_path, 'utf8'), 'of the other branch\n')
  },
  'fa-099': async () => {
    using at = workspace()
    const file_path = join(at.root, 'a.txt')
    const contents = ['one\n'.repeat(300), 'two\n'.repeat(300), 'three\n'.repeat(300)]
    const call = contents.map((content) => ({ name: 'write_file', args: { file_path, content } }))
    await worked(at, [{ call }])
    assert.equal(readFileSync(file_path, 'utf8'), contents[2])
  },
  'fa-100': async () => {
    using at = workspace()
    const typed: { kind: 'text'; text: string }[][] = []
    const type = tool({
      name: 'wait',
      description: 'The person types meanwhile.',
      parameters: { type: 'object', properties: {} },
      effects: () => [],
      execute: () => `typed ${typed.push([{ kind: 'text', text: 'and another thing' }])}`,
    })
    const { said } = await worked(at, [{ call: [{ name: 'wait', args: {} }] }], [type], {
      takeQueuedMessages: () => typed.splice(0),
    })
    assert.deepEqual(said, ['go', 'and another thing'])
  },
  'fa-101': async (fault) => {
    let time = 1_000_000_000
    const folder = freshFolder()
    const log = await jsonlStore(folder, () => time).create({ id: 'log', folder: '/' })
    for (let at = 0; at < 5; at++) {
      log.append({ kind: 'note', text: String(at) })
      time += at === 2 ? Number(fault.inject['clock']) * 1000 : 10
    }
    await log.close()
    const { entries } = await jsonlStore(folder).read('log')
    for (const [at, entry] of entries.entries())
      assert.ok(entry.at >= (entries[at - 1]?.at ?? 0), 'time runs backwards')
    assert.deepEqual(
      entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : [])),
      ['0', '1', '2', '3', '4'],
    )
  },
}

/** What the tools answered, and what the person is on record to have said. */
async function worked(
  at: Workspace,
  steps: readonly ScriptStep[],
  tools: readonly Tool[] = [],
  more: Partial<AgentContext> = {},
): Promise<{ results: string[]; said: string[] }> {
  const server = await rehearse([...steps, { say: 'Done.' }])
  try {
    const all = [...builtinTools({ memory: at.memory }), ...tools]
    const agent = agentOf(modelOn('gemini', server), all, { host: at.host, folders: [at.root], ...more })
    assert.equal(closing(await play(agent, 'go')).reason, 'done')
    assert.deepEqual(server.failures, [])
    const { entries } = agent.session
    return {
      results: entries.flatMap((entry) => (entry.kind === 'result' ? [JSON.stringify(entry.result.content)] : [])),
      said: entries.flatMap((entry) =>
        entry.kind === 'user' ? entry.parts.map((part) => (part.kind === 'text' ? part.text : '')) : [],
      ),
    }
  } finally {
    await server.close()
  }
}
