import { COMMANDS } from '../commands.ts'
import type { Page } from '../manual/page.ts'
import { PAGES } from '../manual/pages.ts'
import { EXIT_CODES, RUN_EXAMPLES } from '../manual/run.ts'
import { type Option, type Options, RUN_OPTIONS } from './options.ts'

/** The help of a command, or of one of its subcommands; without a name, of all. */
export function helpFor(name?: string, verb?: string): string {
  const page = name === undefined || !Object.hasOwn(PAGES, name) ? undefined : PAGES[name]
  if (name === undefined || !page) return runHelp()
  return verb !== undefined && page.verbs && Object.hasOwn(page.verbs, verb)
    ? verbHelp(name, page, verb)
    : commandHelp(name, page)
}

function runHelp(): string {
  const commands = Object.entries(COMMANDS).filter(([, { hidden }]) => !hidden)
  return text([
    usage(['dragoman [options] [prompt]', 'dragoman <command> [options]']),
    'Works on a prompt with tools, in the current folder, with whatever model you have. On a terminal it is a conversation; with -p, one answer.',
    ...sections(RUN_OPTIONS),
    table(
      'Commands (dragoman <command> --help tells more)',
      commands.map(([name, { about }]) => [name, about]),
    ),
    examples(RUN_EXAMPLES),
    `Exit codes: ${EXIT_CODES.map(([code, about]) => `${code} ${about}`).join(', ')}.`,
  ])
}

function commandHelp(name: string, { usage: ways, about, verbs = {}, options, examples: shown }: Page): string {
  return text([
    usage(ways.map((way) => `dragoman ${name} ${way}`.trimEnd())),
    ...about,
    table(
      'Subcommands',
      Object.entries(verbs).map(([verb, { takes = '', about: what }]) => [`${verb} ${takes}`.trimEnd(), what]),
    ),
    ...sections(options),
    examples(shown),
  ])
}

function verbHelp(name: string, { verbs = {}, options }: Page, verb: string): string {
  const { takes = '', about = '', options: own = Object.keys(options), examples: shown = [] } = verbs[verb] ?? {}
  const chosen = Object.entries(options).filter(([option]) => own.includes(option) || option === 'help')
  return text([
    usage([`dragoman ${name} ${verb} ${takes}`.trimEnd() + (chosen.length > 1 ? ' [options]' : '')]),
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    ...sections(Object.fromEntries(chosen)),
    examples(shown),
  ])
}

/** Options, group by group. */
function sections(options: Options): string[] {
  const shown = Object.entries(options).filter(([, { hidden }]) => !hidden)
  const column = columnFor(shown.map(([name, option]) => optionLabel(name, option)))
  const groups = [...new Set(shown.map(([, { group }]) => group))]
  return groups.map((group) =>
    table(
      group ?? 'Options',
      shown
        .filter(([, option]) => option.group === group)
        .map(([name, option]) => [optionLabel(name, option), option.about]),
      column,
    ),
  )
}

/** An option as it is written: `-m, --model <name>`. */
export function optionLabel(name: string, { short, takes }: Option): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
}

const WIDTH = 96
/** Labels longer than this have a line of their own. */
const COLUMN = 28

function table(
  title: string,
  rows: readonly (readonly [label: string, about: string])[],
  column = columnFor(rows.map(([label]) => label)),
): string {
  if (rows.length === 0) return ''
  const lines = rows.flatMap(([label, about]) => {
    const [first = '', ...more] = wrapped(about, WIDTH - column - 4)
    const rest = more.map((line) => ' '.repeat(column + 4) + line)
    return label.length > column
      ? [`  ${label}`, `${' '.repeat(column + 4)}${first}`, ...rest]
      : [`  ${label.padEnd(column)}  ${first}`, ...rest]
  })
  return [`${title}:`, ...lines].join('\n')
}

function columnFor(labels: readonly string[]): number {
  return Math.max(...labels.map(({ length }) => length).filter((length) => length <= COLUMN), 0)
}

function usage(lines: readonly string[]): string {
  return lines.map((line, at) => `${at === 0 ? 'Usage: ' : '       '}${line}`).join('\n')
}

function examples(lines: readonly string[]): string {
  return ['Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Blocks with an empty line between them; sentences are wrapped, what has its own lines is not. */
function text(blocks: readonly string[]): string {
  const shown = blocks.filter((block) => block !== '')
  return `${shown.map((block) => (block.includes('\n') ? block : wrapped(block, WIDTH).join('\n'))).join('\n\n')}\n`
}

function wrapped(sentence: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
