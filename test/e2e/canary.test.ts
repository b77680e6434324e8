import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { providers } from '../../src/provider/providers.ts'
import { getBaseUrlVariable } from '../../src/provider/endpoint.ts'
import { type Heard, reply, serve } from '../provider/support/server.ts'
import { type Canary, canaries, leaks } from '../support/canaries.ts'
import { dragoman, type Ended, stage } from '../support/command.ts'

/** Files that were found below a folder, with what is in them. */
function filesIn(folder: string): { path: string; text: string }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

/** Lines, also those that JSON has written as one. */
function linesOf(text: string): number {
  return text.split(/\n|\\n/).length
}

/** A key of its own for every variable of every row, and a few other secrets of this person. */
function ownSecrets(): { env: Record<string, string>; secrets: Canary[] } {
  const variables = [...new Set(providers.flatMap((row) => [...row.keys, ...(row.tokens ?? [])]))]
  const kinds = canaries(11).filter(({ kind }) => kind !== 'a private key' && kind !== 'password in a URL')
  const env = Object.fromEntries(
    variables.map((name, at) => [name, canaries(100 + at)[at % kinds.length]?.value ?? name]),
  )
  const all = { ...env, DB_PASSWORD: 'Zq7vK2mXw9LtR4', MY_SERVICE_TOKEN: 'plain0lookingvalue7' }
  return { env: all, secrets: Object.entries(all).map(([kind, value]) => ({ kind, value })) }
}

/** A vendor that repeats whatever it is told, everywhere it can. */
function echo(response: Parameters<typeof reply>[0], heard: Heard, turn: number): void {
  const key = heard.headers.authorization ?? String(heard.headers['x-goog-api-key'] ?? heard.headers['x-api-key'])
  const bare = key.replace('Bearer ', '')
  const all = `${key} ${JSON.stringify(bare)} ${Buffer.from(key).toString('base64')} ${encodeURIComponent(bare)} ${Buffer.from(bare).toString('hex')}`
  const headers = { 'x-echo': key, 'x-request-url': `${heard.url}?key=${bare}`, 'set-cookie': `k=${bare}` }
  const kind = heard.url.endsWith('/chat/completions') ? turn % 3 : turn % 2
  if (kind === 0) return reply(response, { error: { message: `wrong: ${all}`, code: bare, param: bare } }, 400, headers)
  if (kind === 1) return reply(response, `<html><title>${all}</title>${all}</html>`, 403, headers)
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  const words = `Your key is ${bare}, is it not?`
  const parts = words.match(/[^]{1,5}/g) ?? []
  const chat = parts.map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  for (const one of [...chat, end]) response.write(`data: ${JSON.stringify(one)}\n\n`)
  response.end('data: [DONE]\n\n')
}

test('planted secrets in 10,000 lines of logs, recordings, traces, errors and bug bundles: none is found', async (t) => {
  const own = ownSecrets()
  const seen = Array.from({ length: 10 }, (_, at) => canaries(200 + at))
    .flat()
    .filter(({ formless }) => !formless)
  let lines = 0
  let searched = 0
  const search = (where: string, text: string, secrets: readonly Canary[]): void => {
    lines += linesOf(text)
    searched += text.length
    assert.deepEqual(leaks(text, secrets), [], where)
  }
  const said = (name: string, { out, err }: Ended): void => search(name, `${out}\n${err}`, own.secrets)

  // A session with tools whose results are full of other people's secrets, against the rehearsal server.
  const here = await stage([
    { say: 'Reading.', call: [{ name: 'read_file', args: { absolute_path: '{cwd}/log/app.log' } }] },
    { call: [{ name: 'search_file_content', args: { pattern: 'key=', path: '{cwd}/log' } }] },
    { call: [{ name: 'run_shell_command', args: { command: 'env; cat log/more.log' } }] },
    { misbehave: [{ kind: 'status', status: 503, times: 1 }], say: 'There are secrets in these files.' },
  ])
  mkdirSync(join(here.work, 'log'))
  const line = (at: number): string => `2026-01-01 ${at} [info] key=${seen[at % seen.length]?.value} status=401\n`
  writeFileSync(join(here.work, 'log/app.log'), Array.from({ length: 1500 }, (_, at) => line(at)).join(''))
  writeFileSync(join(here.work, 'log/more.log'), Array.from({ length: 600 }, (_, at) => line(at + 7)).join(''))
  const env = { ...here.env, ...own.env, OPENAI_API_KEY: own.env['OPENAI_API_KEY'] ?? '' }
  const run = await dragoman(
    ['-p', `Look for ${seen[0]?.value} in the logs.`, '--yolo', '--record', 'tape', '--trace', 'trace.jsonl'],
    { ...here, env },
  )
  assert.equal(run.code, 0, run.err)
  said('the run', run)
  assert.deepEqual(here.server.failures, [])
  const replayed = await dragoman(['replay', 'tape'], { ...here, env })
  assert.deepEqual([replayed.code, replayed.out], [0, 'Replayed 5 requests, 4 responses. No differences.\n'])
  const bug = await dragoman(['bug', '--trace', 'trace.jsonl', '--yes', '--output', 'bug.json'], { ...here, env })
  assert.equal(bug.code, 0, bug.err)
  said('the report', bug)

  // Every row against a vendor that repeats the key in headers, errors, pages and, piece by piece, in what it says.
  const vendor = await serve(t, echo)
  const visit = async ({ id }: (typeof providers)[number]): Promise<void> => {
    const moved = { [getBaseUrlVariable(id)]: vendor.url, DRAGOMAN_TRACE: `trace-${id}.jsonl` }
    const aimed = { ...here, env: { ...env, ...moved, GOOGLE_CLOUD_PROJECT: 'p' } }
    said(id, await dragoman(['-m', `${id}/m`, '-p', 'hi', '--record', `tape-${id}`, '-o', 'json'], aimed))
  }
  for (let at = 0; at < providers.length; at += 2) await Promise.all(providers.slice(at, at + 2).map(visit))
  const report = await dragoman(['bug', '--yes', '--output', 'bug-2.json'], { ...here, env })
  assert.equal(report.code, 0, report.err)

  // The log holds what was said, but nothing of what we sign in with; all else holds no secret at all.
  const logs = filesIn(join(here.home, '.local/share/dragoman'))
  assert.ok(logs.length > providers.length)
  for (const { path, text } of logs) search(path, text, own.secrets)
  const kept = filesIn(here.work).filter(({ path }) => !path.includes('/log/'))
  assert.ok(kept.length > 2 * providers.length)
  for (const { path, text } of kept) search(path, text, [...own.secrets, ...seen])
  assert.ok(lines >= 10_000, `only ${lines} lines`)
  t.diagnostic(`${lines} lines, ${searched} letters, ${own.secrets.length + seen.length} secrets planted, 0 found`)
})

test('a bundle shows what is in it before it is written, and its settings hold no secret', async () => {
  const here = await stage([{ say: 'Hi.' }])
  await dragoman(['-p', 'hello there'], here)
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  const settings = {
    mcpServers: {
      a: { command: 'x', env: { SOME_TOKEN: 'short-1', HOME_KEY: '$HOME_KEY' }, args: ['--password=hunter2hunter2'] },
    },
  }
  writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify(settings))
  const path = join(here.work, 'dragoman-bug.json')
  const shown = await dragoman(['bug'], here)
  assert.equal(shown.code, 0)
  assert.match(
    shown.err,
    /The report contains:\n {2}versions[^]*session .* entries[^]*Nothing was written\. Use --yes to write without asking\./,
  )
  assert.ok(!existsSync(path))
  const made = await dragoman(['bug', '--yes'], here)
  assert.equal(made.out, `${path}\n`)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const bundle = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  assert.deepEqual(Object.keys(bundle), ['versions', 'variables', 'settings', 'session', 'trace', 'fault'])
  const text = JSON.stringify(bundle)
  assert.match(text, /hello there/)
  assert.doesNotMatch(text, /short-1|hunter2|"k"/)
  assert.ok(!text.includes(here.home), 'the home folder is not named')
  assert.match(text, /\$HOME_KEY/)
  const without = await dragoman(['bug', '--yes', '--no-session', '--output', 'b.json'], here)
  assert.equal(without.code, 0)
  assert.doesNotMatch(readFileSync(join(here.work, 'b.json'), 'utf8'), /hello there/)
  assert.equal((await dragoman(['bug', 'nonsense'], here)).code, 42)
})
