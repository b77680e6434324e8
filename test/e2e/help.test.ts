import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { COMMAND_LOADERS, type CommandName } from '../../src/cli/commands.ts'
import { COMMAND_SPECS } from '../../src/cli/command/specs.ts'
import { RUN_OPTIONS } from '../../src/cli/args/options.ts'
import { BUILTIN_SCRIPTS } from '../../src/rehearsal/builtin-scripts/all-scripts.ts'
import { type Ended, dragoman, stage } from '../support/command.ts'

const shown = Object.keys(COMMAND_LOADERS) as CommandName[]

function isHelp({ code, out, err }: Ended): void {
  assert.equal(code, 0)
  assert.equal(err, '')
  assert.match(out, /^Usage: dragoman/)
  assert.match(out, /^Examples:\n {2}\S/m)
  assert.doesNotMatch(out, /\n {4}at |Error:/)
  for (const line of out.split('\n')) assert.ok(line.length <= 100, `over 100 columns: ${line}`)
}

describe('help', () => {
  test('of everything: all commands and all options', async () => {
    const here = await stage([])
    for (const words of [['--help'], ['-h'], ['help']]) {
      const ended = await dragoman(words, here)
      isHelp(ended)
      for (const name of shown) assert.match(ended.out, new RegExp(`^  ${name} `, 'm'))
      for (const [name, option] of Object.entries(RUN_OPTIONS))
        assert.equal(ended.out.includes(` --${name}`), !('hidden' in option), name)
    }
  })

  for (const name of shown)
    test(`of ${name} and its subcommands`, async () => {
      const here = await stage([])
      const page = COMMAND_SPECS[name]
      const whole = await dragoman([name, '--help'], here)
      isHelp(whole)
      for (const option of Object.keys(page.options)) assert.ok(whole.out.includes(`--${option}`), option)
      for (const [verb, { options, examples }] of Object.entries(page.subcommands ?? {})) {
        const ended = await dragoman([name, verb, '-h'], here)
        isHelp(ended)
        assert.match(ended.out, new RegExp(`^Usage: dragoman ${name} ${verb}`))
        for (const example of examples) assert.ok(ended.out.includes(example))
        for (const option of options ?? []) assert.ok(Object.hasOwn(page.options, option), `${verb} --${option}`)
      }
    })

  test('dragoman help <command> is the same; before other words it is a prompt', async () => {
    const here = await stage([{ say: 'Gladly.' }])
    const { out } = await dragoman(['help', 'undo'], here)
    assert.equal(out, (await dragoman(['undo', '-h'], here)).out)
    assert.equal((await dragoman(['help', 'me'], here)).out, 'Gladly.\n')
  })

  test('the page of rehearse names every script', () => {
    const about = COMMAND_SPECS.rehearse.about.join(' ')
    for (const script of Object.keys(BUILTIN_SCRIPTS)) assert.ok(about.includes(script), script)
  })
})

test('what is wrong with an option is said in one sentence, with the option that was meant', async () => {
  const here = await stage([])
  const wrong: [string[], RegExp][] = [
    [['-p', 'x', '--aproval-mode', 'plan'], /unknown option --aproval-mode; did you mean --approval-mode\?/],
    [['-p', 'x', '--approval', 'plan'], /did you mean --approval-mode\?/],
    [['-p', 'x', '--constructor'], /unknown option --constructor; see dragoman --help/],
    [['-p', 'x', '-q'], /unknown option -q/],
    [['-p'], /no prompt: pass one with -p or on standard input/],
    [['-p', '--yolo'], /no prompt: pass one with -p or on standard input/],
    [['-m', '--yolo'], /-m needs a value: <name>; .*--model=--yolo/],
    [['--yolo=yes', '-p', 'x'], /--yolo takes no value/],
    [['sessions', 'list', '--jsn'], /unknown option --jsn for dragoman sessions; did you mean --json\?/],
    [['sessions', 'export', '--format', 'pdf'], /--format must be one of markdown, json, gemini/],
    [['undo', '--sesion', 'x'], /did you mean --session\?/],
    [['models', '--jason'], /did you mean --json\?/],
    [['doctor', '--lokal'], /did you mean --local\?/],
    [['wire', 'decode', '--wires', 'x'], /did you mean --wire\?/],
    [['replay', 'tape', '--untill', '2'], /did you mean --until\?/],
    [['tour', '--yess'], /did you mean --yes\?/],
    [['policy', 'explain', 'ls', '--approval-mode', 'wild'], /default, auto_edit, yolo, plan/],
    [['completion', 'bash', '--shell'], /unknown option --shell/],
  ]
  for (const [args, sentence] of wrong) {
    const { code, out, err } = await dragoman(args, here)
    assert.equal(code, 42, args.join(' '))
    assert.match(err, sentence)
    assert.equal(err.trimEnd().split('\n').length, 1)
    assert.equal(out, '')
  }
})

test('a command that is nearly one, alone or with a word that it takes, is no prompt; other words are', async () => {
  const here = await stage([{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }])
  const wrong: [string[], RegExp][] = [
    [['sesions'], /unknown command sesions; did you mean sessions\?/],
    [['sesions', 'list'], /did you mean sessions list\? To send it as a prompt: dragoman -p "sesions list …"/],
    [['session', 'show', 'latest', '--stats'], /did you mean sessions show\?/],
    [['sesions', '--json', 'list'], /did you mean sessions list\?/],
    [['completions', 'zsh'], /did you mean completion zsh\?/],
  ]
  for (const [args, sentence] of wrong) {
    const { code, out, err } = await dragoman(args, here)
    assert.equal(code, 42, args.join(' '))
    assert.match(err, sentence)
    assert.equal(err.trimEnd().split('\n').length, 1)
    assert.equal(out, '')
  }
  for (const args of [['session', 'handling', 'is', 'broken'], ['sesions list'], ['-p', 'sesions list']])
    assert.equal((await dragoman(args, here)).code, 0, args.join(' '))
  assert.equal(here.server.requests.length, 3)
})

test('a prompt may begin with a dash if it is no option', async () => {
  const here = await stage([{ say: 'Three things.' }])
  assert.equal((await dragoman(['-p', '- one\n- two'], here)).out, 'Three things.\n')
})
