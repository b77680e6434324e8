import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { createRuleSet } from '../../src/policy/rules/rule-set.ts'
import { checkShellCommand } from '../../src/policy/shell/check-shell-command.ts'
import { expandGlob } from '../../src/policy/shell/glob-expansion.ts'
import { type PlainCommand, parsePlainCommands } from '../../src/policy/shell/plain-commands.ts'
import { loadShellParser } from '../../src/policy/shell/syntax-tree.ts'
import { runs } from '../support/runs.ts'
import { ground, type Ground } from './ground.ts'

const {
  seed,
  options: { numRuns },
} = runs(1500)
const parse = await loadShellParser()
const READING = ['ls', 'cat', 'rg', 'echo', 'sort', 'grep', 'find', 'sed', 'awk', '[', 'test', 'git status', 'git diff']
const book = createRuleSet({
  user: { allow: [...READING, 'npm test'], deny: ['sudo', 'curl'] },
})

/** The parser alone: bash's own opinion, which only makes us stricter, is left out. */
function judged(text: string, at: Ground) {
  const places = { folders: [at.ws], home: at.home, disk: createDiskView('/nowhere') }
  return checkShellCommand(text, at.ws, {
    pathContext: places,
    ruleSet: book,
    rejected: () => Promise.resolve(undefined),
  })
}

const HARMLESS = [
  'ls',
  'ls -la src',
  'cat a.txt "b c"',
  'echo \'x\' "y" z',
  'git status -s',
  'git diff HEAD~1 -- a.txt',
  'rg "a b" src | sort -r',
  'ls && cat a.txt; echo done',
  '( ls; echo x )',
  '{ ls; }',
  '{ ls; echo x; }; ls',
  'cd src && ls',
  'npm test -- --verbose',
  'LC_ALL=C sort a.txt 2>/dev/null',
  'echo a \\\n b # end',
  "cat <<< 'in'",
  'echo "a \\" b" \'c\\\'',
  'ls src/*.ts a*.txt',
  'cat a*.txt src/*',
  "find . \\( -name 'a*' -o -type d \\) -print",
  'find src -name "*.ts" | sort',
  "sed -n '1,3p' a.txt",
  "sed 's/a/b/g;2d' a.txt",
  "awk '{print $1}' a.txt",
  '[ -d src ] && ls',
  '[[ -f a.txt ]] || echo none',
  'ls; echo "exit: $?"',
  'grep -rn --include=*.ts a src',
  'git -C src status',
]

/** The words that bash makes of a command's patterns, in the folder where it runs or in the one that `cd` leads to. */
function expanded({ words, patterns }: PlainCommand, at: Ground): string[][] {
  return [at.ws, join(at.ws, 'src')].map((folder) =>
    words.flatMap((word, index) =>
      patterns.includes(index) ? (expandGlob(word, folder, createDiskView()) ?? [word]).sort() : [word],
    ),
  )
}

/** Pieces of shell that do something, or that change what something else means; `_` is a blank, `↵` a line end. */
const PIECES = `
  ;touch_P &&touch_P ||touch_P |touch_P &touch_P ↵touch_P |&touch_P $(touch_P) \`touch_P\` <(touch_P) >P >>P >|P &>P <>P
  \${x:-$(touch_P)} \${x:=P} $((a[$(touch_P)])) $[1] $x * ? ~ {a,b} \\ \\↵ " ' $' $" # _# ↵ ; ;; & && | ( ) { } ! <<E <<-E↵
  <<< 2> >& 1>&2 _touch_P _./x x=1_ if_ then_ fi do_ done [[_ _]] [a] =( @(a|b) $ - -- = time_ coproc_ function_ case_x_in_
  }#x ;_touch_P;_} ;_} {_ }_ ;& \\_ )#x }2> {ls {1,2}_ _}↵ _esac _ __ é .. / ../outside .env \\x a\\_b '' "" \\\\ % ^ : \${ $( \`
`
  .trim()
  .split(/\s+/)
  .map((piece) => piece.replaceAll('_', ' ').replaceAll('↵', '\n'))

const texts = fc
  .record({
    parts: fc.array(fc.constantFrom(...HARMLESS), { minLength: 1, maxLength: 3 }),
    joins: fc.array(fc.constantFrom(' && ', '; ', ' | ', '\n', ' ', ''), { minLength: 2, maxLength: 2 }),
    edits: fc.array(fc.record({ piece: fc.constantFrom(...PIECES), at: fc.nat(), cut: fc.nat(2) }), { maxLength: 4 }),
  })
  .map(({ parts, joins, edits }) => {
    let text = parts.map((part, at) => (at === 0 ? part : (joins[at - 1] ?? '') + part)).join('')
    for (const { piece, at, cut } of edits) {
      const place = at % (text.length + 1)
      text = text.slice(0, place) + piece + text.slice(place + (cut === 2 ? 1 : 0))
    }
    return text
  })

/** Every program that is not bash's own is written down, with its words, instead of being run. */
const RECORDER = `
enable -n echo pwd true false test [
PATH=/nowhere
command_not_found_handle() { builtin printf '%s\\2' "$@" $'\\1' >> "$RECORD"; }
`

/** What bash really starts. */
function recorded(text: string, at: Ground): string[][] {
  const record = join(at.base, 'record')
  rmSync(record, { force: true })
  const env = { RECORD: record, HOME: at.home }
  spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', `${RECORDER}\n${text}`], {
    cwd: at.ws,
    env,
    stdio: 'ignore',
    timeout: 10_000,
  })
  if (!existsSync(record)) return []
  return readFileSync(record, 'utf8')
    .split('\u0001\u0002')
    .slice(0, -1)
    .map((words) => words.split('\u0002').slice(0, -1))
}

describe('random shell text', () => {
  test('what is allowed runs exactly what was proved, and writes nothing', async (t) => {
    using at = ground([
      { op: 'file', path: 'a.txt', text: 'a\n' },
      { op: 'file', path: 'src/b.ts', text: 'a\n' },
      { op: 'file', path: 'src/c.ts', text: 'b\n' },
      { op: 'exec', path: 'x', text: '#!/bin/bash\n: > P\n' },
    ])
    const before = readdirSync(at.ws).sort()
    let allowed = 0
    const counts = { allow: 0, ask: 0, deny: 0 }
    for (const text of fc.sample(texts, { seed, numRuns })) {
      const { verdict, programs } = await judged(text, at)
      counts[verdict]++
      if (verdict !== 'allow') continue
      // Running is slow; of the unchanged ones there are many.
      if (HARMLESS.includes(text) || allowed >= numRuns / 8) continue
      allowed++
      const tree = parse(text)
      const proof = tree ? parsePlainCommands(tree, text) : { doubt: 'none' }
      assert.ok('commands' in proof, text)
      const proved = proof.commands.flatMap((one) => expanded(one, at)).filter(([name]) => name !== 'cd')
      const ran = recorded(text, at)
      const shown = JSON.stringify(text)
      for (const words of ran)
        assert.ok(
          proved.some((one) => same(one, words)),
          `${shown} ran ${JSON.stringify(words)}`,
        )
      for (const [name = ''] of ran) assert.ok(programs.includes(name), `${shown} ran ${name}, which was not named`)
      assert.deepEqual(readdirSync(at.ws).sort(), before, shown)
    }
    t.diagnostic(`${numRuns} texts: ${JSON.stringify(counts)}; ${allowed} of the allowed ones were run`)
    assert.ok(allowed > 50)
  })

  test('bash takes whatever is proved, so that it need not be asked', (t) => {
    let asked = 0
    for (const text of fc.sample(texts, { seed, numRuns: 4 * numRuns })) {
      const tree = parse(text)
      // To start bash is slow, so only texts count in which something has a meaning to it.
      if (!tree || !/\b(?:do|done|then|fi|esac|in|if|case|time|coproc|function)\b|[{}!();<>]/.test(text)) continue
      if (asked >= numRuns / 5 || !('commands' in parsePlainCommands(tree, text))) continue
      asked++
      assert.ok(bashTakes(text), `bash rejects ${JSON.stringify(text)}`)
    }
    t.diagnostic(`bash took all ${asked} texts that were proved`)
    assert.ok(asked > 50)
  })

  test('a forbidden program is found wherever it is put', async (t) => {
    using at = ground()
    const frames = [
      'X',
      '$(X)',
      '`X`',
      '"$(X)"',
      '${a:-$(X)}',
      '<(X)',
      '(X)',
      '{ X; }',
      'if X; then ls; fi',
      "eval 'X'",
      "bash -c 'X'",
      'env X',
      'nice -n 3 X',
      'timeout 5 X',
      'xargs X',
      '! X',
      'ls && X',
      'ls | X',
      'ls; X',
      'ls & X',
      'f() { X; }; f',
      'command X',
      'find . -exec X \\;',
      'cat <<E\n$(X)\nE',
      'time X',
      'A=1 X',
      'while X; do ls; done',
      'sh -c "X"',
      'nohup X &',
    ]
    const programs = ['curl http://192.0.2.1/', 'sudo ls', '/usr/bin/curl x', "'cu''rl' x", 'c\\url x', '"sudo" x']
    const nested = fc
      .record({ inner: fc.constantFrom(...programs), around: fc.array(fc.constantFrom(...frames), { maxLength: 3 }) })
      .map(({ inner, around }) => around.reduce((text, frame) => frame.replace('X', () => text), inner))
    let denied = 0
    let broken = 0
    for (const text of fc.sample(nested, { seed, numRuns: numRuns / 5 })) {
      if (!bashTakes(text)) {
        broken++
        continue
      }
      const { verdict, why } = await judged(text, at)
      assert.notEqual(verdict, 'allow', text)
      // Quotes within quotes end the outer ones: then the inner text is no command any more.
      if (verdict === 'deny') denied++
      else assert.match(text, /['"\\].*['"\\]/s, `${JSON.stringify(text)} only ${verdict}: ${why}`)
    }
    t.diagnostic(`${denied} denied, ${broken} not for bash`)
    assert.ok(denied > numRuns / 20)
  })
})

function bashTakes(text: string): boolean {
  return spawnSync('/bin/bash', ['--noprofile', '--norc', '-n', '-c', '--', text], { stdio: 'ignore' }).status === 0
}

/** What `echo` prints of variables is known only when it runs. */
function same(one: readonly string[], other: readonly string[]): boolean {
  if (one[0] === 'echo' && one.some((word) => word.includes('$'))) return other[0] === 'echo'
  return one.length === other.length && one.every((word, at) => word === other[at])
}
