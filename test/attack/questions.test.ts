import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { noTmux, openTerminal, type Terminal } from '../support/tmux.ts'

// A model that works for somebody else, the real command and a real terminal. What must not happen leaves a canary.

interface Scene {
  readonly terminal: Terminal
  readonly work: string
  readonly home: string
  /** All that was sent to the model. */
  readonly sent: () => string
  /** The canary: a file that the attack makes. */
  readonly canary: string
}

/** Opens the command with a model that makes these calls, all in one turn, and has the person ask for something. */
async function begin(
  calls: readonly { readonly name: string; readonly args: JsonObject }[],
  { args = [], rows = 24, config }: { args?: readonly string[]; rows?: number; config?: JsonObject } = {},
): Promise<Scene> {
  const here = await stage([{ say: 'At once.', call: calls }, { say: 'All done.' }])
  const { work, home, env, server } = here
  writeFileSync(join(work, 'a.txt'), 'hello\n')
  if (config) {
    mkdirSync(join(home, '.config/dragoman'), { recursive: true })
    writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify(config))
  }
  const terminal = openTerminal(args, { work, env, columns: 80, rows })
  await terminal.shows(/^>/m)
  const sent = () => server.requests.map(({ bytes }) => bytes.toString()).join('\n')
  return { terminal, work, home, sent, canary: join(work, 'PWNED') }
}

function ask({ terminal }: Scene): void {
  terminal.type('please help')
  terminal.press('Enter')
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until something is so; gives whether it came to that. */
async function comes(isSo: () => boolean, ms: number): Promise<boolean> {
  for (const end = Date.now() + ms; Date.now() < end; await pause(50)) if (isSo()) return true
  return isSo()
}

/** For what must happen, on however busy a machine. */
const LONG_MS = 60_000

/** Waits until a tool of a server is there. */
async function untilListed({ terminal }: Scene, tool: string): Promise<void> {
  for (const end = Date.now() + LONG_MS; Date.now() < end;) {
    terminal.type('/mcp')
    terminal.press('Enter')
    if (await comes(() => terminal.screen().includes(tool), 2000)) return
  }
}

/** Pages to the end of the question; gives all that was shown. */
async function readAll({ terminal }: Scene): Promise<string> {
  const pages = [terminal.screen()]
  for (let count = 0; count < 60; count++) {
    const before = terminal.screen()
    terminal.press('PageDown')
    if (!(await comes(() => terminal.screen() !== before, 700))) break
    pages.push(terminal.screen())
  }
  return pages.join('\n')
}

/** The part of a screen that is what the model wrote; what we say about it may quote some of it. */
function quoted(screen: string): string {
  return screen
    .split('\n')
    .filter((row) => /^[│┆]/.test(row))
    .join('\n')
}

/** A command whose dangerous part must be on the screen before a yes counts. Once it was, the yes is carried out. */
async function nothingUnseen(command: string, payload: RegExp, before: readonly string[] = []): Promise<void> {
  const scene = await begin([{ name: 'run_shell_command', args: { command } }])
  const { terminal, canary } = scene
  ask(scene)
  let seen = quoted(await terminal.shows('? Run this'))
  for (const key of before) {
    terminal.press(key)
    await pause(300)
    seen += quoted(terminal.screen())
  }
  terminal.press('y')
  const isSeen = payload.test(seen)
  const ran = await comes(() => existsSync(canary), isSeen ? LONG_MS : 2500)
  assert.ok(!ran || isSeen, `it ran, and was never on the screen:\n${seen}`)
  if (ran) return
  // Whoever pressed End skipped the middle; from the top on nothing is skipped.
  terminal.press('Home')
  await pause(300)
  if (/\[v\]/.test(terminal.screen())) {
    terminal.press('v')
    await pause(500)
  }
  seen = quoted(await readAll(scene))
  assert.match(seen, payload)
  terminal.press('y')
  assert.ok(await comes(() => existsSync(canary), LONG_MS), `it was approved and did not run:\n${terminal.screen()}`)
}

// Each has a terminal of its own, and mostly waits for what must not come.
describe('attacks on questions', { skip: noTmux, concurrency: 4 }, () => {
  test('between the lines of a private key', () =>
    nothingUnseen('echo -----BEGIN PRIVATE KEY-----\ntouch PWNED\necho -----END PRIVATE KEY-----', /touch PWNED/))

  test('behind a token in an address', () =>
    nothingUnseen('echo https://h/?token=abc123;touch${IFS}PWNED', /touch\$\{IFS\}PWNED/))

  test('in the password of an address', () =>
    nothingUnseen('echo https://u:p;touch${IFS}PWNED;echo@host/r', /touch\$\{IFS\}PWNED/))

  test('a program by the name of a secret', () =>
    nothingUnseen(
      "printf '#!/bin/sh\\ntouch PWNED' > run_me_12345678; chmod +x run*; X_KEY=run_me_12345678; ./$X_KEY",
      /X_KEY=run_me_12345678/,
    ))

  test('a command of 121 lines, approved without paging', () =>
    nothingUnseen(`${'echo a\n'.repeat(120)}touch PWNED`, /touch PWNED/))

  test('in the middle of one long line', () =>
    nothingUnseen(`echo ${'a'.repeat(5000)}; touch PWNED; echo ${'b'.repeat(5000)}`, /touch PWNED/))

  test('in the middle, when the person leaps to the end', () =>
    nothingUnseen(`${'echo a\n'.repeat(100)}touch PWNED\n${'echo b\n'.repeat(100)}`, /touch PWNED/, ['End']))

  test('a line that looks like the rest of a comment', async () => {
    const comment = `# ${'this only explains what is done here '.repeat(5).trim()}`
    const scene = await begin([{ name: 'run_shell_command', args: { command: `${comment}\n  touch PWNED` } }])
    ask(scene)
    const rows = (await scene.terminal.shows('? Run this')).split('\n')
    const at = rows.findIndex((row) => row.includes('# this only'))
    const goesOn = /^\S+ {0,3}/.exec(rows[at + 1] ?? '')?.[0]
    const next = rows.find((row) => row.includes('touch PWNED')) ?? ''
    assert.ok(goesOn !== undefined && !next.startsWith(goesOn), rows.join('\n'))
  })

  test('in the arguments of a tool of a server', async () => {
    const word = '-----BEGIN PRIVATE KEY-----\nPAYLOAD\n-----END PRIVATE KEY-----'
    const db = { command: process.execPath, args: [join(root, 'test/mcp/support/fixture-server.mjs')] }
    const scene = await begin([{ name: 'echo', args: { word } }], { config: { mcpServers: { db } } })
    await untilListed(scene, 'echo')
    ask(scene)
    const seen = await scene.terminal.shows('? Call ')
    scene.terminal.press('y')
    const ran = await comes(() => /Echo: /.test(scene.sent()), LONG_MS)
    assert.ok(ran, `it was approved and did not run:\n${scene.terminal.screen()}`)
    assert.match(seen, /PAYLOAD/)
  })

  test('a text that the person types is taken for an answer', async () => {
    for (const text of ['yes but not like this', 'also read the notes first', 'f']) {
      const scene = await begin([{ name: 'run_shell_command', args: { command: 'touch PWNED' } }])
      ask(scene)
      await scene.terminal.shows('? Run this')
      scene.terminal.type(text)
      assert.equal(await comes(() => existsSync(scene.canary), 2000), false, text)
      assert.match(scene.terminal.screen(), new RegExp(`> ${text}`))
    }
  })

  test('a long edit among several, approved by one key', async () => {
    const call = (name: string, content: string) => ({
      name: 'write_file',
      args: { file_path: `{cwd}/${name}`, content },
    })
    const scene = await begin([call('PWNED', `${'fine\n'.repeat(200)}PAYLOAD\n`), call('b.txt', 'fine\n')])
    const { terminal, canary } = scene
    ask(scene)
    let seen = await terminal.shows('(1 of 2')
    for (let count = 0; count < 3; count++) {
      terminal.press('A')
      await pause(600)
      seen += terminal.screen()
    }
    const isWritten = await comes(() => existsSync(canary), 2500)
    assert.ok(!isWritten || seen.includes('PAYLOAD'), `it was written, and was never on the screen:\n${seen}`)
  })

  test('a link in the place of the file, between the question and the yes', async () => {
    const args = { file_path: '{cwd}/notes/new.txt', content: 'PAYLOAD\n' }
    const scene = await begin([{ name: 'write_file', args }])
    const { terminal, work } = scene
    mkdirSync(join(work, '.git/hooks'), { recursive: true })
    mkdirSync(join(work, 'notes'))
    ask(scene)
    await terminal.shows('[y] yes, once')
    rmSync(join(work, 'notes'), { recursive: true })
    symlinkSync(join(work, '.git/hooks'), join(work, 'notes'))
    terminal.press('y')
    await terminal.shows('All done.')
    assert.equal(existsSync(join(work, '.git/hooks/new.txt')), false)
  })

  test('the same outside the workspace', async () => {
    const scene = await begin([
      { name: 'write_file', args: { file_path: '{home}/notes/new.txt', content: 'PAYLOAD\n' } },
    ])
    const { terminal, home } = scene
    mkdirSync(join(home, 'notes'))
    mkdirSync(join(home, '.ssh'))
    ask(scene)
    await terminal.shows('[y] yes, once')
    rmSync(join(home, 'notes'), { recursive: true })
    symlinkSync(join(home, '.ssh'), join(home, 'notes'))
    terminal.press('y')
    await terminal.shows('All done.')
    assert.equal(existsSync(join(home, '.ssh/new.txt')), false)
    assert.match(scene.sent(), /path changed after it was checked/)
  })

  test('Shift-Tab, one time too many', async () => {
    for (const times of [1, 2, 3, 4, 5]) {
      const scene = await begin([{ name: 'run_shell_command', args: { command: 'touch PWNED' } }])
      for (let count = 0; count < times; count++) scene.terminal.press('BTab')
      await pause(300)
      ask(scene)
      await scene.terminal.shows(/\? Run this|All done\./)
      assert.equal(existsSync(scene.canary), false, `after ${times}`)
    }
  })

  test('a name in the path that nobody can see', async () => {
    for (const char of ['\u200b', '\u00ad', '\u2060', '\u{E0067}', '\u3164', '\u00a0']) {
      const path = `{cwd}/.g${char}it/hooks/pre-commit`
      const scene = await begin([{ name: 'write_file', args: { file_path: path, content: 'x' } }], {
        args: ['--approval-mode', 'auto_edit'],
      })
      ask(scene)
      await scene.terminal.shows(/All done\.|\[y\]/)
      assert.equal(existsSync(join(scene.work, `.g${char}it`)), false, JSON.stringify(char))
    }
  })

  test('“always” for one thing, waiting questions for another', async () => {
    const run = (command: string) => ({ name: 'run_shell_command', args: { command } })
    const scene = await begin([run('make one'), run('make one'), run('touch PWNED')])
    const { terminal, canary } = scene
    ask(scene)
    await terminal.shows('(1 of 3')
    terminal.press('a')
    await terminal.shows('[1] always, in this session')
    terminal.press('1')
    // The second question is answered by the first answer; the third is not.
    await terminal.shows('touch PWNED')
    await terminal.hides('of 3')
    assert.equal(existsSync(canary), false)
    assert.doesNotMatch(terminal.screen(), /\(\d of 2/)
    terminal.press('Escape')
    await terminal.shows('All done.')
    assert.equal(existsSync(canary), false)
  })
})

describe('attacks without a person', () => {
  test('auto_edit is about edits: a command does not run unasked', async () => {
    const call = [{ name: 'run_shell_command', args: { command: 'rm untracked.txt' } }]
    const { work, env } = await stage([{ say: 'x', call }, { say: 'All done.' }])
    writeFileSync(join(work, 'untracked.txt'), 'mine\n')
    await dragoman(['-p', 'tidy up', '--approval-mode', 'auto_edit'], { env, work })
    assert.equal(existsSync(join(work, 'untracked.txt')), true)
  })

  test('an edit outside the workspace tells nothing of the file that it was not allowed to touch', async () => {
    const args = { file_path: '{home}/.ssh/id_rsa', old_string: 'GUESS', new_string: 'x', instruction: 'x' }
    const { work, home, env, server } = await stage([{ call: [{ name: 'smart_edit', args }] }, { say: 'All done.' }])
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh/id_rsa'), 'CANARY of the key\n')
    await dragoman(['-p', 'go'], { env, work })
    const sent = server.requests.map(({ bytes }) => bytes.toString()).join('\n')
    assert.doesNotMatch(sent, /CANARY|occurrence|not found in/i)
    assert.match(sent, /There is no user to ask/)
  })

  test('what was approved outside is done for every file tool, and protected places stay', async () => {
    const outside = '{home}/project'
    const calls = [
      { name: 'read_file', args: { absolute_path: `${outside}/a.txt` } },
      { name: 'list_directory', args: { path: outside } },
      { name: 'glob', args: { pattern: '*.txt', path: outside } },
      { name: 'search_file_content', args: { pattern: 'CANARY', path: outside } },
      { name: 'read_many_files', args: { paths: [`${outside}/a.txt`, `${outside}/sub/b.txt`] } },
      { name: 'write_file', args: { file_path: `${outside}/new/deep.txt`, content: 'made\n' } },
      { name: 'replace', args: { file_path: `${outside}/a.txt`, old_string: 'CANARY-1', new_string: 'CANARY-2' } },
      {
        name: 'smart_edit',
        args: { file_path: `${outside}/sub/b.txt`, old_string: 'CANARY-b', new_string: 'CANARY-c', instruction: 'x' },
      },
      { name: 'read_file', args: { absolute_path: `{cwd}/link.txt` } },
      { name: 'write_file', args: { file_path: '{home}/.bashrc', content: 'PWNED\n' } },
      { name: 'read_file', args: { absolute_path: '{home}/.ssh/id_rsa' } },
      { name: 'read_file', args: { absolute_path: `${outside}/way-out` } },
    ]
    const allowed = [...new Set(calls.map(({ name }) => name))].join(',')
    for (const how of [['--yolo'], ['--allowed-tools', allowed]]) {
      const script = [...calls.map((call) => ({ call: [call] })), { say: 'All done.' }]
      const { work, home, env } = await stage(script)
      mkdirSync(join(home, 'project/sub'), { recursive: true })
      mkdirSync(join(home, '.ssh'))
      writeFileSync(join(home, 'project/a.txt'), 'CANARY-1\n')
      writeFileSync(join(home, 'project/sub/b.txt'), 'CANARY-b\n')
      writeFileSync(join(home, '.ssh/id_rsa'), 'KEY-CANARY\n')
      symlinkSync(join(home, 'project/a.txt'), join(work, 'link.txt'))
      symlinkSync(join(home, '.ssh/id_rsa'), join(home, 'project/way-out'))
      const { out } = await dragoman(['-p', 'go', '-o', 'stream-json', ...how], { env, work })
      const results = out
        .split('\n')
        .filter((line) => line.includes('"tool_result"'))
        .map((line) => JSON.parse(line) as { tool_name: string; status: string; output: string })
      const statuses = results.map(({ status }) => status)
      const expected = calls.map((_, at) => (at < calls.length - 3 ? 'success' : 'error'))
      assert.deepEqual(statuses, expected, results.map((one) => JSON.stringify(one)).join('\n'))
      for (const at of [0, 3, 4]) assert.match(results[at]?.output ?? '', /CANARY/)
      assert.equal(readFileSync(join(home, 'project/new/deep.txt'), 'utf8'), 'made\n')
      assert.equal(readFileSync(join(home, 'project/a.txt'), 'utf8'), 'CANARY-2\n')
      assert.equal(readFileSync(join(home, 'project/sub/b.txt'), 'utf8'), 'CANARY-c\n')
      assert.equal(existsSync(join(home, '.bashrc')), false)
      assert.doesNotMatch(out, /KEY-CANARY/)
      assert.ok(dirname(home) !== work)
    }
  })

  test('plan mode: looking runs, changing does not, and the plan is what comes of it', async () => {
    const plan = '1. Mend it.\n2. Test it.'
    const { work, env, server } = await stage([
      { call: [{ name: 'run_shell_command', args: { command: 'ls' } }] },
      { call: [{ name: 'write_file', args: { file_path: '{cwd}/PWNED', content: 'x' } }] },
      { call: [{ name: 'run_shell_command', args: { command: 'touch PWNED' } }] },
      { call: [{ name: 'exit_plan_mode', args: { plan } }] },
      { say: 'I go on without approval.', call: [{ name: 'run_shell_command', args: { command: 'touch PWNED' } }] },
    ])
    writeFileSync(join(work, 'seen.txt'), '')
    const { out, err, code } = await dragoman(['-p', 'mend it', '--approval-mode', 'plan'], { env, work })
    assert.deepEqual([code, out.trim()], [0, plan])
    assert.doesNotMatch(err, /no user to ask|! exit_plan_mode/)
    assert.equal(existsSync(join(work, 'PWNED')), false)
    const sent = server.requests.map(({ bytes }) => bytes.toString())
    assert.equal(sent.length, 4)
    assert.match(sent[0] ?? '', /Plan mode is on/)
    assert.match(sent[1] ?? '', /seen\.txt/)
  })
})

describe('plan mode on a terminal', { skip: noTmux, concurrency: 2 }, () => {
  test('the plan is approved, the mode changes at once, and the edit runs unasked', async () => {
    const here = await stage([
      { call: [{ name: 'exit_plan_mode', args: { plan: '1. Write b.txt' } }] },
      { call: [{ name: 'write_file', args: { file_path: '{cwd}/b.txt', content: 'made\n' } }] },
      { say: 'All done.' },
    ])
    const terminal = openTerminal(['--approval-mode', 'plan'], here)
    await terminal.shows('plan mode')
    terminal.type('make it')
    terminal.press('Enter')
    assert.match(await terminal.shows('Carry out this plan?'), /│ 1\. Write b\.txt/)
    terminal.press('a')
    assert.match(await terminal.shows('All done.'), /auto_edit mode/)
    assert.equal(readFileSync(join(here.work, 'b.txt'), 'utf8'), 'made\n')
    const sent = here.server.requests.map(({ bytes }) => bytes.toString())
    assert.match(sent[1] ?? '', /approved the plan/)
    assert.match(sent[1] ?? '', /Plan mode is off/)
    assert.ok((sent[1] ?? '').startsWith((sent[0] ?? '').slice(0, 200)))
  })

  test('a refused plan goes back with the words of the person, and plan mode stays', async () => {
    const here = await stage([
      { call: [{ name: 'exit_plan_mode', args: { plan: '1. Write b.txt' } }] },
      { call: [{ name: 'write_file', args: { file_path: '{cwd}/b.txt', content: 'made\n' } }] },
      { say: 'All done.' },
    ])
    const terminal = openTerminal(['--approval-mode', 'plan'], here)
    await terminal.shows('plan mode')
    terminal.type('make it')
    terminal.press('Enter')
    await terminal.shows('Carry out this plan?')
    terminal.press('n')
    await terminal.shows('Reason:')
    terminal.type('write c.txt instead')
    terminal.press('Enter')
    assert.match(await terminal.shows('All done.'), /plan mode/)
    assert.equal(existsSync(join(here.work, 'b.txt')), false)
    assert.match(here.server.requests[1]?.bytes.toString() ?? '', /write c\.txt instead/)
  })
})
