import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import {
  ANSWER,
  QUESTION,
  WORD,
  writeForeignLog,
  writeOpencodeExport,
  writeOpencodeRows,
} from '../support/foreign-sessions.ts'
import { writeSqlite, writeWriteAheadLog } from '../support/sqlite-writer.ts'

type Stage = Awaited<ReturnType<typeof stage>>

function write(path: string, content: string | Buffer): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** Where each agent would have written a session that was made in the folder of the stage. */
function writeAll({ home, work }: Stage): void {
  write(join(home, '.claude/projects/-work/0a1b2c3d.jsonl'), writeForeignLog('claude', work))
  write(join(home, '.codex/sessions/2026/01/02/rollout-2026-01-02T10-00-00-01a1.jsonl'), writeForeignLog('codex', work))
  write(join(home, '.gemini/tmp/work/chats/session-2026-01-02T10-00-783d79f4.jsonl'), writeForeignLog('gemini'))
  write(join(home, '.gemini/tmp/work/.project_root'), work)
  write(join(home, '.pi/agent/sessions/--work--/2026_01a1ea95.jsonl'), writeForeignLog('pi', work))
  const database = writeSqlite(writeOpencodeRows(work))
  write(join(home, '.local/share/opencode/opencode.db'), database.subarray(0, 1024))
  write(join(home, '.local/share/opencode/opencode.db-wal'), writeWriteAheadLog(database))
}

/** On another wire than the one that the agent spoke. */
const OTHER_MODELS = {
  claude: 'openai/script',
  codex: 'anthropic/script',
  gemini: 'openai-chat/script',
  opencode: 'gemini/script',
  pi: 'openai/script',
} as const

test('the sessions of five agents are listed, imported, and continued on another wire', async () => {
  const at = await stage({ steps: [], end: { say: 'I go on.' } })
  const env = {
    ...at.env,
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    DRAGOMAN_GEMINI_BASE_URL: `${at.server.url}/v1beta`,
    DRAGOMAN_OPENAI_BASE_URL: `${at.server.url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${at.server.url}/v1`,
  }
  const here = { ...at, env }
  writeAll(at)
  const listed = await dragoman(['import', 'session', '--list', '--json'], here)
  assert.equal(listed.code, 0, listed.err)
  const found = JSON.parse(listed.out) as { agent: string; title: string; id: string }[]
  assert.deepEqual(found.map(({ agent }) => agent).sort(), Object.keys(OTHER_MODELS))
  for (const { title } of found) assert.equal(title, QUESTION)
  for (const [agent, model] of Object.entries(OTHER_MODELS)) {
    const imported = await dragoman(['import', 'session', 'latest', '--from', agent, '--json'], here)
    assert.equal(imported.code, 0, imported.err)
    const { session, prompts, answers } = JSON.parse(imported.out) as {
      session: string
      prompts: number
      answers: number
    }
    assert.deepEqual({ prompts, answers }, { prompts: 1, answers: 2 })
    const went = await dragoman(['--resume', session, '-m', model, '-p', 'And now?'], here)
    assert.equal(went.code, 0, went.err)
    assert.match(went.out, /I go on/)
    const sent = JSON.stringify(at.server.requests.at(-1)?.body)
    for (const part of [QUESTION, WORD, ANSWER, 'And now?']) assert.ok(sent.includes(part), `${agent}: ${part}`)
  }
})

test('a torn session is repaired, and the command says what was repaired', async () => {
  const at = await stage({ steps: [], end: { say: 'I go on.' } })
  const log = writeForeignLog('claude', at.work)
  const file = write(join(at.home, 'torn.jsonl'), log.slice(0, log.indexOf('"tool_result"') + 5))
  const imported = await dragoman(['import', 'session', file], at)
  assert.equal(imported.code, 0, imported.err)
  assert.match(imported.out, /^Imported from Claude Code as session \S+: 1 message, 1 answer, 2 tool calls\.$/m)
  assert.match(imported.out, /Left out: 1 record that cannot be read/)
  assert.match(imported.out, /Repaired: 2 calls without a result/)
  // Without its own model, the session goes on with the one that is configured here.
  const went = await dragoman(['--resume', '-p', 'And now?'], at)
  assert.equal(went.code, 0, went.err)
  assert.match(JSON.stringify(at.server.requests.at(-1)?.body), /ended before a result of Read was stored/)
})

test('an export of opencode, an id, and what cannot be imported', async () => {
  const at = await stage([])
  const file = write(join(at.home, 'export.json'), writeOpencodeExport('/elsewhere'))
  const imported = await dragoman(['import', 'session', file], at)
  assert.match(imported.out, /Imported from opencode as session/)
  assert.match(imported.out, /It was made in \/elsewhere and continues in/)
  write(join(at.home, '.pi/agent/sessions/--x--/a.jsonl'), writeForeignLog('pi', '/other'))
  assert.match(
    (await dragoman(['import', 'session', '--list'], at)).out,
    /No sessions of other agents were found for this folder/,
  )
  assert.match(
    (await dragoman(['import', 'session', '--list', '--all'], at)).out,
    /pi +01a1ea95[^]*\/other: What is the secret/,
  )
  assert.match((await dragoman(['import', 'session', '01a1ea95'], at)).out, /Imported from pi/)
  const refused = async (args: readonly string[], reason: RegExp) => {
    const { code, err } = await dragoman(['import', ...args], at)
    assert.equal(code, 42, err)
    assert.match(err, reason)
  }
  await refused(['session'], /no session of Claude Code, Codex, Gemini CLI, opencode, pi was found for this folder/)
  await refused(['session', '--all'], /no terminal to choose a session on/)
  await refused(['session', 'nothing.jsonl'], /the file nothing\.jsonl does not exist/)
  await refused(['session', 'abcdef'], /no file and no session “abcdef”/)
  await refused(['session', at.work], /is a folder/)
  await refused(['session', write(join(at.home, 'notes.txt'), 'hello\n')], /is not a session of Claude Code/)
  await refused(['session', '--from', 'cursor'], /--from must be one of claude, codex, gemini, opencode, pi/)
  await refused(['settings-of-others'], /unknown subcommand/)
})
