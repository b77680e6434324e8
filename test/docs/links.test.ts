import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { isCommandName } from '../../src/cli/commands.ts'
import { COMMAND_SPECS } from '../../src/cli/command/specs.ts'
import { ENVIRONMENT_VARIABLES } from '../../src/cli/args/run-help.ts'
import { type CliOptions, RUN_OPTIONS } from '../../src/cli/args/options.ts'
import { root } from '../support/paths.ts'
import { blocksIn, inlineCode, pages, proseOf } from './pages.ts'

describe('links', () => {
  for (const page of pages())
    test(page.path, () => {
      for (const [, target = ''] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [path = '', anchor] = target.split('#', 2)
        const file = join(root, path === '' ? page.path : join(dirname(page.path), path))
        assert.ok(existsSync(file), `there is no ${target}`)
        if (anchor !== undefined) assert.ok(anchors(file).includes(anchor), `there is no heading for ${target}`)
      }
    })
})

describe('what is said about the command line is so', () => {
  // Decisions speak of other programs too.
  for (const page of pages().filter(({ path }) => !path.startsWith('docs/decisions/')))
    test(page.path, () => {
      const shell = blocksIn(page).filter(({ language }) => language === 'sh')
      const lines = [...shell.flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n')), ...inlineCode(page)]
      for (const line of lines) checkLine(line)
    })
})

test('every variable of ours that the sources read is told of', () => {
  const told = new Set(ENVIRONMENT_VARIABLES.map(([name]) => name))
  const read = [
    'src/cli/setup/assemble-agent.ts',
    'src/cli/headless.ts',
    'src/cli/setup/choose-model.ts',
    'src/provider/resolve-model.ts',
  ]
  for (const path of read)
    for (const [, name = ''] of readFileSync(join(root, path), 'utf8').matchAll(/env\[?\.?\['(DRAGOMAN_[A-Z_]+)'\]/g))
      assert.ok(told.has(name), `${name}, read in ${path}, is not in VARIABLES`)
})

/** Checks every `dragoman …` of a line, and options that stand alone. */
function checkLine(line: string): void {
  const clean = line.replace(/\s#\s.*$/, '')
  for (const one of clean.split(/\||&&|;|\$\(/)) {
    const words = one
      .trim()
      .replaceAll(/"[^"]*"|'[^']*'/g, 'x')
      .split(/\s+/)
    const at = words.findIndex((word) => /(?:^|\/)dragoman$/.test(word))
    if (at >= 0) checkCommand(words.slice(at + 1), line)
    else if (/^--[a-z]/.test(one.trim()) && at < 0) checkAnywhere(words, line)
  }
}

function checkCommand(words: readonly string[], line: string): void {
  const [name = '', verb = ''] = words
  const page = isCommandName(name) ? COMMAND_SPECS[name] : undefined
  if (!page && /^[a-z]+$/.test(name) && name !== 'x' && words.length > 1 && !words[1]?.startsWith('-'))
    assert.ok(name === 'help' || isCommandName(name), `there is no command ${name}: ${line}`)
  if (page?.subcommands && /^[a-z]+$/.test(verb))
    assert.ok(Object.hasOwn(page.subcommands, verb), `${name} has no ${verb}: ${line}`)
  const options: CliOptions = page ? { ...(page.takesRunOptions && RUN_OPTIONS), ...page.options } : RUN_OPTIONS
  for (const option of optionsIn(words))
    assert.ok(isKnown(option, options), `dragoman ${page ? name : ''} has no ${option}: ${line}`)
}

/** Options of other programs that pages speak of. */
const FOREIGN = new Set(['--jinja', '--security-opt'])

function checkAnywhere(words: readonly string[], line: string): void {
  const all: CliOptions = Object.assign(
    {},
    RUN_OPTIONS,
    ...Object.values(COMMAND_SPECS).map(({ options }) => options),
  ) as CliOptions
  for (const option of optionsIn(words))
    assert.ok(
      FOREIGN.has(option) || isKnown(option, RUN_OPTIONS) || isKnown(option, all),
      `nobody has ${option}: ${line}`,
    )
}

/** Behind `--` stand words for another program. */
function optionsIn(words: readonly string[]): string[] {
  const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  return own.flatMap((word) => /^--?[a-z][\w-]*/i.exec(word)?.[0] ?? [])
}

function isKnown(option: string, options: CliOptions): boolean {
  return Object.entries(options).some(([name, { short, aliases = [] }]) =>
    [`-${short}`, ...[name, ...aliases].map((one) => `--${one}`)].includes(option),
  )
}

function anchors(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
