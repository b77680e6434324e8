import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { writeFiles } from '../support/foreign-repositories.ts'

const MARK = 'effect.txt'
const HELLO = [{ loop: [{ say: 'Hello yourself.' }] }]
const LOG = `require('fs').appendFileSync(__dirname + '/own.log', 'x\\n'); console.log('line ' + Date.now() + Math.random())`
const STATE = `const fs = require('fs'); const name = process.argv[2].replace('--state=', ''); fs.appendFileSync(name, 'x\\n')`

async function open(files: Readonly<Record<string, string>>) {
  const here = await stage(HELLO)
  writeFiles(here.work, files)
  const trust = () => dragoman(['trust', '--yes'], here)
  const run = async () => (await dragoman(['-p', 'hello', '--sandbox', 'off'], here)).err
  return { ...here, trust, run, at: (path: string) => join(here.work, path) }
}

const settings = (...commands: readonly string[]) =>
  JSON.stringify({
    hooks: { UserPromptSubmit: [{ hooks: commands.map((command) => ({ type: 'command', command })) }] },
  })

describe('a hook that writes a file keeps its trust', { concurrency: 2 }, () => {
  const hooks: readonly (readonly [command: string, output: string])[] = [
    ['node .claude/hooks/log.js > .claude/hooks/log.txt', '.claude/hooks/log.txt'],
    ['node "$CLAUDE_PROJECT_DIR"/.claude/hooks/log.js >>"$CLAUDE_PROJECT_DIR/out.log" 2>&1', 'out.log'],
    ['node ".claude/hooks/log.js" | tee -a .claude/hooks/tee.log', '.claude/hooks/tee.log'],
    ['cd .claude && node hooks/log.js &> hooks/all.out', '.claude/hooks/all.out'],
    [`bash -c 'node .claude/hooks/log.js > "quoted.txt"'`, 'quoted.txt'],
    ['node .claude/hooks/log.js', '.claude/hooks/own.log'],
    ['node .claude/hooks/state.js .claude/hooks/state.json', '.claude/hooks/state.json'],
    ['A=1 node .claude/hooks/state.js --state=made/state.json', 'made/state.json'],
    [`node tools/count.js count.txt && node tools/count.js count.txt`, 'count.txt'],
  ]
  for (const [command, output] of hooks)
    for (const isThere of [false, true])
      test(`${command}${isThere ? ', there when it was trusted' : ''}`, async () => {
        const here = await open({
          '.claude/settings.json': settings(command),
          '.claude/hooks/log.js': LOG,
          '.claude/hooks/state.js': STATE,
          'tools/count.js': STATE,
          'made/readme.txt': '',
          ...(isThere && { [output]: 'old\n' }),
        })
        await here.trust()
        for (let at = 1; at <= 2; at++) {
          const before = existsSync(here.at(output)) ? readFileSync(here.at(output), 'utf8') : ''
          assert.doesNotMatch(await here.run(), /not trusted|have changed/, `run ${at}`)
          assert.notEqual(readFileSync(here.at(output), 'utf8'), before, `run ${at} wrote`)
        }
        rmSync(here.at(output))
        assert.doesNotMatch(await here.run(), /not trusted|have changed/, 'nor when it was removed')
      })

  test('what only the permissions of another agent name is not bound, and not shown', async () => {
    const here = await open({
      '.claude/settings.json': JSON.stringify({
        permissions: { deny: ['Read(./.env)'], allow: ['Bash(sh x.sh)'] },
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'sh x.sh' }] }] },
      }),
      '.env': 'KEY=SECRET-OF-THE-PROJECT',
      'x.sh': 'true\n',
    })
    const { out } = await dragoman(['trust'], here)
    assert.match(out, /x\.sh/)
    assert.doesNotMatch(out, /SECRET-OF-THE-PROJECT/)
    await here.trust()
    writeFileSync(here.at('.env'), 'KEY=other')
    assert.doesNotMatch(await here.run(), /not trusted/)
    writeFileSync(here.at('x.sh'), 'false\n')
    assert.match(await here.run(), /not trusted/)
  })

  test('several at the same time, and with a database that a server names', async () => {
    const here = await open({
      '.claude/settings.json': settings(
        'node .claude/hooks/log.js; sleep 0.3',
        'node .claude/hooks/state.js a.json',
        'node .claude/hooks/state.js b.json',
      ),
      '.claude/hooks/log.js': LOG,
      '.claude/hooks/state.js': STATE,
      '.mcp.json': '{"mcpServers":{"one":{"command":"true","args":["--db-path","data.db"]}}}',
      'data.db': 'SQLite format 3\0one',
    })
    await here.trust()
    for (let at = 0; at < 3; at++) {
      appendFileSync(here.at('data.db'), 'x')
      assert.doesNotMatch(await here.run(), /not trusted|have changed/)
    }
  })
})

describe('what a hook could start is asked about when it changes, though a hook writes it', { concurrency: 2 }, () => {
  const evil = `touch ${MARK}\n`
  const main = '. ./state.sh 2>/dev/null; . ./lib.txt 2>/dev/null; true\n'
  /** Hooks, and the file that a stranger changes. */
  const hooks: readonly (readonly [command: string | readonly string[], path: string])[] = [
    [`bash -c 'cat y.sh > y.sh; bash y.sh'`, 'y.sh'],
    ['echo true >> f; . ./f', 'f'],
    [['echo true >> f', 'sh f'], 'f'],
    ['echo true | tee -a f.txt | sh; sh f.txt', 'f.txt'],
    ['tee() { sh "$1"; }; tee f.txt', 'f.txt'],
    ['true >> log.txt; bash < log.txt', 'log.txt'],
    ['bash <> log.txt', 'log.txt'],
    ['bash <>log.txt', 'log.txt'],
    [`cat ';>' log.txt | sh`, 'log.txt'],
    ['cat \\> log.txt | sh', 'log.txt'],
    ['cat .claude/hooks/main.sh log.txt | sh', 'log.txt'],
    ['find .claude/hooks/main.sh -exec bash log.txt \\;', 'log.txt'],
    ['bash run2>out.log', 'run2'],
    ['echo x > "$(bash<log.txt)"', 'log.txt'],
    ['bash .claude/hooks/main.sh "$(bash<log.txt)"', 'log.txt'],
    ['bash .claude/hooks/main.sh $(bash log.txt)', 'log.txt'],
    [`bash -c 'bash lo"g.txt"'`, 'log.txt'],
    [`bash -c 'cat ";>" log.txt | sh'`, 'log.txt'],
    [`bash -c "cat \\">\\" log.txt | sh"`, 'log.txt'],
    [`bash -c 'cat ">"'" log.txt | sh"`, 'log.txt'],
    ['bash lo\\g.txt', 'log.txt'],
    ['cd made && bash log.txt', 'made/log.txt'],
    ['bash "${CLAUDE_PROJECT_DIR:-.}"/tools/x.sh', 'tools/x.sh'],
    ['bash $PWD/tools/x.sh', 'tools/x.sh'],
    ['bash "$(pwd)/tools/x.sh"', 'tools/x.sh'],
    ['bash $(git rev-parse --show-toplevel)/tools/x.sh', 'tools/x.sh'],
    ['node --require ./state.json .claude/hooks/main.sh; bash state.json', 'state.json'],
    ['bash .claude/hooks/main.sh # > lib.sh\nbash lib.txt', 'lib.txt'],
    // Scripts beside, and what a hook has as an argument, are bound to what the hook left.
    ['echo true > .claude/hooks/lib.sh; bash .claude/hooks/main.sh', '.claude/hooks/lib.sh'],
    ['bash .claude/hooks/main.sh lib.txt', 'lib.txt'],
    ['bash .claude/hooks/main.sh', '.claude/hooks/lib.txt'],
  ]
  for (const [at, [commands, path]] of hooks.entries())
    for (const isThere of at < hooks.length - 3 ? [true] : [true, false])
      test(`${String(commands)}${isThere ? '' : ', not there when it was trusted'}`, async () => {
        const here = await open({
          '.claude/settings.json': settings(...[commands].flat()),
          '.claude/hooks/main.sh': main,
          'made/readme.txt': '',
          ...(isThere && { [path]: 'true\n' }),
        })
        await here.trust()
        writeFileSync(here.at(path), evil)
        assert.match(await here.run(), /not trusted/)
        assert.ok(!existsSync(here.at(MARK)), 'a command ran')
      })

  test('a mode or a first line of a program, set later', async () => {
    const here = await open({
      '.claude/settings.json': settings('echo "touch effect.txt" >> out', 'out', './out'),
      out: 'true\n',
    })
    await here.trust()
    chmodSync(here.at('out'), 0o755)
    writeFileSync(here.at('out'), `#!/bin/sh\n${evil}`)
    assert.match(await here.run(), /not trusted/)
    assert.ok(!existsSync(here.at(MARK)))
  })

  test('one hook makes what another starts', async () => {
    const here = await open({
      '.claude/settings.json': JSON.stringify({
        hooks: {
          SessionStart: [{ hooks: [{ type: 'command', command: 'cat data/part > made.sh' }] }],
          UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'bash .claude/hooks/main.sh; bash made.sh' }] }],
        },
      }),
      '.claude/hooks/main.sh': main,
      'data/part': 'true\n',
      'made.sh': 'true\n',
    })
    await here.trust()
    writeFileSync(here.at('data/part'), evil)
    assert.match(await here.run(), /not trusted/)
    assert.ok(!existsSync(here.at(MARK)))
  })

  test('a name with escapes of JSON, and a name behind a hundred others', async () => {
    const many = Array.from({ length: 120 }, (_, at) => `many/${at}.txt`)
    const command = `cat ${many.join(' ')} > /dev/null; bash last.sh`
    const here = await open({
      '.claude/settings.json': settings(command, 'bash SCRIPT').replace('SCRIPT', '\\u0078.sh'),
      ...Object.fromEntries(many.map((name) => [name, 'x'])),
      'x.sh': 'true\n',
      'last.sh': 'true\n',
    })
    for (const path of ['x.sh', 'last.sh']) {
      await here.trust()
      writeFileSync(here.at(path), evil)
      assert.match(await here.run(), /not trusted/, path)
      assert.ok(!existsSync(here.at(MARK)), path)
      writeFileSync(here.at(path), 'true\n')
    }
  })

  test('a server that is started from a file of another kind', async () => {
    const here = await open({
      '.mcp.json': '{"mcpServers":{"one":{"command":"sh","args":[".claude/skills/kit/server.sh"]}}}',
      '.claude/skills/kit/SKILL.md': '---\nname: kit\ndescription: Kit.\n---\nKit.',
      '.claude/skills/kit/server.sh': 'true\n',
    })
    await here.trust()
    writeFileSync(here.at('.claude/skills/kit/server.sh'), evil)
    await dragoman(['mcp', 'list'], here)
    assert.ok(!existsSync(here.at(MARK)))
  })
})
