import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

type Stage = Awaited<ReturnType<typeof stage>>
let here: Stage

before(async () => {
  here = await stage([{ say: 'One.' }])
  const bin = join(here.home, 'bin')
  mkdirSync(bin)
  symlinkSync(join(root, 'bin/dragoman'), join(bin, 'dragoman'))
  here.env['PATH'] = `${bin}:${here.env['PATH'] ?? ''}`
  mkdirSync(join(here.work, 'tape'))
  here.env['SCRIPTS'] = join(here.home, 'scripts')
  mkdirSync(here.env['SCRIPTS'])
})

/** What the shell itself would offer for a line, the cursor at its end. */
const SHELLS = {
  bash: (line: string) => [
    'bash',
    '--norc',
    '-c',
    `eval "$(< "$SCRIPTS/bash")"
     complete -p dragoman | grep -q -- '-F _dragoman' || exit 3
     COMP_LINE=$1 COMP_POINT=\${#1}
     # Split as readline does: also at = and :
     read -ra COMP_WORDS <<< "$(sed 's/[=:]/ & /g' <<< "$1")"
     [[ $1 == *[[:space:]=:] ]] && COMP_WORDS+=('')
     COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
     _dragoman dragoman "\${COMP_WORDS[COMP_CWORD]}"
     printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    line,
  ],
  fish: (line: string) => ['fish', '--no-config', '-c', 'source $SCRIPTS/fish; complete -C $argv', line],
  // Only a line that is being edited is completed: a second zsh on a terminal of its own gets the words and a Tab.
  zsh: (line: string) => [
    'zsh',
    '-fc',
    `zmodload zsh/zpty
     zpty inner zsh -f -i
     zpty -w inner 'PROMPT=; stty -echo; autoload -U compinit; compinit -u -D; eval "$(< "$SCRIPTS/zsh")"
       compadd() { local -a hits; builtin compadd -O hits "$@"; print -rl -- "hit "$^hits; builtin compadd "$@" }
       look() { print -r -- BEGIN; _main_complete; print -r -- END; exit }
       zle -C look complete-word look
       bindkey "^I" look
       print READ""Y'
     zpty -r inner said '*READY*'
     zpty -n -w inner "$1"$'\\t'
     zpty -r inner said '*END*'
     print -rl -- \${(uM)\${(f)\${said//$'\\r'/}}:#hit *} | sed 's/^hit //'`,
    'zsh',
    line,
  ],
} as const

async function offered(shell: keyof typeof SHELLS, line: string): Promise<string[]> {
  const [program = '', ...args] = SHELLS[shell](line)
  const { stdout } = await promisify(execFile)(program, args, { cwd: here.work, env: here.env, timeout: 60_000 })
  return stdout.split('\n').flatMap((one) => (one === '' ? [] : [one.split('\t', 1)[0] ?? '']))
}

for (const shell of ['bash', 'fish', 'zsh'] as const) {
  const skip = spawnSync(shell, ['--version']).status === 0 ? false : `${shell} is not installed`
  describe(`completion in ${shell}`, { skip, concurrency: 3 }, () => {
    before(async () => {
      const { code, out, err } = await dragoman(['completion', shell], here)
      assert.equal(code, 0, err)
      writeFileSync(join(here.home, 'scripts', shell), out)
    })
    const cases: [line: string, some: string[], none: string[]][] = [
      ['dragoman se', ['sessions'], ['login']],
      ['dragoman ', ['models', 'undo', 'completion'], ['__complete']],
      ['dragoman sessions ', ['list', 'show', 'export', 'reply', 'rm'], ['latest']],
      ['dragoman sessions show --', ['--stats', '--cache', '--help'], ['--format', '--yolo']],
      ['dragoman sessions export --format ', ['markdown', 'anthropic'], []],
      ['dragoman --ap', ['--approval-mode'], []],
      ['dragoman --approval-mode ', ['default', 'auto_edit', 'yolo', 'plan'], []],
      ['dragoman -p x --approval-mode pl', ['plan'], ['yolo']],
      ['dragoman -m ge', ['gemini/', 'gemini-openai/'], ['openai/']],
      ['dragoman -m rehearsal/h', ['rehearsal/hello'], []],
      ['dragoman -m openai/x,rehearsal/h', ['openai/x,rehearsal/hello'], []],
      ['dragoman -p x --allowed-tools run', ['run_shell_command'], []],
      ['dragoman --record ', [shell === 'fish' ? 'tape/' : 'tape'], []],
      ['dragoman login o', ['openai', 'openrouter', 'ollama'], []],
      ['dragoman completion ', ['bash', 'zsh', 'fish'], []],
      ['dragoman nothing that is known ', [], ['sessions']],
    ]
    for (const [line, some, none] of cases)
      test(line, async () => {
        const found = await offered(shell, line)
        for (const one of some) assert.ok(found.includes(one), `${one} is not among ${found.join(' ')}`)
        for (const one of none) assert.ok(!found.includes(one), `${one} is among ${found.join(' ')}`)
      })

    test('sessions, by their ids', async () => {
      await dragoman(['-p', 'hello'], here)
      const [latest, id = ''] = await offered(shell, 'dragoman --resume ')
      assert.equal(latest, 'latest')
      assert.match(id, /^\d{8}-\d{6}-/)
      assert.deepEqual(await offered(shell, `dragoman sessions show ${id.slice(0, -2)}`), [id])
    })
  })
}

test('in bash, what stands behind = is completed as readline cut it', async () => {
  assert.deepEqual(await offered('bash', 'dragoman --approval-mode=pl'), ['plan'])
})

test(
  'zsh reads its script',
  { skip: spawnSync('zsh', ['--version']).status === 0 ? false : 'zsh is not installed' },
  () => {
    const script = 'autoload -U compinit; compinit -u -D; eval "$(dragoman completion zsh)"; print $_comps[dragoman]'
    const { stdout } = spawnSync('zsh', ['-fc', script], { cwd: here.work, env: here.env, encoding: 'utf8' })
    assert.equal(stdout, '_dragoman\n')
  },
)

test('another shell is refused in one sentence', async () => {
  const { code, err } = await dragoman(['completion', 'tcsh'], here)
  assert.equal(code, 42)
  assert.match(err, /bash \| zsh \| fish/)
})
